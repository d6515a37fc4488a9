package kafkadoor_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// later is a clock that can be set forward.
type later struct{ by atomic.Int64 }

func (l *later) now() time.Time          { return time.Now().Add(time.Duration(l.by.Load())) }
func (l *later) forward(d time.Duration) { l.by.Add(int64(d)) }

func TestAPartitionThatDoesNotMoveIsBehindAndIsNamed(t *testing.T) {
	w := newWorld(t, 2)
	clock := new(later)
	w.kafka.Now = clock.now
	w.open()
	w.index.refuse(plate(0), false) // the very first record, so that nothing was ever decided on
	w.produce(0, records(0, 5)...)
	w.produce(1, records(5, 5)...)
	consumer := w.door.NewConsumer(w.acceptor(), w.metrics)
	w.run(consumer)
	w.eventually("one partition is tried again and the other is read", func() bool {
		left, _ := w.metrics.waits(1)
		return w.index.failures() > 3 && w.metrics.accepted.Load() == 5 && left == 0
	})
	if n, oldest := w.metrics.waits(0); n != 5 || !oldest.Equal(received) {
		t.Errorf("%d records wait, the oldest from %v; want 5, from %v", n, oldest, received)
	}
	if err := consumer.Stalled(); err != nil {
		t.Errorf("before half a minute is over: %v", err)
	}
	clock.forward(31 * time.Second)
	err := consumer.Stalled()
	if err == nil || !strings.HasPrefix(err.Error(), "partition 0 of "+w.conf.Topics.Raw+" has not moved for 31s: the record at offset 0 waits") {
		t.Errorf("after it: %v", err)
	}

	w.index.refuse("", false)
	w.waitCommitted(10)
	w.eventually("it moves again", func() bool { return consumer.Stalled() == nil })
	if n, oldest := w.metrics.waits(0); n != 0 || !oldest.IsZero() {
		t.Errorf("%d records wait, the oldest from %v", n, oldest)
	}
}

func TestARecordFromTheFutureWaitsSinceItWasSeen(t *testing.T) {
	w := newWorld(t, 1)
	w.index.setFail(true)
	ahead := kafkago.Record{Time: time.Now().Add(time.Hour), Value: kafkago.NewBytes([]byte(message(0)))}
	before := time.Now()
	w.produce(0, ahead)
	w.run(w.door.NewConsumer(w.acceptor(), w.metrics))
	w.eventually("it is tried again", func() bool { return w.index.failures() > 3 })
	if n, oldest := w.metrics.waits(0); n != 1 || oldest.Before(before) || oldest.After(time.Now()) {
		t.Errorf("%d records wait, the oldest since %v", n, oldest)
	}
}

func TestARebalanceNeitherHidesAPartitionThatStandsStillNorEndsAMembership(t *testing.T) {
	w := newWorld(t, 1)
	clock := new(later)
	w.kafka.Now = clock.now
	w.open()
	w.index.refuse(plate(0), false)
	w.produce(0, records(0, 1)...)
	consumer := w.door.NewConsumer(w.acceptor(), w.metrics)
	if consumer.Member() == nil {
		t.Error("a consumer that has never run is a member")
	}
	w.run(consumer)
	w.eventually("it is tried again", func() bool { return w.index.failures() > 3 })
	clock.forward(31 * time.Second)

	w.grow(2)
	w.produce(1, records(1, 5)...)
	w.eventually("the new partition is read", func() bool {
		if consumer.Stalled() == nil {
			t.Fatal("the partition counts as moving")
		}
		if err := consumer.Member(); err != nil {
			t.Fatal(err)
		}
		return w.index.plates() == 5
	})
}
