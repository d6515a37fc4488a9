package config

import (
	"cmp"
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

// validate checks every section, and that sections fit together. It does not check the URL of
// Redis, whose form only the store knows: see the checks of [Load].
func (c *Config) validate(f *Faults) {
	c.HTTP.validate(f)
	f.address("ops-addr", c.Ops.Addr)
	c.Kafka.validate(f)
	c.WTR.validate(f)
	c.Rules.validate(f)
	f.oneOf("log-level", c.Log.Level, "debug", "info", "warn", "error")
	f.oneOf("log-format", c.Log.Format, "auto", "json", "console")
	f.If(c.Secret != "" && len(c.Secret) < secret.Least, "secret", "has less than %d bytes", secret.Least)
	c.distinctAddresses(f)
}

// leastAnswers is the smallest AnswerBytes. Its half, which a key may use, has room for the list of
// bags of a large aircraft.
const leastAnswers = 2 << 20

func (h HTTP) validate(f *Faults) {
	f.address("http-addr", h.Addr)
	f.If(h.TLSCert != "" && h.TLSKey == "", "http-tls-key", "is missing: TLS needs the certificate and its key")
	f.If(h.TLSKey != "" && h.TLSCert == "", "http-tls-cert", "is missing: TLS needs the certificate and its key")
	f.If(h.Linger < 0, "http-linger", "is negative")
	f.positive("http-drain", h.Drain)
	f.If(h.AnswerBytes < leastAnswers, "http-answer-bytes", "is less than 2MiB")
	f.If(h.Streams < 1, "http-streams", "is less than 1")
}

var (
	mechanisms = []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
	topicName  = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)
)

func (k Kafka) validate(f *Faults) {
	for _, b := range k.Brokers {
		err := hostPort(b)
		f.If(err != nil, "kafka-brokers", "%q %v", b, err)
		host, port, _ := net.SplitHostPort(b)
		f.If(err == nil && (host == "" || strings.Trim(port, "0") == ""), "kafka-brokers", "%q has no host, or no port to connect to", b)
	}
	k.validateSASL(f)
	f.address("embedded-kafka-addr", k.EmbeddedAddr)
	k.validateTopics(f)
	f.If(k.InProcess() && !k.EmbeddedUnauthenticated && hostPort(k.EmbeddedAddr) == nil && !loopback(k.EmbeddedAddr), "embedded-kafka-addr",
		"%q is not a loopback address: the in-process broker has no authentication; if everybody who reaches the address may read and write all topics, set %s",
		k.EmbeddedAddr, variable("embedded-kafka-unauthenticated"))
	f.If(strings.TrimSpace(k.Group) == "", "kafka-group", "is blank")
}

func (k Kafka) validateSASL(f *Faults) {
	all := strings.Join(mechanisms, ", ")
	if k.Mechanism == "" {
		f.If(k.Username != "" || k.Password != "", "kafka-sasl-mechanism", "is missing: a user name or password is given (%s)", all)
		return
	}
	f.If(!slices.Contains(mechanisms, k.Mechanism), "kafka-sasl-mechanism", "is none of %s", all)
	f.If(k.Username == "", "kafka-sasl-username", "is missing: SASL needs it")
	f.If(k.Password == "", "kafka-sasl-password", "is missing: SASL needs it")
}

func (k Kafka) validateTopics(f *Faults) {
	used := map[string]string{}
	for _, t := range []struct{ name, topic string }{
		{"kafka-topic", k.Topic}, {"kafka-rejects-topic", k.RejectsTopic}, {"kafka-changes-topic", k.ChangesTopic},
		{"kafka-dirty-topic", k.MarksTopic}, {"kafka-webhooks-topic", k.WebhooksTopic},
	} {
		if t.topic == "" && (t.name == "kafka-changes-topic" || t.name == "kafka-webhooks-topic") {
			continue
		}
		valid := topicName.MatchString(t.topic) && t.topic != "." && t.topic != ".."
		f.If(!valid, t.name, "%q is not a topic name: letters, digits, dot, underscore, hyphen, at most 249", t.topic)
		f.If(valid && used[t.topic] != "", t.name, "is the same topic as %s", used[t.topic])
		used[t.topic] = cmp.Or(used[t.topic], variable(t.name))
	}
}

// longestWTR is the longest timeout of the delayed-bag system. It leaves time to answer before the
// caller's connection is closed.
const longestWTR = 25 * time.Second

// validate checks the section. No fault shows the URL, which may hold a password.
func (w WTR) validate(f *Faults) {
	f.positive("wtr-timeout", w.Timeout)
	f.If(w.Timeout > longestWTR, "wtr-timeout", "is longer than %v: the caller's connection would be closed before the answer", longestWTR)
	u, err := url.Parse(w.URL)
	f.If(!w.InProcess() && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https"), "wtr-url", "is not an http:// or https:// URL")
}

func (r Rules) validate(f *Faults) {
	f.kept("retention", r.Retention)
	f.kept("reject-retention", r.RejectsRetention)
	f.kept("changes-retention", r.ChangesRetention)
	f.If(r.DuplicateWindow < 0, "duplicate-window", "is negative")
	f.If(r.Retention > 0 && r.DuplicateWindow > r.Retention, "duplicate-window", "is longer than %s", variable("retention"))
}

// distinctAddresses checks that no two servers of one process have the same address.
func (c *Config) distinctAddresses(f *Faults) {
	servers := []struct{ name, addr string }{{"http-addr", c.HTTP.Addr}, {"ops-addr", c.Ops.Addr}, {"embedded-kafka-addr", c.Kafka.EmbeddedAddr}}
	if !c.Kafka.InProcess() {
		servers = servers[:2]
	}
	for i, s := range servers {
		for _, before := range servers[:i] {
			f.If(s.addr == before.addr && !strings.HasSuffix(s.addr, ":0"), s.name, "is the same address as %s", variable(before.name))
		}
	}
}

// A Check is a check that only some commands make. It adds the faults that it finds.
type Check func(*Config, *Faults)

// KeysOrLoopback checks that there is a key file if other machines reach the HTTP server: without
// the file, a key that everybody knows opens everything. Only serve makes a key instead; several
// api processes would each make another.
func KeysOrLoopback(c *Config, f *Faults) {
	f.If(c.Files.Keys == "" && !c.HTTP.Loopback(), "http-addr",
		"%q is not a loopback address: without %s only the development key exists, and it opens everything", c.HTTP.Addr, variable("keys-file"))
}

// SharedRedis checks that Redis runs outside this process.
func SharedRedis(c *Config, f *Faults) {
	f.If(c.Redis.InProcess(), "redis-url",
		"is missing: this command needs a Redis that other processes use too; serve alone can run with the in-process Redis")
}

// SharedKafka checks that the brokers, if there are any, run outside this process.
func SharedKafka(c *Config, f *Faults) {
	f.If(c.Kafka.InProcess(), "kafka-brokers",
		"is missing: this command needs the brokers that other processes use too; serve alone can run with the in-process broker")
}

// SomeKafka checks that Kafka is not off.
func SomeKafka(c *Config, f *Faults) {
	f.If(c.Kafka.Off, "kafka-brokers", "is off: this command needs Kafka")
}

// InProcessOnly checks that no server is outside this process: simulated traffic must not reach it.
func InProcessOnly(c *Config, f *Faults) {
	const problem = "must not be set for a demo, which uses in-process servers only"
	f.If(!c.Redis.InProcess(), "redis-url", problem)
	f.If(!c.Kafka.InProcess(), "kafka-brokers", problem)
	f.If(!c.WTR.InProcess(), "wtr-url", problem)
}

// KeysFile checks that there is a key file. A service can do without keys, but not a command that
// edits them.
func KeysFile(c *Config, f *Faults) {
	f.If(c.Files.Keys == "", "keys-file", "is missing: it names the file to read or edit")
}

func loopback(addr string) bool {
	host, _, _ := net.SplitHostPort(addr)
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

func (f *Faults) address(name, addr string) {
	err := hostPort(addr)
	f.If(err != nil, name, "%q %v", addr, err)
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

func (f *Faults) positive(name string, d time.Duration) {
	f.If(d <= 0, name, "is not greater than 0")
}

// longestKept is the longest retention. A time.Duration holds at most 292 years, and the service
// adds other durations to a retention.
const longestKept = 100 * 365 * 24 * time.Hour

// kept checks that a retention is not shorter than a second, the unit in which Redis keeps values, nor
// longer than 100 years.
func (f *Faults) kept(name string, d time.Duration) {
	f.If(d < time.Second, name, "is less than a second")
	f.If(d > longestKept, name, "is longer than 100 years, %dh", longestKept/time.Hour)
}

func (f *Faults) oneOf(name, value string, values ...string) {
	f.If(!slices.Contains(values, value), name, "%q is none of %s", value, strings.Join(values, ", "))
}
