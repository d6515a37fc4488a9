package bag

import "bagtrail/internal/smallmap"

// Container is a stowage device as it is filled for one flight.
type Container struct {
	Flight Flight
	Device string
}

// Containers returns, each once, the containers in which messages say that a bag is: only a positioning of one of these
// can concern it.
func Containers(messages []*Message) []Container {
	var all []Container
	for _, m := range messages {
		if m.Device != "" && !m.Outbound.IsZero() {
			all = append(all, Container{m.Outbound.Flight, m.Device})
		}
	}
	return smallmap.Distinct(all)
}

// whereabouts is what the events at one airport say of where a bag is.
type whereabouts struct {
	in    Container // the container into which it was put, if it is in one
	bare  Flight    // the flight of the loads without a device since; zero if there was none
	mixed bool      // these are loads on several flights
}

// note takes up the next status-setting event at the airport.
func (w *whereabouts) note(e *Event) {
	m := e.Message
	switch loads := e.Sets.Loaded() && !m.Outbound.IsZero(); {
	case loads && m.Device == "":
		w.mixed = w.mixed || !w.bare.IsZero() && w.bare != m.Outbound.Flight
		w.bare = m.Outbound.Flight
	case loads:
		*w = whereabouts{in: Container{m.Outbound.Flight, m.Device}}
	default:
		*w = whereabouts{}
	}
}

// holds reports whether the bag is in the container: the latest status-setting event, loads on that flight without a device
// apart, put it there.
func (w *whereabouts) holds(c Container) bool {
	return w.in == c && !w.mixed && (w.bare.IsZero() || w.bare == c.Flight)
}

// withPositionings adds to the events of a bag, which are in order, an event for every container positioning that finds
// the bag in its stowage device (rules §2).
func (r Rules) withPositionings(events []Event, positionings []*Message) []Event {
	if len(positionings) == 0 {
		return events
	}
	var at smallmap.Map[string, whereabouts] // by airport, compared exactly
	merged := make([]Event, 0, len(events)+min(len(positionings), 2))
	note := func(e Event) {
		merged = append(merged, e)
		if e.Sets != NoStatus {
			w := at.Value(e.Message.Airport)
			w.note(&e)
			at.Set(e.Message.Airport, w)
		}
	}
	for _, p := range positionings {
		for len(events) > 0 && events[0].Message.compare(p) < 0 {
			note(events[0])
			events = events[1:]
		}
		w := at.Value(p.Airport)
		if code, loading := loadingEvent(p); loading && r.departs(p) && w.holds(Container{p.Outbound.Flight, p.Device}) {
			e := entry(code).of(p)
			e.Positioning = true
			note(e)
		}
	}
	return append(merged, events...)
}
