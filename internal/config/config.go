// Package config turns flags, environment and a YAML file into one typed [Config].
//
// One table ([Config.settings]) names every setting, its default and how its text is read. Flags,
// variables, members of the file, help and `bagtrail config` follow from it. A flag overrides the
// environment, the environment the file, and the file the default. All faults are reported in one
// error. The package opens only the file that --config names and the files that hold secrets.
package config

import (
	"net/netip"
	"time"
)

// Config is the effective configuration. It is plain data, which [Load] checks.
type Config struct {
	HTTP    HTTP
	Ops     Ops
	DataDir string // of the in-process broker, and of the secret and the key file that serve makes
	Secret  string // the secret from which keys are derived; "" if there is none
	Redis   Redis
	Kafka   Kafka
	WTR     WTR
	Files   Files
	Rules   Rules
	Log     Log
}

// HTTP is the server of all operations and pages.
type HTTP struct {
	Addr    string // host:port
	TLSCert string // PEM file, or "" for plain HTTP
	TLSKey  string
	Linger  time.Duration // how long a stopping process still takes requests, so that load balancers notice
	Drain   time.Duration // how long it then waits for requests under way

	AnswerBytes    int64          // size in bytes of each of four memories, see the setting http-answer-bytes
	Streams        int            // how many streams and waiting requests a key may have open, together
	Origins        []string       // origins whose pages may call /v1 from a browser
	TrustedProxies []netip.Prefix // proxies whose X-Forwarded-For names the caller
	Console        bool           // serve the pages under /console

	WebhookNetworks []netip.Prefix // networks to which webhooks may be posted in addition to public addresses
}

// TLS reports whether the server speaks HTTPS.
func (h HTTP) TLS() bool { return h.TLSCert != "" }

// Loopback reports whether only this machine reaches the server.
func (h HTTP) Loopback() bool { return loopback(h.Addr) }

// Ops is the server for operators.
type Ops struct {
	Addr string // host:port
}

// Redis holds the index.
type Redis struct {
	URL string // "" for the in-process Redis
}

// InProcess reports whether Redis runs in this process.
func (r Redis) InProcess() bool { return r.URL == "" }

// Kafka holds the topics: messages, rejects, marks, changes and webhooks.
type Kafka struct {
	Brokers                 []string // host:port; empty for the in-process broker, unless Off
	Off                     bool     // no Kafka at all
	TLS                     bool
	Mechanism               string // PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, or "" for no SASL
	Username                string
	Password                string
	EmbeddedAddr            string // of the in-process broker
	EmbeddedUnauthenticated bool   // that address may be other than loopback, although the broker has no authentication
	AcceptLoss              bool   // the in-process broker starts without the lost part of its log
	Topic                   string // messages as sent
	RejectsTopic            string
	ChangesTopic            string // "": there are no changes
	MarksTopic              string // marks of plates that may have changed
	WebhooksTopic           string // "": there are no webhooks
	Group                   string
}

// InProcess reports whether the broker runs in this process.
func (k Kafka) InProcess() bool { return !k.Off && len(k.Brokers) == 0 }

// WTR is the downstream delayed-bag system.
type WTR struct {
	URL     string // "" for the in-process simulator
	Timeout time.Duration
}

// InProcess reports whether the delayed-bag system is simulated in this process.
func (w WTR) InProcess() bool { return w.URL == "" }

// Files are the names of files of keys and reference data; "" if there is none.
type Files struct {
	Keys     string
	Airports string
	Airlines string
	Flights  string
}

// Rules are the durations of rules §3 and §5, and those of rejects and changes.
type Rules struct {
	Retention        time.Duration
	DuplicateWindow  time.Duration
	RejectsRetention time.Duration
	ChangesRetention time.Duration
}

// Log is the level and the format of the log.
type Log struct {
	Level  string // debug, info, warn, error
	Format string // auto (console on a terminal, else json), json, console
}
