package bag

import (
	"cmp"
	"iter"
	"slices"

	"bagtrail/internal/smallmap"
	"bagtrail/parser"
)

// sources follows the current BSM of every airport as messages are added in the order of events (rules §3, legs).
type sources struct {
	rules   Rules
	airport []booking                      // one for each airport and direction in which a BSM stands
	own     smallmap.Map[direction, int]   // which of these is that of an airport itself
	near    smallmap.Map[direction, []int] // which of these are one place with an airport
	added   int
	passed  smallmap.Map[*Message, struct{}] // the BSMs that were passed over
}

// direction is one side of an airport: its departing flights, or its arriving ones.
type direction struct {
	airport  string
	arriving bool
}

// booking is what BSMs say of one direction of an airport.
type booking struct {
	direction
	current *Message // the current BSM; nil if there is none
	since   int      // when it was added
	last    *Message // the current BSM, or the DEL that ended it; nil if there was none
	booked  bool     // there was a BSM other than a DEL
}

// newSources returns sources that know the airports of all messages, and no BSM yet.
func (r Rules) newSources(messages []*Message) *sources {
	s := &sources{rules: r}
	for _, m := range messages {
		if m.Kind != parser.BSM {
			continue
		}
		if d := r.directionOf(m); !s.own.Has(d) {
			s.own.Set(d, len(s.airport))
			s.airport = append(s.airport, booking{direction: d})
		}
	}
	return s
}

// directionOf returns the side of its airport on which m stands.
func (r Rules) directionOf(m *Message) direction { return direction{m.Airport, r.arriving(m)} }

// arriving reports whether the .F of m arrives at its airport: it names a place of that city, or m is a BSM with source X.
func (r Rules) arriving(m *Message) bool {
	return m.Kind == parser.BSM && m.Source == 'X' || !m.Outbound.IsZero() && r.SamePlace(m.Outbound.Airport, m.Airport)
}

// departs reports whether the .F of m leaves from its airport.
func (r Rules) departs(m *Message) bool { return !m.Outbound.IsZero() && !r.arriving(m) }

// at returns the bookings that are one place with an airport.
func (s *sources) at(d direction) []int {
	if near, known := s.near.Get(d); known {
		return near
	}
	var near []int
	for i := range s.airport {
		if b := &s.airport[i]; b.arriving == d.arriving && s.rules.SamePlace(b.airport, d.airport) {
			near = append(near, i)
		}
	}
	s.near.Set(d, near)
	return near
}

// add adds a BSM. It passes over a DEL that does not count, and a BSM that names no passenger and would end one of another
// airline that does.
func (s *sources) add(m *Message) {
	d := s.rules.directionOf(m)
	before := s.airport[s.own.Value(d)].current
	switch {
	case m.isDelete():
		if !s.counts(m, d, before) {
			s.passed.Set(m, struct{}{})
			return
		}
	case before != nil && !m.namesPassenger() && before.namesPassenger() && m.Outbound.Airline != before.Outbound.Airline:
		s.passed.Set(m, struct{}{})
		return
	}
	s.added++
	for _, i := range s.at(d) {
		b := &s.airport[i]
		switch {
		case !m.isDelete():
			b.current, b.since, b.last, b.booked = m, s.added, m, true
		case b.current == before:
			b.current, b.last = nil, m
		}
	}
}

// counts reports whether a DEL takes a booking away: the current BSM of its airport names the same flight; or the airport never
// had a BSM, and a current BSM announces that flight from there.
func (s *sources) counts(m *Message, d direction, before *Message) bool {
	if before != nil {
		return before.Outbound.Flight == m.Outbound.Flight
	}
	if d.arriving || s.airport[s.own.Value(d)].booked {
		return false
	}
	for _, leg := range s.announced(m.Airport) {
		if leg.Flight == m.Outbound.Flight {
			return true
		}
	}
	return false
}

// closed reports whether BSMs alone say which leg leads out of an airport: it had one, or a DEL counts there.
func (s *sources) closed(airport string) bool {
	for _, i := range s.at(direction{airport: airport}) {
		if b := &s.airport[i]; b.booked || b.last != nil {
			return true
		}
	}
	return false
}

// latestFirst returns the current BSMs.
func (s *sources) latestFirst() []*Message {
	var current []*booking
	for i := range s.airport {
		if b := &s.airport[i]; b.current != nil && s.rules.directionOf(b.current) == b.direction {
			current = append(current, b)
		}
	}
	slices.SortFunc(current, func(a, b *booking) int { return cmp.Compare(b.since, a.since) })
	messages := make([]*Message, len(current))
	for i, b := range current {
		messages[i] = b.current
	}
	return messages
}

// announced returns the onward legs that depart from an airport in the current BSMs, those of the latest first.
func (s *sources) announced(airport string) []Leg {
	var legs []Leg
	for _, m := range s.latestFirst() {
		for leg := range s.rules.onward(m) {
			if leg.From != "" && s.rules.SamePlace(leg.From, airport) {
				legs = append(legs, leg)
			}
		}
	}
	return legs
}

// predecessor returns what the BSM m changes, m being not yet added (rules §3, legs).
func (s *sources) predecessor(m *Message) predecessor {
	d := s.rules.directionOf(m)
	if before := s.airport[s.own.Value(d)].last; before != nil {
		return predecessor{before.Outbound.Flight, before.PassengerStatus}
	}
	if legs := s.announced(m.Airport); !d.arriving && len(legs) > 0 {
		return predecessor{flight: legs[0].Flight}
	}
	return predecessor{}
}

// outbound returns the leg of the .F of m. A flight that arrives at the airport of m has no known departure.
func (r Rules) outbound(m *Message) Leg {
	f := m.Outbound
	if r.arriving(m) {
		return Leg{Flight: f.Flight, Carrier: f.Carrier, To: m.Airport}
	}
	return Leg{Flight: f.Flight, Carrier: f.Carrier, From: m.Airport, To: f.Airport}
}

// inbound returns the leg of the .I of m.
func (r Rules) inbound(m *Message) Leg {
	return Leg{Flight: m.Inbound.Flight, Carrier: m.Inbound.Carrier, From: m.Inbound.Airport, To: m.Airport}
}

// onward yields the legs of the .O of m: each departs where the one before it, or the .F, arrives.
func (r Rules) onward(m *Message) iter.Seq[Leg] {
	return func(yield func(Leg) bool) {
		from := ""
		if !m.Outbound.IsZero() {
			from = r.outbound(m).To
		}
		for _, o := range m.Onward {
			if !yield(Leg{Flight: o.Flight, Carrier: o.Carrier, From: from, To: o.Airport}) {
				return
			}
			from = o.Airport
		}
	}
}
