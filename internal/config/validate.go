package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"bagtrail/internal/secret"
)

// validate checks every section, and that sections fit together. Each fault is a [*Fault]. It does
// not check the URL of Redis, whose form only the store knows: see the checks of [Load].
func (c *Config) validate() error {
	return errors.Join(
		c.HTTP.validate(),
		address("ops-addr", c.Ops.Addr),
		c.Kafka.validate(),
		c.WTR.validate(),
		c.Rules.validate(),
		oneOf("log-level", c.Log.Level, "debug", "info", "warn", "error"),
		oneOf("log-format", c.Log.Format, "auto", "json", "console"),
		faultIf(c.Secret != "" && len(c.Secret) < secret.Least, "secret", "has less than %d bytes", secret.Least),
		c.distinctAddresses(),
	)
}

// leastAnswers has room for the list of a large aircraft in the half that a key may have.
const leastAnswers = 2 << 20

func (h HTTP) validate() error {
	return errors.Join(
		address("http-addr", h.Addr),
		faultIf(h.TLSCert != "" && h.TLSKey == "", "http-tls-key", "is missing: TLS needs the certificate and its key"),
		faultIf(h.TLSKey != "" && h.TLSCert == "", "http-tls-cert", "is missing: TLS needs the certificate and its key"),
		faultIf(h.Linger < 0, "http-linger", "is negative"),
		positive("http-drain", h.Drain),
		faultIf(h.AnswerBytes < leastAnswers, "http-answer-bytes", "is less than 2MiB"),
		faultIf(h.Streams < 1, "http-streams", "is less than 1"),
	)
}

var (
	mechanisms = []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
	topicName  = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)
)

func (k Kafka) validate() error {
	var errs []error
	for _, b := range k.Brokers {
		if err := hostPort(b); err != nil {
			errs = append(errs, fault("kafka-brokers", "%q %v", b, err))
		} else if host, port, _ := net.SplitHostPort(b); host == "" || strings.Trim(port, "0") == "" {
			errs = append(errs, fault("kafka-brokers", "%q has no host, or no port to connect to", b))
		}
	}
	return errors.Join(append(errs,
		k.validateSASL(), address("embedded-kafka-addr", k.EmbeddedAddr), k.validateTopics(),
		faultIf(k.InProcess() && !k.EmbeddedUnauthenticated && hostPort(k.EmbeddedAddr) == nil && !loopback(k.EmbeddedAddr), "embedded-kafka-addr",
			"%q is not a loopback address: the in-process broker has no authentication; if everybody who reaches the address may read and write all topics, set %s",
			k.EmbeddedAddr, variable("embedded-kafka-unauthenticated")),
		faultIf(strings.TrimSpace(k.Group) == "", "kafka-group", "is blank"),
	)...)
}

func (k Kafka) validateSASL() error {
	all := strings.Join(mechanisms, ", ")
	if k.Mechanism == "" {
		return faultIf(k.Username != "" || k.Password != "", "kafka-sasl-mechanism", "is missing: a user name or password is given (%s)", all)
	}
	return errors.Join(
		faultIf(!slices.Contains(mechanisms, k.Mechanism), "kafka-sasl-mechanism", "is none of %s", all),
		faultIf(k.Username == "", "kafka-sasl-username", "is missing: SASL needs it"),
		faultIf(k.Password == "", "kafka-sasl-password", "is missing: SASL needs it"),
	)
}

func (k Kafka) validateTopics() error {
	var errs []error
	used := map[string]string{}
	for _, t := range []struct{ name, topic string }{
		{"kafka-topic", k.Topic}, {"kafka-rejects-topic", k.RejectsTopic}, {"kafka-changes-topic", k.ChangesTopic},
		{"kafka-dirty-topic", k.MarksTopic}, {"kafka-webhooks-topic", k.WebhooksTopic},
	} {
		switch {
		case t.topic == "" && (t.name == "kafka-changes-topic" || t.name == "kafka-webhooks-topic"):
		case !topicName.MatchString(t.topic) || t.topic == "." || t.topic == "..":
			errs = append(errs, fault(t.name, "%q is no topic name: letters, digits, dot, underscore, hyphen, at most 249", t.topic))
		case used[t.topic] != "":
			errs = append(errs, fault(t.name, "is the same topic as %s", used[t.topic]))
		default:
			used[t.topic] = variable(t.name)
		}
	}
	return errors.Join(errs...)
}

// longestWTR leaves time for the answer before the caller's connection is closed.
const longestWTR = 25 * time.Second

// validate checks the section. No fault shows the URL, which may hold a password.
func (w WTR) validate() error {
	err := positive("wtr-timeout", w.Timeout)
	if w.Timeout > longestWTR {
		err = fault("wtr-timeout", "is longer than %v: the caller's connection would be closed before the answer", longestWTR)
	}
	if w.InProcess() {
		return err
	}
	u, parseErr := url.Parse(w.URL)
	return errors.Join(err, faultIf(parseErr != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https",
		"wtr-url", "is no http:// or https:// URL"))
}

func (r Rules) validate() error {
	return errors.Join(
		aSecond("retention", r.Retention), aSecond("reject-retention", r.RejectsRetention), aSecond("changes-retention", r.ChangesRetention),
		faultIf(r.DuplicateWindow < 0, "duplicate-window", "is negative"),
		faultIf(r.Retention > 0 && r.DuplicateWindow > r.Retention, "duplicate-window", "is longer than %s", variable("retention")),
	)
}

// distinctAddresses checks that no two servers of one process have the same address.
func (c *Config) distinctAddresses() error {
	servers := []struct{ name, addr string }{{"http-addr", c.HTTP.Addr}, {"ops-addr", c.Ops.Addr}}
	if c.Kafka.InProcess() {
		servers = append(servers, struct{ name, addr string }{"embedded-kafka-addr", c.Kafka.EmbeddedAddr})
	}
	var errs []error
	for i, d := range servers {
		for _, before := range servers[:i] {
			if d.addr == before.addr && !strings.HasSuffix(d.addr, ":0") {
				errs = append(errs, fault(d.name, "is the same address as %s", variable(before.name)))
			}
		}
	}
	return errors.Join(errs...)
}

// A Check is a check that only some commands make.
type Check func(*Config) error

// KeysOrLoopback checks that there is a key file if other machines reach the HTTP server: without
// the file, a key that everybody knows opens everything. Only serve makes a key instead; several
// api processes would each make another.
func KeysOrLoopback(c *Config) error {
	return faultIf(c.Files.Keys == "" && !c.HTTP.Loopback(), "http-addr",
		"%q is not a loopback address: without %s only the development key exists, and it opens everything", c.HTTP.Addr, variable("keys-file"))
}

// SharedRedis checks that Redis runs in a process of its own.
func SharedRedis(c *Config) error {
	return faultIf(c.Redis.InProcess(), "redis-url",
		"is missing: this command needs a Redis that other processes use too; serve alone can run with the in-process Redis")
}

// SharedKafka checks that the brokers run in processes of their own, if there are any.
func SharedKafka(c *Config) error {
	return faultIf(c.Kafka.InProcess(), "kafka-brokers",
		"is missing: this command needs the brokers that other processes use too; serve alone can run with the in-process broker")
}

// SomeKafka checks that Kafka is not off.
func SomeKafka(c *Config) error {
	return faultIf(c.Kafka.Off, "kafka-brokers", "is off: this command reads from Kafka")
}

// InProcessOnly checks that no server is outside this process: simulated traffic must not reach it.
func InProcessOnly(c *Config) error {
	const problem = "must not be set for a demo, which uses in-process servers only"
	return errors.Join(
		faultIf(!c.Redis.InProcess(), "redis-url", problem),
		faultIf(!c.Kafka.InProcess(), "kafka-brokers", problem),
		faultIf(!c.WTR.InProcess(), "wtr-url", problem),
	)
}

// KeysFile checks that there is a key file. A service can do without keys, but not a command that
// edits them.
func KeysFile(c *Config) error {
	return faultIf(c.Files.Keys == "", "keys-file", "is missing: which file holds the keys?")
}

func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func address(name, addr string) error {
	err := hostPort(addr)
	return faultIf(err != nil, name, "%q %v", addr, err)
}

func hostPort(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return errors.New("is not host:port")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("has the port %q, which is none of 0 to 65535", port)
	}
	return nil
}

func positive(name string, d time.Duration) error {
	return faultIf(d <= 0, name, "is not greater than 0")
}

// aSecond checks that a time is not shorter than a second, the unit in which Redis keeps values.
func aSecond(name string, d time.Duration) error {
	return faultIf(d < time.Second, name, "is less than a second")
}

func oneOf(name, value string, values ...string) error {
	return faultIf(!slices.Contains(values, value), name, "%q is none of %s", value, strings.Join(values, ", "))
}
