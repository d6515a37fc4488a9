package changes_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/redis/redistest"
)

func TestAFollowerCollectsSoManyChangesAndSaysThatItHasMissedMore(t *testing.T) {
	w := newWorld(t)
	tail := changes.NewTail(w.kafka, w.changes, zap.NewNop())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- tail.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	var mu sync.Mutex
	seen := make(map[bag.Plate]int)
	f := tail.Follow(func(r *changes.Record) bool {
		mu.Lock()
		defer mu.Unlock()
		seen[r.Plate]++
		return true
	})
	publish := func(p bag.Plate, n int) { // behind something that is no change
		t.Helper()
		records := []kafka.Record{{Key: []byte(p), Value: []byte("no change")}}
		for i := range n {
			text := fmt.Sprintf(`{"time":"2026-03-14T12:00:00Z","data":{"plate":%q,"epoch":1,"sequence":%d}}`, p, i)
			records = append(records, kafka.Record{Key: []byte(p), Value: []byte(text)})
		}
		if err := w.kafka.Produce(t.Context(), w.changes, records); err != nil {
			t.Fatal(err)
		}
	}
	count := func(p bag.Plate) int {
		mu.Lock()
		defer mu.Unlock()
		return seen[p]
	}
	for p := range partitions { // each partition is read from its end on
		redistest.Eventually(t, 20*time.Second, "the topic is read", func() bool {
			publish(platesIn(p, 1)[0], 1)
			return count(platesIn(p, 1)[0]) > 0
		})
		last := platesIn(p, 2)[1]
		publish(last, 1)
		redistest.Eventually(t, 20*time.Second, "all changes of the partition are read", func() bool { return count(last) > 0 })
	}
	take := func(n int) ([]changes.Published, bool) {
		t.Helper()
		redistest.Eventually(t, 20*time.Second, "all are read", func() bool { return count(plate) == n })
		tail.Follow(func(*changes.Record) bool { return false }).Leave() // the last one has been collected
		return f.Take()
	}
	take(0)
	publish(plate, 300)
	if published, missed := take(300); len(published) != 256 || !missed {
		t.Errorf("%d changes, missed more %t", len(published), missed)
	}
	if published, missed := f.Take(); len(published) != 0 || missed {
		t.Errorf("then %d changes, missed more %t", len(published), missed)
	}
	publish(plate, 1)
	if published, missed := take(301); len(published) != 1 || missed || !published[0].Clock.Equal(w.now) || published[0].Plate != plate {
		t.Errorf("then %+v, missed more %t", published, missed)
	}
	f.Leave()
	publish(plate, 1)
	other := tail.Follow(func(*changes.Record) bool { return true })
	defer other.Leave()
	redistest.Eventually(t, 20*time.Second, "the others follow", func() bool {
		publish(platesIn(0, 1)[0], 1)
		published, _ := other.Take()
		return len(published) > 0
	})
	if published, _ := f.Take(); len(published) != 0 {
		t.Errorf("%d changes are collected for a follower that has left", len(published))
	}
}
