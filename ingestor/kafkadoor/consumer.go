package kafkadoor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/kafka"
	"bagtrail/internal/pause"
)

// Acceptor judges messages and makes the outcomes take effect. *ingestor.Acceptor implements it.
type Acceptor interface {
	// JudgeBatch judges the first of the envelopes, at least one. The batch keeps them.
	JudgeBatch(envelopes []ingestor.Envelope) *ingestor.Batch
	// Apply makes the outcomes of a batch take effect. After an error it may be called again, and
	// goes on with the step that failed.
	Apply(ctx context.Context, batch *ingestor.Batch) error
}

// Consumer brings the records of the raw topic to the acceptor, as a member of the consumer group.
// If the index may have lost its latest writes, it handles their records again (docs/adr/0015).
type Consumer struct {
	*kafka.Consumer
	door  *Door
	index atomic.Pointer[indexState] // never nil
}

// indexState is the result of the last askIndex that got an answer.
type indexState struct {
	identity string
	safe     time.Time // the index has everything that was filed before this time, by the clock of this process
}

// NewConsumer returns a consumer. The acceptor should write its rejected messages through this
// door. metrics may be nil. Its Retry is also called with each failed step of the acceptor, named
// as in ingestor.StepError.
func (d *Door) NewConsumer(acceptor Acceptor, metrics kafka.Metrics) *Consumer {
	if metrics == nil {
		metrics = kafka.NoMetrics{}
	}
	c := &Consumer{door: d}
	c.index.Store(&indexState{})
	conf := kafka.ConsumerConfig{
		Group: d.conf.Group, Topic: d.conf.Topics.Raw, Metrics: metrics,
		Handler: func(partition int) kafka.Handler {
			return &handler{door: d, partition: partition, acceptor: acceptor, metrics: metrics}
		},
	}
	if d.conf.Identity != nil {
		conf.ResultStore = func() (string, time.Time) {
			index := c.index.Load()
			return index.identity, index.safe
		}
	}
	c.Consumer = d.client.NewConsumer(conf)
	return c
}

// Run consumes until ctx ends, see [kafka.Consumer.Run].
func (c *Consumer) Run(ctx context.Context) error {
	if c.door.conf.Identity == nil {
		return c.Consumer.Run(ctx)
	}
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	c.askIndex(ctx) // before the first worker needs the answer
	watch.Go(func() { pause.Every(watching, askInterval, func() { c.askIndex(watching) }) })
	defer watch.Wait()
	defer stop()
	return c.Consumer.Run(ctx)
}

// askIndex reads the identity of the index. If it has not changed, everything that was filed before
// the loss window is safe. After an error, the state stays the same.
func (c *Consumer) askIndex(ctx context.Context) {
	asked := time.Now()
	identity, err := c.door.identity(ctx)
	if err != nil {
		return
	}
	now := &indexState{identity: identity}
	if identity == c.index.Load().identity {
		now.safe = asked.Add(-c.door.conf.LossWindow)
	}
	c.index.Store(now)
}

const (
	askInterval = 500 * time.Millisecond // time between two reads of the identity
	askLimit    = 2 * time.Second        // time limit of a read
)

// identity returns the identity of the index, or "" if the door has no Identity.
func (d *Door) identity(ctx context.Context) (string, error) {
	if d.conf.Identity == nil {
		return "", nil
	}
	limited, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return d.conf.Identity(limited)
}

// handler implements kafka.Handler for a partition of the raw topic. After an error, Handle
// continues with the step of the batch that failed.
type handler struct {
	door      *Door
	partition int
	acceptor  Acceptor
	metrics   kafka.Metrics
	againTo   int64           // end offset of the partition at the takeover: records before it may be handled again, see Envelope.Again
	batch     *ingestor.Batch // of the records that are being handled, or nil
}

// TakeOver implements kafka.Handler.
func (h *handler) TakeOver(ctx context.Context, _ int64) error {
	whole, err := h.door.client.Span(ctx, h.door.conf.Topics.Raw, h.partition, kafka.Start{})
	h.batch, h.againTo = nil, whole.To
	return err
}

// Release implements kafka.Handler.
func (h *handler) Release() {}

// Handle implements kafka.Handler.
func (h *handler) Handle(ctx context.Context, records []kafka.Record) (done int, err error) {
	if h.batch == nil {
		envelopes := make([]ingestor.Envelope, len(records))
		for i := range records {
			envelopes[i] = rawEnvelope(h.door.conf.Topics.Raw, &records[i])
			envelopes[i].Again = records[i].Offset < h.againTo
		}
		h.batch = h.acceptor.JudgeBatch(envelopes)
	}
	if err := h.acceptor.Apply(ctx, h.batch); err != nil {
		if failed, ok := errors.AsType[*ingestor.StepError](err); ok {
			h.metrics.Retry(failed.Step)
		}
		return 0, err
	}
	done = len(h.batch.Outcomes)
	h.batch = nil
	return done, nil
}
