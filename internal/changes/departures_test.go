package changes_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/pause"
	"bagtrail/internal/redis/redistest"
)

// reference is a flight reference: when each flight departs.
type reference struct {
	mu      sync.Mutex
	departs map[bag.Flight]time.Time
	longest time.Duration // that was asked for at once
}

func (r *reference) Between(after, until time.Time) (flights []bag.Flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.longest = max(r.longest, until.Sub(after))
	for f, at := range r.departs {
		if at.After(after) && !at.After(until) {
			flights = append(flights, f)
		}
	}
	return flights
}

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) get() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// marked returns how many marks there are in all partitions.
func (w *world) marked() int {
	w.t.Helper()
	n := 0
	spans, err := w.kafka.Bounds(w.t.Context(), w.marks)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range spans {
		n += int(s.To)
	}
	return n
}

func TestAFlightThatDepartsMarksItsBagsOnceByOneOfTheOwners(t *testing.T) {
	w, c, _, change := departing(t)
	var reloads changes.Reloads
	stage := w.stage(change, func(conf *changes.Config) { conf.Reloads = &reloads })
	owners := make([]*owner, partitions)
	for p := range owners {
		owners[p] = w.ownerOf(stage, p, 0)
		w.eventuallyTold(p, -1)
	}
	c.move(time.Minute + 1999*time.Millisecond)
	for _, o := range owners {
		o.mustLook()
	}
	if n := w.marked(); n != 0 {
		t.Fatalf("%d marks before the flight has departed by every clock", n)
	}
	c.move(time.Millisecond)
	redistest.Eventually(t, 10*time.Second, "nothing is marked", func() bool { return w.marked() == 5 })
	reloads.Add(c.get(), []bag.Flight{lx14})
	c.move(9 * time.Second)
	for _, o := range owners {
		o.mustLook()
	}
	if n := w.marked(); n != 5 {
		t.Errorf("%d marks, want 5: a changed reference is marked ten seconds later", n)
	}
	c.move(2 * time.Second)
	redistest.Eventually(t, 10*time.Second, "a changed reference marks nothing", func() bool { return w.marked() == 10 })
	for _, p := range w.bags.flights[lx14] {
		if got := w.values(string(p)); !slices.Equal(got, []string{"ordinary", "certain"}) {
			t.Errorf("%s: marks %q", p, got)
		}
	}
}

// A process without an owner reads the flight reference too.
func TestReloadsAreKeptForAnHourThoughNoOwnerAsksForThem(t *testing.T) {
	var reloads changes.Reloads
	for i := range 200 {
		reloads.Add(time.Unix(0, 0).Add(time.Duration(i)*time.Minute), []bag.Flight{lx14})
	}
	if n := reloads.Len(); n < 60 || n > 62 {
		t.Errorf("%d reloads a minute apart are kept, want those of the last hour", n)
	}
}

// lookers returns the owners of all partitions, which from now on look when the test says so. Each has
// looked once: it looks at most an hour ahead of where it begins, which may be all that is gone.
func (w *world) lookers(r *reference, c *clock) []*owner {
	w.t.Helper()
	owners := w.owners(func(conf *changes.Config) { conf.Departures, conf.Now = r, c.get })
	for _, o := range owners {
		o.handler.Release()
		o.mustLook()
	}
	return owners
}

// The bags of a flight are in other partitions than the one whose owner marks them.
func TestDeparturesAreMarkedThoughTheOwnPartitionHasNoLeader(t *testing.T) {
	w := newWorld(t)
	c := &clock{now: w.now}
	w.bags.flights[lx14] = platesIn(1, 5)
	owners := w.lookers(&reference{departs: map[bag.Flight]time.Time{lx14: w.now.Add(time.Minute)}}, c)
	fault := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: w.marks, Err: kerr.NotLeaderForPartition, Count: -1})
	c.move(2 * time.Minute)
	for _, o := range owners {
		if err := changes.Look(t.Context(), o.handler); err == nil {
			t.Error("an owner does not say that its floor was not raised")
		}
	}
	fault.Remove()
	if n := w.marked(); n != 5 {
		t.Errorf("%d marks, want 5", n)
	}
}

func TestADepartureIsMarkedThoughItsMarkIsRefusedAtFirst(t *testing.T) {
	w := newWorld(t)
	c := &clock{now: w.now}
	w.bags.flights[lx14] = platesIn(1, 5)
	owners := w.lookers(&reference{departs: map[bag.Flight]time.Time{lx14: w.now.Add(time.Minute)}}, c)
	refused := w.refuse(w.marks, 0)
	c.move(2 * time.Minute)
	faults := 0
	for _, o := range owners {
		if changes.Look(t.Context(), o.handler) != nil {
			faults++
		}
	}
	refused.Remove()
	for _, o := range owners {
		o.mustLook()
	}
	if n := w.marked(); n != 5 || faults != 1 {
		t.Errorf("%d marks after %d refusals, want 5 after one", n, faults)
	}
}

// Nothing was published in the epoch, which began long ago.
func TestADepartureIsMarkedSoonThoughTheEpochIsOld(t *testing.T) {
	w := newWorld(t)
	if _, err := w.index.Begin(t.Context(), changes.Epoch{}, changes.Epoch{Begun: w.now.Add(-30 * 24 * time.Hour).Unix(), Partitions: partitions}); err != nil {
		t.Fatal(err)
	}
	w.bags.flights[lx14] = platesIn(1, 5)
	owners := w.lookers(&reference{departs: map[bag.Flight]time.Time{lx14: w.now.Add(-10 * time.Minute)}}, &clock{now: w.now})
	for _, o := range owners {
		o.mustLook()
	}
	if n := w.marked(); n != 5 && n != 10 { // again if the first look was ended after it had written them
		t.Errorf("%d marks, want 5", n)
	}
}

// The first reload is kept no longer when the second comes.
func TestEachReloadIsMarkedOnce(t *testing.T) {
	w := newWorld(t)
	c := &clock{now: w.now}
	w.bags.flights[lx14] = platesIn(1, 5)
	var reloads changes.Reloads
	owners := w.owners(func(conf *changes.Config) { conf.Reloads, conf.Now = &reloads, c.get })
	for n := range 3 {
		reloads.Add(c.get(), []bag.Flight{lx14})
		c.move(11 * time.Second)
		for _, o := range owners {
			o.handler.Release()
			o.mustLook()
			o.mustLook()
		}
		if got := w.marked(); got != 5*(n+1) {
			t.Errorf("%d marks after %d reloads, want %d", got, n+1, 5*(n+1))
		}
		c.move(2 * time.Hour)
	}
}

// Many bags depart at once. Each is told once, and between two slices of them others are told.
func TestManyBagsThatDepartAtOnceAreToldOnceAndHoldNobodyUp(t *testing.T) {
	const (
		flights, bagsOfEach = 60, 100
		slice               = partitions * (changes.DeparturesATurn / partitions) // that all owners mark at once
		other               = bag.Plate("0229999999")
	)
	w := newWorld(t)
	r := &reference{departs: make(map[bag.Flight]time.Time)}
	c := &clock{now: w.now}
	for i := range flights {
		f := bag.Flight{Airline: "LX", Number: fmt.Sprint(i + 1), Day: lx14.Day}
		r.departs[f] = w.now.Add(time.Minute)
		for j := range bagsOfEach {
			p := bag.Plate(fmt.Sprintf("022%03d%04d", i, j))
			w.bags.set(p, "DEPARTED")
			w.bags.flights[f] = append(w.bags.flights[f], p)
		}
	}
	owners := w.lookers(r, c)
	c.move(2 * time.Minute)
	rounds := 0
	for before := w.marked(); ; before = w.marked() {
		for _, o := range owners {
			o.mustLook()
		}
		marked := w.marked() - before
		if marked > slice {
			t.Errorf("round %d: others wait for %d bags, want at most %d", rounds, marked, slice)
		}
		if marked == 0 {
			break
		}
		w.set(other, fmt.Sprint(rounds))
		w.runAll(owners)
		if rounds++; rounds < 2 && len(w.published()) > flights*bagsOfEach {
			t.Error("another bag is told behind all that departed")
		}
	}
	if rounds < flights*bagsOfEach/slice {
		t.Errorf("all departed in %d rounds", rounds)
	}
	times := make(map[bag.Plate]int)
	for _, r := range w.published() {
		times[r.Plate]++
	}
	if len(times) != flights*bagsOfEach+1 || times[other] != rounds {
		t.Errorf("told of %d bags, %d times of the other one, want %d and %d", len(times), times[other], flights*bagsOfEach+1, rounds)
	}
	delete(times, other)
	for p, n := range times {
		if n != 1 {
			t.Errorf("%s departed %d times", p, n)
		}
	}
}

// departing returns a world in which a flight with five bags departs in a minute, by the clock that it
// returns, the flight reference, and what sets both in a Config.
func departing(t *testing.T) (*world, *clock, *reference, func(*changes.Config)) {
	w := newWorld(t)
	c := &clock{now: w.now}
	r := &reference{departs: map[bag.Flight]time.Time{lx14: w.now.Add(time.Minute)}}
	for i := range 5 {
		w.bags.flights[lx14] = append(w.bags.flights[lx14], bag.Plate(fmt.Sprintf("02200000%02d", i)))
	}
	return w, c, r, func(conf *changes.Config) { conf.Departures, conf.Now, conf.Retention = r, c.get, 72*time.Hour }
}

func TestADepartureJustBeforeTheIndexIsLostIsMarked(t *testing.T) {
	w, c, _, change := departing(t)
	owners := w.owners(change)
	c.move(time.Minute + time.Second) // departed a second ago: not to be marked yet
	for p, o := range owners {
		for _, plate := range platesIn(p, 1) {
			w.set(plate, "ONE")
		}
		o.mustRun()
	}
	before := w.marked()
	for p, o := range owners {
		o.handler.Release()
		w.forget(p)
	}
	c.move(10 * time.Second)
	for p := range owners {
		w.owner(p, owners[p].offset, change)
		w.eventuallyTold(p, 0)
	}
	redistest.Eventually(t, 6*time.Second, "the departure is marked by nobody", func() bool { return w.marked() == before+5 })
}

func TestADepartureDuringARestartIsMarkedThoughNothingWasPublished(t *testing.T) {
	for stop, patience := range map[time.Duration]time.Duration{2 * time.Minute: 6 * time.Second, 90 * time.Minute: 8 * time.Second} {
		t.Run(stop.String(), func(t *testing.T) {
			w, c, _, change := departing(t)
			for p, o := range w.owners(change) {
				o.handler.Release()
				w.forget(p)
			}
			c.move(stop) // the process starts again; meanwhile the flight departs
			w.owners(change)
			redistest.Eventually(t, patience, "the departure is marked by nobody", func() bool { return w.marked() == 5 })
		})
	}
}

// The actual time of a departure becomes known afterwards, perhaps while no owner ran.
func TestADepartureThatBecomesKnownDuringARestartIsMarked(t *testing.T) {
	w, c, flights, change := departing(t)
	owners := w.owners(change)
	c.move(30 * time.Second)
	for p, o := range owners {
		redistest.Eventually(t, 6*time.Second, "the owner does not note up to when departures are marked", func() bool {
			w.set(platesIn(p, 1)[0], fmt.Sprint(w.marked()))
			o.mustRun()
			progress, _ := w.progress(p)
			return c.get().Sub(progress.Departed) < 5*time.Second
		})
		o.handler.Release()
	}
	before := w.marked()
	flights.mu.Lock()
	flights.departs[lx14] = c.get().Add(-10 * time.Second)
	flights.mu.Unlock()
	c.move(20 * time.Second)
	for p := range owners {
		w.owner(p, owners[p].offset, change)
	}
	redistest.Eventually(t, 6*time.Second, "the departure is marked by nobody", func() bool { return w.marked() == before+5 })
}

// The clock of a machine was two hours ahead for a while. What departs after it was set right is
// marked, by the same process and by the next. The next also marks what has departed within the hour
// before.
func TestADepartureAfterAClockWasAheadIsMarked(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		w := newWorld(t)
		c := &clock{now: w.now}
		r := &reference{departs: make(map[bag.Flight]time.Time)}
		w.bags.flights[lx14] = []bag.Plate{"0220000000"}
		change := func(conf *changes.Config) { conf.Departures, conf.Now = r, c.get }
		owners := w.owners(change)
		start := c.get()
		c.move(2 * time.Hour)
		redistest.Eventually(t, 20*time.Second, "the owners do not note how far they have come", func() bool {
			_, progress, err := w.index.State(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c.move(time.Second) // so that they write
			return !slices.ContainsFunc(progress, func(p changes.Progress) bool { return p.Departed.Before(start.Add(time.Hour)) })
		})
		c.move(start.Sub(c.get()))
		want := 1
		if restarted {
			want = 2
			earlier := bag.Flight{Airline: "LX", Number: "16", Day: lx14.Day}
			w.bags.flights[earlier] = []bag.Plate{"0220000001"}
			r.mu.Lock()
			r.departs[earlier] = c.get().Add(-30 * time.Minute)
			r.mu.Unlock()
			for p := range owners {
				owners[p].handler.Release()
				owners[p] = w.ready(p, owners[p].offset, change)
			}
		}
		_ = pause.For(t.Context(), 2*time.Second) // each owner looks at its clock
		r.mu.Lock()
		r.departs[lx14] = c.get().Add(time.Minute)
		r.mu.Unlock()
		c.move(2 * time.Minute)
		redistest.Eventually(t, 5*time.Second, "the departure is marked by nobody", func() bool { return w.marked() == want })
	}
}

// A changed flight reference is to be marked when the clock is set right, and the index of bags is
// away.
func TestADepartureAfterAClockWasAheadIsMarkedThoughAMarkFailed(t *testing.T) {
	w := newWorld(t)
	c := &clock{now: w.now}
	r := &reference{departs: make(map[bag.Flight]time.Time)}
	w.bags.flights[lx14] = []bag.Plate{"0220000000"}
	var reloads changes.Reloads
	owners := w.owners(func(conf *changes.Config) { conf.Departures, conf.Reloads, conf.Now = r, &reloads, c.get })
	for _, o := range owners {
		o.handler.Release() // from here on they look when the test says so
	}
	look := func() (err error) {
		for _, o := range owners {
			err = errors.Join(err, changes.Look(t.Context(), o.handler))
		}
		return err
	}
	c.move(30 * time.Minute)
	if err := look(); err != nil {
		t.Fatal(err)
	}
	c.move(-30 * time.Minute)
	reloads.Add(c.get(), []bag.Flight{lx14})
	c.move(10 * time.Second)
	w.bags.err = errors.New("away")
	if err := look(); !errors.Is(err, w.bags.err) {
		t.Fatalf("error %v", err)
	}
	w.bags.err, r.departs[lx14] = nil, c.get().Add(time.Minute)
	c.move(2 * time.Minute)
	if err := look(); err != nil || w.marked() != 2 {
		t.Errorf("%d marks, want one of the reference and one of the departure (%v)", w.marked(), err)
	}
}
