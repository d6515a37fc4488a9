package bag

import "bagtrail/internal/smallmap"

// itinerary collects the living legs of a bag.
type itinerary struct {
	legs     []Leg
	from     departures // indices in legs
	arriving []Leg      // legs with unknown departure; join adds them to legs
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
	t.legs = append(t.legs, l)
}

// join joins each leg with unknown departure with the leg of its flight that arrives at the same
// place, else with the only leg of its flight. If there is neither, it adds the leg.
func (t *itinerary) join() {
	if len(t.arriving) == 0 {
		return
	}
	to := departures{places: t.from.places}  // the arrivals of legs
	var byFlight smallmap.Map[Flight, []int] // indices in legs
	index := func(i int, l Leg) {
		to.add(l.Flight, l.To, i)
		byFlight.Set(l.Flight, append(byFlight.Value(l.Flight), i))
	}
	for i, l := range t.legs {
		index(i, l)
	}
	for _, l := range t.arriving {
		i, have := to.find(l.Flight, l.To)
		if same := byFlight.Value(l.Flight); !have && len(same) == 1 {
			i, have = same[0], true
		}
		if !have {
			index(len(t.legs), l)
			t.legs = append(t.legs, l)
			continue
		}
		t.legs[i].Status = max(t.legs[i].Status, l.Status)
	}
}
