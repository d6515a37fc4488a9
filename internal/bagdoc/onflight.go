package bagdoc

import (
	"slices"

	"bagtrail/internal/bag"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/trail"
)

// AppendOnFlight appends a bag of the list of a flight, with only its leg on that flight. seen are
// the asker's views of the bags of its plate. If the bag is not among them, only plate, rush,
// status and the data of the list are written.
func (w *Writer) AppendOnFlight(dst []byte, l *trail.Listed, seen []*bag.Bag) []byte {
	dst = strictjson.AppendText(append(dst, '{'), "plate", string(l.Bag.Plate))
	dst = strictjson.AppendBool(dst, "rush", l.Bag.Rush)
	dst = appendObject(dst, "passenger", func(dst []byte) []byte {
		dst = strictjson.AppendMember(dst, "last_name", l.Bag.Surname)
		dst = strictjson.AppendMember(dst, "first_name", l.Bag.GivenName)
		return strictjson.AppendMember(dst, "pnr", l.Bag.PNR)
	})
	dst = append(dst, `,"legs":[`...)
	b, leg := find(l, seen)
	if b == nil {
		hidden := bag.Leg{Flight: l.Leg.Flight, Carrier: l.Leg.Airline, Living: true, Status: l.Leg.Status, Seat: l.Leg.Seat}
		return append(w.appendLeg(dst, subject{}, &hidden), ']', '}')
	}
	shown := *leg
	shown.Seat = l.Leg.Seat
	if shown.Status != l.Leg.Status { // a rush bag, or a message that came in since, has changed it
		shown.Status, shown.SetBy, shown.Departed = l.Leg.Status, nil, false
	}
	dst = append(w.appendLeg(dst, subject{seen: b}, &shown), ']')
	last := &b.Events[len(b.Events)-1]
	dst = strictjson.AppendText(append(dst, `,"last_event":{`...), "code", last.Code)
	dst = strictjson.AppendMember(dst, "airport", last.Message.Airport)
	dst = strictjson.AppendMember(dst, "read_location", last.Message.Processing.ReadLocation)
	dst = append(AppendHappened(dst, last.Message, w.Places), '}')
	if m := loadingMessage(b, &shown); m != nil {
		dst = strictjson.AppendMember(dst, "stowage_device", m.Device)
		if m.Compartment != m.Airport {
			dst = strictjson.AppendMember(dst, "aircraft_compartment", m.Compartment)
		}
	}
	return append(AppendTime(dst, "changed", Changed(b)), '}')
}

// find returns the view of a listed bag in seen, and its leg on the flight, or nil if there is
// none.
func find(l *trail.Listed, seen []*bag.Bag) (*bag.Bag, *bag.Leg) {
	for _, b := range seen {
		if b.PNR != l.Bag.PNR || b.Surname != l.Bag.Surname {
			continue
		}
		at := slices.IndexFunc(b.Legs, func(leg bag.Leg) bool {
			return leg.Living && leg.Flight == l.Leg.Flight && leg.From == l.Leg.From && leg.To == l.Leg.To
		})
		if at >= 0 {
			return b, &b.Legs[at]
		}
	}
	return nil, nil
}

// loadingMessage returns the latest message that loads the bag on a leg, or nil if it is not loaded
// there.
func loadingMessage(b *bag.Bag, leg *bag.Leg) *bag.Message {
	if !leg.Status.Loaded() {
		return nil
	}
	for i := range slices.Backward(b.Events) {
		if e := &b.Events[i]; e.Sets.Loaded() && e.Message.Outbound.Flight == leg.Flight {
			return e.Message
		}
	}
	return nil
}
