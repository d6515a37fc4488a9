package changes

import (
	"context"
	"slices"
	"sync"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
)

// departures records up to which time of departure, and up to which reload of the flight reference,
// an owner has marked plates.
type departures struct {
	until    time.Time // all departures up to this time are marked, or their marks wait
	reloaded time.Time // the same for reloads that were due up to this time
	waiting  []Mark    // marks that are not written yet
}

const (
	// clocksApart is the time from a departure to its mark. When it is over, the flight has
	// departed by the clock of every process, so no owner folds the bag as it was before the
	// departure.
	clocksApart = 2 * time.Second
	// departuresAtOnce is the longest time span for which departures are looked up at once.
	departuresAtOnce = time.Hour
	// departuresAgain is the time span for which a new owner marks departures again. The actual
	// time of a departure becomes known afterwards, perhaps while no owner is running. And if the
	// index was lost, the time up to which departures are marked is an estimate.
	departuresAgain = time.Hour
)

// newDepartures returns the departures of a new owner. They begin departuresAgain before marked,
// the time up to which the previous owner has marked departures. marked is zero if nothing was
// published. Then they begin departuresAgain before the later one of begun and kept: the beginning
// of the epoch, and of the retention. A second mark of a plate is harmless.
func newDepartures(marked, begun, kept, now time.Time) *departures {
	if marked.IsZero() {
		marked = begun
		if marked.Before(kept) {
			marked = kept
		}
	}
	if marked.After(now) { // the clock of the previous owner was ahead
		marked = now
	}
	return &departures{until: marked.Add(-departuresAgain), reloaded: now.Add(-reloadKept)}
}

// departuresATurn is the largest number of marks of departures that all owners together write in a
// turn, which is a second.
const departuresATurn = 2000

// markDepartures marks the plates of the flights of this owner that have departed since the last
// call. All owners together write at most departuresATurn marks in a turn, so that other marks do
// not wait. The caller holds the lock; markDepartures releases it while it writes, since another
// partition may be without a leader for long.
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

// markedUntil returns the time up to which all departures are marked, or zero while marks wait.
func (d *departures) markedUntil() time.Time {
	if len(d.waiting) > 0 {
		return time.Time{}
	}
	return d.until
}

// findDepartures collects the plates of flights that have departed, or that a reload has changed,
// since the last call.
func (o *owner) findDepartures(ctx context.Context, now time.Time) error {
	d := o.departures
	until := now.Add(-clocksApart)
	if until.Before(d.until) { // the clock was set back: flights after until have not departed yet
		d.until = until
	}
	if most := d.until.Add(departuresAtOnce); until.After(most) {
		until = most
	}
	if now.Before(d.reloaded) { // the clock was set back; a reload that was added since then may be due
		d.reloaded = now.Add(-reloadPause)
	}
	// Marks of a reload are certain; marks of a departure are not.
	departed := o.ownFlights(o.conf.Departures.Between(d.until, until))
	changed := o.ownFlights(o.conf.Reloads.between(d.reloaded, now))
	if flights := append(departed, changed...); len(flights) > 0 {
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
	d.until, d.reloaded = until, now
	return nil
}

// ownFlights returns the flights that this owner marks: the name of the flight selects the partition.
func (o *owner) ownFlights(flights []bag.Flight) []bag.Flight {
	return slices.DeleteFunc(flights, func(f bag.Flight) bool {
		return kafka.PartitionOf([]byte(FlightName(f)), o.epoch.Partitions) != o.partition
	})
}

// reloadPause is the time from a reload of the flight reference to the marks of its changes. If all
// processes get the file within five seconds, as docs/operations.md says, every process has read it
// by then. So none folds a bag with the old reference after the change is published.
const reloadPause = 10 * time.Second

// Reloads holds the latest changes of the flight reference.
type Reloads struct {
	mu   sync.Mutex
	list []reload
}

type reload struct {
	due     time.Time
	flights []bag.Flight
}

// reloadKept is how long a reload is kept after it is due, for owners that have not marked its
// plates yet, and for owners that take over from one of these.
const reloadKept = time.Hour

// Add records that the flight reference has changed for these flights.
func (r *Reloads) Add(now time.Time, flights []bag.Flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(l reload) bool { return now.Sub(l.due) > reloadKept })
	r.list = append(r.list, reload{now.Add(reloadPause), flights})
}

// between returns the flights of the reloads that were due after one time and up to another.
func (r *Reloads) between(after, until time.Time) (flights []bag.Flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.list {
		if l.due.After(after) && !l.due.After(until) {
			flights = append(flights, l.flights...)
		}
	}
	return flights
}
