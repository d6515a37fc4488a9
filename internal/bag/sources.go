package bag

import (
	"slices"

	"bagtrail/internal/few"
)

// sources holds the current BSM of every place as messages are added in the order of events.
type sources struct {
	place   func(code string) string
	current few.Map[string, *Message] // place → its latest BSM
	order   []*Message                // the current ones and those that they replaced, oldest first
}

func (s *sources) add(m *Message) {
	s.current.Set(s.place(m.Airport), m)
	s.order = append(s.order, m)
}

// at returns the current BSM of a place, or nil.
func (s *sources) at(place string) *Message { return s.current.Value(place) }

// latestFirst returns the current BSMs.
func (s *sources) latestFirst() []*Message {
	live := s.order[:0]
	for _, m := range s.order {
		if s.at(s.place(m.Airport)) == m {
			live = append(live, m)
		}
	}
	s.order = live
	latest := slices.Clone(live)
	slices.Reverse(latest)
	return latest
}

// predecessor returns what the BSM m changes, m being not yet added (rules §3, legs).
func (s *sources) predecessor(m *Message) predecessor {
	place := s.place(m.Airport)
	if before := s.at(place); before != nil {
		return predecessor{before.Outbound.Flight, before.PassengerStatus}
	}
	for _, other := range s.latestFirst() {
		if other.isDelete() {
			continue
		}
		for leg := range s.onward(other) {
			if s.place(leg.From) == place {
				return predecessor{flight: leg.Flight}
			}
		}
	}
	return predecessor{}
}

// outbound returns the leg of the .F of m. A flight that arrives at the airport of m has no known
// departure: its .F names that airport, or m is a BSM with source X.
func (s *sources) outbound(m *Message) Leg {
	f := m.Outbound
	if (m.Kind == BSM && m.Source == 'X') || s.place(f.Airport) == s.place(m.Airport) {
		return Leg{Flight: f.Flight, To: m.Airport}
	}
	return Leg{Flight: f.Flight, From: m.Airport, To: f.Airport}
}

// onward yields the legs of the .O of m: each departs where the one before it, or the .F, arrives.
func (s *sources) onward(m *Message) func(yield func(Leg) bool) {
	return func(yield func(Leg) bool) {
		from := s.outbound(m).To
		if m.Outbound.IsZero() {
			from = ""
		}
		for _, o := range m.Onward {
			if !yield(Leg{Flight: o.Flight, From: from, To: o.Airport}) {
				return
			}
			from = o.Airport
		}
	}
}
