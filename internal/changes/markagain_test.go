package changes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/redis/redistest"
)

// lose takes from the index of a partition some plates, and that more than a sequence is told.
func (w *world) lose(partition int, told int64, plates ...bag.Plate) {
	w.t.Helper()
	e, c, ctx := w.currentEpoch(), w.redis.WriteClient(), w.t.Context()
	if err := c.ZAdd(ctx, w.key(e, partition, "at"), goredis.Z{Score: float64(told), Member: "told"}).Err(); err != nil {
		w.t.Fatal(err)
	}
	for _, p := range plates {
		for _, rest := range []string{"all", "a:LX", "p:ZRH", "p:JFK"} {
			if err := c.ZRem(ctx, w.key(e, partition, rest), string(p)).Err(); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// The power fails: the topic of marks loses its end, and Redis loses its last second. The topic of changes still says
// what readers know.
func TestATopicOfMarksThatLostItsEndTogetherWithTheLastSecondOfRedisBeginsANewEpoch(t *testing.T) {
	w := newWorld(t)
	owners := w.owners()
	at := w.partitionOf(plate)
	for _, state := range []string{"A", "B", "C", "D", "E"} {
		w.set(plate, state)
		owners[at].mustRun()
	}
	before := w.currentEpoch()
	for _, o := range owners {
		o.handler.Release()
	}
	w.remakeMarks()
	w.set(plate, "TWO")
	w.set(plate, "THREE")
	w.publish(fmt.Sprintf(`{"data":{"plate":%q,"epoch":%d,"sequence":0,"bags":[]}}`, plate, before.Begun)) // again, by an owner that stood still
	w.lose(at, 0)
	next := w.owner(at, 5)
	redistest.Eventually(t, 10*time.Second, "no new epoch begins", func() bool { return w.currentEpoch().Begun > before.Begun })
	next.offset = 0 // to which the consumer goes if the committed offset is out of range
	next.mustRun()
	w.wantLast(plate, "THREE")
}

// refusing is an index that can be read, but may refuse writes, as that of a Redis that is full.
type refusing struct {
	changes.Index
	refuses atomic.Bool
}

func (r *refusing) Tell(ctx context.Context, e changes.Epoch, partition int, t changes.IndexWrite) (more bool, err error) {
	if r.refuses.Load() {
		return false, errors.New("OOM command not allowed")
	}
	return r.Index.Tell(ctx, e, partition, t)
}

func TestALossIsMarkedOnceThoughRedisRefusesWritesForAWhile(t *testing.T) {
	w := newWorld(t)
	const at = 0
	plates := platesIn(at, 20)
	r := &refusing{}
	o := w.ready(at, 0, func(c *changes.Config) { r.Index, c.Index = c.Index, r })
	for _, p := range plates {
		w.set(p, "ONE")
	}
	w.mark(changes.Mark{Plate: plates[0]}) // once more
	o.mustRun()
	w.set(platesIn(at, len(plates)+1)[len(plates)], "ONE") // it waits
	r.refuses.Store(true)
	w.lose(at, -1, plates...)
	before := w.marked()
	for range 5 {
		if changes.Look(t.Context(), o.handler) == nil {
			t.Fatal("no error")
		}
	}
	if n := w.marked() - before; n != 0 {
		t.Errorf("%d marks while Redis refuses writes", n)
	}
	r.refuses.Store(false)
	o.mustLook()
	if n := w.marked() - before; n != len(plates) {
		t.Errorf("%d marks of %d lost plates", n, len(plates))
	}
}

// Each plate in a container has a mark of its own, in its own partition.
func TestALossTellsNoBagsOfAContainerInOtherPartitions(t *testing.T) {
	w := newWorld(t)
	owners := w.owners()
	c := bag.Container{Flight: lx14, Device: "AKE12345LX"}
	at := kafka.PartitionOf([]byte(changes.Mark{Container: c}.Key()), partitions)
	const each = 10
	for p := range partitions {
		w.bags.contents[c] = append(w.bags.contents[c], platesIn(p, each)...)
	}
	w.mark(changes.Mark{Container: c})
	run := func() {
		for range 4 {
			for _, o := range owners {
				o.mustLook()
				o.mustRun()
			}
		}
	}
	run()
	before := len(w.published())
	if before != partitions*each {
		t.Fatalf("%d changes before the loss", before)
	}
	w.lose(at, -1, platesIn(at, each)...)
	run()
	if n := len(w.published()) - before; n != each {
		t.Errorf("%d changes after a loss of %d", n, each)
	}
}

// Redis was restored from an old snapshot.
func TestALossOfMoreThanCanBeToldAgainSoonBeginsANewEpoch(t *testing.T) {
	w := newWorld(t)
	at := w.partitionOf(plate)
	o := w.ready(at, 0)
	w.bags.set(plate, "ONE")
	w.mark(slices.Repeat([]changes.Mark{{Plate: plate}}, changes.MaxMarkedAgain+2)...)
	for int(o.offset) < w.marked() {
		o.mustRun()
	}
	marked, before := w.marked(), w.currentEpoch()
	w.lose(at, o.offset-1-changes.MaxMarkedAgain)
	o.mustLook() // so much is told again
	if n, now := w.marked()-marked, w.currentEpoch(); n == 0 || now != before {
		t.Errorf("%d marks, epoch %+v after %+v", n, now, before)
	}
	w.lose(at, o.offset-2-changes.MaxMarkedAgain)
	marked = w.marked()
	o.mustLook()
	if n, now := w.marked()-marked, w.currentEpoch(); n != 0 || now.Begun <= before.Begun {
		t.Errorf("%d marks, epoch %+v after %+v", n, now, before)
	}
	w.set(plate, "TWO")
	o.mustRun()
	w.wantLast(plate, "TWO")
	next, err := w.index.Begin(t.Context(), w.currentEpoch(), changes.Epoch{Begun: w.currentEpoch().Begun + 1000, Partitions: partitions})
	if err != nil {
		t.Fatal(err)
	}
	if o.mustLook(); w.currentEpoch() != next {
		t.Errorf("epoch %+v behind %+v: an epoch in which nothing was told has lost nothing", w.currentEpoch(), next)
	}
}

// The owner of another partition has begun it. All changes of the epoch before may be hundreds of gigabytes.
func TestANewEpochIsTakenOverWithoutTheChangesOfTheOneBefore(t *testing.T) {
	w := newWorld(t)
	const at, n = 0, 500
	o := w.ready(at, 0)
	for _, p := range platesIn(at, n) {
		w.set(p, "ONE")
	}
	for o.offset < n {
		o.mustRun()
	}
	o.handler.Release()
	e := w.currentEpoch()
	if _, err := w.index.Begin(t.Context(), e, changes.Epoch{Begun: e.Begun + 1000, Partitions: partitions}); err != nil {
		t.Fatal(err)
	}
	var fetches atomic.Int64
	w.cluster.ControlKey(int16(kmsg.Fetch), func(request kmsg.Request) (kmsg.Response, error, bool) {
		w.cluster.KeepControl()
		for _, topic := range request.(*kmsg.FetchRequest).Topics {
			if topic.Topic != w.changes {
				continue
			}
			if fetches.Add(1); topic.Partitions[0].FetchOffset < n-400 {
				t.Errorf("the topic of changes is read from %d", topic.Partitions[0].FetchOffset)
			}
		}
		return nil, nil, false
	})
	next := w.owner(at, o.offset)
	if err := changes.Look(t.Context(), next.handler); err != nil || fetches.Load() == 0 {
		t.Errorf("%d fetches, %v", fetches.Load(), err)
	}
}

// An owner has written a change to the index, and cannot publish it. A reader reads what is told. Redis fails over, and
// has lost the change. The reader reads the entries. The owner tells the change again, with its old sequence.
func TestAPageIsReadAgainThoughWhatItLacksIsToldAgainMeanwhile(t *testing.T) {
	for name, q := range map[string]changes.Question{"all": everything, "plates": {Plates: func(context.Context) ([]bag.Plate, error) { return platesIn(0, 2), nil }}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			const at = 0
			plates := platesIn(at, 2)
			o := w.owners()[at]
			w.set(plates[0], "ONE")
			o.mustRun()
			cursor := w.nowCursor(q)
			refused := w.refuse(w.changes, 0)
			w.set(plates[1], "ONE")
			if o.run() == nil {
				t.Fatal("no error")
			}
			reader := &changes.Reader{Kafka: w.kafka, Marks: w.marks, Index: &acrossALoss{
				w.index, func() { w.lose(at, 0, plates[1]) }, func() { _ = o.run() },
			}}
			page, err := reader.Next(t.Context(), cursor, q, 10)
			refused.Remove()
			o.mustRun()
			if err == nil {
				t.Errorf("a page of %v up to %v", page.Candidates, page.End.Sequences)
			}
			if got, _ := w.follow(cursor, q, 10); !slices.Equal(got, plates[1:]) {
				t.Errorf("told %v", got)
			}
		})
	}
}

// acrossALoss is an index that loses something before entries are read, and gets it back after that.
type acrossALoss struct {
	changes.ReadIndex
	lose, tellAgain func()
}

func (a *acrossALoss) Between(
	ctx context.Context, e changes.Epoch, s []changes.Scope, after, told []int64, limit int,
) ([][]changes.Candidate, []int64, error) {
	a.lose()
	defer a.tellAgain()
	return a.ReadIndex.Between(ctx, e, s, after, told, limit)
}

func (a *acrossALoss) Sequences(ctx context.Context, e changes.Epoch, plates []bag.Plate, after, told []int64) ([]int64, error) {
	a.lose()
	defer a.tellAgain()
	return a.ReadIndex.Sequences(ctx, e, plates, after, told)
}
