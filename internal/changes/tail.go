package changes

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/kafka"
)

// Tail reads the end of the topic of changes, once for all followers in this process. They get the
// plates that changed, and fold the bags themselves. Tail begins to read with the first follower.
type Tail struct {
	kafka  *kafka.Client
	topic  string
	logger *zap.Logger
	begin  chan struct{} // closed when the first follower comes

	mu        sync.Mutex
	followers map[*Follower]struct{} // nil before the first follower comes
}

// NewTail returns the tail of a topic of changes. Run reads the topic.
func NewTail(client *kafka.Client, topic string, logger *zap.Logger) *Tail {
	return &Tail{kafka: client, topic: topic, logger: logger, begin: make(chan struct{})}
}

// Published is a change that was published.
type Published struct {
	Candidate
	Epoch int64
	Clock time.Time // by which the owner folded the bags
}

// Follower collects the published changes that match.
type Follower struct {
	tail    *Tail
	matches func(*Record) bool
	changed chan struct{}

	mu      sync.Mutex
	waiting []Published
	missed  bool
}

// maxWaiting is how many changes a follower collects. If more come before a call of Take, the
// caller must read them from the index.
const maxWaiting = 256

// Follow returns a follower of the changes that match. Each partition calls matches from a
// goroutine of its own; matches must not change the record. The caller must call Leave in the end.
//
// The follower collects changes that are published later. Earlier ones are in the index.
func (t *Tail) Follow(matches func(*Record) bool) *Follower {
	f := &Follower{tail: t, matches: matches, changed: make(chan struct{}, 1)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.followers == nil {
		t.followers = make(map[*Follower]struct{})
		close(t.begin)
	}
	t.followers[f] = struct{}{}
	return f
}

// Leave removes the follower.
func (f *Follower) Leave() {
	f.tail.mu.Lock()
	defer f.tail.mu.Unlock()
	delete(f.tail.followers, f)
}

// Changed returns a channel that has an element if there is something to take.
func (f *Follower) Changed() <-chan struct{} { return f.changed }

// Take returns the changes that were collected since the last call, in each partition in the order
// of the topic. If missed is true, there are more changes, which the caller must read from the
// index.
func (f *Follower) Take() (published []Published, missed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	published, missed = f.waiting, f.missed
	f.waiting, f.missed = nil, false
	return published, missed
}

// add collects a change. If p is nil, changes were missed.
func (f *Follower) add(p *Published) {
	f.mu.Lock()
	if p == nil || len(f.waiting) == maxWaiting {
		f.missed = true
	} else {
		f.waiting = append(f.waiting, *p)
	}
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// miss makes all followers report that they have missed changes.
func (t *Tail) miss() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for f := range t.followers {
		f.add(nil)
	}
}

// Run waits for the first follower, and then reads every partition of the topic from its end on
// until ctx ends.
func (t *Tail) Run(ctx context.Context) error {
	select {
	case <-t.begin:
	case <-ctx.Done():
		return nil
	}
	t.kafka.Follow(ctx, t.topic, kafka.Follower{
		Begin: t.start,
		Take:  func(partition int, batch kafka.Batch) { t.pass(partition, batch.Records) },
		Fail:  func(err error) { t.logger.Warn("the topic of changes cannot be read", zap.Error(err)) },
	})
	return nil
}

// start returns the offset at which to read a partition: at, or the end if the partition does not
// have that offset. In the second case all followers must read the index.
func (t *Tail) start(at, first, end int64) int64 {
	if at >= first && at <= end {
		return at
	}
	t.miss()
	return end
}

// pass gives each record to the followers that match it.
func (t *Tail) pass(partition int, records []kafka.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.followers) == 0 {
		return
	}
	for i := range records {
		r, err := ParseRecord(records[i].Value)
		if err != nil {
			t.logger.Error("a record of the topic of changes cannot be parsed, and is skipped",
				zap.Int("partition", partition), zap.Int64("offset", records[i].Offset), zap.Error(err))
			continue
		}
		p := Published{Candidate{r.Plate, partition, r.Sequence}, r.Epoch, r.Time}
		for f := range t.followers {
			if f.matches(r) {
				f.add(&p)
			}
		}
	}
}
