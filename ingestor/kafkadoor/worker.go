package kafkadoor

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
)

// publishLimit is how long one attempt to write rejects or events may take.
const publishLimit = 10 * time.Second

// worker reads one partition for one generation. Nobody else commits that partition.
type worker struct {
	*Consumer
	generation  *kafka.Generation
	partition   int
	offset      int64       // of the next record to handle; kafka.FirstOffset at the very first
	uncommitted bool        // offset has moved since the last commit
	committed   time.Time   // when that was
	inHand      atomic.Bool // a batch, which counts among those of the process
	outOfRange  bool        // a broker said that there is no such offset
	log         *zap.Logger
}

// run returns when the generation has ended, or a commit has failed: a function that returns earlier would end the
// generation for every partition.
func (w *worker) run(generation context.Context) {
	work, stop := w.untilDrained(generation)
	defer stop()
	defer w.metrics.Lag(w.partition, 0, time.Time{})
	defer w.leave()
	pause := newPause(w.door.conf.Timing.RetryMin, w.door.conf.Timing.RetryMax)
	for generation.Err() == nil {
		before := w.offset
		err := w.consume(generation, work)
		if generation.Err() != nil {
			return
		}
		if errors.Is(err, errCommit) {
			w.metrics.Retry("commit")
			w.log.Warn("leaving the generation", zap.Error(err))
			return
		}
		w.metrics.Retry("fetch")
		w.log.Warn("reading again", zap.Error(err), zap.Int64("offset", w.offset))
		if w.offset != before {
			pause = newPause(w.door.conf.Timing.RetryMin, w.door.conf.Timing.RetryMax)
		}
		pause.wait(generation)
	}
}

// untilDrained returns a context that outlives the generation by the time that the batch in hand may take.
func (w *worker) untilDrained(generation context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.Background())
	unhook := context.AfterFunc(generation, func() {
		timer := time.AfterFunc(w.door.conf.Timing.Drain, cancel)
		context.AfterFunc(work, func() { timer.Stop() })
	})
	return work, func() { unhook(); cancel() }
}

// consume reads and handles batches until something fails or the generation ends.
func (w *worker) consume(generation, work context.Context) error {
	r, err := w.open(generation)
	if err != nil {
		return err
	}
	for generation.Err() == nil {
		wait := w.door.conf.Timing.Wait
		if w.uncommitted {
			wait = min(wait, commitEvery) // the offset is committed when nothing comes
		}
		b, err := r.fetch(generation, wait)
		if err != nil {
			w.outOfRange = errors.Is(err, kafka.OffsetOutOfRange)
			return err
		}
		idle, last := len(b.messages) == 0, b.latest()
		w.stand(b.stable, b.high, b.first())
		for b.next > w.offset {
			if b, err = w.handle(generation, work, b); err != nil {
				return err
			}
			w.stand(b.stable, b.high, last)
			if err := w.commit(commitEvery); err != nil {
				return err
			}
		}
		if idle {
			if err := w.commit(0); err != nil {
				return err
			}
		}
	}
	return nil
}

// open finds the place to begin. Kafka passes over deleted records in silence, so what is missing between the committed offset
// and the first record is counted here.
func (w *worker) open(ctx context.Context) (*reader, error) {
	r := w.door.reader(w.door.conf.Topics.Raw, w.partition)
	first, end, err := r.bounds(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case w.offset == kafka.FirstOffset:
		w.offset = first
	case w.offset < first:
		w.metrics.Lost(first - w.offset)
		w.log.Error("records were deleted before they were read",
			zap.Int64("from", w.offset), zap.Int64("to", first-1), zap.Int64("lost", first-w.offset))
		w.offset = first
	case w.outOfRange && w.offset > end:
		// The log has lost its end, and offsets are given out anew. Reading all of it again changes nothing that
		// is known, and misses nothing.
		w.log.Error("the log ends before the committed offset; reading it from its beginning",
			zap.Int64("committed", w.offset), zap.Int64("end", end))
		w.offset = first
	}
	w.outOfRange = false
	w.stand(end, end, time.Time{})
	r.offset = w.offset
	return r, nil
}

// handle brings the first messages of a batch about, as many as are enough for once: index, rejects, events. Only then may the
// offset be committed. It returns the rest; before that, others have their turn.
func (w *worker) handle(generation, work context.Context, b batch) (rest batch, err error) {
	if err := w.begin(generation); err != nil {
		return b, err // before anything is made of the batch
	}
	defer w.end()
	envelopes := make([]ingestor.Envelope, len(b.messages))
	for i := range b.messages {
		envelopes[i] = envelope(&b.messages[i])
	}
	var outcomes []ingestor.Outcome
	err = w.insist(generation, work, "index", func(ctx context.Context) (err error) {
		outcomes, err = w.processor.ProcessSome(ctx, envelopes)
		return err
	})
	if err != nil {
		return b, err
	}
	done := b.messages[:len(outcomes)]
	if err := w.reject(generation, work, done, envelopes, outcomes); err != nil {
		return b, err
	}
	if err := w.publish(generation, work, outcomes); err != nil {
		return b, err
	}
	b.messages = b.messages[len(done):]
	w.offset, w.uncommitted = b.next, true
	if len(b.messages) > 0 {
		w.offset = b.messages[0].Offset
	}
	w.count(done, outcomes)
	return b, nil
}

// begin waits until one batch more may be in hand, unless that of the worker is.
func (w *worker) begin(generation context.Context) error {
	if w.inHand.Load() {
		return nil
	}
	select {
	case w.turns <- struct{}{}:
		w.inHand.Store(true)
		return nil
	case <-generation.Done():
		return fmt.Errorf("given up with the partition before its turn: %w", generation.Err())
	}
}

// end lets others begin, unless it has done so already.
func (w *worker) end() {
	if w.inHand.CompareAndSwap(true, false) {
		<-w.turns
	}
}

// commitEvery is how often a partition is committed while messages stream. A commit is a request that the broker writes to
// a log of its own; what was handled since the last one is handled again, to no effect, by whoever comes after a crash.
const commitEvery = 100 * time.Millisecond

// commit commits what was handled, unless nothing was since the last time, or that is less than a while ago. After an error the
// generation is left, so it is not tried again.
func (w *worker) commit(every time.Duration) error {
	if !w.uncommitted || time.Since(w.committed) < every {
		return nil
	}
	w.uncommitted = false
	if err := w.generation.CommitOffsets(map[string]map[int]int64{w.door.conf.Topics.Raw: {w.partition: w.offset}}); err != nil {
		return fmt.Errorf("%w of offset %d: %w", errCommit, w.offset, err)
	}
	w.committed = time.Now()
	return nil
}

// leave commits what is left when the partition goes to somebody else.
func (w *worker) leave() {
	if err := w.commit(0); err != nil {
		w.metrics.Retry("commit")
		w.log.Warn("leaving the partition", zap.Error(err))
	}
}

func (w *worker) reject(generation, work context.Context, messages []kafka.Message, envelopes []ingestor.Envelope, outcomes []ingestor.Outcome) error {
	var rejections []ingestor.Rejection
	for i, o := range outcomes {
		if o.Verdict == ingestor.Rejected {
			env := envelopes[i]
			env.Origin = origin(w.door.conf.Topics.Raw, w.partition, messages[i].Offset)
			rejections = append(rejections, ingestor.Rejection{Envelope: env, Errors: o.Errors})
		}
	}
	if len(rejections) == 0 {
		return nil
	}
	return w.insist(generation, work, "rejects", func(ctx context.Context) error {
		limited, cancel := context.WithTimeout(ctx, publishLimit)
		defer cancel()
		return w.door.Reject(limited, rejections)
	})
}

// publish also publishes what the index held before: perhaps its events were not published then.
func (w *worker) publish(generation, work context.Context, outcomes []ingestor.Outcome) error {
	if w.events == nil {
		return nil
	}
	filings := make([]bag.Filing, 0, len(outcomes))
	for _, o := range outcomes {
		if o.Verdict != ingestor.Rejected {
			filings = append(filings, o.Filing)
		}
	}
	for len(filings) > 0 {
		n := portion(filings)
		err := w.insist(generation, work, "events", func(ctx context.Context) error {
			return w.events(ctx, filings[:n], func(events []Event) error {
				limited, cancel := context.WithTimeout(ctx, publishLimit)
				defer cancel()
				return w.door.publish(limited, events)
			})
		})
		if err != nil {
			return err
		}
		filings = filings[n:]
	}
	return nil
}

// bagsAtOnce is how many bags the messages name, at least, whose events are made and written together; containers that
// are positioned count like bags. It bounds the memory of a batch, and what is done again after an error.
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

// longTurn is how long a step may keep others from their turn.
const longTurn = time.Second

// insist does something until it succeeds, or the generation has ended: then the batch is somebody else's. Where that takes
// long, and while it waits to try again, other partitions have their turn: what fails for one need not fail for them.
func (w *worker) insist(generation, work context.Context, what string, do func(context.Context) error) error {
	pause := newPause(w.door.conf.Timing.RetryMin, w.door.conf.Timing.RetryMax)
	for {
		if err := w.begin(generation); err != nil {
			return err
		}
		long := time.AfterFunc(longTurn, w.end)
		err := do(work)
		long.Stop()
		if err == nil {
			return nil
		}
		w.metrics.Retry(what)
		w.log.Warn("trying the same batch again", zap.String("step", what), zap.Error(err), zap.Int64("offset", w.offset))
		w.end()
		if !pause.wait(generation) {
			return fmt.Errorf("%s: given up with the partition: %w", what, err)
		}
	}
}

func (w *worker) count(messages []kafka.Message, outcomes []ingestor.Outcome) {
	var by [ingestor.Rejected + 1]int
	for _, o := range outcomes {
		by[o.Verdict]++
	}
	w.metrics.Messages(by[ingestor.Accepted], by[ingestor.Duplicate], by[ingestor.Rejected])
	w.metrics.Redelivered(w.handled(w.partition, messages, w.offset))
}
