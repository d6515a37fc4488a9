package bag

import (
	"slices"

	"bagtrail/internal/smallmap"
)

// statuses sets the loading statuses of living legs from the events of their bag (rules §3, loading
// status).
type statuses struct {
	rules     Rules
	legs      []Leg                       // in the order of travel
	byFlight  smallmap.Map[Flight, []int] // indices in legs
	departing byPlace                     // indices of the legs that depart from a place
	arrived   smallmap.Set[flightAt]      // the flights and airports for which arrive was called
}

func (r Rules) newStatuses(legs []Leg) *statuses {
	s := &statuses{rules: r, legs: legs, departing: byPlace{places: r.Places}}
	for i, l := range legs {
		s.byFlight.Set(l.Flight, append(s.byFlight.Value(l.Flight), i))
		if l.From != "" {
			s.departing.add(direction{airport: l.From}, i)
		}
	}
	return s
}

// from returns the indices of the legs that depart from an airport.
func (s *statuses) from(airport string) []int { return s.departing.at(direction{airport: airport}) }

// departs reports whether a leg is known to depart from an airport.
func (s *statuses) departs(leg int, airport string) bool {
	from := s.legs[leg].From
	return from != "" && s.rules.SamePlace(from, airport)
}

// follow applies events, which must be in order.
func (s *statuses) follow(events []Event) {
	for i := range events {
		e := &events[i]
		m := e.Message
		switch {
		case e.Code == EventArrived:
			s.arrive(m.Outbound.Flight, m.Airport)
			s.arrive(m.Inbound.Flight, m.Airport)
		case e.Sets == NoStatus:
		case m.IsReport():
			s.mishandle(m)
		case m.Outbound.IsZero():
			for _, i := range s.from(m.Airport) {
				s.set(i, e.Sets, m)
			}
		default:
			s.applyToFlight(e)
			if m.departs() {
				s.unloadOthers(e)
			}
		}
	}
}

// set sets the status of a leg, unless the leg is known only from an .I and has no status yet.
func (s *statuses) set(leg int, status Status, by *Message) {
	if l := &s.legs[leg]; l.Status != NoStatus {
		l.Status, l.SetBy = status, by
	}
}

// applyToFlight sets the status of the legs on the flight of an event that depart from its airport.
// If there are none, a load applies to legs whose departure is unknown, and any other event to all
// legs on the flight. A leg that was known only from an .I gets its first status if it departs from
// the airport of the event.
func (s *statuses) applyToFlight(e *Event) {
	f, here := e.Message.Outbound.Flight, false
	for _, i := range s.from(e.Message.Airport) {
		if l := &s.legs[i]; l.Flight == f {
			l.Status, l.SetBy, here = e.Sets, e.Message, true
		}
	}
	if here {
		return
	}
	for _, i := range s.byFlight.Value(f) {
		if !e.Sets.Loaded() || s.legs[i].From == "" {
			s.set(i, e.Sets, e.Message)
		}
	}
}

// unloadOthers ends the status Loaded on every other flight out of the airport of an event, since a
// bag is in one place.
func (s *statuses) unloadOthers(e *Event) {
	status := NotLoaded
	if e.Code == EventOffloaded {
		status = Offloaded
	}
	for _, i := range s.from(e.Message.Airport) {
		if l := &s.legs[i]; l.Flight != e.Message.Outbound.Flight && l.Status.Loaded() {
			s.set(i, status, e.Message)
		}
	}
}

// mishandle makes every leg Delayed that is not Loaded on Aircraft. If all legs are, it makes the
// last one Delayed. Legs without a status do not count.
func (s *statuses) mishandle(by *Message) {
	last, all := -1, true
	for i := range s.legs {
		switch s.legs[i].Status {
		case NoStatus:
		case OnAircraft:
			last = i
		default:
			all = false
			s.set(i, Delayed, by)
		}
	}
	if all && last >= 0 {
		s.set(last, Delayed, by)
	}
}

// arrive marks the legs on a flight as arrived. A leg that departs from the airport of arrival is
// left out: it is the next leg of a through flight.
func (s *statuses) arrive(f Flight, airport string) {
	if !s.arrived.Add(flightAt{f, airport}) {
		return
	}
	for _, i := range s.byFlight.Value(f) {
		if !s.departs(i, airport) {
			s.legs[i].Arrived = true
		}
	}
}

// seat sets the seat of each leg. It comes from the latest BSM that holds a seat, among the BSMs at
// the departure of the leg and for its flight.
func (s *statuses) seat(events []Event) {
	for _, e := range slices.Backward(events) {
		m := e.Message
		if !m.Kind.IsSource() || m.Seat == "" {
			continue
		}
		for _, i := range s.from(m.Airport) {
			if l := &s.legs[i]; l.Flight == m.Outbound.Flight && l.Seat == "" {
				l.Seat = m.Seat
			}
		}
	}
}
