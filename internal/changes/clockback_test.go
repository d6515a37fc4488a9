package changes_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/pause"
	"bagtrail/internal/redis/redistest"
)

// The clock of a machine was two hours ahead for a while. What departs after it was set right is marked, by
// the same process and by the next. The next also marks what has departed within the hour before.
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
				owners[p] = w.owner(p, owners[p].offset, change)
				w.eventuallyTold(p, -1)
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

// A changed flight reference is to be marked when the clock is set right, and the index of bags is away.
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
