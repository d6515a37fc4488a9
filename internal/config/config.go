// Package config turns flags, environment and a YAML file into one typed [Config].
//
// One table ([Config.settings]) names every setting, its default and how its text is read; flags, variables, file
// keys, help and `bagtrail config` all follow from it. A flag counts over the environment, the environment over the
// file, the file over the default. Every fault is found and reported in one error. Nothing is opened here but the
// file named by --config and the files that hold secrets.
package config

import (
	"net/netip"
	"time"
)

// Config is the effective configuration. It is plain data; [Load] is what checks it.
type Config struct {
	HTTP    HTTP
	Ops     Ops
	DataDir string // where the in-process servers keep their data
	Redis   Redis
	Kafka   Kafka
	WTR     WTR
	Files   Files
	Rules   Rules
	Log     Log
}

// HTTP is the door that customers see.
type HTTP struct {
	Addr    string // host:port
	TLSCert string // PEM file, or "" for plain HTTP
	TLSKey  string
	Linger  time.Duration // how long a process that is to stop still takes requests, so that balancers notice
	Drain   time.Duration // how long a stop waits for requests under way

	AnswerBytes    int64          // of all large answers under way
	TrustedProxies []netip.Prefix // who say in X-Forwarded-For for whom they ask
}

// TLS reports whether the door speaks HTTPS.
func (h HTTP) TLS() bool { return h.TLSCert != "" }

// Loopback reports whether only this machine reaches the door.
func (h HTTP) Loopback() bool { return loopback(h.Addr) }

// Ops is the door that operators see.
type Ops struct {
	Addr string // host:port
}

// Redis is where the index is kept.
type Redis struct {
	URL string // "" for the in-process Redis
}

// InProcess reports whether the index lives in this process.
func (r Redis) InProcess() bool { return r.URL == "" }

// Kafka is where messages come from and where they are recorded.
type Kafka struct {
	Brokers      []string // host:port; empty for the in-process broker, unless Off
	Off          bool     // no Kafka at all
	TLS          bool
	Mechanism    string // PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, or "" for no SASL
	Username     string
	Password     string
	EmbeddedAddr string // where the in-process broker listens
	EmbeddedOpen bool   // that may be another address than loopback, although the broker asks nobody who they are
	AcceptLoss   bool   // the in-process broker starts with what is left of its log
	Topic        string // messages as sent
	RejectsTopic string
	EventsTopic  string // "" publishes no events
	Group        string
}

// InProcess reports whether the broker lives in this process.
func (k Kafka) InProcess() bool { return !k.Off && len(k.Brokers) == 0 }

// WTR is the downstream delayed-bag system.
type WTR struct {
	URL     string // "" for the in-process simulator
	Timeout time.Duration
}

// InProcess reports whether the delayed-bag system is simulated in this process.
func (w WTR) InProcess() bool { return w.URL == "" }

// Files are the files that hold keys and reference data; "" where there is none.
type Files struct {
	Keys     string
	Airports string
	Airlines string
	Flights  string
}

// Rules are the durations on which rules §3 and §5 depend.
type Rules struct {
	Retention       time.Duration
	DuplicateWindow time.Duration
}

// Log says what is logged, and how.
type Log struct {
	Level  string // debug, info, warn, error
	Format string // auto (console on a terminal, else json), json, console
}
