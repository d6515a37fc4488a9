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
	arriving []Leg                       // whose departure is unknown: they join the others in the end
}

// add adds a living leg. Two legs on one flight are one if their departures are one place; then the airports of the first
// one stand.
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

// join joins each arriving flight to the leg of that flight that arrives there, else to the only leg of that flight.
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

// exits says of airports which leg leads out of them, if one does.
type exits struct {
	sources  *sources
	airports []exit
	byCode   smallmap.Map[string, int] // index in airports
}

type exit struct {
	airport string
	free    bool   // no leg leads out yet, and BSMs do not forbid one
	flight  Flight // of the leg out; zero if there is none
}

func (e *exits) at(airport string) *exit {
	i, have := e.byCode.Get(airport)
	if !have {
		i = len(e.airports)
		e.byCode.Set(airport, i)
		made := exit{airport: airport, free: !e.sources.closed(airport)}
		for _, other := range e.airports {
			if !other.flight.IsZero() && e.sources.rules.SamePlace(other.airport, airport) {
				made.free, made.flight = false, other.flight
				break
			}
		}
		e.airports = append(e.airports, made)
	}
	return &e.airports[i]
}

// free reports whether a leg out of an airport is still to be found.
func (e *exits) free(airport string) bool { return e.at(airport).free }

// flight returns the flight of the leg out of an airport.
func (e *exits) flight(airport string) Flight { return e.at(airport).flight }

// take says that a flight leads out of an airport, and so out of all that are one place with it.
func (e *exits) take(airport string, f Flight) {
	e.at(airport)
	for i := range e.airports {
		other := &e.airports[i]
		if other.flight.IsZero() && e.sources.rules.SamePlace(other.airport, airport) {
			other.free, other.flight = false, f
		}
	}
}
