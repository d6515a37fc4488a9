package kafkadoor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"go.uber.org/zap"

	"bagtrail/ingestor"
)

const (
	// readersAtOnce bounds how many partitions are read at the same time.
	readersAtOnce = 16
	// spanPatience is how long the bounds of a partition are asked for: a new one has no leader at first.
	spanPatience = 10 * time.Second
	// rebuildPatience is how long the same batch is tried again before a rebuild is given up.
	rebuildPatience = 30 * time.Second
)

// Progress is how far a rebuild has come.
type Progress struct {
	Messages  int64 // decided on
	Rejected  int64 // of them
	Records   int64 // read, with those that are no messages
	Total     int64 // records to read, as the topic stood at the beginning
	Elapsed   time.Duration
	Positions Positions // where to go on after an interruption
}

// Rate is messages a second.
func (p Progress) Rate() float64 {
	if p.Elapsed <= 0 {
		return 0
	}
	return float64(p.Messages) / p.Elapsed.Seconds()
}

// Left is how long the rest takes at the rate so far; 0 where that cannot be said.
func (p Progress) Left() time.Duration {
	if p.Records == 0 || p.Records >= p.Total {
		return 0
	}
	return time.Duration(float64(p.Elapsed) / float64(p.Records) * float64(p.Total-p.Records))
}

// Rebuild reads the raw topic from start to the end that it has now, all partitions side by side, and brings its
// messages to the processor. It writes no rejects and no events, and commits nothing.
//
// report, where it is not nil, is called after every batch, by one goroutine at a time; it must not keep Positions.
// The returned Progress is valid also with an error, and its Positions are where to start again.
func (d *Door) Rebuild(ctx context.Context, processor Processor, start Start, report func(Progress)) (Progress, error) {
	r := &rebuild{
		Door: d, processor: processor, report: report, begun: d.conf.Now(),
		progress: Progress{Positions: make(Positions)},
	}
	err := r.run(ctx, start)
	return r.progress, err
}

type rebuild struct {
	*Door
	processor Processor
	report    func(Progress)
	begun     time.Time

	mu       sync.Mutex
	progress Progress
}

// span is the part of a partition that is to be read.
type span struct {
	partition int
	from, to  int64
}

func (r *rebuild) run(ctx context.Context, start Start) error {
	spans, err := r.spans(ctx, r.conf.Topics.Raw, start)
	if err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	for _, s := range spans {
		r.progress.Positions[s.partition] = s.from
		r.progress.Total += s.to - s.from
	}
	if err := r.eachSpan(ctx, spans, r.read); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return nil
}

// spans returns what is to be read of each partition of a topic.
func (d *Door) spans(ctx context.Context, topic string, start Start) ([]span, error) {
	numbers, err := d.partitions(ctx, topic)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, spanPatience)
	defer cancel()
	spans := make([]span, len(numbers))
	for i, p := range numbers {
		err := d.persist(limited, func() (err error) {
			spans[i], err = d.spanOf(limited, topic, p, start)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return spans, nil
}

func (d *Door) spanOf(ctx context.Context, topic string, partition int, start Start) (span, error) {
	in := d.reader(topic, partition)
	first, end, err := in.bounds(ctx)
	if err != nil {
		return span{}, err
	}
	from := first
	switch {
	case start.Positions != nil:
		from = max(first, start.Positions[partition])
	case !start.Time.IsZero():
		if from, err = in.offsetAt(ctx, start.Time, end); err != nil {
			return span{}, err
		}
	}
	return span{partition, min(from, end), end}, nil
}

// eachSpan does something for every span, several side by side. After an error it stops the others.
func (d *Door) eachSpan(ctx context.Context, spans []span, do func(context.Context, span) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	slots := make(chan struct{}, readersAtOnce)
	for _, s := range spans {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := do(ctx, s); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// read brings one span to the processor.
func (r *rebuild) read(ctx context.Context, s span) error {
	return r.readSpan(ctx, r.conf.Topics.Raw, s, func(messages []kafka.Message, next int64) error {
		envelopes := make([]ingestor.Envelope, len(messages))
		for i := range messages {
			envelopes[i] = envelope(&messages[i])
		}
		for len(envelopes) > 0 {
			outcomes, err := r.process(ctx, envelopes)
			if err != nil {
				return err
			}
			n := len(outcomes)
			envelopes, messages = envelopes[n:], messages[n:]
			if len(messages) > 0 {
				r.advance(s.partition, messages[0].Offset, outcomes)
			} else {
				r.advance(s.partition, next, outcomes)
			}
		}
		return nil
	})
}

// readSpan reads a span to its end, and hands on each batch. What fails is tried again for a while.
func (d *Door) readSpan(ctx context.Context, topic string, s span, take func(messages []kafka.Message, next int64) error) error {
	pause := newPause(d.conf.Timing.RetryMin, d.conf.Timing.RetryMax)
	deadline := d.conf.Now().Add(rebuildPatience)
	for s.from < s.to {
		before := s.from
		err := d.readOn(ctx, topic, &s, take)
		if s.from > before {
			deadline = d.conf.Now().Add(rebuildPatience)
			pause = newPause(d.conf.Timing.RetryMin, d.conf.Timing.RetryMax)
		}
		var final *finalError
		switch {
		case err == nil:
		case errors.As(err, &final):
			return final.error
		case d.conf.Now().After(deadline):
			return err
		case !pause.wait(ctx):
			return context.Cause(ctx)
		default:
			d.conf.Logger.Warn("reading again", zap.Error(err), zap.String("topic", topic), zap.Int("partition", s.partition))
		}
	}
	return nil
}

// finalError is one that another attempt does not mend.
type finalError struct{ error }

// readOn reads until something fails, and moves the beginning of the span forward with each batch.
func (d *Door) readOn(ctx context.Context, topic string, s *span, take func([]kafka.Message, int64) error) error {
	in := d.reader(topic, s.partition)
	first, _, err := in.bounds(ctx)
	if err != nil {
		return err
	}
	s.from = max(s.from, first) // what was deleted meanwhile
	in.offset = s.from
	stalled := d.conf.Now().Add(rebuildPatience)
	for s.from < s.to {
		b, err := in.fetch(ctx, d.conf.Timing.Wait)
		if err != nil {
			return err
		}
		messages, next := b.messages, b.next
		for i := range messages {
			if messages[i].Offset >= s.to {
				messages = messages[:i]
				break
			}
		}
		next = min(next, s.to)
		if next <= s.from {
			if d.conf.Now().After(stalled) {
				return fmt.Errorf("read %s/%d: nothing comes behind offset %d, where %d was to be the end", topic, s.partition, s.from, s.to)
			}
			continue
		}
		if err := take(messages, next); err != nil {
			return &finalError{err}
		}
		s.from = next
		stalled = d.conf.Now().Add(rebuildPatience)
	}
	return nil
}

// process has the first of the envelopes decided on, and tries them again for a while.
func (r *rebuild) process(ctx context.Context, envelopes []ingestor.Envelope) ([]ingestor.Outcome, error) {
	pause := newPause(r.conf.Timing.RetryMin, r.conf.Timing.RetryMax)
	deadline := r.conf.Now().Add(rebuildPatience)
	for {
		outcomes, err := r.processor.ProcessSome(ctx, envelopes)
		if err == nil {
			return outcomes, nil
		}
		if ctx.Err() != nil || r.conf.Now().After(deadline) || !pause.wait(ctx) {
			return nil, err
		}
		r.conf.Logger.Warn("trying the same batch again", zap.Error(err))
	}
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
	p.Records += next - p.Positions[partition]
	p.Positions[partition] = next
	p.Elapsed = r.conf.Now().Sub(r.begun)
	if r.report != nil {
		r.report(*p)
	}
}
