package bagdoc

import (
	"slices"

	"bagtrail/internal/bag"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/trail"
)

// AppendOnFlight appends a bag of the list of a flight, with only its leg on that flight. seen are
// the bags of its plate, each as the asker sees it. If the bag is not among them, AppendOnFlight
// writes only plate, rush, status and the data of the list.
func (w *Writer) AppendOnFlight(dst []byte, l *trail.Listed, seen []trail.Traced) []byte {
	dst = strictjson.AppendText(append(dst, '{'), "plate", string(l.Bag.Plate))
	dst = strictjson.AppendBool(dst, "rush", l.Bag.Rush)
	t, leg := find(l, seen)
	if leg != nil {
		dst = strictjson.AppendBool(dst, "unknown", t.Bag.Unknown)
		dst = strictjson.AppendBool(dst, "cancelled", t.Bag.Cancelled)
	}
	dst = append(appendPassenger(dst, t.Bag), `,"legs":[`...)
	if leg == nil {
		hidden := bag.Leg{Flight: l.Leg.Flight, Carrier: l.Leg.Airline, Living: true, Status: l.Leg.Status, Seat: l.Leg.Seat}
		return append(w.appendLeg(dst, t, &hidden), ']', '}')
	}
	dst = append(w.appendLeg(dst, t, leg), ']')
	last := &t.Bag.Events[len(t.Bag.Events)-1]
	dst = strictjson.AppendText(append(dst, `,"last_event":{`...), "code", last.Code)
	dst = strictjson.AppendMember(dst, "airport", last.Message.Airport)
	dst = strictjson.AppendMember(dst, "read_location", last.Message.Processing.ReadLocation)
	dst = append(appendHappened(dst, last.Message, w.Airports), '}')
	if m := loadingMessage(t.Bag, leg); m != nil {
		dst = strictjson.AppendMember(dst, "stowage_device", m.Device)
		if m.Compartment != m.Airport {
			dst = strictjson.AppendMember(dst, "aircraft_compartment", m.Compartment)
		}
	}
	return append(strictjson.AppendInstant(dst, "changed", w.changed(t)), '}')
}

// find returns the listed bag in seen, and its leg on the flight, with seat and status of the list.
// If seen does not have that leg, find returns the bag of the list, which has only names and PNR,
// and nil.
func find(l *trail.Listed, seen []trail.Traced) (trail.Traced, *bag.Leg) {
	for _, t := range seen {
		b := t.Bag
		if !l.IsOf(b) {
			continue
		}
		at := slices.IndexFunc(b.Legs, func(leg bag.Leg) bool {
			return leg.Living && leg.Flight == l.Leg.Flight && leg.From == l.Leg.From && leg.To == l.Leg.To
		})
		if at >= 0 {
			leg := b.Legs[at]
			if leg.Status != l.Leg.Status { // because of a rush bag, or of a message that came after the list was read
				leg.SetBy, leg.LeftWithoutBag = nil, false
			}
			leg.Seat, leg.Status = l.Leg.Seat, l.Leg.Status
			return t, &leg
		}
	}
	return trail.Traced{Bag: l.Bag}, nil
}

// loadingMessage returns the message that loaded the bag on a leg, or nil if it is not loaded there,
// or if the asker does not see that message.
func loadingMessage(b *bag.Bag, leg *bag.Leg) *bag.Message {
	if !leg.Status.Loaded() || leg.SetBy == nil || !hasEvent(b, leg.SetBy) {
		return nil
	}
	return leg.SetBy
}
