package redis

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// Address says where Redis is, and with which user and password to connect. Its other options are
// not set.
type Address struct {
	goredis.UniversalOptions
	Prefix string // of all keys
}

// schemes are the kinds of addresses, by scheme without the s for TLS.
var schemes = map[string]struct {
	port              string
	cluster, sentinel bool
}{
	"redis":          {port: "6379"},
	"redis+cluster":  {port: "6379", cluster: true},
	"redis+sentinel": {port: "26379", sentinel: true},
}

// ParseURL reads the address of a Redis server, a cluster, or the sentinels of a server:
//
//	redis://user:password@host:6379/0
//	redis+cluster://user:password@a:6379,b,c
//	redis+sentinel://user:password@a:26379,b,c/master/0
//
// With rediss in place of redis the connection uses TLS. User, password, port and database are
// optional; user and password are percent-encoded. Parameters: prefix, the prefix of all keys; ca,
// a file with the certificates to trust instead of those of the system; sentinel_user and
// sentinel_password.
//
// An error reports every fault, and never a password.
func ParseURL(text string) (Address, error) {
	p := urlParser{}
	scheme, rest, ok := strings.Cut(text, "://")
	plain := strings.Replace(scheme, "rediss", "redis", 1)
	kind, known := schemes[plain]
	if !ok || !known {
		return Address{}, errors.New("redis URL: it must begin with redis://, redis+cluster:// or redis+sentinel://, or the same with rediss for TLS")
	}
	p.IsClusterMode = kind.cluster
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	split := strings.Contains(path+query, "@") // perhaps within the password
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, password, _ := strings.Cut(authority[:at], ":")
		p.Username, p.Password = p.decode("user", user), p.decode("password", password)
		authority = authority[at+1:]
	}
	p.hosts(authority, kind.port, kind.cluster || kind.sentinel)
	if kind.sentinel {
		p.MasterName, path, _ = strings.Cut(path, "/")
		if p.MasterName = p.decode("master", p.MasterName); p.MasterName == "" {
			p.fault("the name of the master is missing: redis+sentinel://a,b,c/master")
		}
	}
	p.database(path)
	if plain != scheme {
		p.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	p.parameters(query, kind.sentinel)
	if p.faults != nil && split { // they might repeat a part of it
		return Address{}, errors.New("redis URL: an @ follows a / or a ?: in the user and the password write / as %2F and ? as %3F, in parameters write @ as %40")
	}
	if p.faults != nil {
		return Address{}, errors.Join(p.faults...)
	}
	return p.Address, nil
}

// urlParser holds the part of the address that is parsed so far, and its faults.
type urlParser struct {
	Address
	faults []error
}

func (p *urlParser) fault(format string, args ...any) {
	p.faults = append(p.faults, fmt.Errorf("redis URL: "+format, args...))
}

// decode decodes percent signs. A fault does not repeat the text, which may be secret.
func (p *urlParser) decode(what, text string) string {
	decoded, err := url.PathUnescape(text)
	if err != nil {
		p.fault("the %s is not percent-encoded properly", what)
	}
	return decoded
}

func (p *urlParser) hosts(list, port string, several bool) {
	if list == "" {
		p.fault("the host is missing")
		return
	}
	for host := range strings.SplitSeq(list, ",") {
		name, number, err := net.SplitHostPort(host)
		if err != nil {
			name, number = strings.Trim(host, "[]"), port
			_, _, err = net.SplitHostPort(net.JoinHostPort(name, number))
		}
		if err != nil || name == "" || strings.ContainsAny(name, "@[]") {
			p.fault("%q is not a host, or host:port", host)
			continue
		}
		if n, err := strconv.Atoi(number); err != nil || n < 1 || n > 65535 { // or it is a password without a host
			p.fault("the port of %q is not a number from 1 to 65535", name)
			continue
		}
		p.Addrs = append(p.Addrs, net.JoinHostPort(name, number))
	}
	if len(p.Addrs) > 1 && !several {
		p.fault("there are several hosts; a cluster is redis+cluster://, sentinels are redis+sentinel://")
	}
}

func (p *urlParser) database(text string) {
	if text == "" {
		return
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n < 0:
		p.fault("%q is not the number of a database", text)
	case n > 0 && p.IsClusterMode:
		p.fault("a cluster has no database but 0")
	default:
		p.DB = n
	}
}

func (p *urlParser) parameters(query string, sentinel bool) {
	values, err := url.ParseQuery(query)
	if err != nil {
		p.fault("the parameters are not percent-encoded properly")
		return
	}
	targets := map[string]*string{"prefix": &p.Prefix, "ca": new(string)}
	if sentinel {
		targets["sentinel_user"], targets["sentinel_password"] = &p.SentinelUsername, &p.SentinelPassword
	}
	for name, value := range values {
		switch target := targets[name]; {
		case target == nil:
			p.fault("unknown parameter %q", name)
		case len(value) > 1:
			p.fault("parameter %q is repeated", name)
		default:
			*target = value[0]
		}
	}
	if p.IsClusterMode && strings.ContainsAny(p.Prefix, "{}") {
		p.fault("parameter \"prefix\": in a cluster, a prefix must not hold a brace, since braces decide on which node a key is")
	}
	if file := *targets["ca"]; file != "" {
		p.trust(file)
	}
}

// trust makes TLS trust the certificates in a file, and no others.
func (p *urlParser) trust(file string) {
	if p.TLSConfig == nil {
		p.fault("parameter \"ca\" needs TLS: rediss://")
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		p.fault("parameter \"ca\": %w", err)
		return
	}
	p.TLSConfig.RootCAs = x509.NewCertPool()
	if !p.TLSConfig.RootCAs.AppendCertsFromPEM(text) {
		p.fault("parameter \"ca\": %s holds no certificate", file)
	}
}
