package bag

import (
	"cmp"
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

// Viewer returns the parts of bags that a caller sees. It caches results, so each query needs a
// Viewer of its own. A nil Viewer shows everything.
type Viewer struct {
	ctx      context.Context // of the query
	err      error           // the error of ctx, if a view is incomplete
	sight    Sight
	visible  smallmap.Map[*Event, *visibility]             // by the first event of the bag
	withheld smallmap.Map[*Event, *smallmap.Set[*Message]] // by the first event of the first bag of the plate
}

// NewViewer returns a Viewer for a sight. Once ctx has ended, views are incomplete and Err returns
// its error.
func NewViewer(ctx context.Context, s Sight) *Viewer {
	if s == nil {
		return nil
	}
	return &Viewer{ctx: ctx, sight: s}
}

// Err returns the error of the context if it ended before a view was complete. Then no view may be
// used.
func (v *Viewer) Err() error {
	if v == nil {
		return nil
	}
	return v.err
}

// View returns the part of a bag that is seen: the events whose messages are seen, and the legs and
// fields that these messages give. It returns nil if no event is seen, and b itself if all are.
// Unknown, Rush, Cancelled, FirstDay and the loading statuses are those of the whole bag. The
// result shares memory with b.
func (v *Viewer) View(b *Bag) *Bag {
	if v == nil || v.allInScope(b) {
		return b
	}
	at := v.visibility(b)
	var withheld *smallmap.Set[*Message]
	if at.seesFounder {
		withheld = v.withhold(b)
	}
	var seen []Event
	for i, e := range b.Events {
		if at.seen[i] || at.seesFounder && e.pnr() == "" && !withheld.Has(e.Message) {
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
	narrowed.redescribe()
	return &narrowed
}

// allInScope reports whether every message of the bag is in scope, as for most bags.
func (v *Viewer) allInScope(b *Bag) bool {
	return !slices.ContainsFunc(b.Events, func(e Event) bool { return !e.Message.inScope(v.sight) })
}

// SeesFounder reports whether the founder of a bag is seen: the message that first names its
// passenger. If not, the bag is not joined with other bags. b may be a view of the bag.
func (v *Viewer) SeesFounder(b *Bag) bool {
	if b.whole != nil {
		b = b.whole
	}
	return v == nil || v.allInScope(b) || v.visibility(b).seesFounder
}

// redescribe sets the fields and legs of a view from its events.
func (b *Bag) redescribe() {
	whole := b.whole
	b.describe()
	b.Unknown, b.Rush = whole.Unknown, whole.Rush
	b.PNRs, b.Surnames = nil, nil
	b.addNamesOfEvents(true, true)
	b.PNRs, b.Surnames = common(b.PNRs, whole.PNRs), common(b.Surnames, whole.Surnames)
	b.Legs = whole.legsNamedBy(b.Events)
	seated := 0 // the legs after these have no seat in the whole bag either
	for i := range b.Legs {
		if l := &b.Legs[i]; l.Seat != "" {
			seated, l.Seat = i+1, ""
		}
	}
	Rules{Places: b.places}.newStatuses(b.Legs[:seated]).seat(b.Events)
}

// legsNamedBy returns the legs whose flights the messages of events name. If a flight has several legs,
// a message names only the one that departs where the message says or, if it does not say that, the one
// that arrives where it says.
func (b *Bag) legsNamedBy(events []Event) (named []Leg) {
	var legs smallmap.Map[Flight, int] // the number of legs of each flight
	for i := range b.Legs {
		f := b.Legs[i].Flight
		legs.Set(f, legs.Value(f)+1)
	}
	var flights smallmap.Set[Flight]
	from, to := departures{places: b.places}, departures{places: b.places} // of flights with several legs
	for i := range events {
		for l := range events[i].Message.Legs() {
			flights.Add(l.Flight)
			switch {
			case legs.Value(l.Flight) < 2:
			case l.From != "":
				from.add(l.Flight, l.From, i)
			default:
				to.add(l.Flight, l.To, i)
			}
		}
	}
	for _, l := range b.Legs {
		isNamed := flights.Has(l.Flight)
		if legs.Value(l.Flight) > 1 {
			_, departs := from.find(l.Flight, l.From)
			_, arrives := to.find(l.Flight, l.To)
			isNamed = departs || arrives
		}
		if isNamed {
			named = append(named, l)
		}
	}
	return named
}

// common returns the names that are also in all. The result reuses the memory of names.
func common(names, all []string) []string {
	var known smallmap.Set[string]
	for _, name := range all {
		known.Add(name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !known.Has(name) })
}

// visibility says which messages of a bag are seen because of the legs and PNRs that they name.
type visibility struct {
	seen        []bool // by event: the message is in scope, or has the PNR of a message in scope
	seesFounder bool   // the founder is seen; then messages without a PNR are seen too, unless they are withheld
}

func (v *Viewer) visibility(b *Bag) *visibility {
	if at, have := v.visible.Get(&b.Events[0]); have {
		return at
	}
	at := &visibility{seen: make([]bool, len(b.Events))}
	var pnrs smallmap.Set[string]
	for i := range b.Events {
		if e := &b.Events[i]; e.Message.inScope(v.sight) {
			at.seen[i] = true
			if pnr := e.pnr(); pnr != "" {
				pnrs.Add(pnr)
			}
		}
	}
	for i := range b.Events {
		at.seen[i] = at.seen[i] || pnrs.Has(b.Events[i].pnr())
	}
	at.seesFounder = at.seen[b.founder()]
	v.visible.Set(&b.Events[0], at)
	return at
}

// withhold returns the messages of a plate that are not seen, although they name no PNR and the
// founder of their bag is seen. There are two kinds: messages that also belong to a bag whose
// founder is not seen; and messages that would be in one bag with an unseen BSM that names a
// passenger, if the plate had only its unseen messages. The reason: to which bag a message without
// names belongs depends on the other messages of the plate (rules §3), and the caller may have
// posted one of those, to make a second bag or to join two bags.
func (v *Viewer) withhold(b *Bag) *smallmap.Set[*Message] {
	plate := b.plateBags
	if plate == nil {
		plate = []Bag{*b}
	}
	if withheld, have := v.withheld.Get(&plate[0].Events[0]); have {
		return withheld
	}
	withheld := new(smallmap.Set[*Message])
	v.withheld.Set(&plate[0].Events[0], withheld)
	for i := range plate {
		if v.visibility(&plate[i]).seesFounder {
			continue
		}
		for _, e := range plate[i].Events {
			withheld.Add(e.Message)
		}
	}
	messages, others := v.unseen(plate)
	if !slices.ContainsFunc(messages, (*Message).isNamedBSM) {
		return withheld
	}
	bookings, err := identities(v.ctx, b.Plate, messages)
	if err != nil {
		v.err = err
		bookings = [][]*Message{append(messages, others...)}
	}
	for _, booking := range bookings {
		if !slices.ContainsFunc(booking, (*Message).isNamedBSM) {
			continue
		}
		for _, m := range booking {
			withheld.Add(m)
		}
		first := firstDay(booking)
		for _, m := range others {
			if !m.IsReport() || m.reaches(first) {
				withheld.Add(m)
			}
		}
	}
	return withheld
}

// unseen returns the unseen messages of a plate, each once. others are its reports and positionings.
func (v *Viewer) unseen(plate []Bag) (messages, others []*Message) {
	var known smallmap.Set[*Message]
	for i := range plate {
		at := v.visibility(&plate[i])
		for j := range plate[i].Events {
			e := &plate[i].Events[j]
			if at.seen[j] || !known.Add(e.Message) {
				continue
			}
			if e.Message.IsReport() || e.Positioning {
				others = append(others, e.Message)
			} else {
				messages = append(messages, e.Message)
			}
		}
	}
	return messages, others
}

// founder returns the index of the event whose message is the founder of the bag: the message that
// was received first, among those that name a passenger or, if none does, among all. A report or a
// positioning is never the founder, and no bag has only these.
func (b *Bag) founder() int {
	found, named := -1, false
	for i := range b.Events {
		e := &b.Events[i]
		if e.Message.IsReport() || e.Positioning {
			continue
		}
		names := e.Message.namesPassenger()
		if found < 0 || names && !named || names == named && e.Message.compareReceipt(b.Events[found].Message) < 0 {
			found, named = i, names
		}
	}
	return found
}

// CompareViews orders views as Compare does. If that decides nothing, CompareFirst does.
func CompareViews(a, b *Bag) int {
	if c := Compare(a, b); c != 0 {
		return c
	}
	return CompareFirst(a, b)
}

// CompareFirst orders bags of a plate by the first message, as received, that they do not share: the
// bag that has it comes first. Views are compared by their whole bags. Unlike Compare, it tells
// nothing about names.
func CompareFirst(a, b *Bag) int {
	a, b = cmp.Or(a.whole, a), cmp.Or(b.whole, b)
	x, y := a.firstWithout(b), b.firstWithout(a)
	if x == nil || y == nil { // one bag has all messages of the other
		return cmp.Compare(len(b.Events), len(a.Events))
	}
	return x.compareReceipt(y)
}

// firstWithout returns the message of b that was received first, among those that are not about
// other; nil if there is none. Reports and positionings do not count.
func (b *Bag) firstWithout(other *Bag) (first *Message) {
	var shared smallmap.Set[*Message]
	for i := range other.Events {
		shared.Add(other.Events[i].Message)
	}
	for i := range b.Events {
		e := &b.Events[i]
		if e.Message.IsReport() || e.Positioning || shared.Has(e.Message) {
			continue
		}
		if first == nil || e.Message.compareReceipt(first) < 0 {
			first = e.Message
		}
	}
	return first
}

// inScope reports whether one of the legs of the message is in scope. If it has no legs, inScope
// reports whether its airport is.
func (m *Message) inScope(s Sight) bool {
	flights := false
	for leg := range m.Legs() {
		if flights = true; s.Leg(leg) {
			return true
		}
	}
	return !flights && s.Station(m.Airport)
}

// pnr returns the PNR that the message gives to the bag, in capitals, or "". A positioning gives
// none.
func (e *Event) pnr() string {
	if e.Positioning {
		return ""
	}
	return strings.ToUpper(e.Message.PNR)
}
