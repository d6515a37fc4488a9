package bagstore

import "bagtrail/internal/bag"

// index adds to a batch the entries under which a plate is found until a second, except those that Redis is known to have.
// The expiry of a flight or container is sent once for all its bags; PNRs and originals have too few plates for that.
func (k keys) index(b *batch, r *round, e *bag.Entry, until int64) {
	for _, f := range e.Flights {
		if r.mustSend(flightKind, f, "", e.Plate, until) {
			start := len(b.text)
			b.text = k.flight(b.text, f)
			b.member(b.end(start), e.Plate, until, r.mustSend(flightKind, f, "", "", until))
		}
	}
	for _, c := range e.Stowage {
		if r.mustSend(contentsKind, c.Flight, c.Device, e.Plate, until) {
			start := len(b.text)
			b.text = k.contents(b.text, c)
			b.member(b.end(start), e.Plate, until, r.mustSend(contentsKind, c.Flight, c.Device, "", until))
		}
	}
	for _, pnr := range e.PNRs {
		if r.mustSend(passengerKind, bag.Flight{}, pnr, e.Plate, until) {
			start := len(b.text)
			b.text = k.passenger(b.text, pnr)
			b.member(b.end(start), e.Plate, until, true)
		}
		if e.Rush && r.mustSend(rushKind, bag.Flight{}, pnr, e.Plate, until) {
			start := len(b.text)
			b.text = k.rushPNR(b.text, pnr)
			b.member(b.end(start), e.Plate, until, true)
		}
	}
	for _, original := range e.Originals {
		if r.mustSend(rushKind, bag.Flight{}, string(original), e.Plate, until) {
			start := len(b.text)
			b.text = k.rush(b.text, original)
			b.member(b.end(start), e.Plate, until, true)
		}
	}
}

// member adds a plate to a sorted set, which must not expire before it.
func (b *batch) member(key span, p bag.Plate, until int64, expire bool) {
	start := len(b.text)
	b.text = append(b.text, p...)
	b.add(command{verb: addMember, key: key, value: b.end(start), until: until})
	if expire {
		b.expire(key, until)
	}
}
