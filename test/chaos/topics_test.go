package chaos_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/servers/program"
)

// ends returns the offset after the last record of each partition.
func (w *world) ends(ctx context.Context, topic string) ([]int64, error) {
	meta, err := w.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, err
	}
	if len(meta.Topics) != 1 || meta.Topics[0].Error != nil || len(meta.Topics[0].Partitions) == 0 {
		return nil, fmt.Errorf("topic %s: %+v", topic, meta.Topics)
	}
	ask := make([]kafka.OffsetRequest, len(meta.Topics[0].Partitions))
	for p := range ask {
		ask[p] = kafka.LastOffsetOf(p)
	}
	res, err := w.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: ask}})
	if err != nil {
		return nil, err
	}
	ends := make([]int64, len(ask))
	for _, p := range res.Topics[topic] {
		if p.Error != nil {
			return nil, p.Error
		}
		ends[p.Partition] = p.LastOffset
	}
	return ends, nil
}

// endsNow is ends for a topic that is so new that parts of the broker do not know it.
func (w *world) endsNow(topic string) (ends []int64) {
	w.t.Helper()
	var err error
	if !until(w.t.Context(), 20*time.Second, beat, func(ctx context.Context) bool { ends, err = w.ends(ctx, topic); return err == nil }) {
		w.t.Fatal(err)
	}
	return ends
}

// committed returns the offsets that a group has committed on a topic, -1 where it has none.
func (w *world) committed(ctx context.Context, group, topic string, partitions int) ([]int64, error) {
	ask := make([]int, partitions)
	for p := range ask {
		ask[p] = p
	}
	res, err := w.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: ask}})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		return nil, err
	}
	offsets := make([]int64, partitions)
	for _, p := range res.Topics[topic] {
		if p.Error != nil {
			return nil, p.Error
		}
		offsets[p.Partition] = p.CommittedOffset
	}
	return offsets, nil
}

// read calls each with every record of a topic, partition by partition.
func (w *world) read(topic string, each func(kafka.Message)) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Minute)
	defer cancel()
	for p := range w.endsNow(topic) {
		if err := program.ReadPartition(ctx, w.broker, topic, p, each); err != nil {
			w.t.Fatalf("read %s/%d: %v", topic, p, err)
		}
	}
}

// watch observes the commits of the group.
type watch struct {
	mu     sync.Mutex
	last   []int64       // by partition: the highest committed offset
	moved  []time.Time   // when that was committed
	gap    time.Duration // longest time between two commits of a partition
	looks  int
	back   []string // offsets that went back
	cancel context.CancelFunc
	done   chan struct{}
}

// watchGroup reads the committed offsets all the time, until it is stopped.
func (w *world) watchGroup() *watch {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	watch := &watch{cancel: cancel, done: make(chan struct{})}
	ends := w.endsNow(w.name)
	watch.last, watch.moved = make([]int64, len(ends)), make([]time.Time, len(ends))
	go func() {
		defer close(watch.done)
		for {
			asking, over := context.WithTimeout(ctx, time.Second)
			if now, err := w.committed(asking, w.name, w.name, len(ends)); err == nil {
				watch.see(now)
			}
			over()
			if !rest(ctx, beat) {
				return
			}
		}
	}()
	w.t.Cleanup(watch.stop)
	return watch
}

func (watch *watch) see(now []int64) {
	watch.mu.Lock()
	defer watch.mu.Unlock()
	watch.looks++
	for p, offset := range now {
		offset = max(0, offset) // no commit yet
		switch {
		case offset < watch.last[p]:
			watch.back = append(watch.back, fmt.Sprintf("partition %d: %d, was %d", p, offset, watch.last[p]))
		case offset > watch.last[p]:
			if moved := time.Now(); !watch.moved[p].IsZero() {
				watch.gap = max(watch.gap, moved.Sub(watch.moved[p]))
			}
			watch.last[p], watch.moved[p] = offset, time.Now()
		}
	}
}

// sum returns the number of committed records.
func (watch *watch) sum() (sum int64) {
	watch.mu.Lock()
	defer watch.mu.Unlock()
	for _, offset := range watch.last {
		sum += offset
	}
	return sum
}

// longest returns the longest time between two commits of a partition since longest was last
// called.
func (watch *watch) longest() time.Duration {
	watch.mu.Lock()
	defer watch.mu.Unlock()
	gap := watch.gap
	for _, moved := range watch.moved {
		if !moved.IsZero() {
			gap = max(gap, time.Since(moved))
		}
	}
	watch.gap = 0
	return gap
}

func (watch *watch) stop() {
	watch.cancel()
	<-watch.done
}

// check ends the watch, and fails the test if an offset went back, or if it never saw one.
func (w *world) check(watch *watch) {
	w.t.Helper()
	watch.stop()
	if watch.looks == 0 {
		w.t.Error("the committed offsets were never read")
	}
	for _, b := range watch.back {
		w.t.Errorf("a committed offset went back: %s", b)
	}
	w.t.Logf("committed offsets: %d looks at %d partitions, %d steps back", watch.looks, len(watch.last), len(watch.back))
}
