package kafkadoor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
)

// Processor is the pipeline.
type Processor interface {
	// ProcessSome decides on the first of the envelopes, at least one: on as many as there are outcomes.
	ProcessSome(ctx context.Context, envelopes []ingestor.Envelope) ([]ingestor.Outcome, error)
}

// EventMaker gives publish the events of messages that the index has taken, some after the other. Where a message comes again,
// so do its events, with the same ids. After an error, which may be that of publish, it is asked again.
type EventMaker func(ctx context.Context, filings []bag.Filing, publish func([]Event) error) error

// Consumer brings the raw topic to the pipeline, as a member of the consumer group.
type Consumer struct {
	door      *Door
	processor Processor
	events    EventMaker
	metrics   Metrics
	log       *zap.Logger
	turns     chan struct{} // as many as batches are in hand at once

	joined    atomic.Bool
	mu        sync.Mutex
	left      time.Time        // when the consumer was a member last; zero while it never was
	seen      map[int]int64    // by partition: the offset behind all that this process has handled
	standings map[int]standing // by partition: those of the last assignment
}

// batchesAtOnce is how many batches are in hand at once: one for each processor core, and one more where there is only one, so
// that it need not wait for Redis. More would hold what is made of them in memory, and keep whoever asks a question waiting.
func batchesAtOnce() int { return max(2, runtime.GOMAXPROCS(0)) }

// NewConsumer returns a Consumer. events may be nil, and is not asked where the events topic is turned off.
func (d *Door) NewConsumer(processor Processor, events EventMaker, metrics Metrics) *Consumer {
	if d.conf.Topics.Events == "" {
		events = nil
	}
	if metrics == nil {
		metrics = NoMetrics{}
	}
	return &Consumer{
		door: d, processor: processor, events: events, metrics: metrics,
		log:   d.conf.Logger.With(zap.String("topic", d.conf.Topics.Raw)),
		turns: make(chan struct{}, batchesAtOnce()), seen: make(map[int]int64),
	}
}

// Joined reports whether the consumer is a member of its group now.
func (c *Consumer) Joined() bool { return c.joined.Load() }

// Run consumes until ctx ends. Then the batches in hand are finished and committed, and the group is left, so that
// others take over at once.
//
// Every partition that the group assigns has a goroutine of its own, which reads, processes and commits one batch
// after the other. While the index, the rejects or the events topic fail, it keeps its batch and tries again: the
// offset stands still and nothing more is read, but the membership goes on.
func (c *Consumer) Run(ctx context.Context) error {
	group, err := kafka.NewConsumerGroup(c.groupConfig())
	if err != nil {
		return fmt.Errorf("consumer group: %w", err)
	}
	// Closing ends the generation, waits for its goroutines, and leaves the group.
	defer group.Close() //nolint:errcheck // it never fails
	for {
		generation, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			c.metrics.Retry("join")
			c.log.Warn("cannot join the consumer group", zap.Error(err))
		default:
			c.start(generation)
		}
	}
}

func (c *Consumer) groupConfig() kafka.ConsumerGroupConfig {
	conf := c.door.conf
	return kafka.ConsumerGroupConfig{
		ID: conf.Group, Brokers: conf.Brokers, Dialer: c.door.dialer, Topics: []string{conf.Topics.Raw},
		HeartbeatInterval: conf.Timing.Heartbeat, SessionTimeout: conf.Timing.Session,
		RebalanceTimeout: conf.Timing.Rebalance, JoinGroupBackoff: conf.Timing.JoinBackoff, Timeout: conf.Timing.Request,
		WatchPartitionChanges: true, PartitionWatchInterval: conf.Timing.Watch,
		StartOffset: kafka.FirstOffset,
	}
}

// start gives each partition of a generation its goroutine.
func (c *Consumer) start(generation *kafka.Generation) {
	assigned := generation.Assignments[c.door.conf.Topics.Raw]
	c.log.Info("joined the consumer group",
		zap.Int32("generation", generation.ID), zap.Int("partitions", len(assigned)))
	c.assign(assigned)
	generation.Start(func(ctx context.Context) {
		c.joined.Store(true)
		<-ctx.Done()
		c.mu.Lock()
		c.left = c.door.conf.Now()
		c.mu.Unlock()
		c.joined.Store(false)
	})
	for _, a := range assigned {
		w := &worker{
			Consumer: c, generation: generation, partition: a.ID, offset: a.Offset,
			log: c.log.With(zap.Int("partition", a.ID)),
		}
		generation.Start(w.run)
	}
}

// handled notes that all records up to next have been handled, and returns how many of them had been before.
func (c *Consumer) handled(partition int, messages []kafka.Message, next int64) (again int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range messages {
		if m.Offset < c.seen[partition] {
			again++
		}
	}
	c.seen[partition] = max(c.seen[partition], next)
	return again
}

// errCommit ends a generation: the next one begins at what is committed.
var errCommit = errors.New("commit")
