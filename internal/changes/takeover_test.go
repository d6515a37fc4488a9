package changes_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/redis/redistest"
)

func TestACursorGoesOnThoughOnlyContainersWereMarkedBeforeTheLoss(t *testing.T) {
	w := newWorld(t)
	owners := w.owners()
	cursor := w.nowCursor(everything) // everything at -1
	// a container that nobody knows, then a plate in the same partition
	m := changes.Mark{Container: bag.Container{Flight: lx14, Device: "AKE12345LX"}}
	at := kafka.PartitionOf([]byte(m.Key()), partitions)
	w.mark(m)
	plate := platesIn(at, 1)[0]
	w.set(plate, "ONE")
	w.runAll(owners)
	if got, _ := w.follow(cursor, everything, 10); len(got) != 1 {
		t.Fatalf("before the loss: %v", got)
	}
	for p, o := range owners {
		o.handler.Release()
		w.forget(p)
	}
	for p, o := range owners {
		w.ready(p, o.offset)
	}
	reader := &changes.Reader{Index: w.index, Kafka: w.kafka, Marks: w.marks}
	page, err := reader.Next(t.Context(), cursor, everything, 10)
	if err != nil {
		t.Fatalf("the cursor goes on no more: %v", err)
	}
	if len(page.Candidates) != 1 {
		t.Fatalf("%+v", page)
	}
}

func TestATopicOfMarksThatLostItsEndBeginsOneEpoch(t *testing.T) {
	w := newWorld(t)
	o, at := w.toldFive(plate)
	o.handler.Release()
	before := w.currentEpoch()
	w.remakeMarks()
	w.set(plate, "TWO")
	w.set(plate, "THREE")
	next := w.owner(at, 5) // committed
	redistest.Eventually(t, 5*time.Second, "no new epoch", func() bool { return w.currentEpoch().Begun > before.Begun })
	w.eventuallyTold(at, -1)
	first := w.currentEpoch()
	next.offset = 0 // where worker.open goes when the broker says out of range
	next.mustRun()
	if now := w.currentEpoch(); now != first {
		t.Errorf("epochs %+v, %+v, %+v: readers are reset twice", before, first, now)
	}
	w.wantLast(plate, "THREE")
}

func TestMarksThatTheConsumerPassesOverAreTold(t *testing.T) {
	w := newWorld(t)
	at := kafka.PartitionOf([]byte(plate), partitions)
	plates := platesIn(at, 3)
	o := w.ready(at, 0)
	for _, p := range plates {
		w.set(p, "ONE")
	}
	o.offset = 2 // the topic had lost its end, and grew again before the consumer read on
	o.mustRun()
	o.mustRun() // what is marked again
	w.wantTold(map[bag.Plate]string{plates[0]: "ONE", plates[1]: "ONE", plates[2]: "ONE"})
}

func TestForeignMarksDoNotComeBackForEver(t *testing.T) {
	w := newWorld(t)
	owners := w.owners()
	w.grow(4, w.marks)
	for i := range 20 {
		w.set(bag.Plate(fmt.Sprintf("02200000%02d", i)), "ONE")
	}
	start := w.marked()
	for round := range 30 {
		for _, o := range owners {
			if err := o.run(); err != nil && round > 3 { // it fails if the owner notices that there is another epoch
				t.Fatal(err)
			}
		}
	}
	if n := w.marked() - start; n > 40 {
		t.Errorf("%d marks follow from 20; epoch %+v", n, w.currentEpoch())
	}
}

// An owner that does not know yet that it has lost its partition folds a mark, and is overtaken.
func TestTwoOwnersOfOneMarkHideNoState(t *testing.T) {
	w := newWorld(t)
	at := platesIn(0, 1)[0]
	folded, indexed := make(chan struct{}), make(chan struct{})
	zombieErr, published := make(chan error, 1), make(chan error, 1)
	before := sync.OnceFunc(func() { close(folded); <-indexed })
	zombie := w.ready(0, 0, func(c *changes.Config) {
		c.Index = stops{Index: c.Index, before: func(context.Context, changes.Epoch, int, changes.IndexWrite) error { before(); return nil }}
	})
	after := sync.OnceFunc(func() { close(indexed); published <- <-zombieErr })
	owner := w.owner(0, 0, func(c *changes.Config) {
		c.Index = stops{Index: c.Index, after: func() error { after(); return nil }}
	})
	owner.mustLook() // it has taken over: the next mark is not settled
	w.set(at, "ONE")
	go func() { zombieErr <- zombie.runIn(t.Context()) }()
	<-folded
	w.bags.set(at, "TWO") // filed, and marked in a moment
	owner.mustRun()
	if err := <-published; err != nil {
		t.Fatal(err)
	}
	w.mark(changes.Mark{Plate: at})
	owner.mustRun()
	w.wantTold(map[bag.Plate]string{at: "TWO"})
}
