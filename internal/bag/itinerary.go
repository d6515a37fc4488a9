package bag

import (
	"slices"

	"bagtrail/internal/smallmap"
)

// itinerary collects the living legs of a bag.
type itinerary struct {
	rules    Rules
	legs     []Leg
	byFlight smallmap.Map[Flight, []int] // indices in legs
	arriving []Leg                       // legs with unknown departure; join adds them to legs
}

// add adds a living leg. Two legs on one flight whose departures are one place are one leg; it has
// the airports of the leg that was added first.
func (t *itinerary) add(l Leg, status Status) {
	if l.Flight.IsZero() {
		return
	}
	l.Living, l.Status = true, status
	if l.From == "" {
		t.arriving = append(t.arriving, l)
		return
	}
	for _, i := range t.byFlight.Value(l.Flight) {
		if t.rules.SamePlace(t.legs[i].From, l.From) {
			t.legs[i].Status = max(t.legs[i].Status, l.Status)
			return
		}
	}
	t.append(l)
}

func (t *itinerary) append(l Leg) {
	t.byFlight.Set(l.Flight, append(t.byFlight.Value(l.Flight), len(t.legs)))
	t.legs = append(t.legs, l)
}

// join joins each leg with unknown departure with the leg of its flight that arrives at the same
// place, else with the only leg of its flight. If there is neither, it adds the leg.
func (t *itinerary) join() {
	for _, l := range t.arriving {
		same := t.byFlight.Value(l.Flight)
		i := slices.IndexFunc(same, func(i int) bool { return t.rules.SamePlace(t.legs[i].To, l.To) })
		if i < 0 && len(same) != 1 {
			t.append(l)
			continue
		}
		have := &t.legs[same[max(i, 0)]]
		have.Status = max(have.Status, l.Status)
	}
}

// exits holds the leg that leads out of each airport.
type exits struct {
	current *currentBSMs
	list    []exit
	byCode  smallmap.Map[string, int] // index in list
}

// exit is the leg out of one airport.
type exit struct {
	airport string
	open    bool   // no leg leads out yet, and the BSMs of the airport do not decide it
	flight  Flight // of the leg out; zero if there is none
}

func (e *exits) at(airport string) *exit {
	i, have := e.byCode.Get(airport)
	if !have {
		i = len(e.list)
		e.byCode.Set(airport, i)
		made := exit{airport: airport, open: !e.current.decidesExit(airport)}
		for _, other := range e.list {
			if !other.flight.IsZero() && e.current.rules.SamePlace(other.airport, airport) {
				made.open, made.flight = false, other.flight
				break
			}
		}
		e.list = append(e.list, made)
	}
	return &e.list[i]
}

// open reports whether a leg out of the airport may still be found.
func (e *exits) open(airport string) bool { return e.at(airport).open }

// take notes that a flight leads out of the airport, and so out of all airports that are one place
// with it.
func (e *exits) take(airport string, f Flight) {
	e.at(airport)
	for i := range e.list {
		other := &e.list[i]
		if other.flight.IsZero() && e.current.rules.SamePlace(other.airport, airport) {
			other.open, other.flight = false, f
		}
	}
}
