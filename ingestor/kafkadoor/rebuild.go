package kafkadoor

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/internal/kafka"
	"bagtrail/internal/pause"
)

// Progress is the progress of a rebuild.
type Progress struct {
	Messages int64 // messages that were decided
	Rejected int64 // messages that were rejected
	Records  int64 // offsets that were passed, including those without a message
	Total    int64 // offsets to pass, counted at the beginning
	Elapsed  time.Duration
	Offsets  kafka.Offsets // where to continue after an interruption
}

// Rate returns how many messages are decided a second.
func (p Progress) Rate() float64 {
	if p.Elapsed <= 0 {
		return 0
	}
	return float64(p.Messages) / p.Elapsed.Seconds()
}

// Left returns how long the rest takes at the rate so far, or 0 if that is unknown.
func (p Progress) Left() time.Duration {
	if p.Records == 0 || p.Records >= p.Total {
		return 0
	}
	return time.Duration(float64(p.Elapsed) / float64(p.Records) * float64(p.Total-p.Records))
}

// Rebuild reads the raw topic from start to the end that it has now, all partitions at the same
// time, and brings its messages to the acceptor, which should not write rejected messages to the
// rejects topic. It commits no offsets. If the index may have lost writes meanwhile, Rebuild begins
// again.
//
// report, if it is not nil, is called after every batch, by one goroutine at a time; it must not
// keep Offsets. The returned Progress is valid even with an error. Its Offsets say where to start
// again; nil means the start of this rebuild.
func (d *Door) Rebuild(ctx context.Context, acceptor Acceptor, start kafka.Start, report func(Progress)) (Progress, error) {
	for {
		before, err := d.identity(ctx)
		if err != nil {
			return Progress{}, fmt.Errorf("rebuild: %w", err)
		}
		r := &rebuild{
			Door: d, acceptor: acceptor, report: report, begun: time.Now(),
			progress: Progress{Offsets: make(kafka.Offsets)},
		}
		if err = r.run(ctx, start); err == nil && d.conf.Identity != nil {
			err = pause.For(ctx, d.conf.LossWindow) // the latest filings are safe only after that
		}
		after, unknown := d.identity(context.WithoutCancel(ctx))
		switch lost := unknown == nil && after != before; {
		case lost && err == nil:
			d.conf.Logger.Warn("Redis restarted or failed over meanwhile and may have lost messages: rebuilding again")
			continue
		case lost || unknown != nil:
			r.progress.Offsets = nil // the index may have lost any filing
		}
		return r.progress, cmp.Or(err, unknown)
	}
}

type rebuild struct {
	*Door
	acceptor Acceptor
	report   func(Progress)
	begun    time.Time

	mu       sync.Mutex
	progress Progress
}

func (r *rebuild) run(ctx context.Context, start kafka.Start) error {
	topic := r.conf.Topics.Raw
	spans, err := r.client.Spans(ctx, topic, start)
	if err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	for _, s := range spans {
		r.progress.Offsets[s.Partition] = s.From
		r.progress.Total += s.To - s.From
	}
	err = r.client.ReadSpans(ctx, topic, spans, r.take)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // err may wrongly say that a server does not answer
		err = fmt.Errorf("stopped early: %w", ctx.Err())
	}
	return fmt.Errorf("rebuild: %w", err)
}

// take brings records of a partition to the acceptor. next is the offset after them.
func (r *rebuild) take(ctx context.Context, partition int, records []kafka.Record, next int64) error {
	envelopes := make([]ingestor.Envelope, len(records))
	for i := range records {
		env := &envelopes[i]
		*env = rawEnvelope(r.conf.Topics.Raw, &records[i])
		env.Reject, env.Sender = records[i].Header(headerReject), records[i].Header(headerSender)
	}
	for len(envelopes) > 0 {
		batch := r.acceptor.JudgeBatch(envelopes)
		if err := r.apply(ctx, batch); err != nil {
			return err
		}
		n, after := len(batch.Outcomes), next
		if envelopes, records = envelopes[n:], records[n:]; len(records) > 0 {
			after = records[0].Offset
		}
		r.advance(partition, after, batch.Outcomes)
	}
	return nil
}

// apply applies a batch. It retries for up to kafka.ReadPatience.
func (r *rebuild) apply(ctx context.Context, batch *ingestor.Batch) error {
	limited, cancel := context.WithTimeout(ctx, kafka.ReadPatience)
	defer cancel()
	return r.client.Retry(limited, func() error {
		err := r.acceptor.Apply(ctx, batch)
		if err != nil && ctx.Err() == nil {
			r.conf.Logger.Warn("a batch of the rebuild failed", zap.Error(err))
		}
		return err
	})
}

func (r *rebuild) advance(partition int, next int64, outcomes []ingestor.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.progress
	for _, o := range outcomes {
		if o.Verdict == ingestor.Rejected {
			p.Rejected++
		}
	}
	p.Messages += int64(len(outcomes))
	p.Records += next - p.Offsets[partition]
	p.Offsets[partition] = next
	p.Elapsed = time.Since(r.begun)
	if r.report != nil {
		r.report(*p)
	}
}
