package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"go.uber.org/zap"

	"bagtrail/internal/pause"
)

// worker reads one partition in one generation. Nobody else commits that partition.
type worker struct {
	*Consumer
	handler    Handler
	fetcher    *fetcher // of the generation
	generation *kafkago.Generation
	partition  int
	log        *zap.Logger

	offset     int64 // of the next record to handle; kafkago.FirstOffset if the group has committed none
	committed  int64 // everything before it is committed, or need not be
	lastCommit time.Time
	takenOver  bool // the handler has taken over
	outOfRange bool // the last fetch failed because the broker does not have the offset

	identity string       // of the store of results, when the worker began or last went back; "" at first
	safe     int64        // the results of all records before it cannot be lost
	points   []checkpoint // of offsets greater than safe, ascending
	metadata string       // of the committed offset; "" if it has none, or if everything before it was safe
}

// checkpoint is an offset, and the time at which everything before it had been handled.
type checkpoint struct {
	offset int64
	at     time.Time
}

var (
	errCommit       = errors.New("commit")                                 // ends the generation; the next one begins at the committed offset
	errTakeOver     = errors.New("take over")                              // the partition cannot be taken over yet
	errStoreChanged = errors.New("the latest results may be lost")         // makes the worker go back to the safe offset
	errUnknown      = errors.New("the identity of Redis is not known yet") // of ConsumerConfig.ResultStore, before its first answer
)

// run returns when the generation has ended, or a commit has failed. It must not return for another
// reason, since that ends the generation for every partition.
func (w *worker) run(generation context.Context) {
	work, stop := w.untilDrained(generation)
	defer stop()
	defer w.handler.Release()
	defer w.conf.Metrics.Released(w.partition)
	defer w.leave()
	pauses := w.client.backoff()
	for generation.Err() == nil {
		before := w.offset
		err := w.consume(generation, work)
		if generation.Err() != nil {
			return
		}
		switch {
		case errors.Is(err, errCommit):
			w.conf.Metrics.Retry("commit")
			w.log.Warn("a commit failed: the consumer joins its group again", zap.Error(err))
			return
		case errors.Is(err, errStoreChanged):
			w.takenOver = false
			continue
		}
		operation, text := "fetch", "a fetch failed and is retried"
		if errors.Is(err, errTakeOver) {
			operation, text = "takeover", "a partition cannot be taken over yet: trying again"
		}
		w.conf.Metrics.Retry(operation)
		w.log.Warn(text, zap.Error(err), zap.Int64("offset", w.offset))
		if w.offset != before {
			pauses = w.client.backoff()
		}
		pauses.wait(generation)
	}
}

// untilDrained returns a context that outlives the generation by the time limit Drain, so that the
// current batch can be finished.
func (w *worker) untilDrained(generation context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.Background())
	unhook := context.AfterFunc(generation, func() {
		defer cancel()
		_ = pause.For(work, w.client.conf.Timing.Drain)
	})
	return work, func() { unhook(); cancel() }
}

// consume reads and handles batches until something fails or the generation ends.
func (w *worker) consume(generation, work context.Context) error {
	r, err := w.open(generation, work)
	if err != nil {
		return err
	}
	defer r.Close()
	for generation.Err() == nil {
		wait := w.client.conf.Timing.Wait
		if w.offset > w.committed {
			wait = min(wait, commitEvery) // so that the offset is committed if nothing comes
		}
		b, err := r.Fetch(generation, wait)
		if err != nil {
			w.outOfRange = errors.Is(err, kafkago.OffsetOutOfRange)
			return err
		}
		var oldest, latest time.Time // of the records
		records := len(b.Records)
		if records > 0 {
			oldest, latest = b.Records[0].Time, b.Records[records-1].Time
		}
		w.note(b.LastStable, b.HighWatermark, oldest)
		for b.Next > w.offset {
			if err := w.handle(generation, work, &b); err != nil {
				return err
			}
			w.note(b.LastStable, b.HighWatermark, latest)
			if err := w.commit(commitEvery); err != nil {
				return err
			}
		}
		if records == 0 {
			if err := w.commit(0); err != nil {
				return err
			}
		}
	}
	return nil
}

// open finds the offset at which to begin, and lets the handler take over. Kafka skips deleted
// records silently, so open counts those between the committed offset and the first record.
func (w *worker) open(generation, work context.Context) (*Reader, error) {
	if !w.takenOver {
		if err := w.goBack(generation); err != nil {
			return nil, fmt.Errorf("%w: %w", errTakeOver, err)
		}
	}
	whole, err := w.client.Span(generation, w.conf.Topic, w.partition, Start{})
	if err != nil {
		return nil, err
	}
	first, end := whole.From, whole.To
	switch {
	case w.offset == kafkago.FirstOffset:
		if first < end {
			w.log.Info("the group has no offset of the partition, which is read from its beginning", zap.Int64("from", first), zap.Int64("to", end-1))
		}
		w.offset, w.committed = first, first
	case w.offset < first:
		w.conf.Metrics.Lost(first - w.offset)
		w.log.Error("records were deleted before they were read",
			zap.Int64("from", w.offset), zap.Int64("to", first-1), zap.Int64("lost", first-w.offset))
		w.offset = first // commit follows, so that the next worker does not count them again
	case w.outOfRange:
		// The log has lost its end, and new records reuse the offsets. The log may have grown since, so
		// read all of it: that misses no record, and handling a record again changes nothing.
		w.log.Error("the log ends before the committed offset; reading it from its beginning",
			zap.Int64("committed", w.offset), zap.Int64("end", end))
		w.offset, w.committed, w.safe, w.points = first, first-1, first, nil
		if err := w.commit(0); err != nil { // the log may have grown beyond the old offset when the next worker begins
			return nil, err
		}
	}
	w.safe = min(max(w.safe, first), w.offset)
	w.outOfRange = false
	if !w.takenOver {
		if err := w.handler.TakeOver(work, w.offset); err != nil {
			return nil, fmt.Errorf("%w: %w", errTakeOver, err)
		}
		w.takenOver = true
	}
	w.note(end, end, time.Time{})
	return w.fetcher.reader(w.partition, w.offset), nil
}

// goBack sets the offset back to the safe offset if the identity of the store of results has changed
// since this worker, or the one before it, handled the records from there on.
func (w *worker) goBack(ctx context.Context) error {
	if w.conf.ResultStore == nil {
		return nil
	}
	identity, _ := w.conf.ResultStore()
	if identity == "" {
		return errUnknown
	}
	if w.identity == "" {
		if err := w.recall(ctx); err != nil {
			return err
		}
	}
	if w.identity != "" && w.identity != identity && w.safe < w.offset {
		w.log.Warn("Redis restarted or failed over and may have lost the latest messages: handling their records again", zap.Int64("from", w.safe), zap.Int64("to", w.offset))
		w.offset = w.safe
	}
	w.identity, w.points = identity, nil
	return nil
}

// longHandle is the longest time for which a batch holds a slot.
const longHandle = time.Second

// handle passes a batch to the handler, removes the records that the handler has handled, and moves
// the offset past them. It retries until the handler succeeds or the generation has ended; after
// that, another worker gets the records.
func (w *worker) handle(generation, work context.Context, b *Batch) error {
	n, err := w.handleOnce(generation, work, b.Records)
	for pauses := w.client.backoff(); err != nil; n, err = w.handleOnce(generation, work, b.Records) {
		if generation.Err() != nil {
			return fmt.Errorf("the partition was given up, and its batch with it: %w", err)
		}
		w.log.Warn("a batch could not be handled and is retried", zap.Error(err), zap.Int64("offset", w.offset))
		pauses.wait(generation)
	}
	done := b.Records[:n]
	b.Records = b.Records[n:]
	w.offset = b.Next
	if len(b.Records) > 0 {
		w.offset = b.Records[0].Offset
	}
	w.addCheckpoint()
	w.conf.Metrics.Redelivered(w.handled(w.partition, done, w.offset))
	return nil
}

// handleOnce calls the handler, if there are records, and returns how many it has handled. It first
// waits for a slot, which bounds how many batches are handled at the same time. If the handler takes
// longer than longHandle, it gives the slot back early, so that a partition that hangs does not stop
// the others.
func (w *worker) handleOnce(generation, work context.Context, records []Record) (int, error) {
	if len(records) == 0 {
		return 0, nil
	}
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

// commitEvery is the time between two commits of a partition while records stream. A commit is a
// request that the broker writes to a log of its own. After a crash, records that were handled
// after the last commit are handled again.
const commitEvery = 100 * time.Millisecond

// addCheckpoint notes that everything before the offset has been handled by now. Checkpoints are
// about commitEvery apart, so there are few.
func (w *worker) addCheckpoint() {
	if w.conf.ResultStore == nil {
		return
	}
	now := checkpoint{w.offset, time.Now()}
	if n := len(w.points); n > 1 && now.at.Sub(w.points[n-2].at) < commitEvery {
		w.points[n-1] = now
	} else {
		w.points = append(w.points, now)
	}
}

// checkResults moves safe forward, or returns errStoreChanged if later results may be lost.
func (w *worker) checkResults() error {
	if w.conf.ResultStore == nil {
		w.safe = w.offset
		return nil
	}
	identity, safe := w.conf.ResultStore()
	if identity != w.identity {
		return errStoreChanged
	}
	n, _ := slices.BinarySearchFunc(w.points, safe, func(c checkpoint, t time.Time) int { return c.at.Compare(t) })
	if n > 0 {
		w.safe = w.points[n-1].offset
		w.points = slices.Delete(w.points, 0, n)
	}
	return nil
}

// commit commits the offset if it has moved or become safe, and if the time every has passed since
// the last commit. Its metadata are the safe offset, and the identity of the store of results.
// After errCommit the worker leaves the generation, after errStoreChanged it goes back. After the
// worker has gone back, commit does nothing until the offset is greater than the committed one.
func (w *worker) commit(every time.Duration) error {
	if err := w.checkResults(); err != nil {
		return err
	}
	metadata := ""
	if w.conf.ResultStore != nil {
		metadata = fmt.Sprint(w.safe, " ", w.identity)
	}
	// If everything before the committed offset has become safe since, the offset is committed once
	// more. Otherwise, if no records follow, the next worker would believe that the results of the
	// last ones may still be lost, however old they are.
	becameSafe := w.offset == w.committed && w.safe == w.offset && w.metadata != "" && w.metadata != metadata
	if w.offset <= w.committed && !becameSafe || time.Since(w.lastCommit) < every {
		return nil
	}
	if err := w.commitOffset(metadata); err != nil {
		return fmt.Errorf("%w of offset %d: %w", errCommit, w.offset, err)
	}
	w.committed, w.lastCommit, w.metadata = w.offset, time.Now(), metadata
	return nil
}

// commitOffset commits the offset with metadata.
func (w *worker) commitOffset(metadata string) error {
	ctx, cancel := context.WithTimeout(context.Background(), w.client.conf.Timing.Request)
	defer cancel()
	commit := kafkago.OffsetCommit{Partition: w.partition, Offset: w.offset, Metadata: metadata}
	answer, err := w.client.client.OffsetCommit(ctx, &kafkago.OffsetCommitRequest{
		GroupID: w.conf.Group, GenerationID: int(w.generation.ID), MemberID: w.generation.MemberID,
		Topics: map[string][]kafkago.OffsetCommit{w.conf.Topic: {commit}},
	})
	if err != nil {
		return err
	}
	for _, p := range answer.Topics[w.conf.Topic] {
		if p.Partition == w.partition {
			return p.Error
		}
	}
	return errNoAnswer
}

// recall reads the safe offset and the identity of the store of results from the metadata of the
// committed offset, which the worker before this one wrote. An offset that a tool has set has no
// metadata; then everything before it counts as safe.
func (w *worker) recall(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.client.conf.Timing.Request)
	defer cancel()
	answer, err := w.client.client.OffsetFetch(ctx, &kafkago.OffsetFetchRequest{
		GroupID: w.conf.Group, Topics: map[string][]int{w.conf.Topic: {w.partition}},
	})
	if err != nil {
		return err
	}
	for _, p := range answer.Topics[w.conf.Topic] {
		if p.Partition != w.partition {
			continue
		}
		safe, identity, _ := strings.Cut(p.Metadata, " ")
		if offset, err := strconv.ParseInt(safe, 10, 64); err == nil && offset < p.CommittedOffset && p.CommittedOffset == w.offset {
			w.safe, w.identity, w.metadata = offset, identity, p.Metadata
		}
		return p.Error
	}
	return errNoAnswer
}

// leave commits once more when the worker ends.
func (w *worker) leave() {
	if err := w.commit(0); err != nil && !errors.Is(err, errStoreChanged) {
		w.conf.Metrics.Retry("commit")
		w.log.Warn("the last commit of a partition failed: its records may be handled again", zap.Error(err))
	}
}
