package kafka

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
	"go.uber.org/zap"
)

// Config says how to reach a Kafka cluster.
type Config struct {
	Brokers []string // host:port of some brokers of the cluster
	// Topics are the topics that the client can use. If it is empty, the client can use every topic,
	// and asks for the metadata of all topics of the cluster.
	Topics []string
	TLS    *tls.Config // nil: no TLS
	SASL   SASL
	Timing Timing
	Logger *zap.Logger      // nil: silent
	Now    func() time.Time // nil: the system's clock
}

// SASL says how to log in.
type SASL struct {
	Mechanism string // PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; "": no login
	Username  string
	Password  string
}

// Timing holds the time limits. Zero means the default.
type Timing struct {
	Heartbeat   time.Duration // 250 ms: the answer tells a member that another has joined or left, so a rebalance, in which nothing is read, takes about as long
	Session     time.Duration // 6 s: a consumer that is silent for longer loses its partitions
	Rebalance   time.Duration // 6 s: time for all members to join a new generation
	JoinBackoff time.Duration // 1 s: pause after a failed attempt to join
	Request     time.Duration // 3 s: to connect, and for each request
	Produce     time.Duration // 5 s: to write records, with all attempts; the alerts on retries need a failure within ten seconds
	Watch       time.Duration // 5 s: interval between checks for new partitions
	Wait        time.Duration // 500 ms: how long a broker may hold a fetch if there is nothing to read
	RetryMin    time.Duration // 100 ms: first pause before a retry
	RetryMax    time.Duration // 2 s: longest pause
	Drain       time.Duration // 5 s: time to finish the current batch when a partition is lost
	Stall       time.Duration // 30 s: how long a partition may make no progress while records wait
}

func (c Config) withDefaults() Config {
	t := &c.Timing
	t.Heartbeat = cmp.Or(t.Heartbeat, 250*time.Millisecond)
	t.Session = cmp.Or(t.Session, 6*time.Second)
	t.Rebalance = cmp.Or(t.Rebalance, 6*time.Second)
	t.JoinBackoff = cmp.Or(t.JoinBackoff, time.Second)
	t.Request = cmp.Or(t.Request, 3*time.Second)
	t.Produce = cmp.Or(t.Produce, 5*time.Second)
	t.Watch = cmp.Or(t.Watch, 5*time.Second)
	t.Wait = cmp.Or(t.Wait, 500*time.Millisecond)
	t.RetryMin = cmp.Or(t.RetryMin, 100*time.Millisecond)
	t.RetryMax = cmp.Or(t.RetryMax, 2*time.Second)
	t.Drain = cmp.Or(t.Drain, 5*time.Second)
	t.Stall = cmp.Or(t.Stall, 30*time.Second)
	c.Logger = cmp.Or(c.Logger, zap.NewNop())
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// mechanism returns nil if there is no login.
func (s SASL) mechanism() (sasl.Mechanism, error) {
	switch s.Mechanism {
	case "":
		return nil, nil
	case "PLAIN":
		return plain.Mechanism{Username: s.Username, Password: s.Password}, nil
	case scram.SHA256.Name():
		return scram.Mechanism(scram.SHA256, s.Username, s.Password)
	case scram.SHA512.Name():
		return scram.Mechanism(scram.SHA512, s.Username, s.Password)
	}
	return nil, fmt.Errorf("SASL mechanism %q is not PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", s.Mechanism)
}
