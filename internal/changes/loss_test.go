package changes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/trail"
)

// forget removes all that the index holds of a partition.
func (w *world) forget(partition int) {
	w.t.Helper()
	for _, rest := range []string{"at", "all", "a:LX", "p:ZRH", "p:JFK"} {
		w.delete(w.key(w.currentEpoch(), partition, rest))
	}
}

// meanwhile does something once before the index is asked for the progress of a partition.
type meanwhile struct {
	changes.Index
	once *sync.Once
	do   func()
}

func (m meanwhile) Progress(ctx context.Context, e changes.Epoch, partition int) (changes.Progress, bool, error) {
	m.once.Do(m.do)
	return m.Index.Progress(ctx, e, partition)
}

// The owner before does not know yet that it has lost the partition.
func TestWhatIsToldDuringATakeoverBeginsNoEpoch(t *testing.T) {
	w := newWorld(t)
	at := w.partitionOf(plate)
	w.bags.set(plate, "ONE")
	before := w.owner(at, 0)
	before.mustRun()
	epoch := w.currentEpoch()
	told := make(chan error, 1)
	w.owner(at, 1, func(c *changes.Config) {
		c.Index = meanwhile{c.Index, new(sync.Once), func() {
			w.bags.set(plate, "TWO")
			w.mark(changes.Mark{Plate: plate})
			told <- before.run()
		}}
	}).mustRun()
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	w.owner(at, 2).mustRun()
	if now := w.currentEpoch(); now != epoch {
		t.Errorf("epoch %+v, want %+v", now, epoch)
	}
}

func TestATopicOfMarksThatLostItsEndTogetherWithTheIndexBeginsANewEpoch(t *testing.T) {
	w := newWorld(t)
	at := w.partitionOf(plate)
	w.bags.set(plate, "ONE")
	o := w.owner(at, 0)
	o.mustRun()
	o.handler.Release()
	before := w.currentEpoch()
	value := fmt.Sprintf(`{"data":{"plate":%q,"epoch":%d,"sequence":500,"bags":[]}}`, plate, before.Begun)
	if err := w.kafka.Produce(t.Context(), w.changes, []kafka.Record{{Key: []byte(plate), Value: []byte(value)}}); err != nil {
		t.Fatal(err)
	}
	w.forget(at)
	w.set(plate, "TWO")
	w.owner(at, 0).mustRun()
	if now := w.currentEpoch(); now.Begun <= before.Begun {
		t.Errorf("epoch %+v, want a new one: readers have sequences up to 500", now)
	}
	if p, _ := w.progress(at); p.Told != 1 {
		t.Errorf("told %d, want 1", p.Told)
	}
}

func TestAnOwnerWhoseTopicIsEmptyAgainKeepsItsIndex(t *testing.T) {
	w := newWorld(t)
	w.owner(0, 500)
	redistest.Eventually(t, 5*time.Second, "no clock is written", func() bool {
		p, known := w.progress(0)
		return known && p.Clock.Equal(w.now) && p.Told == -1
	})
}

func TestTheFloorStaysBelowMarksThatWaitedForDays(t *testing.T) {
	w := newWorld(t)
	at := kafka.PartitionOf([]byte(plate), partitions)
	w.now = time.Now() // a broker refuses times that are far ahead of its clock
	old := []kafka.Record{{Key: []byte(plate), Value: []byte("ordinary"), Time: w.now.Add(-80 * time.Hour)}}
	if err := w.kafka.Produce(t.Context(), w.marks, old); err != nil {
		t.Fatal(err)
	}
	recent := []kafka.Record{{Key: []byte(plate), Value: []byte("ordinary"), Time: w.now}}
	if err := w.kafka.Produce(t.Context(), w.marks, recent); err != nil {
		t.Fatal(err)
	}
	w.bags.set(plate, "ONE")
	o := w.owner(at, 0)
	redistest.Eventually(t, 5*time.Second, "no clock is written", func() bool {
		p, _ := w.progress(at)
		return !p.Clock.IsZero()
	})
	if p, known := w.progress(at); !known || p.Told != -1 || p.Floor != 0 {
		t.Errorf("progress %+v, want that cursors behind what is told are not too old", p)
	}
	o.mustRun()
}

func TestAChangeThatIsTooLargeHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	at := w.partitionOf(plate)
	o := w.owner(at, 0)
	o.mustRun()
	large := strings.Repeat("X", 2<<20)
	w.set(plate, large)
	other := bag.Plate("")
	for i := range 100 {
		if p := bag.Plate(fmt.Sprintf("02200000%02d", i)); kafka.PartitionOf([]byte(p), partitions) == at {
			other = p
			break
		}
	}
	w.set(other, "ONE")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := o.runIn(ctx); err != nil {
		t.Fatal(err)
	}
	told := w.told()
	if got, published := told[plate]; !published || got != "" {
		t.Errorf("told %d bytes of what is too large, %t, want a record without bags", len(got), published)
	}
	if got := told[other]; got != document("ONE") {
		t.Errorf("told %s", got)
	}
	e := w.currentEpoch()
	if sequences, err := w.index.Sequences(t.Context(), e, []bag.Plate{plate}); err != nil || sequences[0] != 1 {
		t.Errorf("sequences %v (%v), want that the index tells it", sequences, err)
	}
}

func TestTheEpochIsRestoredThoughSomethingElseEndsTheTopic(t *testing.T) {
	w := newWorld(t)
	at := w.partitionOf(plate)
	w.bags.set(plate, "ONE")
	o := w.owner(at, 0)
	o.mustRun()
	o.handler.Release()
	epoch := w.currentEpoch()
	if err := w.kafka.Produce(t.Context(), w.changes, []kafka.Record{{Key: []byte(plate), Value: []byte("no change")}}); err != nil {
		t.Fatal(err)
	}
	w.delete(w.redis.Prefix() + "d:epoch")
	if err := w.stage().Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := w.currentEpoch(); now != epoch {
		t.Errorf("epoch %+v, want %+v", now, epoch)
	}
}

// unsure is an index that files, and whose first answer is lost.
type unsure struct{ calls int }

func (u *unsure) File(_ context.Context, filings []bag.Filing) ([]bool, error) {
	u.calls++
	if u.calls == 1 {
		return nil, errors.New("no answer")
	}
	return make([]bool, len(filings)), nil
}

func TestAReplayMarksWhatAFailedAttemptMayHaveFiled(t *testing.T) {
	w := newWorld(t)
	w.marker.Fresh = true
	a := ingestor.NewAcceptor(ingestor.Config{Index: &unsure{}, Marks: w.marker})
	batch := func() *ingestor.Batch {
		filing := bag.Filing{Entries: []bag.Entry{{Plate: plate}}}
		return &ingestor.Batch{Envelopes: make([]ingestor.Envelope, 1), Outcomes: []ingestor.Outcome{{Verdict: ingestor.Accepted, Filing: filing}}}
	}
	b := batch()
	if err := a.Apply(t.Context(), b); err == nil {
		t.Fatal("no error")
	}
	if err := a.Apply(t.Context(), b); err != nil || w.marked() != 1 {
		t.Errorf("%d marks, want 1: it may have been filed a moment ago (%v)", w.marked(), err)
	}
	if err := a.Apply(t.Context(), batch()); err != nil || w.marked() != 1 {
		t.Errorf("%d marks, want 1: it was there (%v)", w.marked(), err)
	}
}

func TestNoCursorIsGivenBeforeEachPartitionHasAnIndex(t *testing.T) {
	w := newWorld(t)
	if _, err := w.index.Begin(t.Context(), changes.Epoch{}, changes.Epoch{Begun: w.now.Unix(), Partitions: partitions}); err != nil {
		t.Fatal(err)
	}
	reader := &changes.Reader{Index: w.index, Kafka: w.kafka, Marks: w.marks}
	for p := range partitions {
		if _, err := reader.Now(t.Context(), everything); !errors.Is(err, changes.ErrLost) {
			t.Errorf("now, with %d partitions: error %v", p, err)
		}
		if _, err := reader.Since(t.Context(), everything, w.now); !errors.Is(err, changes.ErrLost) {
			t.Errorf("since, with %d partitions: error %v", p, err)
		}
		w.owner(p, 0)
		w.eventuallyTold(p, -1)
	}
	w.nowCursor(everything)
}

// departing is an owner of each partition with a flight reference and a clock.
func (w *world) departing(r *reference, c *clock, reloads *changes.Reloads) {
	w.t.Helper()
	for p := range partitions {
		w.owner(p, 0, func(conf *changes.Config) { conf.Departures, conf.Reloads, conf.Now = r, reloads, c.get })
		w.eventuallyTold(p, -1)
	}
}

func TestWhatDepartedWhileRedisWasLostIsMarked(t *testing.T) {
	w := newWorld(t)
	for i := range 100 { // a change of each partition says up to when departures were marked
		w.set(bag.Plate(fmt.Sprintf("02200000%02d", i)), "ONE")
	}
	for _, o := range w.owners() {
		o.mustRun()
		o.handler.Release()
	}
	for p := range partitions {
		w.forget(p)
	}
	before := w.marked()
	w.bags.flights[lx14] = []bag.Plate{plate}
	r := &reference{departs: map[bag.Flight]time.Time{lx14: w.now.Add(5 * time.Hour)}}
	w.departing(r, &clock{now: w.now.Add(10 * time.Hour)}, &changes.Reloads{})
	redistest.Eventually(t, 15*time.Second, "the departure is not marked", func() bool { return w.marked() > before })
}

func TestAChangedReferenceIsMarkedThoughTheIndexIsLostMeanwhile(t *testing.T) {
	const bags = 2000
	w := newWorld(t)
	for i := range bags {
		w.bags.flights[lx14] = append(w.bags.flights[lx14], bag.Plate(fmt.Sprintf("022000%04d", i)))
	}
	var reloads changes.Reloads
	c := &clock{now: w.now}
	w.departing(&reference{}, c, &reloads)
	reloads.Add(c.get(), []bag.Flight{lx14})
	c.move(11 * time.Second)
	redistest.Eventually(t, 5*time.Second, "nothing is marked", func() bool { return w.marked() > 0 })
	for p := range partitions {
		w.forget(p)
	}
	redistest.Eventually(t, 10*time.Second, "the rest is not marked", func() bool { return w.marked() >= bags })
}

func TestATakeoverMarksNoReloadOfLongAgo(t *testing.T) {
	w := newWorld(t)
	w.bags.flights[lx14] = []bag.Plate{plate}
	var reloads changes.Reloads
	reloads.Add(w.now, []bag.Flight{lx14})
	reloads.Add(w.now.Add(5*time.Minute), []bag.Flight{lx14})
	c := &clock{now: w.now.Add(6 * time.Minute)}
	w.departing(&reference{}, c, &reloads)
	redistest.Eventually(t, 5*time.Second, "a reload of some minutes ago is not marked", func() bool { return w.marked() == 2 })
	c.move(2 * time.Hour)
	later := &clock{now: c.get()}
	w.departing(&reference{departs: map[bag.Flight]time.Time{lx14: later.get().Add(time.Minute)}}, later, &reloads)
	later.move(2 * time.Minute)
	redistest.Eventually(t, 5*time.Second, "the departure is not marked", func() bool { return w.marked() > 2 })
	if n := w.marked(); n != 3 {
		t.Errorf("%d marks, want that of the departure alone to follow", n)
	}
}

// slow is bags of which only a few can be folded within the time limit of Redis.
type slow struct{ changes.Bags }

func (s slow) Trace(ctx context.Context, plates []bag.Plate, now time.Time) ([]trail.Traced, error) {
	if len(plates) > 3 {
		return nil, context.DeadlineExceeded
	}
	return s.Bags.Trace(ctx, plates, now)
}

func TestPlatesThatTakeTooLongTogetherAreToldInFewerAtOnce(t *testing.T) {
	w := newWorld(t)
	want := make(map[bag.Plate]string)
	for i := range 100 {
		p := bag.Plate(fmt.Sprintf("02200000%02d", i))
		w.set(p, "ONE")
		want[p] = "ONE"
	}
	for p := range partitions {
		o := w.owner(p, 0, func(c *changes.Config) { c.Bags = slow{c.Bags} })
		for try := 0; o.run() != nil; try++ {
			if try > 1000 {
				t.Fatal("the partition is stuck")
			}
		}
	}
	w.wantTold(want)
}
