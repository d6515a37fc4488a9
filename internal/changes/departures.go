package changes

import (
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"bagtrail/internal/bag"
)

// departures is how far an owner has marked what departs by the flight reference.
type departures struct {
	until   time.Time // everything that departed until then is marked, or waits
	waiting []Mark
	reload  int // how many reloads of the reference are marked
}

const (
	// clocksApart is how long after a departure it is marked. By then it has departed by the clock
	// of every process, so that no owner folds the bag as it was before.
	clocksApart = 2 * time.Second
	// departuresAtOnce is of how long a time departures are looked up together, after a stop.
	departuresAtOnce = time.Hour
	// departuresLate is how long before a change was published all departures were marked. It is more
	// than clocksApart, since many that depart at once wait for each other.
	departuresLate = 10 * time.Minute
)

// newDepartures returns the departures from a time on. If none is noted, or one by a clock that was
// ahead, they begin an hour ago: the index may have been lost. What is marked twice is only told twice.
func newDepartures(noted, now time.Time) *departures {
	if noted.IsZero() || noted.After(now) {
		noted = now.Add(-departuresAtOnce)
	}
	return &departures{until: noted}
}

// markDepartures marks the plates of those flights of its share that have departed since the last
// time: so many a second that others do not wait for them. It is called with the lock held, and
// releases it while it writes: another partition may be without a leader for long.
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

// done returns the time up to which all departures are marked, or zero while some wait.
func (d *departures) done() time.Time {
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
	if until.Before(d.until) { // the clock was set back: what it comes by again has not departed
		d.until = until
	}
	if most := d.until.Add(departuresAtOnce); until.After(most) {
		until = most
	}
	departed := o.own(o.conf.Departures.Between(d.until, until))
	changed, reload := o.conf.Reloads.since(d.reload, now)
	if flights := append(departed, o.own(changed)...); len(flights) > 0 {
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
	d.until, d.reload = until, reload
	return nil
}

// own removes the flights that are not in the owner's share.
func (o *owner) own(flights []bag.Flight) []bag.Flight {
	return slices.DeleteFunc(flights, func(f bag.Flight) bool {
		h := fnv.New32a()
		_, _ = h.Write([]byte(f.Airline + f.Number + f.Day.String()))
		return int(h.Sum32()%uint32(o.epoch.Partitions)) != o.partition
	})
}

// reloadPause is how long after a reload of the flight reference its changes are marked: by then
// every process has read it, so that no reader folds by the old one what is told by the new one.
const reloadPause = 10 * time.Second

// Reloads are the latest changes of the flight reference.
type Reloads struct {
	mu   sync.Mutex
	list []reload
	done int // how many are no longer in the list
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

// since returns the flights of the reloads that are due, without the first n that there ever were,
// and how many there have been.
func (r *Reloads) since(n int, now time.Time) (flights []bag.Flight, count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.list) > 0 && now.Sub(r.list[0].due) > reloadKept {
		r.list[0].flights = nil
		r.list = r.list[1:]
		r.done++
	}
	for i, l := range r.list {
		if r.done+i < n {
			continue
		}
		if now.Before(l.due) {
			return flights, max(n, r.done+i)
		}
		flights = append(flights, l.flights...)
	}
	return flights, max(n, r.done+len(r.list))
}
