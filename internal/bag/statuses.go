package bag

import (
	"slices"

	"bagtrail/internal/smallmap"
	"bagtrail/parser"
)

// statuses follows the loading statuses of living legs through the events of their bag (rules §3, loading status).
type statuses struct {
	rules    Rules
	legs     []Leg                       // in the order of travel
	byFlight smallmap.Map[Flight, []int] // indices in legs
	out      smallmap.Map[string, []int] // airport → those that depart from there
}

func (r Rules) newStatuses(legs []Leg) *statuses {
	s := &statuses{rules: r, legs: legs}
	for i, l := range legs {
		s.byFlight.Set(l.Flight, append(s.byFlight.Value(l.Flight), i))
	}
	return s
}

// from returns the legs that depart from an airport.
func (s *statuses) from(airport string) []int {
	if found, have := s.out.Get(airport); have {
		return found
	}
	var found []int
	for i := range s.legs {
		if from := s.legs[i].From; from != "" && s.rules.SamePlace(from, airport) {
			found = append(found, i)
		}
	}
	s.out.Set(airport, found)
	return found
}

// follow sets the statuses that events set. The events are in order.
func (s *statuses) follow(events []Event) {
	for i := range events {
		e := &events[i]
		m := e.Message
		switch {
		case e.Code == EventArrived:
			s.arrive(m.Outbound.Flight)
			s.arrive(m.Inbound.Flight)
		case e.Sets == NoStatus:
		case m.IsReport():
			s.mishandle(m)
		case m.Outbound.IsZero():
			for _, i := range s.from(m.Airport) {
				s.set(i, e.Sets, m)
			}
		default:
			s.count(e)
			if s.rules.departs(m) {
				s.leave(e)
			}
		}
	}
}

// set sets the status of a leg. One that is known from an .I only has none.
func (s *statuses) set(leg int, status Status, by *Message) {
	if l := &s.legs[leg]; l.Status != NoStatus {
		l.Status, l.SetBy = status, by
	}
}

// count sets the status of the legs on the flight of an event: those out of its airport; if there are none, a load counts
// for legs whose departure is unknown, and any other event for all.
func (s *statuses) count(e *Event) {
	same := s.byFlight.Value(e.Message.Outbound.Flight)
	here := func(i int) bool {
		return s.legs[i].From != "" && s.rules.SamePlace(s.legs[i].From, e.Message.Airport)
	}
	some := slices.ContainsFunc(same, here)
	for _, i := range same {
		if some && here(i) || !some && (!e.Sets.Loaded() || s.legs[i].From == "") {
			s.set(i, e.Sets, e.Message)
		}
	}
}

// leave ends Loaded on every other flight out of the airport of an event: a bag is in one place.
func (s *statuses) leave(e *Event) {
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

// mishandle makes Delayed every leg that is not Loaded on Aircraft; if all are, the last one.
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

// arrive notes that a bag has come off a flight.
func (s *statuses) arrive(f Flight) {
	for _, i := range s.byFlight.Value(f) {
		s.legs[i].Arrived = true
	}
}

// seat finds the seats of the legs: each from the latest BSM at its departure, for its flight, that holds one.
func (s *statuses) seat(messages []*Message) {
	for _, m := range slices.Backward(messages) {
		if m.Kind != parser.BSM || m.Seat == "" {
			continue
		}
		for _, i := range s.byFlight.Value(m.Outbound.Flight) {
			if l := &s.legs[i]; l.Seat == "" && l.From != "" && s.rules.SamePlace(l.From, m.Airport) {
				l.Seat = m.Seat
			}
		}
	}
}
