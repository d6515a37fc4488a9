package bag

import (
	"slices"

	"bagtrail/internal/smallmap"
)

// currentBSMs holds the current BSM of every airport. BSMs are added in the order of events (rules
// §3, legs).
type currentBSMs struct {
	rules Rules
	slots []slot                       // one for each airport and direction that has a BSM
	own   smallmap.Map[direction, int] // index in slots of each direction
	near  byPlace                      // indices in slots of the directions at a place, see SamePlace
	// ignored holds the BSMs that are passed over: they change no leg.
	ignored smallmap.Set[*Message]
}

// direction is one side of an airport: its departing flights, or its arriving ones.
type direction struct {
	airport  string
	arriving bool
}

// slot holds the current BSM of one direction of an airport.
type slot struct {
	direction
	current *Message // nil if there is none
	last    *Message // the latest BSM that changed the slot, a DEL included; nil if there was none
	hadBSM  bool     // a BSM other than a DEL was added
	counted bool     // a BSM of exactly this airport changed slots, a DEL included
}

// newCurrentBSMs returns a currentBSMs with an empty slot for each airport and direction of the
// BSMs among these messages.
func (r Rules) newCurrentBSMs(messages []*Message) *currentBSMs {
	c := &currentBSMs{rules: r, near: byPlace{places: r.Places}}
	for _, m := range messages {
		if !m.Kind.IsSource() {
			continue
		}
		if d := m.direction(); !c.own.Has(d) {
			c.own.Set(d, len(c.slots))
			c.near.add(d, len(c.slots))
			c.slots = append(c.slots, slot{direction: d})
		}
	}
	return c
}

// direction returns the airport of m, and whether the flight of m arrives there.
func (m *Message) direction() direction { return direction{m.Airport, m.Arriving} }

// departs reports whether the .F of m departs from the airport of m.
func (m *Message) departs() bool { return !m.Outbound.IsZero() && !m.Arriving }

// slotOf returns the slot of exactly the airport and direction of a BSM.
func (c *currentBSMs) slotOf(m *Message) *slot { return &c.slots[c.own.Value(m.direction())] }

// add adds a BSM.
func (c *currentBSMs) add(m *Message) {
	own := c.slotOf(m)
	if c.passesOver(m, own) {
		c.ignored.Add(m)
		return
	}
	own.counted = true
	before := own.current
	for _, i := range c.near.at(m.direction()) {
		s := &c.slots[i]
		switch {
		case !m.isDelete():
			s.current, s.last, s.hadBSM = m, m, true
		case s.current == before:
			s.current, s.last = nil, m
		}
	}
}

// passesOver reports whether a BSM changes no leg. A DEL counts if the current BSM of its airport
// names the same flight, or if the airport never had another BSM, and an .O of a current BSM departs
// there on that flight. Any other BSM counts, unless it names no passenger and would end a BSM of
// another airline that names one.
func (c *currentBSMs) passesOver(m *Message, own *slot) bool {
	before := own.current
	switch {
	case !m.isDelete():
		return before != nil && !m.namesPassenger() && before.namesPassenger() && m.Outbound.Airline != before.Outbound.Airline
	case before != nil:
		return before.Outbound.Flight != m.Outbound.Flight
	}
	return own.arriving || own.hadBSM ||
		!slices.ContainsFunc(c.onwardFrom(m.Airport), func(l Leg) bool { return l.Flight == m.Outbound.Flight })
}

// decidesExit reports whether the BSMs of the airport alone say which leg leads out of it, because
// it had a BSM, or a DEL counts there.
func (c *currentBSMs) decidesExit(airport string) bool {
	return slices.ContainsFunc(c.near.at(direction{airport: airport}), func(i int) bool { return c.slots[i].counted })
}

// latestFirst returns the current BSMs, the latest first. A BSM may be current in the slots of several
// airports that are one place. Only the slot of its own airport counts, so that each BSM is returned
// once.
func (c *currentBSMs) latestFirst() []*Message {
	var current []*Message
	for i := range c.slots {
		if s := &c.slots[i]; s.current != nil && s.current.direction() == s.direction {
			current = append(current, s.current)
		}
	}
	slices.SortFunc(current, func(a, b *Message) int { return b.compare(a) })
	return current
}

// onwardFrom returns the legs of .O elements of current BSMs that depart from an airport. The legs
// of the latest BSM come first.
func (c *currentBSMs) onwardFrom(airport string) []Leg {
	var legs []Leg
	for _, m := range c.latestFirst() {
		for leg := range m.onward() {
			if leg.From != "" && c.rules.SamePlace(leg.From, airport) {
				legs = append(legs, leg)
			}
		}
	}
	return legs
}

// predecessor returns the predecessor of the BSM m (rules §3, legs). m must not be added yet.
func (c *currentBSMs) predecessor(m *Message) predecessor {
	if before := c.slotOf(m).last; before != nil {
		return predecessor{before.Outbound.Flight, before.PassengerStatus}
	}
	if legs := c.onwardFrom(m.Airport); !m.Arriving && len(legs) > 0 {
		return predecessor{flight: legs[0].Flight}
	}
	return predecessor{}
}
