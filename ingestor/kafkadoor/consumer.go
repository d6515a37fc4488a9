package kafkadoor

import (
	"context"
	"fmt"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
)

// Processor is the pipeline.
type Processor interface {
	// ProcessSome decides on the first of the envelopes, at least one: on as many as there are outcomes.
	ProcessSome(ctx context.Context, envelopes []ingestor.Envelope) ([]ingestor.Outcome, error)
}

// EventMaker makes the events of messages that the index has taken, and passes them to publish, some at a time. If a message
// comes again, so do its events, with the same ids. After an error, which may be that of publish, it is called again.
type EventMaker func(ctx context.Context, filings []bag.Filing, publish func([]Event) error) error

// NewConsumer returns a consumer that brings the raw topic to the pipeline, as a member of the consumer group. events may be
// nil, and is not called if the events topic is turned off. metrics may be nil.
func (d *Door) NewConsumer(processor Processor, events EventMaker, metrics Metrics) *kafka.Consumer {
	if d.conf.Topics.Events == "" {
		events = nil
	}
	if metrics == nil {
		metrics = NoMetrics{}
	}
	return d.client.NewConsumer(kafka.ConsumerConfig{
		Group: d.conf.Group, Topic: d.conf.Topics.Raw, Metrics: metrics,
		Handler: func(int) kafka.Handler {
			return &handler{door: d, processor: processor, events: events, metrics: metrics}
		},
	})
}

// publishLimit is how long one attempt to write rejects or events may take.
const publishLimit = 10 * time.Second

// handler implements kafka.Handler for a partition of the raw topic: index, then rejects, then events. A step that is done is
// not repeated if a later one fails.
type handler struct {
	door      *Door
	processor Processor
	events    EventMaker // or nil
	metrics   Metrics

	// Of the records that are being handled:
	outcomes   []ingestor.Outcome   // set once they are in the index
	rejections []ingestor.Rejection // not yet on the rejects topic
	filings    []bag.Filing         // whose events are not yet published
}

// TakeOver implements kafka.Handler.
func (h *handler) TakeOver(_ context.Context, offset int64) (int64, error) { return offset, nil }

// Release implements kafka.Handler.
func (h *handler) Release() {}

// Handle implements kafka.Handler.
func (h *handler) Handle(ctx context.Context, records []kafka.Record) (done int, err error) {
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"index", func() error { return h.index(ctx, records) }},
		{"rejects", func() error { return h.reject(ctx) }},
		{"events", func() error { return h.publish(ctx) }},
	} {
		if err := step.do(); err != nil {
			h.metrics.Retry(step.name)
			return 0, fmt.Errorf("%s: %w", step.name, err)
		}
	}
	var by [ingestor.Rejected + 1]int
	for _, o := range h.outcomes {
		by[o.Verdict]++
	}
	h.metrics.Messages(by[ingestor.Accepted], by[ingestor.Duplicate], by[ingestor.Rejected])
	done = len(h.outcomes)
	h.outcomes = nil
	return done, nil
}

// index decides on the first of the records, and notes what is to be done about them.
func (h *handler) index(ctx context.Context, records []kafka.Record) (err error) {
	if h.outcomes != nil {
		return nil
	}
	envelopes := make([]ingestor.Envelope, len(records))
	for i := range records {
		envelopes[i] = envelope(&records[i])
	}
	if h.outcomes, err = h.processor.ProcessSome(ctx, envelopes); err != nil {
		h.outcomes = nil
		return err
	}
	h.rejections, h.filings = nil, make([]bag.Filing, 0, len(h.outcomes))
	for i, o := range h.outcomes {
		if o.Verdict != ingestor.Rejected {
			h.filings = append(h.filings, o.Filing)
			continue
		}
		env := envelopes[i]
		env.Origin = origin(h.door.conf.Topics.Raw, &records[i])
		h.rejections = append(h.rejections, ingestor.Rejection{Envelope: env, Errors: o.Errors})
	}
	return nil
}

func (h *handler) reject(ctx context.Context) error {
	if len(h.rejections) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, publishLimit)
	defer cancel()
	if err := h.door.Reject(limited, h.rejections); err != nil {
		return err
	}
	h.rejections = nil
	return nil
}

// publish also publishes the events of duplicates: they may not have been published when the index took the message.
func (h *handler) publish(ctx context.Context) error {
	for h.events != nil && len(h.filings) > 0 {
		n := portion(h.filings)
		err := h.events(ctx, h.filings[:n], func(events []Event) error {
			limited, cancel := context.WithTimeout(ctx, publishLimit)
			defer cancel()
			return h.door.publish(limited, events)
		})
		if err != nil {
			return err
		}
		h.filings = h.filings[n:]
	}
	h.filings = nil
	return nil
}

// bagsAtOnce is how many bags messages name, at least, whose events are made and written together; containers that are
// positioned count like bags. It bounds the memory of a batch, and what is repeated after an error.
const bagsAtOnce = 500

// portion returns how many of the filings, at least one, are enough for once.
func portion(filings []bag.Filing) int {
	bags := 0
	for i := range filings {
		if bags += len(filings[i].Entries) + len(filings[i].Stowage); bags >= bagsAtOnce {
			return i + 1
		}
	}
	return len(filings)
}
