package config

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is a row of the table: a name, its meaning, and how its text becomes a value.
type setting struct {
	name  string // of the flag: "http-addr"
	init  string // default, as text
	value value
	usage string // for --help; a word in backquotes names the argument

	secret bool // never shown; may be given as a file (name + "-file")
	empty  bool // the empty text is a value

	given given // set by Load
}

// value says what kind of text a setting has, and reads it.
type value struct {
	kind string // "string", "bool", "duration", "size" or "int"
	set  func(text string) error
}

// variable returns the name of the environment variable: BAGTRAIL_HTTP_ADDR.
func variable(name string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Names returns the names of a setting for a sentence about it: BAGTRAIL_HTTP_ADDR / --http-addr.
func Names(name string) string { return variable(name) + " / --" + name }

// key returns the name of the member of the YAML file: http_addr.
func key(name string) string { return strings.ReplaceAll(name, "-", "_") }

const (
	prefix     = "BAGTRAIL_"
	configName = "config"
	fileSuffix = "-file"
)

// settings is the table of all settings, bound to c, in the order in which they are shown.
func (c *Config) settings() []setting {
	return []setting{
		{name: "http-addr", init: "127.0.0.1:8080", value: text(&c.HTTP.Addr), usage: "`address` of the HTTP interface: the operations, /v1, the console and the docs"},
		{name: "http-tls-cert", value: text(&c.HTTP.TLSCert), empty: true, usage: "PEM `file` of the certificate chain; with --http-tls-key it turns TLS on"},
		{name: "http-tls-key", value: text(&c.HTTP.TLSKey), empty: true, usage: "PEM `file` of the private key of the certificate"},
		{name: "http-linger", init: "0s", value: duration(&c.HTTP.Linger), usage: "how long a stopping process still takes requests, so that load balancers notice"},
		{name: "http-drain", init: "20s", value: duration(&c.HTTP.Drain), usage: "how long a stopping process waits for requests under way"},
		{name: "http-answer-bytes", init: "64MiB", value: size(&c.HTTP.AnswerBytes), usage: "`size` of each of four memories: for all large answers, large bodies of /v1 and large changes of streams; for the data from which answers are made; for the data from which webhooks are made; for large changes that are posted to webhooks"},
		{name: "http-streams", init: "100", value: count(&c.HTTP.Streams), usage: "`number` of streams and of requests that wait for changes that a key may have open at a process, together"},
		{name: "cors-origins", value: origins(&c.HTTP.Origins), empty: true, usage: "comma-separated `list` of origins, such as https://ops.example, whose pages may call /v1"},
		{name: "trusted-proxies", value: networks(&c.HTTP.TrustedProxies), empty: true, usage: "comma-separated `list` of addresses and networks whose X-Forwarded-For names the caller, and whose X-Forwarded-Proto says whether it uses TLS"},
		{name: "console", init: "on", value: onOff(&c.HTTP.Console), usage: "`on` or off: serve the pages for people under /console"},
		{name: "webhook-networks", value: networks(&c.HTTP.WebhookNetworks), empty: true, usage: "comma-separated `list` of addresses and networks to which webhooks may be posted in addition to public addresses; if set, http is allowed for every address"},
		{name: "ops-addr", init: "127.0.0.1:8081", value: text(&c.Ops.Addr), usage: "`address` on which /livez, /readyz, /metrics and /debug/pprof are served"},
		{name: "data-dir", init: "./bagtrail-data", value: text(&c.DataDir), usage: "`directory` of the data of the in-process broker, and of the secret and the key file that serve makes"},
		{name: "secret", value: text(&c.Secret), empty: true, secret: true, usage: "`secret` of at least 32 bytes, the same in all processes, that signs webhooks and browser sessions"},
		{name: "redis-url", value: text(&c.Redis.URL), empty: true, secret: true, usage: "`URL` of Redis: redis://, rediss://, redis+cluster://a,b,c or redis+sentinel://a,b,c/master; empty: in process"},
		{name: "kafka-brokers", value: brokers(&c.Kafka), empty: true, usage: "comma-separated `list` of host:port; off: no Kafka; empty: in process"},
		{name: "kafka-tls", init: "false", value: truth(&c.Kafka.TLS), usage: "use TLS to the brokers"},
		{name: "kafka-sasl-mechanism", value: text(&c.Kafka.Mechanism), empty: true, usage: "SASL `mechanism`: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; empty: no SASL"},
		{name: "kafka-sasl-username", value: text(&c.Kafka.Username), empty: true, usage: "user `name` for SASL"},
		{name: "kafka-sasl-password", value: text(&c.Kafka.Password), empty: true, secret: true, usage: "`password` for SASL"},
		{name: "embedded-kafka-addr", init: "127.0.0.1:9092", value: text(&c.Kafka.EmbeddedAddr), usage: "`address` on which the in-process broker listens"},
		{name: "embedded-kafka-unauthenticated", init: "false", value: truth(&c.Kafka.EmbeddedUnauthenticated), usage: "let the in-process broker, which has no authentication, listen on an address other than loopback"},
		{name: "embedded-kafka-accept-loss", init: "false", value: truth(&c.Kafka.AcceptLoss), usage: "let the in-process broker start although part of its log is lost"},
		{name: "kafka-topic", init: "bim.raw", value: text(&c.Kafka.Topic), usage: "`topic` of the messages as sent"},
		{name: "kafka-rejects-topic", init: "bim.rejected", value: text(&c.Kafka.RejectsTopic), usage: "`topic` of the rejected messages"},
		{name: "kafka-changes-topic", init: "bag.changes", value: text(&c.Kafka.ChangesTopic), empty: true, usage: "`topic` of the changes; empty: there are no changes"},
		{name: "kafka-dirty-topic", init: "bag.dirty", value: text(&c.Kafka.MarksTopic), usage: "`topic` of the marks of plates that may have changed"},
		{name: "kafka-webhooks-topic", init: "bag.webhooks", value: text(&c.Kafka.WebhooksTopic), empty: true, usage: "compacted `topic` of the webhooks; empty: there are no webhooks"},
		{name: "kafka-group", init: "bagtrail", value: text(&c.Kafka.Group), usage: "consumer `group` of all processes that share the index"},
		{name: "keys-file", value: text(&c.Files.Keys), empty: true, usage: "YAML `file` of API keys; empty: the development key on loopback, elsewhere serve makes a key"},
		{name: "airports-file", value: text(&c.Files.Airports), empty: true, usage: "YAML `file` of more airports and more .B codes"},
		{name: "airlines-file", value: text(&c.Files.Airlines), empty: true, usage: "YAML `file` of more pairs of IATA and ICAO airline codes"},
		{name: "flights-file", value: text(&c.Files.Flights), empty: true, usage: "YAML `file` of flight reference data"},
		{name: "wtr-url", value: text(&c.WTR.URL), empty: true, secret: true, usage: "`URL` of the delayed-bag system; empty: a simulator in process"},
		{name: "wtr-timeout", init: "10s", value: duration(&c.WTR.Timeout), usage: "how long the delayed-bag system may take to answer"},
		{name: "retention", init: "4320h", value: duration(&c.Rules.Retention), usage: "how long a bag is kept after its last event"},
		{name: "duplicate-window", init: "10m", value: duration(&c.Rules.DuplicateWindow), usage: "how long a message with the same text counts as a duplicate"},
		{name: "reject-retention", init: "336h", value: duration(&c.Rules.RejectsRetention), usage: "how long a rejected message is kept in Redis, from when it was received"},
		{name: "changes-retention", init: "72h", value: duration(&c.Rules.ChangesRetention), usage: "how long a change stays in the index of changes, and a cursor is valid"},
		{name: "log-level", init: "info", value: text(&c.Log.Level), usage: "log `level`: debug, info, warn or error"},
		{name: "log-format", init: "auto", value: text(&c.Log.Format), usage: "log `format`: json, console, or auto, which is console on a terminal and json elsewhere"},
	}
}

func text(dst *string) value {
	return value{"string", func(s string) error { *dst = s; return nil }}
}

// parsed returns a value whose text parse reads. problem says what is wrong with a text that parse
// refuses.
func parsed[T any](kind string, dst *T, parse func(string) (T, error), problem string) value {
	return value{kind, func(s string) error {
		v, err := parse(s)
		if err != nil {
			return errors.New(problem)
		}
		*dst = v
		return nil
	}}
}

func truth(dst *bool) value {
	return parsed("bool", dst, strconv.ParseBool, "is neither true nor false")
}

func onOff(dst *bool) value {
	return value{"string", func(s string) error {
		if s != "on" && s != "off" {
			return errors.New("is neither on nor off")
		}
		*dst = s == "on"
		return nil
	}}
}

func duration(dst *time.Duration) value {
	return parsed("duration", dst, time.ParseDuration, "is not a duration such as 10s, 5m or 4320h")
}

func size(dst *int64) value {
	return value{"size", func(s string) error {
		number, unit := s, uint64(1)
		for i, name := range []string{"KiB", "MiB", "GiB"} {
			if before, found := strings.CutSuffix(s, name); found {
				number, unit = before, 1<<(10*(i+1))
			}
		}
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil || n > math.MaxInt64/unit {
			return errors.New("is not a size such as 512KiB, 64MiB or 1GiB")
		}
		*dst = int64(n * unit)
		return nil
	}}
}

func count(dst *int) value {
	return parsed("int", dst, strconv.Atoi, "is not a whole number")
}

func networks(dst *[]netip.Prefix) value {
	return value{"string", func(s string) error {
		*dst = nil
		for item := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == ' ' }) {
			network, err := netip.ParsePrefix(item)
			if address, single := netip.ParseAddr(item); single == nil {
				network, err = address.Unmap().Prefix(address.Unmap().BitLen())
			}
			if err != nil {
				return fmt.Errorf("holds %q, which is neither an address nor a network such as 10.0.0.0/8", item)
			}
			*dst = append(*dst, network)
		}
		return nil
	}}
}

// usualPorts are the default ports of the schemes, which an origin leaves out.
var usualPorts = map[string]string{"http": "80", "https": "443"}

func origins(dst *[]string) value {
	return value{"string", func(s string) error {
		*dst = nil
		for item := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == ' ' }) {
			u, err := url.Parse(item)
			if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || item != u.Scheme+"://"+u.Host ||
				u.Host != strings.ToLower(u.Host) || u.Port() == usualPorts[u.Scheme] { // browsers send neither capitals nor a usual port
				return fmt.Errorf("holds %q, which is not an origin such as https://ops.example", item)
			}
			*dst = append(*dst, item)
		}
		return nil
	}}
}

func brokers(k *Kafka) value {
	return value{"string", func(s string) error {
		k.Brokers, k.Off = nil, s == "off"
		if s == "" || k.Off {
			return nil
		}
		for item := range strings.SplitSeq(s, ",") {
			k.Brokers = append(k.Brokers, strings.TrimSpace(item))
		}
		return nil
	}}
}

// Fault is one fault of the configuration.
type Fault struct {
	Variable string // the variable that is at fault: BAGTRAIL_HTTP_ADDR
	Problem  string
	Source   string // of the value; "" if it is missing
}

func (f *Fault) Error() string {
	if f.Source == "" {
		return fmt.Sprintf("%s %s", f.Variable, f.Problem)
	}
	return fmt.Sprintf("%s %s (%s)", f.Variable, f.Problem, f.Source)
}

// Faults collects the faults of a configuration.
type Faults struct {
	settings []setting // with the given texts
	all      []error
	unread   bool // the file of settings cannot be read or is no YAML: nobody knows which settings it holds
}

// If adds a fault of the setting name if faulty is true.
func (f *Faults) If(faulty bool, name, format string, args ...any) {
	if faulty {
		i := slices.IndexFunc(f.settings, func(s setting) bool { return s.name == name })
		f.add(name, f.settings[i].given.source, format, args...)
	}
}

// Add adds any other error. It ignores nil.
func (f *Faults) Add(err error) { f.all = append(f.all, err) }

func (f *Faults) add(name, source, format string, args ...any) {
	f.Add(&Fault{variable(name), fmt.Sprintf(format, args...), source})
}
