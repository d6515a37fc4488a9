package bag

import (
	"context"
	"slices"
	"strings"

	"bagtrail/internal/smallmap"
)

// Sight says what a caller may see (rules §4, what a key covers). A nil Sight sees everything.
type Sight interface {
	// Leg reports whether a leg is in scope. An unknown end is "".
	Leg(l Leg) bool
	// Station reports whether a message without flights is in scope, by its airport.
	Station(airport string) bool
}

// Viewer returns what a caller sees of bags. It caches results, so each question needs its own. A
// nil Viewer shows everything.
type Viewer struct {
	ctx      context.Context // of the question
	err      error           // of ctx, if a view is incomplete
	sight    Sight
	visible  smallmap.Map[*Event, *visibility]                       // by the first event of the bag
	withheld smallmap.Map[*Event, *smallmap.Map[*Message, struct{}]] // by the first event of the first bag of the plate
}

// NewViewer returns a Viewer for a sight. Once ctx has ended, views are incomplete and Err returns
// its error.
func NewViewer(ctx context.Context, s Sight) *Viewer {
	if s == nil {
		return nil
	}
	return &Viewer{ctx: ctx, sight: s}
}

// Err returns the error of the context if it ended too early. Views must not be used then.
func (v *Viewer) Err() error {
	if v == nil {
		return nil
	}
	return v.err
}

// View returns what is seen of a bag, or nil if nothing is: the events whose messages are seen, and
// the legs and fields that these messages give. Unknown, Rush, Cancelled, FirstDay and the loading
// statuses are those of the whole bag. The result is b itself if everything is seen. It shares
// memory with b.
func (v *Viewer) View(b *Bag) *Bag {
	if v == nil {
		return b
	}
	if v.allInScope(b) {
		return b
	}
	at := v.visibility(b)
	var withheld *smallmap.Map[*Message, struct{}]
	if at.founding {
		withheld = v.withhold(b)
	}
	var seen []Event
	for i, e := range b.Events {
		if at.seen[i] || at.founding && e.pnr() == "" && !withheld.Has(e.Message) {
			seen = append(seen, e)
		}
	}
	switch len(seen) {
	case 0:
		return nil
	case len(b.Events):
		return b
	}
	narrowed := *b
	narrowed.Events, narrowed.whole = seen, b
	narrowed.redescribe(b)
	return &narrowed
}

// allInScope reports whether every message of the bag has a leg in scope, as for most bags.
func (v *Viewer) allInScope(b *Bag) bool {
	return !slices.ContainsFunc(b.Events, func(e Event) bool { return !e.Message.inScope(v.sight) })
}

// Founding reports whether the founder of a bag, or of the bag of a view, is seen: the message that
// names its passenger first. If not, nothing leads from the bag to another one.
func (v *Viewer) Founding(b *Bag) bool {
	if b.whole != nil {
		b = b.whole
	}
	return v == nil || v.allInScope(b) || v.visibility(b).founding
}

// redescribe sets the fields and legs of a view from the events that are left of the bag.
func (b *Bag) redescribe(whole *Bag) {
	b.PNR, b.Surname, b.GivenName, b.PassengerStatus, b.FrequentFlyer, b.WeightUnit = "", "", "", "", "", ""
	b.describe()
	b.Unknown, b.Rush = whole.Unknown, whole.Rush
	b.PNRs, b.Surnames = nil, nil
	for i := range b.Events {
		e := &b.Events[i]
		if pnr := e.pnr(); slices.Contains(whole.PNRs, pnr) && !slices.Contains(b.PNRs, pnr) {
			b.PNRs = append(b.PNRs, pnr)
		}
		if surname := e.surname(); slices.Contains(whole.Surnames, surname) && !slices.Contains(b.Surnames, surname) {
			b.Surnames = append(b.Surnames, surname)
		}
	}
	type seat struct {
		flight Flight
		seat   string
	}
	var flights smallmap.Map[Flight, struct{}]
	var seats smallmap.Map[seat, struct{}]
	for i := range b.Events {
		m := b.Events[i].Message
		for f := range m.Flights() {
			flights.Set(f, struct{}{})
		}
		seats.Set(seat{m.Outbound.Flight, m.Seat}, struct{}{})
	}
	b.Legs = nil
	for _, l := range whole.Legs {
		if !flights.Has(l.Flight) {
			continue
		}
		if !seats.Has(seat{l.Flight, l.Seat}) {
			l.Seat = ""
		}
		b.Legs = append(b.Legs, l)
	}
}

// FlightAt is the smallest Sight that sees a flight at an airport.
type FlightAt struct {
	Flight  Flight
	Airport string
}

// Leg implements Sight.
func (s FlightAt) Leg(l Leg) bool {
	return l.Flight == s.Flight && (l.From == s.Airport || l.To == s.Airport)
}

// Station implements Sight.
func (FlightAt) Station(string) bool { return false }

// visibility tells which messages of a bag are seen because of what they name.
type visibility struct {
	seen     []bool // by event: the message has a leg in scope, or the PNR of a message that has one
	founding bool   // the founder is seen, and so are messages without a PNR
}

// visibility returns the visibility of a bag.
func (v *Viewer) visibility(b *Bag) *visibility {
	if at, have := v.visible.Get(&b.Events[0]); have {
		return at
	}
	at := &visibility{seen: make([]bool, len(b.Events))}
	var pnrs smallmap.Map[string, struct{}]
	for i := range b.Events {
		if e := &b.Events[i]; e.Message.inScope(v.sight) {
			at.seen[i] = true
			if pnr := e.pnr(); pnr != "" {
				pnrs.Set(pnr, struct{}{})
			}
		}
	}
	for i := range b.Events {
		at.seen[i] = at.seen[i] || pnrs.Has(b.Events[i].pnr())
	}
	if founder := b.founder(); founder >= 0 {
		at.founding = at.seen[founder]
	}
	v.visible.Set(&b.Events[0], at)
	return at
}

// withhold returns the messages of a plate that are not seen although they name no PNR and the
// founder of their bag is seen. A message that names nobody follows other messages of its plate
// (rules §3), and the caller may have posted these: one that makes a second bag, or joins two. So
// messages are withheld that are about a bag whose founder is not seen, and messages that would be
// about a booking that is not seen if the messages that are seen did not exist.
func (v *Viewer) withhold(b *Bag) *smallmap.Map[*Message, struct{}] {
	plate := b.beside
	if plate == nil {
		plate = []Bag{*b}
	}
	if withheld, have := v.withheld.Get(&plate[0].Events[0]); have {
		return withheld
	}
	withheld := new(smallmap.Map[*Message, struct{}])
	v.withheld.Set(&plate[0].Events[0], withheld)
	var unseen smallmap.Map[*Message, struct{}]
	var messages, others []*Message // the unseen ones of the plate; others are reports and positionings
	booked := false
	for i := range plate {
		at := v.visibility(&plate[i])
		for j := range plate[i].Events {
			e := &plate[i].Events[j]
			if !at.founding {
				withheld.Set(e.Message, struct{}{})
			}
			if at.seen[j] || unseen.Has(e.Message) {
				continue
			}
			unseen.Set(e.Message, struct{}{})
			if e.Message.IsReport() || e.Positioning {
				others = append(others, e.Message)
				continue
			}
			messages = append(messages, e.Message)
			booked = booked || e.books()
		}
	}
	if !booked {
		return withheld
	}
	parts, err := identities(v.ctx, b.Plate, messages)
	if err != nil {
		v.err = err
		parts = [][]*Message{append(messages, others...)}
	}
	for _, part := range parts {
		if !slices.ContainsFunc(part, func(m *Message) bool { return (&Event{Message: m}).books() }) {
			continue
		}
		for _, m := range part {
			withheld.Set(m, struct{}{})
		}
		first := firstDay(part)
		for _, m := range others {
			if !m.IsReport() || m.reaches(first) {
				withheld.Set(m, struct{}{})
			}
		}
	}
	return withheld
}

// books reports whether the message is a BSM that names a passenger.
func (e *Event) books() bool {
	return e.Message.Kind.IsSource() && (e.pnr() != "" || e.surname() != "")
}

// founder returns the index of the event whose message is the founder of the bag: of the messages
// that name a passenger, or of all if none does, the one received first. A report or a positioning
// is never the founder. It returns -1 if there is none.
func (b *Bag) founder() int {
	found, named := -1, false
	for i := range b.Events {
		e := &b.Events[i]
		if e.Message.IsReport() || e.Positioning {
			continue
		}
		names := e.pnr() != "" || e.surname() != ""
		if found < 0 || names && !named || names == named && e.Message.compareReceipt(b.Events[found].Message) < 0 {
			found, named = i, names
		}
	}
	return found
}

// inScope reports whether one of the Legs is in scope. A message without flights is judged by its
// airport.
func (m *Message) inScope(s Sight) bool {
	flights := false
	for leg := range m.Legs() {
		if flights = true; s.Leg(leg) {
			return true
		}
	}
	return !flights && s.Station(m.Airport)
}

// pnr returns the PNR that the message gives the bag, in capitals, or "". A positioning gives none.
func (e *Event) pnr() string {
	if e.Positioning {
		return ""
	}
	return strings.ToUpper(e.Message.PNR)
}

// surname returns the surname that the message gives the bag, as FoldName returns it, or "". A
// positioning gives none.
func (e *Event) surname() string {
	if e.Positioning {
		return ""
	}
	return FoldName(e.Message.Surname)
}
