package bag

import "bagtrail/internal/few"

// Container is a stowage device as it is filled for one flight.
type Container struct {
	Flight Flight
	Device string
}

// stowagePlace is where a stowage device is filled: for a flight, at an airport.
type stowagePlace struct {
	flight  Flight
	airport string
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
	return few.Distinct(all)
}

// withPositionings adds to the events of a bag, which are in order, an event for every container
// positioning that finds the bag in its stowage device: the latest event before it, on that flight out
// of that airport, that carries a stowage device or is OFFLOADED, carries that device (rules §2).
func (r Rules) withPositionings(events []Event, positionings []*Message) []Event {
	if len(positionings) == 0 {
		return events
	}
	var device few.Map[stowagePlace, string]
	merged := make([]Event, 0, len(events)+min(len(positionings), 2))
	next := 0
	for _, p := range positionings {
		for next < len(events) && events[next].Message.compare(p) < 0 {
			e := events[next]
			if (e.Message.Device != "" || e.Code == offloaded.Code) && r.departs(e.Message) {
				device.Set(stowagePlace{e.Message.Outbound.Flight, e.Message.Airport}, e.Message.Device)
			}
			merged = append(merged, e)
			next++
		}
		if p.Device == "" || !r.departs(p) {
			continue
		}
		if device.Value(stowagePlace{p.Outbound.Flight, p.Airport}) != p.Device {
			continue
		}
		if code, loading := loadingEvent(p); loading {
			merged = append(merged, code.of(p))
		}
	}
	return append(merged, events[next:]...)
}

// departs reports whether the .F of m leaves from its airport.
func (r Rules) departs(m *Message) bool {
	return !m.Outbound.IsZero() && (&sources{place: r.Place}).outbound(m).From != ""
}
