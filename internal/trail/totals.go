package trail

import (
	"context"
	"slices"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/budget"
	"bagtrail/internal/smallmap"
)

// Totals are the numbers of bags of a flight at an airport. They are the same for every asker.
type Totals struct {
	Bags, Rush int
	Status     [bag.Delayed + 1]int // bags by loading status
	Changed    time.Time            // the newest of Listed.Changed
	FarEnd     string               // the airport at the other end of more than half of the legs that have one; one of the airports if none has so many
	majority   int                  // the counter of the majority vote for FarEnd
}

// Add adds a bag of the list of a flight that departs from the airport, or arrives there.
func (t *Totals) Add(l *Listed, arriving bool) { t.add(l.Bag.Rush, l.Changed, &l.Leg, arriving) }

func (t *Totals) add(rush bool, changed time.Time, leg *bag.Leg, arriving bool) {
	t.Bags++
	if rush {
		t.Rush++
	}
	t.Status[leg.Status]++
	if changed.After(t.Changed) {
		t.Changed = changed
	}
	far := leg.To
	if arriving {
		far = leg.From
	}
	switch {
	case far == "": // a leg whose departure is unknown has no vote
	case far == t.FarEnd:
		t.majority++
	case t.majority == 0:
		t.FarEnd, t.majority = far, 1
	default:
		t.majority--
	}
}

// FlightsAt returns the flights that messages say depart from the airport on a day, or arrive there,
// each once and in any order. A flight may have no bag there any more.
func (r *Reader) FlightsAt(ctx context.Context, airport string, arriving bool, day bag.Day) ([]bag.Flight, error) {
	var w Wanted
	for _, code := range r.settings.Airports.Codes(airport) {
		w.Airports = append(w.Airports, bag.AirportDay{Airport: code, Arriving: arriving, Day: day})
	}
	found, err := r.index.Read(ctx, w)
	return smallmap.Distinct(slices.Concat(found.Airports...)), err
}

// totalsAtOnce is how many flights one question adds up at the same time: while one waits for
// Redis, others are added up.
const totalsAtOnce = 4

// Totals returns the totals of flights that depart from the airport, or arrive there, in the order of
// flights. A flight takes one round trip if its list is cached and nothing has changed. The sight of
// the asker does not matter.
func (r *Reader) Totals(ctx context.Context, airport string, arriving bool, flights []bag.Flight) ([]Totals, error) {
	all := make([]Totals, len(flights))
	err := each(len(flights), min(totalsAtOnce, len(flights)), func(i int) error {
		return r.addUp(ctx, end{r, airport, arriving}, flights[i], &all[i])
	})
	return all, err
}

// addUp adds the bags of a flight to its totals.
func (r *Reader) addUp(ctx context.Context, at end, f bag.Flight, t *Totals) error {
	ctx, done := budget.Part(ctx)
	defer done()
	list, err := r.list(ctx, at, f)
	if err != nil {
		return err
	}
	r.eachAt(list, at, func(_ *listedPlate, b *listedBag, leg bag.Leg) { t.add(b.rush, b.changed, &leg, at.arriving) })
	return nil
}
