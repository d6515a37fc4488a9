package bag

import (
	"context"
	"slices"

	"bagtrail/internal/smallmap"
)

// Container is a stowage device that is filled for one flight.
type Container struct {
	Flight Flight
	Device string
}

// Containers returns the containers that messages of a bag name, each once. Only a positioning of
// one of these can concern the bag.
func Containers(messages []*Message) []Container {
	var all []Container
	for _, m := range messages {
		if m.Device != "" && !m.Outbound.IsZero() {
			all = append(all, Container{m.Outbound.Flight, m.Device})
		}
	}
	return smallmap.Distinct(all)
}

// positionings returns the positionings that are events, in the order of events. It looks for
// copies separately for each container, since a message with several groups may be a copy for one
// container and not for another (rules §2).
func (r Rules) positionings(ctx context.Context, stowage []*Message) ([]*Message, error) {
	by := make(map[Container][]*Message)
	for _, p := range stowage {
		if p.departs() { // otherwise it positions nothing (rules §2)
			c := Container{p.Outbound.Flight, p.Device}
			by[c] = append(by[c], p)
		}
	}
	all := make([]*Message, 0, len(stowage))
	for _, same := range by {
		events, err := r.withoutCopies(ctx, same)
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	slices.SortFunc(all, (*Message).compare)
	return all, nil
}

// whereabouts says where a bag is by the events at one airport.
type whereabouts struct {
	in    Container // the container that holds it; zero if there is none; without Device if .U 1 is too long
	bare  Flight    // flight of the loads without a device since the load into the container; zero if there are none
	mixed bool      // the loads without a device are on several flights
}

// note adds the next status-setting event at the airport.
func (w *whereabouts) note(e *Event) {
	m := e.Message
	switch loads := e.Sets.Loaded() && !m.Outbound.IsZero(); {
	case loads && !m.hasDevice():
		w.mixed = w.mixed || !w.bare.IsZero() && w.bare != m.Outbound.Flight
		w.bare = m.Outbound.Flight
	case loads:
		*w = whereabouts{in: Container{m.Outbound.Flight, m.Device}}
	default:
		*w = whereabouts{}
	}
}

// holds reports whether the bag is in the container, because the latest status-setting event put it
// there. Loads on that flight without a device are skipped.
func (w *whereabouts) holds(c Container) bool {
	return w.in == c && !w.mixed && (w.bare.IsZero() || w.bare == c.Flight)
}

// withPositionings adds an event for each container positioning that concerns a bag (rules §2). The
// events of the bag and the positionings must be in order.
func withPositionings(events []Event, positionings []*Message) []Event {
	if len(positionings) == 0 {
		return events
	}
	var at smallmap.Map[string, whereabouts]                          // by airport, compared exactly
	merged := make([]Event, 0, len(events)+min(len(positionings), 2)) // few positionings concern a bag
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
		if code, loading := loadingEvent(p); loading && w.holds(Container{p.Outbound.Flight, p.Device}) {
			e := entry(code).of(p)
			e.Positioning = true
			note(e)
		}
	}
	return append(merged, events...)
}
