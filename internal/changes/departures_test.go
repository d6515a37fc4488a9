package changes_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/redis/redistest"
)

// reference is a flight reference: when each flight departs.
type reference struct {
	mu      sync.Mutex
	departs map[bag.Flight]time.Time
}

func (r *reference) Between(after, until time.Time) (flights []bag.Flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
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

// marked returns how many marks there are of each plate.
func (w *world) marked() int {
	w.t.Helper()
	n := 0
	for p := range partitions {
		_, end, err := w.kafka.Reader(w.marks, p, 0).Bounds(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		n += int(end)
	}
	return n
}

func TestAFlightThatDepartsMarksItsBagsOnceByOneOfTheOwners(t *testing.T) {
	w := newWorld(t)
	c := &clock{now: w.now}
	r := &reference{departs: map[bag.Flight]time.Time{lx14: w.now.Add(time.Minute)}}
	for i := range 5 {
		w.bags.flights[lx14] = append(w.bags.flights[lx14], bag.Plate(fmt.Sprintf("02200000%02d", i)))
	}
	var reloads changes.Reloads
	stage := w.stage(func(conf *changes.Config) { conf.Departures, conf.Reloads, conf.Now = r, &reloads, c.get })
	for p := range partitions {
		o := stage.NewOwner(p)
		if _, err := o.TakeOver(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(o.Release)
		w.eventuallyTold(p, -1)
	}
	if n := w.marked(); n != 0 {
		t.Fatalf("%d marks before the departure", n)
	}
	c.move(2 * time.Minute)
	redistest.Eventually(t, 10*time.Second, "nothing is marked", func() bool { return w.marked() == 5 })
	reloads.Add(c.get(), []bag.Flight{lx14})
	c.move(9 * time.Second)
	if n := w.marked(); n != 5 {
		t.Errorf("%d marks, want 5: a changed reference is marked ten seconds later", n)
	}
	c.move(2 * time.Second)
	redistest.Eventually(t, 10*time.Second, "a changed reference marks nothing", func() bool { return w.marked() == 10 })
}
