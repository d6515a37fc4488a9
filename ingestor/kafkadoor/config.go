package kafkadoor

import (
	"cmp"
	"context"
	"time"

	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/internal/kafka"
)

// Config is the configuration of a Door.
type Config struct {
	Group      string // consumer group of the raw topic
	Topics     Topics
	Partitions int           // of topics that the door creates; 0 means 12
	Retention  time.Duration // of records in topics that the door creates; 0 means for ever

	// Identity returns the identity of the index, see redis.Client.Identity. It changes when the
	// index may have lost writes that it confirmed within the last LossWindow. If Identity is nil, the
	// index keeps everything that it confirms.
	Identity   func(context.Context) (string, error)
	LossWindow time.Duration // 0 means 3 s

	Logger *zap.Logger // nil: silent
}

// Topics are the names of the topics.
type Topics struct {
	Raw     string // the log of record
	Rejects string
}

// Names returns the names of the topics.
func (t Topics) Names() []string { return []string{t.Raw, t.Rejects} }

func (c Config) withDefaults() Config {
	c.Partitions = cmp.Or(c.Partitions, 12)
	c.LossWindow = cmp.Or(c.LossWindow, 3*time.Second)
	c.Logger = cmp.Or(c.Logger, zap.NewNop())
	return c
}

// maxRejectBytes is the largest record of the rejects topic. It has room for the longest text, key
// and diagnostics of a reject.
const maxRejectBytes = 4 << 20

// longestRaw is the size of the longest record that the door writes to the raw topic, in bytes, with
// room for its key and headers. A topic that takes less would refuse such a message for ever.
const longestRaw = ingestor.MaxMessage + 4<<10

// topics returns the topics as EnsureTopics creates them.
func (c Config) topics() []kafka.Topic {
	return []kafka.Topic{
		{Name: c.Topics.Raw, Partitions: c.Partitions, Retention: c.Retention, LeastBytes: longestRaw, Log: true},
		{Name: c.Topics.Rejects, Partitions: 1, Retention: c.Retention, MaxBytes: maxRejectBytes},
	}
}
