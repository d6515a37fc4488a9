package changes_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/pause"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/trail"
)

const plate bag.Plate = "0220123456"

func TestAMarkedPlateIsToldAsItIsNow(t *testing.T) {
	w := newWorld(t)
	at := w.partitionOf(plate)
	w.set(plate, "ONE")
	w.bags.set(plate, "TWO")
	o := w.owner(at, 0)
	o.mustRun()
	w.wantTold(map[bag.Plate]string{plate: "TWO"})
	all := w.published()
	if len(all) != 1 {
		t.Fatalf("%d changes, want that two marks in one batch are told once", len(all))
	}
	r := all[0]
	p, known := w.progress(at)
	if r.Sequence != 1 || !known || p.Told != 1 || !p.Clock.Equal(w.now) || r.ID != (changes.Position{Epoch: r.Epoch, Sequence: 1}).ID(plate) || !r.Time.Equal(w.now) {
		t.Errorf("record %+v, progress %+v", r, p)
	}
	if len(r.Airlines) != 1 || r.Airlines[0] != "LX" || len(r.Airports) != 2 || r.Airports[0] != "JFK" || r.Airports[1] != "ZRH" {
		t.Errorf("airlines %v, airports %v", r.Airlines, r.Airports)
	}
}

func TestWhatFoldsToTheSameIsToldOnceUnlessItIsCertain(t *testing.T) {
	w := newWorld(t)
	at := w.partitionOf(plate)
	o := w.owner(at, 0)
	w.bags.set(plate, "ONE")
	o.mustRun() // of what was there at the takeover nothing is remembered
	for i, want := range []int{2, 2, 2} {
		w.mark(changes.Mark{Plate: plate})
		o.mustRun()
		if n := len(w.published()); n != want {
			t.Errorf("after mark %d: %d changes, want %d", i, n, want)
		}
	}
	w.mark(changes.Mark{Plate: plate, Certain: true})
	o.mustRun()
	w.mark(changes.Mark{Plate: plate, Certain: true}, changes.Mark{Plate: plate})
	o.mustRun()
	if n := len(w.published()); n != 4 {
		t.Errorf("%d changes, want 4: certain marks are told", n)
	}
}

// A reader may have passed what Redis has lost, without having been told it. So it is told with new
// sequences, also if its owner has not committed it: then the topic of changes alone knows that it was
// told.
func TestWhatRedisHasLostIsToldWithNewSequences(t *testing.T) {
	for name, committed := range map[string]int64{"committed": 2, "published": 1} {
		w := newWorld(t)
		const at = 0
		plates := platesIn(at, 2)
		o := w.owner(at, 0)
		for _, p := range plates {
			w.set(p, "ONE")
			o.mustRun()
		}
		o.handler.Release()
		w.lose(at, 0, plates[1])
		passed := beginning(w.currentEpoch())
		passed.Sequences[at] = 1
		next := w.owner(at, committed)
		w.eventuallyTold(at, 1)
		next.mustRun()
		next.mustRun() // what is marked again
		if got, _ := w.follow(passed, everything, 10); !slices.Equal(got, plates[1:]) {
			t.Errorf("%s: a reader that has passed it is told %v, want %v", name, got, plates[1:])
		}
		if n := w.marked(); n != 3 {
			t.Errorf("%s: %d marks, want one more for the plate that was lost", name, n)
		}
	}
}

func TestAnIndexWithoutOneOfItsPartitionsIsBuiltAgainFromTheTopic(t *testing.T) {
	w := newWorld(t)
	o, at, e := w.toldOne(plate)
	o.handler.Release()
	w.delete(w.key(e, at, "at"), w.key(e, at, "all"), w.key(e, at, "a:LX"), w.key(e, at, "p:ZRH"))
	w.owner(at, o.offset).mustRun()
	w.eventuallyTold(at, 0)
	for _, rest := range []string{"all", "a:LX", "p:ZRH", "p:JFK"} {
		if score, err := w.redis.ReadClient().ZScore(t.Context(), w.key(e, at, rest), string(plate)).Result(); err != nil || score != 0 {
			t.Errorf("%s: sequence %v (%v)", rest, score, err)
		}
	}
}

// retries counts failed attempts by operation.
type retries struct {
	kafka.NoMetrics
	mu sync.Mutex
	of map[string]int
}

func (r *retries) Retry(operation string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[operation]++
}

func (r *retries) count(operation string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[operation]
}

// Without a mark, only what is due each second finds the loss.
func TestALostIndexIsCountedAlthoughNothingIsMarked(t *testing.T) {
	w := newWorld(t)
	counted := &retries{of: map[string]int{}}
	o := w.owner(w.partitionOf(plate), 0, func(c *changes.Config) { c.Metrics = counted })
	w.bags.set(plate, "ONE")
	o.mustRun()
	if n := counted.count("tell"); n != 0 {
		t.Errorf("%d retries of what has not failed", n)
	}
	w.delete(w.redis.Prefix() + "d:epoch")
	redistest.Eventually(t, 5*time.Second, "no retry is counted", func() bool { return counted.count("tell") > 0 })
}

// In a cluster the epoch may be lost alone, and with it the messages of some plates.
func TestOwnersStandStillWhileTheIndexIsLost(t *testing.T) {
	for _, alone := range []bool{false, true} {
		w := newWorld(t)
		o, at, e := w.toldOne(plate)
		if !alone {
			w.forget(at)
		}
		w.delete(w.redis.Prefix() + "d:epoch")
		w.set(plate, "TWO")
		if err := o.run(); err == nil {
			t.Errorf("epoch alone %t: no error, want that the loss is noticed", alone)
		}
		if err := o.run(); !errors.Is(err, changes.ErrNoEpoch) {
			t.Fatalf("epoch alone %t: error %v, want %v", alone, err, changes.ErrNoEpoch)
		}
		if n := len(w.published()); n != 1 {
			t.Errorf("epoch alone %t: %d changes, want 1", alone, n)
		}
		if err := w.stage().Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.mustRun()
		w.wantTold(map[bag.Plate]string{plate: "TWO"})
		if again := w.currentEpoch(); again != e {
			t.Errorf("epoch alone %t: epoch %+v, want %+v: cursors go on", alone, again, e)
		}
	}
}

func TestAnOwnerLetsTheDoorsWorkAsLongAsItHasFoldedButNotForEver(t *testing.T) {
	// Two folds. An owner looks before each of them, and while it rests. It rests after the first fold
	// only, so it looks once more before the first one.
	for behind, want := range map[int]string{5: "at once", 1 << 30: "in the end"} {
		w := newWorld(t)
		at := w.partitionOf(plate)
		told := map[bag.Plate]string{plate: "ONE", platesIn(at, 1)[0]: "ONE"}
		for p := range told {
			w.set(p, "ONE")
		}
		looks := 0
		w.owner(at, 0, func(c *changes.Config) {
			c.Bags = altered{ // each is folded by itself, and takes a while
				Bags: c.Bags, length: func() int { return 1000 }, before: func(int) error { return pause.For(t.Context(), 50*time.Millisecond) },
			}
			c.Behind = func() bool { looks++; return looks <= behind }
		}).mustRun()
		w.wantTold(told)
		if looks < 8 && behind > 5 || looks != 6 && behind == 5 {
			t.Errorf("%s: %d looks at the doors", want, looks)
		}
	}
}

func TestAnOwnerReadsTheLengthsOfAFoldOnceWhileADoorIsBehind(t *testing.T) {
	w := newWorld(t)
	w.set(plate, "ONE")
	read := 0
	w.owner(w.partitionOf(plate), 0, func(c *changes.Config) {
		c.Bags, c.Behind = altered{Bags: c.Bags, length: func() int { read++; return 1 }}, func() bool { return true }
	}).mustRun()
	w.wantTold(map[bag.Plate]string{plate: "ONE"})
	if read != 1 {
		t.Errorf("the lengths are read %d times", read)
	}
}

// lateIndex tells the first time that there is no epoch, as if another owner began one just after.
type lateIndex struct {
	changes.Index
	asked bool
}

func (l *lateIndex) Epoch(ctx context.Context) (changes.Epoch, error) {
	if !l.asked {
		l.asked = true
		return changes.Epoch{}, nil
	}
	return l.Index.Epoch(ctx)
}

func TestAnOwnerTakesTheEpochThatAnotherBeginsMeanwhile(t *testing.T) {
	w := newWorld(t)
	at := w.partitionOf(plate)
	w.set(plate, "ONE")
	w.owner(at, 0).mustRun()
	want := w.currentEpoch()
	w.set(plate, "TWO")
	logged, entries := observer.New(zap.WarnLevel)
	w.owner(at, 1, func(c *changes.Config) {
		c.Index, c.Logger = &lateIndex{Index: c.Index}, zap.New(logged)
	}).mustRun()
	if entries.Len() != 0 {
		t.Errorf("logged: %v", entries.All())
	}
	w.wantTold(map[bag.Plate]string{plate: "TWO"})
	if got := w.currentEpoch(); got != want {
		t.Errorf("epoch %+v, want %+v", got, want)
	}
}

func TestAContainerMarksTheBagsInIt(t *testing.T) {
	w := newWorld(t)
	c := bag.Container{Flight: lx14, Device: "AKE12345LX"}
	want := make(map[bag.Plate]string)
	for _, p := range []bag.Plate{"0220000001", "0220000002", "0220000003", "0220000004"} {
		w.bags.set(p, "IN")
		w.bags.contents[c] = append(w.bags.contents[c], p)
		want[p] = "IN"
	}
	owners := w.owners()
	w.mark(changes.Mark{Container: c})
	for range 2 { // the container, then its bags
		w.runAll(owners)
	}
	w.wantTold(want)
	for _, tc := range []struct {
		marks []changes.Mark
		more  int
	}{{[]changes.Mark{{Container: c}}, 0}, {[]changes.Mark{{Container: c, Certain: true}, {Container: c}}, len(want)}} {
		before := len(w.published())
		w.mark(tc.marks...)
		for range 2 {
			w.runAll(owners)
		}
		if n := len(w.published()) - before; n != tc.more {
			t.Errorf("%+v: %d bags are told though nothing has changed, want %d", tc.marks, n, tc.more)
		}
	}
}

func TestAChangeGoesUpAChainOfRushBagsAndEnds(t *testing.T) {
	w := newWorld(t)
	plates := []bag.Plate{"2220000001", "2220000002", "0220000003"}
	for i, p := range plates {
		w.bags.set(p, "ONE")
		w.bags.originals[p] = []bag.Plate{plates[(i+1)%len(plates)]} // in a ring
	}
	const alone = bag.Plate("2220000004") // re-flights an earlier bag of the same plate
	w.bags.set(alone, "ONE")
	w.bags.originals[alone] = []bag.Plate{alone}
	owners := w.owners()
	last := changes.Mark{Plate: plates[0], Steps: 8}
	w.mark(last, changes.Mark{Plate: plates[0], Certain: true}, last, changes.Mark{Plate: alone, Certain: true}) // the fewest steps count
	for range 20 {
		w.runAll(owners)
	}
	if n := len(w.told()); n != len(plates)+1 {
		t.Errorf("%d plates are told, want %d", n, len(plates)+1)
	}
	if n := len(w.published()); n != 10 {
		t.Errorf("%d changes, want the first and eight steps, and that of the bag alone", n)
	}
	if n := w.marked(); n != 12 {
		t.Errorf("%d marks, want four and eight, none for a ninth step", n)
	}
}

func TestARecordThatIsNoMarkHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	at := w.partitionOf(plate)
	for _, r := range []kafka.Record{
		{Key: []byte(plate), Value: []byte("something")},
		{Key: []byte(plate), Value: []byte("ordinary 9")},
		{Key: []byte(plate), Value: nil},
	} {
		if err := w.kafka.Produce(t.Context(), w.marks, []kafka.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	w.set(plate, "ONE")
	w.owner(at, 0).mustRun()
	w.wantTold(map[bag.Plate]string{plate: "ONE"})
}

func TestMarksSpellPlatesAndContainers(t *testing.T) {
	for _, m := range []changes.Mark{
		{Plate: plate}, {Plate: plate, Certain: true}, {Plate: plate, Steps: 8},
		{Container: bag.Container{Flight: lx14, Device: "A/B"}, Certain: true},
	} {
		if got, err := changes.ParseMark(m.Key(), m.Value()); err != nil || got != m {
			t.Errorf("%q, %q: %+v (%v), want %+v", m.Key(), m.Value(), got, err, m)
		}
	}
}

// The memory of an owner is bounded by how many messages it folds together.
func TestPlatesWithManyMessagesAreFoldedAFewAtATime(t *testing.T) {
	for _, c := range []struct{ each, more, want int }{
		{150, 0, 450}, {1000, 0, 1000}, {10_000, 0, 10_000},
		{25, 20, 500}, // the plates grow while the owner folds
	} {
		w := newWorld(t)
		at := w.partitionOf(plate)
		for _, p := range platesIn(at, 60) {
			w.set(p, "ONE")
		}
		each, most := c.each, 0
		w.owner(at, 0, func(conf *changes.Config) {
			conf.Bags = altered{Bags: conf.Bags, length: func() int { return each }, before: func(plates int) error {
				most = max(most, each*plates)
				each += c.more
				return nil
			}}
		}).mustRun()
		if told := len(w.told()); most != c.want || told < 60 {
			t.Errorf("%d messages each: %d at once and %d plates told, want %d and 60", c.each, most, told, c.want)
		}
	}
}

func TestTwoHundredPlatesAreToldTogetherAndHalfAsManyAfterAnError(t *testing.T) {
	w := newWorld(t)
	const at = 0
	counted := &retries{of: map[string]int{}}
	o := w.ready(at, 0, func(c *changes.Config) { c.Metrics = counted })
	plates := platesIn(at, 550)
	for _, p := range append(slices.Repeat(plates[:1], 50), plates...) { // a plate that is marked again is one plate
		w.mark(changes.Mark{Plate: p})
	}
	batch, err := w.kafka.Reader(w.marks, at, 0).Fetch(t.Context(), time.Second)
	if err != nil || len(batch.Records) != 600 {
		t.Fatalf("%d marks, %v", len(batch.Records), err)
	}
	w.bags.err = errors.New("away")
	if _, err := o.handler.Handle(t.Context(), batch.Records); err == nil {
		t.Fatal("no error")
	}
	if n := counted.count("tell"); n != 1 {
		t.Errorf("%d retries are counted", n)
	}
	w.bags.err = nil
	var told []int
	for records := batch.Records; len(records) > 0; {
		n, err := o.handler.Handle(t.Context(), records)
		if err != nil {
			t.Fatal(err)
		}
		told, records = append(told, n), records[n:]
	}
	if want := []int{150, 200, 200, 50}; !slices.Equal(told, want) {
		t.Errorf("%v marks are told together, want %v", told, want)
	}
	before := len(w.published())
	w.mark(changes.Mark{Plate: plates[549]})
	o.offset = 600
	if o.mustRun(); len(w.published()) != before {
		t.Error("what has not changed is told again: the owner has taken over in the middle")
	}
}

// Two owners fold few messages at once, but not while the door needs the processor.
func TestWhileADoorIsBehindOneOwnerFoldsAtATime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for behind, patience := range map[bool]time.Duration{false: 10 * time.Second, true: 100 * time.Millisecond} {
		w := newWorld(t)
		began, end := make(chan struct{}, 2), make(chan struct{})
		stage := w.stage(func(c *changes.Config) {
			c.Bags = altered{Bags: w.bags, before: func(int) error { began <- struct{}{}; <-end; return nil }}
			c.Behind = func() bool { return behind }
		})
		var both sync.WaitGroup
		for p := range 2 {
			w.set(platesIn(p, 1)[0], "ONE")
			both.Go(w.ownerOf(stage, p, 0).mustRun)
		}
		<-began
		select {
		case <-began:
			if behind {
				t.Error("two owners fold at once")
			}
		case <-time.After(patience):
			if !behind {
				t.Error("one owner waits for the other")
			}
		}
		close(end)
		both.Wait()
	}
}

// growing is bags of which one plate has very many messages and takes until go to fold. Meanwhile the
// others grow.
type growing struct {
	changes.Bags
	large   bag.Plate
	folding chan struct{} // closed when the large plate is being folded
	finish  chan struct{}
	waiting chan struct{} // receives when the lengths of others are read

	each atomic.Int64 // messages of each of the others
	fail atomic.Bool  // their lengths cannot be read once
	most atomic.Int64 // messages of others that are folded at once
}

func (g *growing) Lengths(_ context.Context, plates []bag.Plate) ([]int, error) {
	if plates[0] == g.large {
		return []int{10_000}, nil
	}
	defer func() { g.waiting <- struct{}{} }()
	if g.fail.Swap(false) {
		return nil, errors.New("away")
	}
	return slices.Repeat([]int{int(g.each.Load())}, len(plates)), nil
}

func (g *growing) Trace(ctx context.Context, plates []bag.Plate, now time.Time) ([]trail.Traced, error) {
	if plates[0] == g.large {
		close(g.folding)
		<-g.finish
	} else {
		g.most.Store(max(g.most.Load(), g.each.Load()*int64(len(plates))))
	}
	return g.Bags.Trace(ctx, plates, now)
}

// waitForRoom waits until an owner waits for room.
func waitForRoom(t *testing.T) {
	t.Helper()
	stacks := make([]byte, 4<<20)
	redistest.Eventually(t, 20*time.Second, "no owner waits for room", func() bool {
		return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("semaphore.(*Weighted).Acquire"))
	})
}

// What an owner folds after it has waited for another is what the plates have by then. It keeps no
// room after that, so that a plate that needs all of it is folded too.
func TestPlatesThatGrowWhileAnotherOwnerFoldsAreFoldedAFewAtATime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one large fold at once
	at := kafka.PartitionOf([]byte(plate), partitions)
	others := (at + 1) % partitions
	for _, c := range []struct {
		n     int
		fails bool
		want  int64
	}{{40, false, 500}, {4, false, 400}, {4, true, 400}} {
		w := newWorld(t)
		g := &growing{large: plate, folding: make(chan struct{}), finish: make(chan struct{}), waiting: make(chan struct{}, 100)}
		g.each.Store(25)
		w.set(plate, "ONE")
		for _, p := range platesIn(others, c.n) {
			w.set(p, "ONE")
		}
		stage := w.stage(func(conf *changes.Config) { g.Bags, conf.Bags = conf.Bags, g })
		large, small := w.ownerOf(stage, at, 0), w.ownerOf(stage, others, 0)
		var both sync.WaitGroup
		both.Go(large.mustRun)
		<-g.folding
		both.Go(func() {
			if err := small.run(); (err != nil) != c.fails {
				t.Errorf("of %d plates: %v", c.n, err)
			}
		})
		<-g.waiting
		waitForRoom(t)
		g.each.Store(100)
		g.fail.Store(c.fails)
		close(g.finish)
		both.Wait()
		small.mustRun()
		if got, told := g.most.Load(), len(w.told()); got != c.want || told != c.n+1 {
			t.Errorf("%d messages at once and %d plates told, want %d and %d", got, told, c.want, c.n+1)
		}
		g.each.Store(10_000)
		w.set(platesIn(others, 1)[0], "TWO")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if err := small.runIn(ctx); err != nil {
			t.Errorf("of %d plates: %v", c.n, err)
		}
		cancel()
	}
}

// An owner that is killed between two folds of a batch must not have said that all of it is told.
func TestEachFoldOfABatchTellsNoMoreThanItsPlates(t *testing.T) {
	w := newWorld(t)
	const at = 1
	plates := platesIn(at, 4)
	var told []int64
	o := w.ready(at, 0, func(c *changes.Config) {
		c.Bags = altered{Bags: w.bags, length: func() int { return 400 }, before: func(int) error { // each is folded by itself
			p, _ := w.progress(at)
			told = append(told, p.Told)
			return nil
		}}
	})
	for _, p := range plates {
		w.bags.set(p, "ONE")
	}
	w.mark(changes.Mark{Plate: plates[0]}, changes.Mark{Plate: plates[1]}, changes.Mark{Plate: plates[0]}, changes.Mark{Plate: plates[2]}, changes.Mark{Plate: plates[3]})
	o.mustRun()
	if want := []int64{-1, 1, 2, 3}; !slices.Equal(told, want) { // in the order of the last marks
		t.Errorf("before each fold all is told up to %v, want %v", told, want)
	}
	w.eventuallyTold(at, 4)
}

func TestAStageThatCanTellNothingIsStalled(t *testing.T) {
	w := newWorld(t)
	index := &refusing{Index: w.index}
	stage := w.stage(func(c *changes.Config) { c.Index = index })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- stage.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	w.eventuallyTold(kafka.PartitionOf([]byte(plate), partitions), -1)
	if err := stage.Stalled(); err != nil {
		t.Errorf("nothing waits: %v", err)
	}
	index.refuses.Store(true)
	w.set(plate, "ONE")
	redistest.Eventually(t, 10*time.Second, "a partition stalls", func() bool { return stage.Stalled() != nil })
	index.refuses.Store(false)
	redistest.Eventually(t, 10*time.Second, "it moves again", func() bool { return stage.Stalled() == nil })
}

// silent is an index that does not answer any more.
type silent struct {
	changes.Index
	asked chan struct{} // receives when an owner waits for an answer
	ended atomic.Bool   // it waits no more
}

func (s *silent) Progress(ctx context.Context, e changes.Epoch, partition int) (changes.Progress, error) {
	select {
	case s.asked <- struct{}{}:
	default:
		return s.Index.Progress(ctx, e, partition)
	}
	<-ctx.Done()
	_ = pause.For(context.Background(), 50*time.Millisecond)
	s.ended.Store(true)
	return changes.Progress{}, ctx.Err()
}

// An owner has looked at an index that does not answer when its partition is lost.
func TestAnOwnerThatLosesItsPartitionDoesNothingMore(t *testing.T) {
	w := newWorld(t)
	s := &silent{Index: w.index, asked: make(chan struct{})}
	o, _, _ := w.toldOne(plate)
	o.handler.Release()
	o = w.owner(o.at, o.offset, func(c *changes.Config) { c.Index = s })
	o.mustLook()
	<-s.asked
	lost, lose := context.WithCancel(t.Context())
	lose()
	handled := make(chan error, 1)
	go func() {
		_, err := o.handler.Handle(lost, []kafka.Record{{Offset: o.offset, Key: []byte(plate), Value: []byte("ordinary")}})
		handled <- err
	}()
	select {
	case err := <-handled:
		if err == nil {
			t.Error("a mark is told")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the mark in hand waits for Redis")
	}
	o = w.owner(o.at, o.offset, func(c *changes.Config) { s.ended.Store(false); c.Index = s })
	<-s.asked
	if o.handler.Release(); !s.ended.Load() {
		t.Error("the partition is released while its owner still looks")
	}
}

// raising counts the writes of a floor.
type raising struct {
	refusing
	writes int
}

func (r *raising) Tell(ctx context.Context, e changes.Epoch, partition int, t changes.IndexWrite) (more bool, err error) {
	if t.Floor >= 0 {
		r.writes++
	}
	return r.refusing.Tell(ctx, e, partition, t)
}

func TestTheFloorIsRaisedEveryTenSecondsAndAgainAtOnceIfRedisRefusesIt(t *testing.T) {
	w := newWorld(t)
	r := &raising{}
	o := w.owner(0, 0, func(c *changes.Config) { r.Index, c.Index = c.Index, r })
	o.handler.Release()
	o.mustLook()
	r.writes = 0
	for second := range 21 {
		w.now = w.now.Add(time.Second)
		r.refuses.Store(second == 9)
		if err := changes.Look(t.Context(), o.handler); (err != nil) != (second == 9) {
			t.Fatalf("second %d: %v", second, err)
		}
	}
	if r.writes != 3 {
		t.Errorf("%d writes, want one that is refused, the next second one, and one ten seconds later", r.writes)
	}
}
