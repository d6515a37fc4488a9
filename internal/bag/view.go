package bag

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"bagtrail/internal/smallmap"
	"bagtrail/parser"
)

// Sight is what somebody may see (rules §4, what a key covers). A nil Sight is that of somebody who may see everything.
type Sight interface {
	// Leg reports whether a leg is in scope. An end that is not known is "".
	Leg(l Leg) bool
	// Station reports whether a message that names no flight is in scope, by its airport.
	Station(airport string) bool
}

// Viewer shows bags to somebody. It remembers what it has looked at, and so serves one question. A nil Viewer shows everything.
type Viewer struct {
	ctx      context.Context // of the question
	err      error           // why something was not looked at
	sight    Sight
	looks    smallmap.Map[*Event, *look]                             // by the first event of the bag
	withheld smallmap.Map[*Event, *smallmap.Map[*Message, struct{}]] // by the first event of the first bag of the plate
}

// NewViewer returns a Viewer for what s covers. After the end of ctx it shows too little, and Err says so.
func NewViewer(ctx context.Context, s Sight) *Viewer {
	if s == nil {
		return nil
	}
	return &Viewer{ctx: ctx, sight: s}
}

// Err returns the error of a context that has ended before everything was looked at. Then views are not to be used.
func (v *Viewer) Err() error {
	if v == nil {
		return nil
	}
	return v.err
}

// View returns what is seen of a bag, or nil if that is nothing: the events whose messages are seen, the legs and fields that
// these messages give, and of the whole bag whether it is unknown, rush or cancelled, its loading statuses and its first day. It is
// b itself if everything is seen, and shares memory with b.
func (v *Viewer) View(b *Bag) *Bag {
	if v == nil {
		return b
	}
	if v.all(b) {
		return b
	}
	at := v.look(b)
	var withheld *smallmap.Map[*Message, struct{}]
	if at.founding {
		withheld = v.withhold(b)
	}
	var seen []Event
	for i, e := range b.Events {
		if at.seen[i] || at.founding && e.booking() == "" && !withheld.Has(e.Message) {
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

// all reports whether every message of the bag has a leg in scope, as is the rule.
func (v *Viewer) all(b *Bag) bool {
	return !slices.ContainsFunc(b.Events, func(e Event) bool { return !e.Message.within(v.sight) })
}

// Founding reports whether the messages of a bag, or of the bag of a view, are seen that first name the passenger. If they are not,
// nothing leads from the bag to another one.
func (v *Viewer) Founding(b *Bag) bool {
	if b.whole != nil {
		b = b.whole
	}
	return v == nil || v.all(b) || v.look(b).founding
}

// redescribe fills in what the events that are left of a bag say of it.
func (b *Bag) redescribe(whole *Bag) {
	b.PNR, b.Surname, b.GivenName, b.WeightUnit = "", "", "", ""
	b.describe()
	b.Unknown, b.Rush = whole.Unknown, whole.Rush
	b.PNRs, b.Surnames = nil, nil
	for i := range b.Events {
		e := &b.Events[i]
		if pnr := e.booking(); slices.Contains(whole.PNRs, pnr) && !slices.Contains(b.PNRs, pnr) {
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

// FlightAt is the least that somebody sees who sees a flight at an airport.
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

// look is what is seen of a bag by what its messages name.
type look struct {
	seen     []bool // of each event: the message has a leg in scope, or a PNR of one that has
	founding bool   // the founder is seen, and with it what names no PNR
}

// look finds out what is seen of a bag.
func (v *Viewer) look(b *Bag) *look {
	if at, have := v.looks.Get(&b.Events[0]); have {
		return at
	}
	at := &look{seen: make([]bool, len(b.Events))}
	var pnrs smallmap.Map[string, struct{}]
	for i := range b.Events {
		if e := &b.Events[i]; e.Message.within(v.sight) {
			at.seen[i] = true
			if pnr := e.booking(); pnr != "" {
				pnrs.Set(pnr, struct{}{})
			}
		}
	}
	for i := range b.Events {
		at.seen[i] = at.seen[i] || pnrs.Has(b.Events[i].booking())
	}
	if founder := b.founder(); founder >= 0 {
		at.founding = at.seen[founder]
	}
	v.looks.Set(&b.Events[0], at)
	return at
}

// withhold returns which messages of a plate are not seen only because they name no PNR, even if the first message of a bag is seen.
// What names nobody follows other messages of its plate (rules §3), and these may be posts of who asks: a message that makes a
// second bag, or joins two. So withheld is what is about a bag whose founder is not seen, and what would be about a booking that is not
// seen if nothing else of the plate were there.
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
	var messages, others []*Message // unseen ones of the plate; reports and positionings
	booked := false
	for i := range plate {
		at := v.look(&plate[i])
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
		others = append(others, messages...)
	}
	for _, part := range parts {
		if slices.ContainsFunc(part, func(m *Message) bool { return (&Event{Message: m}).books() }) {
			others = append(others, part...)
		}
	}
	for _, m := range others {
		withheld.Set(m, struct{}{})
	}
	return withheld
}

// books reports whether the event is a BSM that names a passenger.
func (e *Event) books() bool {
	return e.Message.Kind == parser.BSM && (e.booking() != "" || e.surname() != "")
}

// founder returns which event is the founder of the bag: the message received first that names the passenger, or, if none does, the one
// received first. A positioning names no passenger. It is -1 if there is none.
func (b *Bag) founder() int {
	found, named := -1, false
	for i := range b.Events {
		e := &b.Events[i]
		if e.Message.IsReport() || e.Positioning {
			continue
		}
		names := e.booking() != "" || e.surname() != ""
		if found < 0 || names && !named || names == named && e.Message.compareReceipt(b.Events[found].Message) < 0 {
			found, named = i, names
		}
	}
	return found
}

// within reports whether the message has a leg in scope, each with the airports that the message itself gives it. A message
// without flights is judged by its airport.
func (m *Message) within(s Sight) bool {
	flights := false
	leg := func(f Flight, from, to string) bool {
		if f.IsZero() {
			return false
		}
		flights = true
		return s.Leg(Leg{Flight: f, From: from, To: to})
	}
	if leg(m.Inbound.Flight, m.Inbound.Airport, m.Airport) || leg(m.Outbound.Flight, m.Airport, m.Outbound.Airport) {
		return true
	}
	from := m.Outbound.Airport
	for _, o := range m.Onward {
		if leg(o.Flight, from, o.Airport) {
			return true
		}
		from = o.Airport
	}
	return !flights && s.Station(m.Airport)
}

// booking returns the PNR that the message names for the bag, in capitals, or "". A positioning names none.
func (e *Event) booking() string {
	if e.Positioning {
		return ""
	}
	return strings.ToUpper(e.Message.PNR)
}

// surname returns the surname that the message names for the bag, as FoldName returns it, or "". A positioning names none.
func (e *Event) surname() string {
	if e.Positioning {
		return ""
	}
	return FoldName(e.Message.Surname)
}

// compareReceipt orders messages as they were received. Unlike their order as events no sender has a say in it.
func (m *Message) compareReceipt(n *Message) int {
	return cmp.Or(
		m.Received.Compare(n.Received), m.Position.Compare(n.Position),
		m.Text.Compare(n.Text), strings.Compare(m.Raw, n.Raw), cmp.Compare(m.Group, n.Group),
	)
}
