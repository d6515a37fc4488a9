package changes

import (
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"bagtrail/internal/bag"
)

// departures records up to which time of departure, and up to which reload of the flight reference,
// an owner has marked plates.
type departures struct {
	until   time.Time // all departures up to this time are marked, or wait
	waiting []Mark
	reloads int // how many reloads are marked, or wait
}

const (
	// clocksApart is the time from a departure to its mark. By then the flight has departed by the
	// clock of every process, so that no owner folds the bag as it was before.
	clocksApart = 2 * time.Second
	// departuresAtOnce is the longest time of which departures are looked up at once.
	departuresAtOnce = time.Hour
	// departuresAgain is the time before a takeover of which departures are marked again: an actual time
	// of departure becomes known afterwards, and perhaps while no owner ran, and the time up to which
	// they are marked is an estimate if the index was lost.
	departuresAgain = time.Hour
)

// newDepartures returns the departures that begin before the time up to which an owner before has
// marked them. If that is zero, since nothing was published, they begin with the epoch, which began at
// begun, but not before kept. A second mark of a plate is harmless.
func newDepartures(marked, begun, kept, now time.Time) *departures {
	if marked.IsZero() {
		marked = begun
		if marked.Before(kept) {
			marked = kept
		}
	}
	if marked.After(now) { // by a clock that was ahead
		marked = now
	}
	return &departures{until: marked.Add(-departuresAgain)}
}

// markDepartures marks the plates of those flights of its share that have departed since the last
// time: at most departuresATurn in each turn, by all owners together, so that other marks do not wait.
// It is called with the lock held, and releases it while it writes: another partition may be without a
// leader for long.
func (o *owner) markDepartures(ctx context.Context, now time.Time) error {
	d := o.departures
	if len(d.waiting) == 0 {
		if err := o.findDepartures(ctx, now); err != nil || len(d.waiting) == 0 {
			return err
		}
	}
	marks := d.waiting[:min(len(d.waiting), max(1, departuresATurn/o.epoch.Partitions))]
	o.mu.Unlock()
	err := o.marker().Write(ctx, marks)
	o.mu.Lock()
	if err == nil {
		d.waiting = d.waiting[len(marks):]
	}
	return err
}

// markedUntil returns the time up to which all departures are marked, or zero while some wait.
func (d *departures) markedUntil() time.Time {
	if len(d.waiting) > 0 {
		return time.Time{}
	}
	return d.until
}

// findDepartures collects what is to be marked now.
func (o *owner) findDepartures(ctx context.Context, now time.Time) error {
	if o.conf.Departures == nil {
		return nil
	}
	d := o.departures
	until := now.Add(-clocksApart)
	if until.Before(d.until) { // the clock was set back: flights after until have not departed now
		d.until = until
	}
	if most := d.until.Add(departuresAtOnce); until.After(most) {
		until = most
	}
	// A reload makes certain marks, a departure does not.
	departed := o.ownFlights(o.conf.Departures.Between(d.until, until))
	changed, reload := o.conf.Reloads.since(d.reloads, now)
	if flights := append(departed, o.ownFlights(changed)...); len(flights) > 0 {
		plates, err := o.conf.Bags.OnFlights(ctx, flights)
		if err != nil {
			return err
		}
		for i, list := range plates {
			for _, p := range list {
				d.waiting = append(d.waiting, Mark{Plate: p, Certain: i >= len(departed)})
			}
		}
	}
	d.until, d.reloads = until, reload
	return nil
}

// ownFlights removes the flights that other owners mark: a hash of the flight selects its partition.
func (o *owner) ownFlights(flights []bag.Flight) []bag.Flight {
	return slices.DeleteFunc(flights, func(f bag.Flight) bool {
		h := fnv.New32a()
		_, _ = h.Write([]byte(f.Airline + f.Number + f.Day.String()))
		return int(h.Sum32()%uint32(o.epoch.Partitions)) != o.partition
	})
}

// reloadPause is how long after a reload of the flight reference its changes are marked. By then every
// process has read it, so that none folds a bag by the old one after its change was published.
const reloadPause = 10 * time.Second

// Reloads are the latest changes of the flight reference.
type Reloads struct {
	mu      sync.Mutex
	list    []reload
	dropped int // reloads that were removed from the list
}

type reload struct {
	due     time.Time
	flights []bag.Flight
}

// reloadKept is how long a reload is kept for owners that are yet to mark it, and for those that take
// over from one that has not.
const reloadKept = time.Hour

// Add says that the flight reference has changed for flights.
func (r *Reloads) Add(now time.Time, flights []bag.Flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, reload{now.Add(reloadPause), flights})
}

// since returns the flights of the due reloads after the first n, and how many reloads have been due.
func (r *Reloads) since(n int, now time.Time) (flights []bag.Flight, count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.list) > 0 && now.Sub(r.list[0].due) > reloadKept {
		r.list[0].flights = nil
		r.list = r.list[1:]
		r.dropped++
	}
	for i, l := range r.list {
		if r.dropped+i < n {
			continue
		}
		if now.Before(l.due) {
			return flights, max(n, r.dropped+i)
		}
		flights = append(flights, l.flights...)
	}
	return flights, max(n, r.dropped+len(r.list))
}
