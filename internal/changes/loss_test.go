package changes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/enricher/airline"
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

// publish writes a record of the plate to the topic of changes, which no owner would write.
func (w *world) publish(value string) {
	w.t.Helper()
	header := []kafka.Header{{Key: "content-type", Value: []byte(changes.ContentType)}}
	record := kafka.Record{Key: []byte(plate), Value: []byte(value), Headers: header}
	if err := w.kafka.Produce(w.t.Context(), w.changes, []kafka.Record{record}); err != nil {
		w.t.Fatal(err)
	}
}

// meanwhile does something once before the index is asked for the progress of a partition.
type meanwhile struct {
	changes.Index
	once *sync.Once
	do   func()
}

func (m meanwhile) Progress(ctx context.Context, e changes.Epoch, partition int) (changes.Progress, error) {
	m.once.Do(m.do)
	return m.Index.Progress(ctx, e, partition)
}

// The owner before does not know yet that it has lost the partition.
func TestWhatIsToldDuringATakeoverBeginsNoEpoch(t *testing.T) {
	w := newWorld(t)
	before, at, epoch := w.toldOne(plate)
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
	at, before := w.toldAndReleased(plate)
	w.publish(fmt.Sprintf(`{"data":{"plate":%q,"epoch":%d,"sequence":500,"bags":[]}}`, plate, before.Begun))
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
	logged, entries := observer.New(zap.WarnLevel)
	o := w.owner(at, 0, func(c *changes.Config) { c.Logger = zap.New(logged) })
	o.mustRun()
	large := strings.Repeat("X", 2<<20)
	w.set(plate, large)
	other := platesIn(at, 1)[0]
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
	if entries.Len() != 1 || entries.All()[0].ContextMap()["sequence"] != int64(1) {
		t.Errorf("logged %v, want the sequence of what is too large", entries.All())
	}
	for _, e := range entries.All() {
		if text := fmt.Sprintf("%s %s", e.Message, e.ContextMap()); strings.Contains(text, string(plate)) {
			t.Errorf("logged %q, which names the plate", text)
		}
	}
	if got := told[other]; got != document("ONE") {
		t.Errorf("told %s", got)
	}
	if got := w.sequence(); got != 1 {
		t.Errorf("sequence %d, want that the index tells it", got)
	}
}

// wide are bags that have a number of flights, PNRs and airports each, besides their own.
type wide struct {
	changes.Bags
	flights, pnrs, airports map[bag.Plate]int
}

func (b wide) Trace(ctx context.Context, plates []bag.Plate, now time.Time) ([]trail.Traced, error) {
	all, err := b.Bags.Trace(ctx, plates, now)
	for _, t := range all {
		for i := range b.flights[t.Bag.Plate] {
			t.Bag.Legs = append(t.Bag.Legs, bag.Leg{Flight: bag.Flight{Airline: "LX", Number: fmt.Sprintf("%030d", i), Day: lx14.Day}})
		}
		for i := range b.pnrs[t.Bag.Plate] {
			m := new(bag.Message)
			m.PNR = fmt.Sprintf("%030d", i)
			t.Bag.Events = append(t.Bag.Events, bag.Event{Message: m})
		}
		for i := range b.airports[t.Bag.Plate] {
			t.Bag.Legs = append(t.Bag.Legs, bag.Leg{From: fmt.Sprintf("%030d", i)})
		}
	}
	return all, err
}

func TestOfAChangeThatIsTooLargeAsMuchIsPublishedAsFits(t *testing.T) {
	const many = 40_000
	w := newWorld(t)
	const at = 0
	plates := platesIn(at, 5)
	o := w.ready(at, 0, func(c *changes.Config) {
		c.Logger = zap.NewNop()
		c.Bags = wide{c.Bags, map[bag.Plate]int{plates[1]: many}, map[bag.Plate]int{plates[2]: many}, map[bag.Plate]int{plates[3]: many}}
	})
	w.set(plates[0], strings.Repeat("X", 2<<20))
	for _, p := range plates[1:] {
		w.set(p, "ONE")
	}
	w.grow(2*partitions, w.changes)
	o.mustRun()
	if s, err := w.kafka.Span(t.Context(), w.changes, at, kafka.Start{}); err != nil || s.To != 4 {
		t.Errorf("%d changes are in the partition of their marks (%v), want 4", s.To, err)
	}
	lists := make(map[bag.Plate]string)
	for _, r := range w.published() {
		lists[r.Plate] = fmt.Sprint(r.Bags != nil, r.PNRs != nil, r.Flights != nil, r.Airlines, r.Airports)
	}
	small := " [LX] [JFK ZRH]"
	for i, want := range []string{"false true true" + small, "false false false" + small, "false false false" + small, "", "true true true" + small} {
		if got := lists[plates[i]]; got != want {
			t.Errorf("%d: bags, PNRs, flights, airlines and airports %s, want %s", i, got, want)
		}
	}
	if p, _ := w.progress(at); p.Told != 4 {
		t.Errorf("told %d, want 4: the index tells all", p.Told)
	}
}

// One change is too large, and for a while the broker refuses more, for another reason.
func TestChangesThatAreRefusedBesideOneThatIsTooLargeArePublishedLater(t *testing.T) {
	w := newWorld(t)
	const at = 0
	plates := platesIn(at, 3)
	o := w.ready(at, 0, func(c *changes.Config) { c.Logger = zap.NewNop() })
	for i, p := range plates {
		w.set(p, strings.Repeat("X", (i%2)<<20))
	}
	tries := 0
	for err := errKilled; err != nil && tries < 20; tries++ {
		refused := w.refuse(w.changes, tries)
		err = o.run()
		refused.Remove()
	}
	if n := len(w.told()); n != 3 || tries < 3 {
		t.Errorf("after %d attempts %d changes are published, want 3", tries, n)
	}
}

// Without any record the first owner begins an epoch.
func TestNoEpochIsRestoredOfATopicWithoutChanges(t *testing.T) {
	w := newWorld(t)
	if err := w.stage().Restore(t.Context()); err != nil {
		t.Error(err)
	}
	w.publish("no change")
	if err := w.stage().Restore(t.Context()); err == nil {
		t.Error("no error, although the topic has records")
	}
	if e := w.currentEpoch(); e != (changes.Epoch{}) {
		t.Errorf("epoch %+v", e)
	}
}

// Records that no owner of the epoch wrote are at the end of the topic.
func TestTheEpochIsRestoredThoughSomethingElseEndsTheTopic(t *testing.T) {
	for _, value := range []string{
		"no change",
		fmt.Sprintf(`{"data":{"plate":%q,"epoch":%d,"sequence":-5,"bags":[]}}`, plate, int64(1)<<62), // no cursor could hold it
		fmt.Sprintf(`{"data":{"plate":%q,"epoch":5,"sequence":9,"bags":[]}}`, plate),                 // of an owner that stood still
	} {
		w := newWorld(t)
		_, epoch := w.toldAndReleased(plate)
		w.publish(value)
		w.delete(w.redis.Prefix() + "d:epoch")
		if err := w.stage().Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now := w.currentEpoch(); now != epoch {
			t.Errorf("%s: epoch %+v, want %+v", value, now, epoch)
		}
		c := changes.Cursor{Epoch: w.currentEpoch().Begun, Sequences: []int64{1, 2, 3}}
		if _, err := changes.ParseCursor(c.String()); err != nil {
			t.Errorf("%s: every cursor is refused: %v", value, err)
		}
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
	reader := &changes.Reader{Index: w.index, Kafka: w.kafka, Marks: w.marks}
	if _, err := reader.Now(t.Context(), everything); !errors.Is(err, changes.ErrBeingBuilt) {
		t.Errorf("without an epoch: error %v", err)
	}
	w.epoch()
	for p := range partitions {
		if _, err := reader.Now(t.Context(), everything); !errors.Is(err, changes.ErrBeingBuilt) {
			t.Errorf("now, with %d partitions: error %v", p, err)
		}
		if _, err := reader.Since(t.Context(), everything, w.now); !errors.Is(err, changes.ErrBeingBuilt) {
			t.Errorf("since, with %d partitions: error %v", p, err)
		}
		w.ready(p, 0)
	}
	w.nowCursor(everything)
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
	later := &clock{now: w.now.Add(10 * time.Hour)}
	w.owners(func(conf *changes.Config) { conf.Departures, conf.Now = r, later.get })
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
	w.owners(func(conf *changes.Config) { conf.Reloads, conf.Now = &reloads, c.get })
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
	w.owners(func(conf *changes.Config) { conf.Reloads, conf.Now = &reloads, c.get })
	redistest.Eventually(t, 5*time.Second, "a reload of some minutes ago is not marked", func() bool { return w.marked() == 2 })
	c.move(2 * time.Hour)
	later := &clock{now: c.get()}
	r := &reference{departs: map[bag.Flight]time.Time{lx14: later.get().Add(time.Minute)}}
	w.owners(func(conf *changes.Config) { conf.Departures, conf.Reloads, conf.Now = r, &reloads, later.get })
	later.move(2 * time.Minute)
	redistest.Eventually(t, 5*time.Second, "the departure is not marked", func() bool { return w.marked() > 2 })
	if n := w.marked(); n != 3 {
		t.Errorf("%d marks, want that of the departure alone to follow", n)
	}
}

// Only a few can be folded within the time limit of Redis.
func TestPlatesThatTakeTooLongTogetherAreToldInFewerAtOnce(t *testing.T) {
	w := newWorld(t)
	want := make(map[bag.Plate]string)
	for i := range 100 {
		p := bag.Plate(fmt.Sprintf("02200000%02d", i))
		w.set(p, "ONE")
		want[p] = "ONE"
	}
	for p := range partitions {
		o := w.owner(p, 0, func(c *changes.Config) {
			c.Bags = altered{Bags: c.Bags, before: func(n int) error {
				if n > 3 {
					return context.DeadlineExceeded
				}
				return nil
			}}
		})
		for try := 0; o.run() != nil; try++ {
			if try > 1000 {
				t.Fatal("the partition is stuck")
			}
		}
	}
	w.wantTold(want)
}

// The number of partitions is changed while a mark waits.
func TestPositionsRiseThoughTheNumberOfPartitionsChanges(t *testing.T) {
	w := newWorld(t)
	var moved bag.Plate
	var from, to int
	for i := 0; moved == ""; i++ {
		p := bag.Plate(fmt.Sprintf("02200%05d", i))
		from, to = kafka.PartitionOf([]byte(p), partitions), kafka.PartitionOf([]byte(p), 2*partitions)
		if from != to {
			moved = p
		}
	}
	for _, p := range platesIn(from, 20) {
		if p != moved {
			w.set(p, "FILLER")
		}
	}
	o := w.owner(from, 0)
	o.mustRun()
	o.handler.Release()
	before := w.currentEpoch()
	w.set(moved, "ONE") // it waits
	w.grow(2*partitions, w.marks, w.changes)
	old, fresh := w.owner(from, o.offset), w.owner(to, 0)
	old.mustRun()
	w.set(moved, "TWO")
	fresh.mustRun()
	old.mustRun()
	fresh.mustRun()
	after := w.currentEpoch()
	if after == before {
		t.Fatal("no new epoch")
	}
	var last changes.Position
	for _, r := range w.published() {
		if r.Plate == moved {
			if r.Epoch < last.Epoch || r.Epoch == last.Epoch && r.Sequence < last.Sequence {
				t.Errorf("(%d, %d) after (%d, %d)", r.Epoch, r.Sequence, last.Epoch, last.Sequence)
			}
			last = changes.Position{Epoch: r.Epoch, Sequence: r.Sequence}
		}
	}
	w.wantLast(moved, "TWO")
}

// The topic of changes alone gets partitions while an owner runs. Readers take the partition of a
// record for that of its sequence.
func TestAChangeStaysInThePartitionOfItsMark(t *testing.T) {
	w := newWorld(t)
	all := make([]bag.Plate, 20)
	for i := range all {
		all[i] = bag.Plate(fmt.Sprintf("02200%05d", i))
	}
	w.grow(2*partitions, w.changes)
	for p := range partitions {
		for _, plate := range all {
			if kafka.PartitionOf([]byte(plate), partitions) == p {
				w.set(plate, "ONE")
			}
		}
		w.owner(p, 0).mustRun()
		marks, err := w.kafka.Span(t.Context(), w.marks, p, kafka.Start{})
		changes, err2 := w.kafka.Span(t.Context(), w.changes, p, kafka.Start{})
		if err != nil || err2 != nil || marks.To == 0 || changes.To != marks.To {
			t.Errorf("partition %d has %d marks and %d changes (%v, %v)", p, marks.To, changes.To, err, err2)
		}
	}
}

// A mark of a plate in a partition that is not that of the plate, as a producer with another
// partitioner writes it.
func TestAMarkInAForeignPartitionSpoilsNothing(t *testing.T) {
	w := newWorld(t)
	at := kafka.PartitionOf([]byte(plate), partitions)
	foreign := (at + 1) % partitions
	var records []kafkago.Record
	for i := range 50 {
		m := changes.Mark{Plate: plate, Certain: i == 0, Steps: 3}
		records = append(records, kafkago.Record{Key: kafkago.NewBytes([]byte(m.Key())), Value: kafkago.NewBytes([]byte(m.Value()))})
	}
	client := &kafkago.Client{Addr: kafkago.TCP(w.cluster.ListenAddrs()...)}
	if _, err := client.Produce(t.Context(), &kafkago.ProduceRequest{
		Topic: w.marks, Partition: foreign, RequiredAcks: kafkago.RequireAll, Records: kafkago.NewRecordReader(records...),
	}); err != nil {
		t.Fatal(err)
	}
	w.bags.set(plate, "ONE")
	other, own := w.owner(foreign, 0), w.owner(at, 0)
	other.mustRun()
	batch, err := w.kafka.Reader(w.marks, at, 0).Fetch(t.Context(), time.Second)
	if err != nil || len(batch.Records) != 1 {
		t.Fatalf("%d marks in its own partition, want 1 (%v)", len(batch.Records), err)
	}
	if m, err := changes.ParseMark(string(batch.Records[0].Key), string(batch.Records[0].Value)); m != (changes.Mark{Plate: plate, Certain: true, Steps: 3}) {
		t.Errorf("%+v in its own partition (%v)", m, err)
	}
	own.mustRun()
	w.set(plate, "TWO")
	own.mustRun()
	w.wantLast(plate, "TWO")
}

// grownAgain makes the topic of marks anew. It has more marks than before when the owner notices: the
// consumer, whom the broker has told so, begins at its beginning. It returns the owner, its partition
// and the epoch before.
func (w *world) grownAgain() (o *owner, at int, before changes.Epoch) {
	w.t.Helper()
	o, at = w.toldFive(plate)
	before = w.currentEpoch()
	w.remakeMarks()
	w.set(plate, "TWO")
	for _, p := range platesIn(at, 8) {
		w.set(p, "FILLER")
	}
	o.offset = 0 // where worker.open begins
	o.mustRun()
	return o, at, before
}

func TestATopicOfMarksThatLostItsEndAndGrewAgainBeginsANewEpoch(t *testing.T) {
	w := newWorld(t)
	o, at, before := w.grownAgain()
	epoch := w.currentEpoch()
	if epoch.Begun <= before.Begun {
		t.Errorf("epoch %+v behind %+v, want a new one: readers have higher sequences", epoch, before)
	}
	w.wantLast(plate, "TWO")
	if n := w.marked(); n != 9 {
		t.Errorf("%d marks, want 9: what was told in the epoch before is not lost in this one", n)
	}
	w.set(plate, "THREE")
	w.publish(fmt.Sprintf(`{"data":{"plate":%q,"epoch":%d,"sequence":9,"bags":[]}}`, plate, epoch.Begun)) // by an attempt that failed then
	w.lose(at, 3)
	o.mustLook()
	if now := w.currentEpoch(); now != epoch {
		t.Errorf("epoch %+v behind %+v after a loss in Redis: the topic has lost nothing since", now, epoch)
	}
}

func TestATopicOfMarksThatLostItsOnlyMarkAndGrewAgainBeginsANewEpoch(t *testing.T) {
	w := newWorld(t)
	o, at, before := w.toldOne(plate)
	w.remakeMarks()
	for _, p := range platesIn(at, 3) {
		w.set(p, "TWO")
	}
	o.offset = 0 // where worker.open begins
	o.mustRun()
	if now := w.currentEpoch(); now.Begun <= before.Begun {
		t.Errorf("epoch %+v behind %+v, want a new one: a reader has the first sequence", now, before)
	}
}

// Nothing was published in the new epoch, but readers have cursors of it.
func TestAnEpochWithoutChangesThatRedisLosesIsPutBack(t *testing.T) {
	w := newWorld(t)
	o, _, before := w.toldOne(plate)
	after, err := w.index.Begin(t.Context(), before, changes.Epoch{Begun: before.Begun + 1000, Partitions: partitions})
	if err != nil {
		t.Fatal(err)
	}
	o.mustLook()
	if _, err := w.index.Begin(t.Context(), after, before); err != nil {
		t.Fatal(err)
	}
	o.mustLook()
	if now := w.currentEpoch(); now != after {
		t.Errorf("epoch %+v, want %+v", now, after)
	}
}

// The retention has deleted marks that no owner has told.
func TestDeletedMarksCountAsTold(t *testing.T) {
	w := newWorld(t)
	o, at, _ := w.toldOne(plate)
	o.handler.Release()
	for range 3 {
		w.set(plate, "TWO")
	}
	if err := w.cluster.DeleteRecords(w.marks, int32(at), 4); err != nil {
		t.Fatal(err)
	}
	w.set(plate, "THREE")
	next := w.owner(at, 1)
	next.offset = 4 // where worker.open begins
	next.mustRun()
	w.wantLast(plate, "THREE")
	if p, _ := w.progress(at); p.Told != 4 {
		t.Errorf("told %d, want 4", p.Told)
	}
}

// Redis takes over without the last plates that were told, and one of them changes twice.
func TestAStateThatWasToldBeforeALossIsToldAgain(t *testing.T) {
	w := newWorld(t)
	const at = 0
	plates := platesIn(at, 2)
	o := w.ready(at, 0)
	for _, p := range plates {
		w.set(p, "ONE")
	}
	o.mustRun()
	w.set(plates[0], "TWO")
	w.lose(at, 0, plates[1])
	o.mustLook()
	o.mustRun()
	w.set(plates[0], "ONE")
	o.mustRun()
	w.wantLast(plates[0], "ONE")
}

// The topic of marks has lost its end, and a new epoch has begun. Then Redis loses its last second, and
// the epoch with it. Or all processes stop, and start with an old snapshot of Redis.
func TestAnEpochThatRedisLosesIsPutBack(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		w := newWorld(t)
		o, at, before := w.grownAgain()
		after := w.currentEpoch()
		if after.Begun <= before.Begun {
			t.Fatalf("epoch %+v behind %+v", after, before)
		}
		if stopped {
			o.handler.Release()
		}
		earlier := fmt.Sprintf("%d/%d", before.Begun, before.Partitions)
		if err := w.redis.WriteClient().Set(t.Context(), w.redis.Prefix()+"d:epoch", earlier, 0).Err(); err != nil {
			t.Fatal(err)
		}
		for _, rest := range []string{"at", "all", "a:LX", "p:ZRH", "p:JFK"} {
			w.delete(w.key(after, at, rest))
		}
		if stopped { // an owner of the epoch before stood still, and published late
			w.publish(fmt.Sprintf(`{"data":{"plate":%q,"epoch":%d,"sequence":5,"bags":[]}}`, plate, before.Begun))
			o = w.owner(at, o.offset)
		}
		_ = changes.Look(t.Context(), o.handler) // it finds out
		o.mustLook()
		if now := w.currentEpoch(); now != after {
			t.Errorf("stopped %t: epoch %+v, want %+v: readers have changes of it", stopped, now, after)
		}
		if got, _ := w.follow(beginning(after), everything, 100); len(got) != 9 {
			t.Errorf("stopped %t: the index tells %d plates, want 9", stopped, len(got))
		}
		w.set(plate, "THREE")
		o.mustRun()
		w.wantLast(plate, "THREE")
	}
}

// It loses the entries of the first telling of a rebuild, or those of all.
func TestAnIndexIsWholeThoughRedisTakesOverWhileItIsBuilt(t *testing.T) {
	for _, all := range []bool{false, true} {
		w := newWorld(t)
		const at = 1
		plates := platesIn(at, 6)
		for _, p := range plates {
			w.set(p, strings.Repeat("X", 200<<10))
		}
		o := w.owner(at, 0)
		o.mustRun()
		o.handler.Release()
		w.forget(at)
		index := &losing{Index: w.index, last: all, lose: func() { w.forget(at) }}
		next := w.owner(at, o.offset, func(c *changes.Config) { c.Index = index })
		next.mustRun()
		w.eventuallyTold(at, o.offset-1)
		if n := index.tellings.Load(); n < 2 || index.early.Load() {
			t.Fatalf("%d tellings, the progress is written before the last %t", n, index.early.Load())
		}
		if got, _ := w.follow(beginning(w.currentEpoch()), everything, 100); len(got) != len(plates) {
			t.Errorf("all is lost %t: the index tells %d plates, want %d", all, len(got), len(plates))
		}
	}
}

// losing is an index that loses something once while it is built again: after the first telling, or
// before its progress is written.
type losing struct {
	changes.Index
	last     bool
	lose     func()
	tellings atomic.Int64 // with entries
	once     sync.Once
	early    atomic.Bool // a reader could believe that the index is complete while it is built
}

func (l *losing) Tell(ctx context.Context, e changes.Epoch, partition int, t changes.IndexWrite) (more bool, err error) {
	if l.last && len(t.Entries) == 0 {
		l.once.Do(l.lose)
	}
	more, err = l.Index.Tell(ctx, e, partition, t)
	if p, err := l.Index.Progress(ctx, e, partition); err == nil && !p.None() && len(t.Entries) > 0 {
		l.early.Store(true)
	}
	if len(t.Entries) > 0 && l.tellings.Add(1) == 1 && !l.last {
		l.once.Do(l.lose)
	}
	return more, err
}

// The topic of changes has changes of an earlier epoch, and one that an owner that stood still has published again.
func TestAnIndexIsBuiltAgainFromAllChangesOfItsEpochAndNoOthers(t *testing.T) {
	w := newWorld(t)
	const at = 0
	plates := platesIn(at, 3)
	o := w.ready(at, 0)
	w.set(plates[0], "ONE")
	o.mustRun()
	before := w.currentEpoch()
	e, err := w.index.Begin(t.Context(), before, changes.Epoch{Begun: before.Begun + 1000, Partitions: partitions})
	if err != nil {
		t.Fatal(err)
	}
	o.mustLook()
	for _, p := range plates[1:] {
		w.set(p, "ONE")
		o.mustRun()
	}
	again := fmt.Sprintf(`{"data":{"plate":%q,"epoch":%d,"sequence":1,"bags":[]}}`, plates[1], e.Begun)
	if err := w.kafka.Produce(t.Context(), w.changes, []kafka.Record{{Key: []byte(plates[1]), Value: []byte(again)}}); err != nil {
		t.Fatal(err)
	}
	marked := w.marked()
	w.forget(at)
	o.mustLook()
	if p, _ := w.progress(at); p.Told != 2 || w.marked() != marked {
		t.Errorf("told %d, and %d more marks, want that all of it is known to be told", p.Told, w.marked()-marked)
	}
	if p, _ := w.progress(at); !p.Clock.Equal(w.now) {
		t.Errorf("the clock is %v: readers may fold by an earlier one than the owner", p.Clock)
	}
	if got, _ := w.follow(beginning(e), everything, 10); !slices.Equal(got, plates[1:]) {
		t.Errorf("the index tells %v, want %v", got, plates[1:])
	}
}

// The process that published a change did not know that SWR is a code of LX.
func TestAnIndexIsBuiltAgainWithTheCodesByWhichAirlinesAreComparedNow(t *testing.T) {
	w := newWorld(t)
	const at = 0
	plates := platesIn(at, 3)
	o := w.ready(at, 0, func(c *changes.Config) { c.Airlines = airline.New() })
	for _, p := range plates[:2] {
		w.set(p, "ONE")
		o.mustRun()
	}
	e := w.currentEpoch()
	earlier := fmt.Sprintf(`{"data":{"plate":%q,"epoch":%d,"sequence":1,"airlines":["SWR"]}}`, plates[2], e.Begun)
	if err := w.kafka.Produce(t.Context(), w.changes, []kafka.Record{{Key: []byte(plates[2]), Value: []byte(earlier)}}); err != nil {
		t.Fatal(err)
	}
	w.forget(at)
	o.mustLook()
	ofLX := changes.Question{Scopes: []changes.Scope{changes.OfAirline("LX")}}
	if got, _ := w.follow(beginning(e), ofLX, 10); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(plates))) {
		t.Errorf("the index tells %v of LX, want %v", got, plates)
	}
}

// killedAtTakeover is an index for owners that are killed when they have written the progress with
// which they begin.
type killedAtTakeover struct{ changes.Index }

func (k killedAtTakeover) Tell(ctx context.Context, e changes.Epoch, partition int, t changes.IndexWrite) (more bool, err error) {
	if _, err := k.Index.Tell(ctx, e, partition, t); err != nil {
		return false, err
	}
	return false, errKilled
}

// A new epoch begins after a stop, because a partition of the marks has lost its end. Flights have
// departed meanwhile.
func TestWhatDepartedBeforeANewEpochIsMarked(t *testing.T) {
	for _, tc := range []struct{ lost, killed bool }{{false, false}, {true, false}, {true, true}} {
		w := newWorld(t)
		const flights = 30
		r := &reference{departs: make(map[bag.Flight]time.Time)}
		for i := range flights {
			f := bag.Flight{Airline: "LX", Number: fmt.Sprint(i + 1), Day: lx14.Day}
			r.departs[f] = w.now.Add(30 * time.Minute)
			w.bags.flights[f] = []bag.Plate{bag.Plate(fmt.Sprintf("02200000%02d", i))}
		}
		at := func(c *clock) func(*changes.Config) {
			return func(conf *changes.Config) { conf.Departures, conf.Now = r, c.get }
		}
		later := at(&clock{now: w.now.Add(3 * time.Hour)})
		for p := range partitions { // each partition has told something
			w.set(platesIn(p, 1)[0], "ONE")
		}
		for _, o := range w.owners(at(&clock{now: w.now})) {
			o.mustRun()
			o.handler.Release()
			o.mustLook()
		}
		if tc.lost {
			e := w.currentEpoch()
			if _, err := w.index.Tell(t.Context(), e, 0, changes.IndexWrite{After: -1, Floor: -1, Told: 500}); err != nil {
				t.Fatal(err)
			}
		}
		if tc.killed {
			first := w.owner(0, 0, later)
			first.mustLook() // begins the epoch
			first.handler.Release()
			for p := 1; p < partitions; p++ {
				w.ready(p, 0, later, func(conf *changes.Config) { conf.Index = killedAtTakeover{conf.Index} }).handler.Release()
			}
		}
		for _, o := range w.owners(later) {
			o.handler.Release()
			for range 5 {
				o.mustLook()
			}
		}
		if n := w.marked() - partitions; n < flights || r.longest > time.Hour {
			t.Errorf("%+v: %d of %d bags that departed are marked; %v are looked up at once", tc, n, flights, r.longest)
		}
	}
}

// Many bags depart at once. While some of them wait to be marked, Redis loses the index of the partitions.
func TestADepartureIsMarkedThoughTheIndexIsLostMeanwhile(t *testing.T) {
	const bags = 2000
	w := newWorld(t)
	for p := range partitions { // each partition has told something
		w.set(platesIn(p, 1)[0], "ONE")
	}
	for _, o := range w.owners() {
		o.mustRun()
		o.handler.Release()
	}
	for i := range bags {
		w.bags.flights[lx14] = append(w.bags.flights[lx14], bag.Plate(fmt.Sprintf("022000%04d", i)))
	}
	c := &clock{now: w.now}
	r := &reference{departs: map[bag.Flight]time.Time{lx14: w.now.Add(time.Minute)}}
	var owners []*owner
	for p := range partitions {
		o := w.owner(p, 1, func(conf *changes.Config) { conf.Departures, conf.Now = r, c.get })
		w.eventuallyTold(p, 0)
		owners = append(owners, o)
	}
	c.move(2 * time.Minute)
	redistest.Eventually(t, 5*time.Second, "nothing is marked", func() bool { return w.marked() > partitions })
	w.runAll(owners) // they tell what is marked so far
	for p := range partitions {
		w.forget(p)
	}
	redistest.Eventually(t, 8*time.Second, "not all bags that departed are marked", func() bool { return w.marked()-partitions >= bags })
}

func TestARecordHasAPositionThatAnOwnerMayHaveWritten(t *testing.T) {
	for position, ok := range map[[2]int64]bool{
		{1, 0}: true, {1 << 40, 1 << 52}: true,
		{1, -1}: false, {1, 1<<52 + 1}: false, {-1, 1}: false, {1<<40 + 1, 1}: false,
	} {
		text := fmt.Sprintf(`{"data":{"plate":"0724100001","epoch":%d,"sequence":%d,"bags":[]}}`, position[0], position[1])
		if _, err := changes.ParseRecord([]byte(text)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		`{"data":{"plate":"072410000","epoch":1,"sequence":1}}`, `{"data":{"epoch":1,"sequence":1}}`,
		`{"time":"yesterday","data":{"plate":"0724100001","epoch":1,"sequence":1}}`, `{"data":{"plate":"0724100001","epoch":"1","sequence":1}}`,
	} {
		if r, err := changes.ParseRecord([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// What was told before an epoch began is not in its index. An owner takes over at once, or later.
func TestATimeBeforeTheEpochIsResetIfSomethingWasToldSince(t *testing.T) {
	for name, after := range map[string][2]time.Duration{ // when the epochs begin, and how long after that
		"at once": {10 * time.Minute, 0}, "later": {10 * time.Minute, 2 * time.Minute},
		"at once, marked just before": {}, "later, marked just before": {0, 2 * time.Minute},
	} {
		w := newWorld(t)
		w.now = time.Now().Add(after[0]) // the marks are of now
		const at = 1
		marked := platesIn(at, 2)
		takeOver := func(now time.Time, committed [partitions]int64) (o *owner) {
			for p := range partitions {
				next := w.ready(p, committed[p], func(c *changes.Config) {
					c.Retention, c.Now = 72*time.Hour, func() time.Time { return now }
				})
				if p == at {
					o = next
				}
			}
			return o
		}
		reader := &changes.Reader{Index: w.index, Kafka: w.kafka, Marks: w.marks}
		since := func() changes.Cursor {
			t.Helper()
			c, err := reader.Since(t.Context(), everything, w.now.Add(-71*time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		o := takeOver(w.now, [partitions]int64{})
		w.set(marked[0], "ONE")
		o.mustRun()
		if got, _ := w.follow(since(), everything, 10); !slices.Equal(got, marked[:1]) {
			t.Errorf("%s: in the first epoch %v are told", name, got)
		}
		o.handler.Release()
		next := changes.Epoch{Begun: w.now.Unix() + 1, Partitions: partitions}
		if _, err := w.index.Begin(t.Context(), w.currentEpoch(), next); err != nil {
			t.Fatal(err)
		}
		o = takeOver(w.now.Add(after[1]), [partitions]int64{at: 1})
		page, err := reader.Next(t.Context(), since(), everything, 10)
		if reset := new(changes.ResetError); !errors.As(err, &reset) {
			t.Errorf("%s: %d plates, error %v, want a reset", name, len(page.Candidates), err)
		}
		if after[0] == 0 { // a second before the epoch, when the plate was marked
			c, err := reader.Since(t.Context(), everything, w.now.Add(-time.Second))
			if err != nil {
				t.Fatal(err)
			}
			if page, err := reader.Next(t.Context(), c, everything, 10); err == nil {
				t.Errorf("%s: a second before %d plates, want a reset", name, len(page.Candidates))
			}
		}
		c := w.nowCursor(everything)
		w.set(marked[1], "ONE")
		o.mustRun()
		if got, _ := w.follow(c, everything, 10); !slices.Equal(got, marked[1:]) {
			t.Errorf("%s: then %v are told", name, got)
		}
	}
}

// The floor of a partition is above marks of now. It may have risen meanwhile if a time of now is asked
// for. If it is above what was marked minutes later, changes were kept for a shorter time.
func TestATimeWithinTheEpochIsToldThoughTheFloorWasRaisedMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.now = time.Now().Add(-time.Hour)
	o, at := w.toldFive(plate)
	w.set(plate, "TWO")
	o.mustRun()
	w.owner((at+1)%partitions, 0)
	w.owner((at+2)%partitions, 0)
	w.raiseFloor(at, 3)
	for p := range partitions {
		w.eventuallyTold(p, -1)
	}
	reader := &changes.Reader{Index: w.index, Kafka: w.kafka, Marks: w.marks}
	c, err := reader.Since(t.Context(), everything, time.Now())
	if err != nil || c.Sequences[at] != 2 {
		t.Fatalf("%v (%v)", c, err)
	}
	if got, _ := w.follow(c, everything, 10); !slices.Equal(got, []bag.Plate{plate}) {
		t.Errorf("%v are told", got)
	}
	later := []kafka.Record{{Key: []byte(plate), Value: []byte("ordinary"), Time: time.Now().Add(5 * time.Minute)}}
	if err := w.kafka.Produce(t.Context(), w.marks, later); err != nil {
		t.Fatal(err)
	}
	if c, err := reader.Since(t.Context(), everything, time.Now()); err != nil || c.Sequences[at] != 2 {
		t.Errorf("%v, want what is there of these minutes, and not only what was marked after them (%v)", c, err)
	}
	if c, err = reader.Since(t.Context(), everything, time.Now().Add(-3*time.Minute)); err != nil {
		t.Fatal(err)
	}
	page, err := reader.Next(t.Context(), c, everything, 10)
	if reset := new(changes.ResetError); !errors.As(err, &reset) {
		t.Errorf("of three minutes ago: %d plates, error %v, want a reset", len(page.Candidates), err)
	}
}

// While an owner marks the departures of a stop, Redis loses the index. The next owner must not begin
// behind departures that are not marked yet.
func TestAnIndexThatIsLostDuringDeparturesDoesNotSayThatAllAreMarked(t *testing.T) {
	const at = 1
	w := newWorld(t)
	c := &clock{now: w.now}
	change := func(conf *changes.Config) { conf.Departures, conf.Now = new(reference), c.get }
	plate := platesIn(at, 1)[0]
	w.set(plate, "ONE")
	before := w.ready(at, 0, change)
	before.mustRun()
	before.handler.Release()
	before.mustLook()

	c.move(12 * time.Hour)
	w.set(plate, "TWO")
	o := w.ready(at, 0, change)
	o.mustRun() // publishes a change of now
	w.forget(at)
	o.mustLook()
	if p, known := w.progress(at); !known || p.Departed.After(w.now.Add(6*time.Hour)) {
		t.Errorf("the progress is %+v; the owner stopped at %v and has looked up a few hours since", p, w.now)
	}
}
