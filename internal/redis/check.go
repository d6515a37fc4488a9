package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// Finding is a setting of a server that does not suit the stores.
type Finding struct {
	Server  string // address; "" if Redis is a single server
	Setting string // "maxmemory-policy"
	Found   string // "allkeys-lru"; "" if the user may not read it
	Wanted  string // "noeviction"
	Why     string // one sentence
	Fix     string // the command that sets it, or another remedy
	Fatal   bool   // the stores cannot work
}

// String returns the finding in one line.
func (f Finding) String() string {
	server, found := "redis", "cannot be read"
	if f.Server != "" {
		server += " " + f.Server
	}
	if f.Found != "" {
		found = "is " + f.Found
	}
	return fmt.Sprintf("%s: %s %s, and should be %s: %s. %s", server, f.Setting, found, f.Wanted, f.Why, f.Fix)
}

// Check returns the settings of the servers that do not suit the stores, and the rights that the user
// lacks to what the stores do with keys. Each of keys is a key without the prefix of the installation,
// or the beginning of keys and a star. Check does not check a Redis inside this process. The error
// wraps ErrUnavailable.
func (c *Client) Check(ctx context.Context, keys ...string) ([]Finding, error) {
	if c.inProcess != nil {
		return nil, nil
	}
	prefixed := make([]string, len(keys))
	for i, key := range keys {
		prefixed[i] = c.prefix + key
	}
	var mu sync.Mutex
	var all []Finding
	err := c.EachMaster(ctx, func(ctx context.Context, client goredis.UniversalClient) error {
		found, err := checkServer(ctx, client, prefixed)
		if one, ok := client.(*goredis.Client); ok && client != c.writes {
			for i := range found {
				found[i].Server = one.Options().Addr
			}
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, found...)
		return err
	})
	return all, Unavailable("redis: check", err)
}

func checkServer(ctx context.Context, client goredis.UniversalClient, keys []string) ([]Finding, error) {
	// Ask first whether the server answers: an error of the sentinels must not count as a refusal
	// of INFO.
	if err := ping(ctx, client); err != nil {
		return nil, err
	}
	var found []Finding
	info, err := client.Info(ctx, "server").Result()
	version := field(info, "redis_version")
	major, _, _ := strings.Cut(version, ".")
	switch {
	case forbidden(err):
		found = append(found, Finding{
			Setting: "version", Wanted: "7.0 or later", Why: whyVersion, Fix: "Let this user read it: ACL SETUSER <user> +info",
		})
	case err != nil:
		return nil, err
	case !number(7)(major):
		found = append(found, Finding{
			Setting: "version", Found: version, Wanted: "7.0 or later", Why: whyVersion, Fix: "Upgrade the server", Fatal: true,
		})
	}
	if info, err = client.Info(ctx, "replication").Result(); err != nil && !forbidden(err) {
		return nil, err
	}
	if field(info, "role") == "slave" {
		found = append(found, Finding{
			Setting: "role", Found: "replica", Wanted: "master", Why: "a replica takes no messages",
			Fix: "Name the master, or its sentinels", Fatal: true,
		})
	}
	for _, want := range wanted {
		settings, err := client.ConfigGet(ctx, want.setting).Result()
		if err != nil && !forbidden(err) {
			return nil, err
		}
		have, known := settings[want.setting]
		if want.suits(have) {
			continue
		}
		f := Finding{Setting: want.setting, Found: have, Wanted: want.text, Why: want.why, Fix: "Set it: CONFIG SET " + want.setting + " " + want.value}
		if !known {
			f.Fix = "Let this user read it: ACL SETUSER <user> +config|get. " + f.Fix
		}
		found = append(found, f)
	}
	missing, err := missingRights(ctx, client, keys)
	if rights := strings.Join(missing, " "); rights != "" {
		found = append(found, Finding{
			Setting: "the user", Found: "without rights", Wanted: "allowed " + rights, Why: "otherwise requests fail",
			Fix: "Grant the rights: ACL SETUSER <user> " + rights, Fatal: true,
		})
	}
	return found, err
}

const whyVersion = "earlier ones have no EXPIREAT with NX and GT"

// forbidden reports whether Redis refused a command because the user may not run it, or because it
// is renamed.
func forbidden(err error) bool {
	return goredis.HasErrorPrefix(err, "NOPERM") || goredis.HasErrorPrefix(err, "unknown command")
}

// wanted lists the settings that the stores need.
var wanted = []struct {
	setting, value, text, why string
	suits                     func(string) bool
}{
	{
		"maxmemory-policy", "noeviction", "noeviction",
		"otherwise messages vanish without a trace when memory is short", func(v string) bool { return v == "noeviction" },
	},
	{
		"hash-max-listpack-value", "1024", "1024 or more",
		"otherwise a message takes nearly twice the memory", number(1024),
	},
	{
		"hash-max-listpack-entries", "512", "128 or more",
		"otherwise the messages of a bag take nearly twice the memory", number(128),
	},
}

// number returns a function that reports whether a text is a whole number of least or more.
func number(least int) func(string) bool {
	return func(v string) bool {
		n, err := strconv.Atoi(v)
		return err == nil && n >= least
	}
}

// field returns the value of a field of INFO.
func field(info, name string) string {
	_, rest, _ := strings.Cut("\n"+info, "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\r")
	return value
}
