package kafkadoor

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
	"go.uber.org/zap"

	"bagtrail/ingestor"
)

// Config says which Kafka, and how.
type Config struct {
	Brokers []string // host:port, any of the cluster
	Group   string   // consumer group of the raw topic
	Topics  Topics
	TLS     *tls.Config // nil: no TLS
	SASL    SASL

	Partitions int           // of topics that are created; 0 means 12
	Retention  time.Duration // of records in topics that are created; 0 means for ever

	Timing Timing
	Logger *zap.Logger // nil: silent
	// Rejected is told of rejections when they are on the rejects topic; nil: nobody is.
	Rejected func([]ingestor.Rejection)
	Now      func() time.Time // nil: the system's clock
}

// Topics are the names of the three topics.
type Topics struct {
	Raw     string // the log of record
	Rejects string
	Events  string // "" turns events off
}

// SASL is how to log in. The zero SASL is not at all.
type SASL struct {
	Mechanism string // PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
	Username  string
	Password  string
}

// Timing are the time limits. What is zero takes its default.
type Timing struct {
	Heartbeat   time.Duration // 500 ms: by its answer members hear that another has come or gone
	Session     time.Duration // 6 s: after that a silent consumer loses its partitions
	Rebalance   time.Duration // 6 s
	JoinBackoff time.Duration // 1 s
	Request     time.Duration // 3 s: to connect, and for each request
	Watch       time.Duration // 5 s: how often new partitions are looked for
	Wait        time.Duration // 500 ms: how long a broker may hold a fetch when there is nothing
	RetryMin    time.Duration // 100 ms: first pause before the same batch is tried again
	RetryMax    time.Duration // 2 s: longest pause
	Drain       time.Duration // 5 s: for the batch in hand when partitions are given up
	Stall       time.Duration // 30 s: so long a partition may stand still while records wait
}

func (c Config) withDefaults() Config {
	t := &c.Timing
	for _, d := range []struct {
		value *time.Duration
		or    time.Duration
	}{
		{&t.Heartbeat, 500 * time.Millisecond}, {&t.Session, 6 * time.Second}, {&t.Rebalance, 6 * time.Second},
		{&t.JoinBackoff, time.Second}, {&t.Request, 3 * time.Second}, {&t.Watch, 5 * time.Second},
		{&t.Wait, 500 * time.Millisecond}, {&t.RetryMin, 100 * time.Millisecond}, {&t.RetryMax, 2 * time.Second},
		{&t.Drain, 5 * time.Second}, {&t.Stall, 30 * time.Second},
	} {
		if *d.value == 0 {
			*d.value = d.or
		}
	}
	if c.Partitions == 0 {
		c.Partitions = 12
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	if c.Rejected == nil {
		c.Rejected = func([]ingestor.Rejection) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// topicName is what Kafka allows.
var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// Validate returns all that is wrong with the configuration, joined; kafka-go itself panics at some of it.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	if len(c.Brokers) == 0 {
		fault("no broker")
	}
	for _, b := range c.Brokers {
		if !isAddress(b) {
			fault("broker %q is not host:port", b)
		}
	}
	if c.Group == "" {
		fault("no consumer group")
	}
	topics := []string{c.Topics.Raw, c.Topics.Rejects}
	if c.Topics.Events != "" {
		topics = append(topics, c.Topics.Events)
	}
	for i, name := range topics {
		if !topicName.MatchString(name) || name == "." || name == ".." {
			fault("topic %q is not a name of letters, digits, '.', '_' and '-'", name)
		} else if slices.Contains(topics[:i], name) {
			fault("topic %q is named twice", name)
		}
	}
	if _, err := c.SASL.mechanism(); err != nil {
		faults = append(faults, err)
	}
	if c.Partitions < 0 {
		fault("%d partitions", c.Partitions)
	}
	if c.Retention < 0 {
		fault("retention %v is negative", c.Retention)
	}
	return errors.Join(append(faults, c.Timing.validate())...)
}

func (t Timing) validate() error {
	for _, d := range []time.Duration{
		t.Heartbeat, t.Session, t.Rebalance, t.JoinBackoff, t.Request, t.Watch, t.Wait, t.RetryMin, t.RetryMax, t.Drain, t.Stall,
	} {
		if d < 0 || d > time.Hour {
			return fmt.Errorf("time limit %v is not between 0 and an hour", d)
		}
	}
	return nil
}

func isAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n < 1<<16
}

// mechanism returns nil for the zero SASL.
func (s SASL) mechanism() (sasl.Mechanism, error) {
	if s == (SASL{}) {
		return nil, nil
	}
	if s.Username == "" || s.Password == "" {
		return nil, errors.New("SASL needs a mechanism, a user name and a password")
	}
	switch s.Mechanism {
	case "PLAIN":
		return plain.Mechanism{Username: s.Username, Password: s.Password}, nil
	case scram.SHA256.Name():
		return scram.Mechanism(scram.SHA256, s.Username, s.Password)
	case scram.SHA512.Name():
		return scram.Mechanism(scram.SHA512, s.Username, s.Password)
	}
	return nil, fmt.Errorf("SASL mechanism %q is not PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", s.Mechanism)
}
