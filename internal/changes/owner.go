package changes

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/kafka"
	"bagtrail/internal/pause"
)

const (
	fetchBytes   = 64 << 10         // of a fetch: about 1,500 marks, which take four times as many bytes in memory
	platesAtOnce = 200              // how many plates are folded and told together at most
	tickEvery    = time.Second      // time between two calls of maintain
	tickLimit    = 30 * time.Second // time limit of a call of maintain, after the takeover
	raiseEvery   = 10 * time.Second // how often the floor is raised; the write also keeps the index from expiring
)

// owner owns one partition of the topic of marks. It implements kafka.Handler. For each batch of
// marks process folds the bags of the marked plates, writes the changed plates to the index,
// publishes them to the topic of changes, and writes the marks that follow, such as those of the
// originals of rush bags. To tell a change means all of this. Once a second, maintain does the work
// that needs no mark.
//
// The consumer calls Handle, and commits after it. If Redis has lost changes that were told, the owner
// marks their plates again before the next Handle.
type owner struct {
	*Stage
	partition int
	log       *zap.Logger
	stop      context.CancelFunc
	ticks     sync.WaitGroup

	mu           sync.Mutex
	ready        bool  // the takeover is complete, and no loss was found since
	consumed     int64 // the offset of the next mark from the consumer
	truncated    bool  // the topic has lost its end, and may have grown again since
	next         int64 // the offset of the next mark to tell: the changes of all marks before it are told
	rememberFrom int64 // digests are remembered from the mark at this offset on, see forgetDigests
	epoch        Epoch
	portion      int // how many plates are told together; fewer after an error
	digests      *digests
	folded       time.Duration // how long the last fold took
	clock        time.Time     // by which bags were folded last
	raised       time.Time     // when raising the floor was tried last
	departures   *departures
}

func (s *Stage) newOwner(partition int) *owner {
	return &owner{
		Stage: s, partition: partition, portion: platesAtOnce, digests: newDigests(),
		log: s.conf.Logger.With(zap.Int("partition", partition)),
	}
}

// TakeOver implements kafka.Handler.
func (o *owner) TakeOver(_ context.Context, offset int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ready, o.consumed = false, offset
	if o.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		o.stop = cancel
		o.ticks.Go(func() { o.tick(ctx) })
	}
	return nil
}

// Release implements kafka.Handler.
func (o *owner) Release() {
	if o.stop != nil {
		o.stop()
		o.ticks.Wait()
	}
}

// Handle implements kafka.Handler.
func (o *owner) Handle(ctx context.Context, records []kafka.Record) (n int, err error) {
	defer func() {
		if err != nil {
			o.conf.Metrics.Retry("tell")
		}
	}()
	defer context.AfterFunc(ctx, o.stop)() // so that a call of maintain does not outlive the ownership
	o.mu.Lock()
	defer o.mu.Unlock()
	if first := records[0].Offset; first != o.consumed {
		o.truncated = o.truncated || first < o.consumed // the topic has lost its end
		o.ready, o.consumed = false, first              // if first > o.consumed, the owner writes the marks between them again
	}
	if err := o.prepare(ctx); err != nil {
		return 0, err
	}
	n = o.portionOf(records)
	if err := o.process(ctx, records[:n]); err != nil {
		return 0, err // if Redis has lost changes, the next attempt marks them again
	}
	o.consumed = records[n-1].Offset + 1
	return n, nil
}

// tick calls maintain every second, until ctx ends.
func (o *owner) tick(ctx context.Context) {
	maintain := func() {
		if err := o.maintain(ctx); err != nil && ctx.Err() == nil {
			o.conf.Metrics.Retry("tell")
			o.log.Warn("the index of changes cannot be updated", zap.Error(err))
		}
	}
	maintain()
	pause.Every(ctx, tickEvery, maintain)
}

// maintain does the work that needs no mark. It checks that the index still has everything that was
// told, and takes over again if it has not. Then, within tickLimit, it keeps the index from
// expiring, raises its floor, and marks the bags of flights that have departed. If the floor cannot
// be read, since this partition has no leader, departures are still marked, in other partitions
// too.
func (o *owner) maintain(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.checkIndex(ctx); err != nil {
		return err
	}
	if err := o.prepare(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, tickLimit)
	defer cancel()
	now := o.conf.Now()
	o.watchClock(now)
	var unraised error
	if now.Sub(o.raised) >= raiseEvery {
		var floor int64
		floor, unraised = o.floor(ctx, now)
		if _, err := o.write(ctx, nil, o.next-1, floor, now); err != nil {
			return errors.Join(unraised, err)
		}
		o.raised = now
	}
	return errors.Join(unraised, o.markDepartures(ctx, now))
}

// checkIndex checks that Redis has not lost changes that were told, and that the epoch is still the
// same. While marks come, write checks the same.
func (o *owner) checkIndex(ctx context.Context) error {
	if !o.ready {
		return nil
	}
	p, err := o.conf.Index.Progress(ctx, o.epoch, o.partition)
	if err == nil && (p.None() || p.Told < o.next-1) {
		o.lose()
	}
	return err
}

// lose is called if Redis has lost changes that were told, or if another epoch has begun. It makes
// the owner take over again.
func (o *owner) lose() {
	o.log.Warn("the index of changes has lost what was told, or another epoch has begun: the owner takes over again",
		zap.Int64("epoch", o.epoch.Begun), zap.Int64("next", o.next))
	o.ready = false
}

// forgetDigests forgets all digests, and lets none be remembered for marks before an offset. So the
// states of these marks are told even if nothing has changed, since readers may have other states,
// from an attempt that failed or from another owner.
func (o *owner) forgetDigests(before int64) {
	o.digests.forget()
	o.rememberFrom = max(o.rememberFrom, before)
}

// watchClock records the time by which bags are folded. If the clock was set back, it forgets all
// digests: some flights counted as departed too early, and readers with a right clock have other
// states of their bags.
func (o *owner) watchClock(now time.Time) {
	now = now.Round(0) // the monotonic reading does not go back
	if now.Before(o.clock) {
		o.forgetDigests(0)
	}
	o.clock = now
}

// portionOf returns how many of the first records are told together: as many as have o.portion
// different keys. Few keys may be repeated in many marks, since each message about a group of bags
// marks all of them. Then read takes only the last mark of each plate.
func (o *owner) portionOf(records []kafka.Record) int {
	keys := make(map[string]struct{}, min(len(records), o.portion))
	for i := range records {
		if keys[string(records[i].Key)] = struct{}{}; len(keys) > o.portion {
			return i
		}
	}
	return len(records)
}

// write writes to the index. If the index has lost changes that were told, write writes nothing and
// fails with ErrIndexLost. more reports whether more was told already, by an earlier attempt or by
// another owner.
func (o *owner) write(ctx context.Context, entries []Entry, told, floor int64, now time.Time) (more bool, err error) {
	more, err = o.conf.Index.Tell(ctx, o.epoch, o.partition, IndexWrite{
		After: o.next - 1, Told: told, Floor: floor, Clock: now, Departed: o.departures.markedUntil(), Entries: entries,
	})
	if errors.Is(err, ErrIndexLost) {
		o.lose()
	}
	if more {
		o.forgetDigests(told + 1)
	}
	return more, err
}

// floor returns the floor above the changes that are older than the retention, or -1 with an error.
func (o *owner) floor(ctx context.Context, now time.Time) (int64, error) {
	kept, err := o.conf.Kafka.Span(ctx, o.conf.Marks, o.partition, kafka.Start{Time: now.Add(-o.conf.Retention)})
	if err != nil {
		return -1, err
	}
	return min(kept.From, o.next), nil // marks that wait may be older than the retention
}
