package config

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// setting is one row of the table: a name, what it means, and how its text becomes a value of the Config.
type setting struct {
	name   string // of the flag: "http-addr"
	init   string // default, as text
	set    func(text string) error
	usage  string
	secret bool // never shown; may be given as a file (name + "-file")
	empty  bool // the empty text is a value
	toggle bool // a flag without value means true
}

// variable returns the name of the environment variable: BAGTRAIL_HTTP_ADDR.
func (s setting) variable() string { return variable(s.name) }

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
		{name: "http-addr", init: "127.0.0.1:8080", set: text(&c.HTTP.Addr), usage: "`address` of the five operations"},
		{name: "http-tls-cert", set: text(&c.HTTP.TLSCert), empty: true, usage: "certificate chain, a PEM `file`; with --http-tls-key turns TLS on"},
		{name: "http-tls-key", set: text(&c.HTTP.TLSKey), empty: true, usage: "private key of the certificate, a PEM `file`"},
		{name: "http-linger", init: "0s", set: duration(&c.HTTP.Linger), usage: "how `long` a process that is to stop still takes requests, so that balancers notice"},
		{name: "http-drain", init: "20s", set: duration(&c.HTTP.Drain), usage: "how `long` a stop waits for requests under way"},
		{name: "http-answer-bytes", init: "64MiB", set: size(&c.HTTP.AnswerBytes), usage: "`size` of all large answers under way, and of what they are made of"},
		{name: "trusted-proxies", set: networks(&c.HTTP.TrustedProxies), empty: true, usage: "comma `list` of addresses and networks whose X-Forwarded-For names the caller"},
		{name: "ops-addr", init: "127.0.0.1:8081", set: text(&c.Ops.Addr), usage: "`address` of /livez, /readyz, /metrics, /debug/pprof"},
		{name: "data-dir", init: "./bagtrail-data", set: text(&c.DataDir), usage: "`directory` of what the in-process servers keep"},
		{name: "redis-url", set: text(&c.Redis.URL), empty: true, secret: true, usage: "`URL` of the index: redis://, rediss://, redis+cluster://a,b,c, redis+sentinel://a,b,c/master; none: in-process"},
		{name: "kafka-brokers", set: brokers(&c.Kafka), empty: true, usage: "comma `list` of host:port; off: no Kafka at all; none: in-process"},
		{name: "kafka-tls", init: "false", set: truth(&c.Kafka.TLS), toggle: true, usage: "speak TLS with the brokers"},
		{name: "kafka-sasl-mechanism", set: text(&c.Kafka.Mechanism), empty: true, usage: "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; none: no SASL"},
		{name: "kafka-sasl-username", set: text(&c.Kafka.Username), empty: true, usage: "user `name` for SASL"},
		{name: "kafka-sasl-password", set: text(&c.Kafka.Password), empty: true, secret: true, usage: "`password` for SASL"},
		{name: "embedded-kafka-addr", init: "127.0.0.1:9092", set: text(&c.Kafka.EmbeddedAddr), usage: "`address` on which the in-process broker listens"},
		{name: "embedded-kafka-unauthenticated", init: "false", set: truth(&c.Kafka.EmbeddedOpen), toggle: true, usage: "let the in-process broker listen on another address than loopback: it has no authentication"},
		{name: "embedded-kafka-accept-loss", init: "false", set: truth(&c.Kafka.AcceptLoss), toggle: true, usage: "let the in-process broker start although a part of its log is lost, with what is readable"},
		{name: "kafka-topic", init: "bim.raw", set: text(&c.Kafka.Topic), usage: "`topic` of the messages as sent"},
		{name: "kafka-rejects-topic", init: "bim.rejected", set: text(&c.Kafka.RejectsTopic), usage: "`topic` of the messages that were rejected"},
		{name: "kafka-events-topic", init: "bag.events", set: text(&c.Kafka.EventsTopic), empty: true, usage: "`topic` of the events; empty: events are not published"},
		{name: "kafka-group", init: "bagtrail", set: text(&c.Kafka.Group), usage: "consumer `group` of all processes that share the index"},
		{name: "keys-file", set: text(&c.Files.Keys), empty: true, usage: "YAML `file` of API keys; none: one development key on loopback, else serve makes a key in the data directory"},
		{name: "airports-file", set: text(&c.Files.Airports), empty: true, usage: "YAML `file` of more airports and more .B codes"},
		{name: "airlines-file", set: text(&c.Files.Airlines), empty: true, usage: "YAML `file` of more pairs of IATA and ICAO airline codes"},
		{name: "flights-file", set: text(&c.Files.Flights), empty: true, usage: "YAML `file` of flight reference data"},
		{name: "wtr-url", set: text(&c.WTR.URL), empty: true, secret: true, usage: "`URL` of the downstream delayed-bag system; none: in-process simulator"},
		{name: "wtr-timeout", init: "10s", set: duration(&c.WTR.Timeout), usage: "how `long` the delayed-bag system may take"},
		{name: "retention", init: "4320h", set: duration(&c.Rules.Retention), usage: "how `long` a bag is kept after its last event"},
		{name: "duplicate-window", init: "10m", set: duration(&c.Rules.DuplicateWindow), usage: "how `long` an equal text counts as a copy"},
		{name: "log-level", init: "info", set: text(&c.Log.Level), usage: "debug, info, warn or error"},
		{name: "log-format", init: "auto", set: text(&c.Log.Format), usage: "json, console, or auto: console on a terminal, else json"},
	}
}

func text(dst *string) func(string) error {
	return func(s string) error { *dst = s; return nil }
}

func truth(dst *bool) func(string) error {
	return func(s string) error {
		v, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("is neither true nor false")
		}
		*dst = v
		return nil
	}
}

func duration(dst *time.Duration) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil {
			return errors.New("is no duration such as 10s, 5m or 4320h")
		}
		*dst = d
		return nil
	}
}

func size(dst *int64) func(string) error {
	return func(s string) error {
		number, unit := s, int64(1)
		for i, name := range []string{"KiB", "MiB", "GiB"} {
			if before, found := strings.CutSuffix(s, name); found {
				number, unit = before, 1<<(10*(i+1))
			}
		}
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			return errors.New("is no size such as 512KiB, 64MiB or 1GiB")
		}
		*dst = n * unit
		return nil
	}
}

func networks(dst *[]netip.Prefix) func(string) error {
	return func(s string) error {
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
	}
}

func brokers(k *Kafka) func(string) error {
	return func(s string) error {
		k.Brokers, k.Off = nil, s == "off"
		if s == "" || k.Off {
			return nil
		}
		for item := range strings.SplitSeq(s, ",") {
			k.Brokers = append(k.Brokers, strings.TrimSpace(item))
		}
		return nil
	}
}

// Fault is one thing that is wrong with the configuration.
type Fault struct {
	Variable string // BAGTRAIL_HTTP_ADDR; what it is about
	Problem  string
	Source   string // where the value came from, or ""
}

func (f *Fault) Error() string {
	if f.Source == "" {
		return fmt.Sprintf("%s %s", f.Variable, f.Problem)
	}
	return fmt.Sprintf("%s %s (%s)", f.Variable, f.Problem, f.Source)
}

// fault makes the Fault of the setting called name.
func fault(name, format string, args ...any) error {
	return &Fault{Variable: variable(name), Problem: fmt.Sprintf(format, args...)}
}
