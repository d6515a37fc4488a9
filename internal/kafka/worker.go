package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"go.uber.org/zap"
)

// worker reads one partition in one generation. Nobody else commits that partition.
type worker struct {
	*Consumer
	handler     Handler
	generation  *kafkago.Generation
	partition   int
	offset      int64     // of the next record to handle; kafkago.FirstOffset if the group has committed none
	takenOver   bool      // the handler has been told to take over
	uncommitted bool      // offset has moved since the last commit
	committed   time.Time // when that was
	outOfRange  bool      // a broker said that it has no such offset
	log         *zap.Logger
}

// errCommit ends a generation; the next one begins at the committed offset.
var errCommit = errors.New("commit")

// run returns when the generation has ended, or a commit has failed. If it returned earlier, it would end the generation for
// every partition.
func (w *worker) run(generation context.Context) {
	work, stop := w.untilDrained(generation)
	defer stop()
	defer w.handler.Release()
	defer w.conf.Metrics.Lag(w.partition, 0, time.Time{})
	defer w.leave()
	pause := w.client.backoff()
	for generation.Err() == nil {
		before := w.offset
		err := w.consume(generation, work)
		if generation.Err() != nil {
			return
		}
		if errors.Is(err, errCommit) {
			w.conf.Metrics.Retry("commit")
			w.log.Warn("leaving the generation", zap.Error(err))
			return
		}
		w.conf.Metrics.Retry("fetch")
		w.log.Warn("reading again", zap.Error(err), zap.Int64("offset", w.offset))
		if w.offset != before {
			pause = w.client.backoff()
		}
		pause.wait(generation)
	}
}

// untilDrained returns a context that outlives the generation by the time that the batch in hand may take.
func (w *worker) untilDrained(generation context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.Background())
	unhook := context.AfterFunc(generation, func() {
		timer := time.AfterFunc(w.client.conf.Timing.Drain, cancel)
		context.AfterFunc(work, func() { timer.Stop() })
	})
	return work, func() { unhook(); cancel() }
}

// consume reads and handles batches until something fails or the generation ends.
func (w *worker) consume(generation, work context.Context) error {
	r, err := w.open(generation, work)
	if err != nil {
		return err
	}
	for generation.Err() == nil {
		wait := w.client.conf.Timing.Wait
		if w.uncommitted {
			wait = min(wait, commitEvery) // so that the offset is committed if nothing comes
		}
		b, err := r.Fetch(generation, wait)
		if err != nil {
			w.outOfRange = errors.Is(err, kafkago.OffsetOutOfRange)
			return err
		}
		idle, last := len(b.Records) == 0, b.latest()
		w.note(b.Stable, b.High, b.first())
		for b.Next > w.offset {
			if err := w.handle(generation, work, &b); err != nil {
				return err
			}
			w.note(b.Stable, b.High, last)
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

// open finds the offset at which to begin. Kafka skips deleted records silently, so those between the committed offset and the
// first record are counted here.
func (w *worker) open(generation, work context.Context) (*Reader, error) {
	r := w.client.Reader(w.conf.Topic, w.partition, 0)
	first, end, err := r.Bounds(generation)
	if err != nil {
		return nil, err
	}
	switch {
	case w.offset == kafkago.FirstOffset:
		w.offset = first
	case w.offset < first:
		w.conf.Metrics.Lost(first - w.offset)
		w.log.Error("records were deleted before they were read",
			zap.Int64("from", w.offset), zap.Int64("to", first-1), zap.Int64("lost", first-w.offset))
		w.offset = first
	case w.outOfRange && w.offset > end:
		// The log has lost its end, and its offsets are used again. Reading all of it misses nothing, and changes nothing that
		// was handled before.
		w.log.Error("the log ends before the committed offset; reading it from its beginning",
			zap.Int64("committed", w.offset), zap.Int64("end", end))
		w.offset = first
	}
	w.outOfRange = false
	if !w.takenOver {
		if w.offset, err = w.handler.TakeOver(work, w.offset); err != nil {
			return nil, fmt.Errorf("take over: %w", err)
		}
		w.takenOver = true
	}
	w.note(end, end, time.Time{})
	r.offset = w.offset
	return r, nil
}

// longHandle is how long a batch may be in hand before it stops counting among those that are handled at once.
const longHandle = time.Second

// handle has the handler handle the first records of a batch, which it removes from the batch, and moves the offset behind
// them. It retries until that succeeds or the generation has ended: then another worker has the records.
func (w *worker) handle(generation, work context.Context, b *Batch) error {
	n := 0
	for pause := w.client.backoff(); len(b.Records) > 0; {
		var err error
		if n, err = w.handleOnce(generation, work, b.Records); err == nil {
			break
		}
		w.log.Warn("trying the same batch again", zap.Error(err), zap.Int64("offset", w.offset))
		if !pause.wait(generation) {
			return fmt.Errorf("gave up the batch with the partition: %w", err)
		}
	}
	done := b.Records[:n]
	b.Records = b.Records[n:]
	w.offset, w.uncommitted = b.Next, true
	if len(b.Records) > 0 {
		w.offset = b.Records[0].Offset
	}
	w.conf.Metrics.Redelivered(w.handled(w.partition, done, w.offset))
	return nil
}

// handleOnce waits for a slot, so that the batches in hand take a bounded amount of memory, and calls the handler. If that takes
// long, it gives the slot back before the end: what fails for one partition need not fail for the others.
func (w *worker) handleOnce(generation, work context.Context, records []Record) (int, error) {
	select {
	case w.slots <- struct{}{}:
	case <-generation.Done():
		return 0, generation.Err()
	}
	release := sync.OnceFunc(func() { <-w.slots })
	defer release()
	defer time.AfterFunc(longHandle, release).Stop()
	return w.handler.Handle(work, records)
}

// commitEvery is how often a partition is committed while records stream. A commit is a request that the broker writes to a
// log of its own. After a crash, what was handled since the last commit is handled again.
const commitEvery = 100 * time.Millisecond

// commit commits what was handled, unless nothing was since the last commit, or that is less than a while ago. After an error
// the generation is left, so it does not try again.
func (w *worker) commit(every time.Duration) error {
	if !w.uncommitted || time.Since(w.committed) < every {
		return nil
	}
	w.uncommitted = false
	if err := w.generation.CommitOffsets(map[string]map[int]int64{w.conf.Topic: {w.partition: w.offset}}); err != nil {
		return fmt.Errorf("%w of offset %d: %w", errCommit, w.offset, err)
	}
	w.committed = time.Now()
	return nil
}

// leave commits the rest when the partition is lost.
func (w *worker) leave() {
	if err := w.commit(0); err != nil {
		w.conf.Metrics.Retry("commit")
		w.log.Warn("leaving the partition", zap.Error(err))
	}
}
