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
	from     departures                  // indices in legs
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
	if i, have := t.from.find(l.Flight, l.From); have {
		t.legs[i].Status = max(t.legs[i].Status, l.Status)
		return
	}
	t.from.add(l.Flight, l.From, len(t.legs))
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

// exits says which airports a leg leads out of so far.
type exits struct {
	current *currentBSMs
	taken   placeSet
	asked   smallmap.Set[string]
}

// take reports whether a leg out of the airport may be added: the BSMs of the airport do not decide
// it, and no leg was added that leads out of a place that is one with it.
func (e *exits) take(airport string) bool {
	return e.asked.Add(airport) && !e.current.decidesExit(airport) && e.taken.add(airport)
}
