package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"go.uber.org/zap"

	"bagtrail/internal/pause"
)

// Handler handles the records of one partition while this process owns it. Its methods are called
// from one goroutine.
type Handler interface {
	// TakeOver is called before the first record, and again if the worker goes back (see
	// ConsumerConfig.ResultStore). offset is the offset of the next record. After an error it is
	// called again.
	TakeOver(ctx context.Context, offset int64) error
	// Handle handles one or more of the first records, and returns how many. The offset after them
	// may then be committed. Handle is called again with the rest. After an error it is called again
	// with the same records, some of which may have been handled already.
	//
	// ctx outlives the ownership by the time limit [Timing].Drain, so that a batch can be finished.
	// Nobody changes the records, so a handler may keep slices of them.
	Handle(ctx context.Context, records []Record) (done int, err error)
	// Release is called after the partition is lost, or when the process stops.
	Release()
}

// ConsumerConfig says what a Consumer reads, and who handles it.
type ConsumerConfig struct {
	Group   string
	Topic   string                      // one of Config.Topics
	Handler func(partition int) Handler // returns the handler of a partition that the process takes over
	Metrics Metrics                     // nil: none
	AtOnce  int                         // how many batches are handled at the same time; 0: one for each core, at least 2
	Fetch   int                         // how many bytes of a partition are fetched at once; 0: 256 KiB

	// ResultStore is for a handler that writes its results to a store which may lose the latest of
	// them, such as Redis. It returns the identity of that store: a short text without spaces, the same
	// in every process, that changes if results may have been lost, or "" while it is unknown. Results
	// that were written before the time safe cannot be lost. If the identity changes, each worker goes
	// back to the first record that is not safe and handles it again. The metadata of committed offsets
	// holds the identity and the safe offset, so that this works across processes. If ResultStore is
	// nil, every record is safe once it is handled.
	ResultStore func() (identity string, safe time.Time)
}

// Consumer reads a topic as a member of a consumer group. It gives the records of each partition
// that the group assigns to a Handler, in order, and commits the offset after the Handler has
// finished them. After an error of the Handler the offset stays, and the same records are handled
// again. So a record may be handled twice, and none is lost or skipped. If the results of a Handler
// may be lost for some seconds after they are confirmed, the ResultStore of its ConsumerConfig
// reports that, and their records are handled again. To add a stage, write a Handler and run a
// Consumer with a group and a topic of its own:
//
//	consumer := client.NewConsumer(kafka.ConsumerConfig{
//		Group: "bagtrail-changes", Topic: "bag.dirty",
//		Handler: func(partition int) kafka.Handler { return &owner{partition: partition} },
//	})
//	err := consumer.Run(ctx)
type Consumer struct {
	client *Client
	conf   ConsumerConfig
	log    *zap.Logger
	slots  chan struct{} // one is taken while a batch is handled

	partitions int // of the topic, as this process knew it before it joined the group

	joined   atomic.Bool
	mu       sync.Mutex
	left     time.Time        // when the last membership ended; zero if none has ended
	seen     map[int]int64    // by partition: the offset after the last record that this process has handled
	progress map[int]progress // by partition of the last assignment
}

// NewConsumer returns a Consumer. It connects to nothing yet.
func (c *Client) NewConsumer(conf ConsumerConfig) *Consumer {
	if conf.Metrics == nil {
		conf.Metrics = NoMetrics{}
	}
	conf.AtOnce = cmp.Or(conf.AtOnce, max(2, runtime.GOMAXPROCS(0))) // with one core, one batch is handled while the other waits for a server
	return &Consumer{
		client: c, conf: conf, log: c.conf.Logger.With(zap.String("topic", conf.Topic)),
		slots: make(chan struct{}, conf.AtOnce), seen: make(map[int]int64),
	}
}

// Run consumes until ctx ends. Then it finishes its current batches, commits them, and leaves the
// group, so that other members take over at once.
//
// Each partition that the group assigns has a goroutine, which reads, handles and commits one batch
// after the other. While the handler fails, the goroutine keeps its batch and tries again: the
// offset stays, nothing more is read, and the membership goes on.
func (c *Consumer) Run(ctx context.Context) error {
	c.partitionsChanged(ctx)
	conf := c.groupConfig()
	for ctx.Err() == nil {
		if err := c.runGroup(ctx, conf); err != nil {
			return fmt.Errorf("consumer group: %w", err)
		}
		// kafka-go looks for the coordinator at the first broker that accepts a connection, even if that
		// broker never answers.
		conf.Brokers = slices.Concat(conf.Brokers[1:], conf.Brokers[:1])
		_ = pause.For(ctx, conf.JoinGroupBackoff)
	}
	return nil
}

// runGroup consumes until ctx ends or an attempt to join the group fails.
func (c *Consumer) runGroup(ctx context.Context, conf kafkago.ConsumerGroupConfig) error {
	group, err := kafkago.NewConsumerGroup(conf)
	if err != nil {
		return err
	}
	// Close ends the generation, waits for its goroutines, and leaves the group.
	defer group.Close() //nolint:errcheck // it never fails
	for {
		generation, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			c.conf.Metrics.Retry("join")
			c.log.Warn("cannot join the consumer group", zap.Error(err))
			if !errors.Is(err, kafkago.RebalanceInProgress) { // with that error it stays a member
				return nil
			}
		default:
			c.start(generation)
		}
	}
}

func (c *Consumer) groupConfig() kafkago.ConsumerGroupConfig {
	timing := c.client.conf.Timing
	return kafkago.ConsumerGroupConfig{
		ID: c.conf.Group, Brokers: c.client.conf.Brokers, Dialer: c.client.dialer, Topics: []string{c.conf.Topic},
		HeartbeatInterval: timing.Heartbeat, SessionTimeout: timing.Session,
		RebalanceTimeout: timing.Rebalance, JoinGroupBackoff: timing.JoinBackoff, Timeout: timing.Request,
		StartOffset: kafkago.FirstOffset,
	}
}

// start starts a goroutine for each partition of a generation.
func (c *Consumer) start(generation *kafkago.Generation) {
	assigned := generation.Assignments[c.conf.Topic]
	c.log.Info("joined the consumer group",
		zap.Int32("generation", generation.ID), zap.Int("partitions", len(assigned)))
	c.assign(assigned)
	generation.Start(func(ctx context.Context) {
		c.joined.Store(true)
		<-ctx.Done()
		c.mu.Lock()
		c.left = c.client.conf.Now()
		c.mu.Unlock()
		c.joined.Store(false)
	})
	generation.Start(c.watchPartitions)
	fetcher := c.client.newFetcher(c.conf.Topic, len(assigned), cmp.Or(c.conf.Fetch, fetchMost))
	for _, a := range assigned {
		w := &worker{
			Consumer: c, handler: c.conf.Handler(a.ID), fetcher: fetcher, generation: generation, partition: a.ID,
			offset: a.Offset, committed: a.Offset, safe: a.Offset,
			log: c.log.With(zap.Int("partition", a.ID)),
		}
		generation.Start(w.run)
	}
}

// watchPartitions ends the generation if the number of partitions has changed, so that the group
// divides them anew. kafka-go would compare with the number that it reads after the join, and never
// notice partitions that were added between the division and that.
func (c *Consumer) watchPartitions(generation context.Context) {
	for pause.For(generation, c.client.conf.Timing.Watch) == nil {
		if c.partitionsChanged(generation) {
			return
		}
	}
}

// partitionsChanged notes the number of partitions of the topic, and reports whether it is another
// than before. A topic that was deleted has none.
func (c *Consumer) partitionsChanged(ctx context.Context) bool {
	now, err := c.client.Partitions(ctx, c.conf.Topic)
	if err != nil && !errors.Is(err, kafkago.UnknownTopicOrPartition) {
		return false
	}
	before := c.partitions
	c.partitions = len(now)
	return c.partitions != before
}

// handled notes that records, which end before the offset next, have been handled. It returns how
// many of them this process had handled before.
func (c *Consumer) handled(partition int, records []Record, next int64) (again int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range records {
		if records[i].Offset < c.seen[partition] {
			again++
		}
	}
	c.seen[partition] = max(c.seen[partition], next)
	return again
}
