// Package bag holds the words of baggage tracking (plates, flights, legs, events, bags) and the fold that
// makes bags from messages. It is pure: it knows no clock, no store and no text format. What comes out
// depends on the set of messages and the rules alone, never on the order in which they are given.
package bag

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"bagtrail/internal/smallmap"
	"bagtrail/parser"
)

// Rules are the settings on which the fold depends.
type Rules struct {
	// Window is the duplicate window of rules §3.
	Window time.Duration
	// SamePlace reports whether two location codes are one place: they are equal, or share a city.
	SamePlace func(a, b string) bool
}

// Fold makes the bags of a plate, in the order PNR, surname, first flight date. It fails only with the error of ctx, which it asks
// every few milliseconds.
//
// messages are all that name the plate, delayed-bag reports included, and stowage the positionings of
// their Containers; both in any order, copies included.
func (r Rules) Fold(ctx context.Context, plate Plate, messages, stowage []*Message) ([]Bag, error) {
	bags, err := r.FoldEvents(ctx, plate, messages, stowage)
	if err != nil {
		return nil, err
	}
	for i := range bags {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.route(&bags[i])
	}
	return bags, nil
}

// FoldEvents is Fold for who does not ask where bags travel: they have no Legs, and none is Cancelled.
func (r Rules) FoldEvents(ctx context.Context, plate Plate, messages, stowage []*Message) ([]Bag, error) {
	var reports []*Message
	texts := make([]*Message, 0, len(messages))
	for _, m := range messages {
		if m.IsReport() {
			reports = append(reports, m)
		} else {
			texts = append(texts, m)
		}
	}
	positionings, err := r.withoutCopies(ctx, stowage, containerOf)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(positionings, (*Message).compare)
	if texts, err = r.withoutCopies(ctx, texts, sameTag); err != nil {
		return nil, err
	}
	parts, err := identities(ctx, plate, texts)
	if err != nil {
		return nil, err
	}
	bags := make([]Bag, len(parts))
	for i, part := range parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		bags[i] = Bag{Plate: plate, FirstDay: firstDay(part)}
		bags[i].reflights = ownRush(plate, part)
		bags[i].OwnRush = bags[i].reflights != nil
		bags[i].Events, bags[i].sources = r.events(plate, part)
	}
	addReports(bags, reports)
	for i := range bags {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b := &bags[i]
		slices.SortStableFunc(b.Events, func(x, y Event) int { return x.Message.compare(y.Message) })
		b.Events = r.withPositionings(b.Events, positionings)
	}
	for i := range bags {
		bags[i].describe()
	}
	slices.SortFunc(bags, func(a, b Bag) int { return Compare(&a, &b) })
	if len(bags) > 1 {
		for i := range bags {
			bags[i].beside = bags
		}
	}
	return bags, nil
}

// Compare orders bags as lists show them: plate, PNR, surname; then by first flight date and first event.
func Compare(a, b *Bag) int {
	return cmp.Or(
		strings.Compare(string(a.Plate), string(b.Plate)),
		strings.Compare(a.PNR, b.PNR),
		strings.Compare(a.Surname, b.Surname),
		cmp.Compare(a.FirstDay, b.FirstDay),
		a.Events[0].Message.compare(b.Events[0].Message),
	)
}

// firstDay returns the first flight date of a bag's messages, else the first day that they cover.
func firstDay(messages []*Message) Day {
	var flight, any Day
	flights := false
	for i, m := range messages {
		first, _ := m.days()
		if i == 0 || first < any {
			any = first
		}
		for f := range m.Flights() {
			if !flights || f.Day < flight {
				flight, flights = f.Day, true
			}
		}
	}
	if flights {
		return flight
	}
	return any
}

// filedBefore reports whether a report is among those before it in order: who files one again, since nobody knew whether it was filed, puts
// it into the log twice.
func filedBefore(m *Message, before []*Message) bool {
	for _, n := range slices.Backward(before) {
		if !n.Received.Equal(m.Received) {
			return false
		}
		if n.Text.Equal(m.Text) {
			return true
		}
	}
	return false
}

// addReports gives every report to the bag with the latest first flight date not after the report, at
// most DelayDays before; to each of them where several share that date (rules §4, delayed bags).
func addReports(bags []Bag, reports []*Message) {
	slices.SortFunc(reports, (*Message).compare)
	for i, m := range reports {
		if filedBefore(m, reports[:i]) {
			continue
		}
		day, found := Day(0), false
		for _, b := range bags {
			if b.FirstDay <= m.LocalDay && b.FirstDay >= m.LocalDay-DelayDays && (!found || b.FirstDay > day) {
				day, found = b.FirstDay, true
			}
		}
		if !found {
			continue
		}
		for j := range bags {
			if bags[j].FirstDay == day {
				bags[j].Events = append(bags[j].Events, entry(EventMishandled).of(m))
			}
		}
	}
}

// ownRush returns those of a bag's messages, which are in order, by which it is its own rush bag: BSMs that re-flight their own plate,
// behind another message.
func ownRush(plate Plate, messages []*Message) []*Message {
	var all []*Message
	for _, m := range messages[1:] {
		if m.reflightsItself(plate) && !sameMessage(m, messages[0]) {
			all = append(all, m)
		}
	}
	return all
}

// route fills in the legs, and what follows from them.
func (r Rules) route(b *Bag) {
	messages := make([]*Message, 0, len(b.Events))
	for _, e := range b.Events {
		if !e.Message.IsReport() {
			messages = append(messages, e.Message)
		}
	}
	b.Legs, b.sources = r.legs(b, messages), nil
	b.Cancelled = !b.Unknown && (len(b.Legs) == 0 || !b.Legs[0].Living)
}

// describe fills in what the events of the bag, which are in order, say of it: each field from the latest BSM that holds it, else the
// latest BPM. A positioning gives none.
func (b *Bag) describe() {
	b.Unknown = true
	for _, e := range b.Events {
		if e.Message.Kind == parser.BSM {
			b.Unknown = false
		}
		b.Rush = b.Rush || e.Code == EventReflighted
	}
	b.Originals = b.originals()
	b.Pieces, b.Weight = -1, -1
	for _, kind := range [...]parser.Kind{parser.BSM, parser.BPM} {
		for _, e := range slices.Backward(b.Events) {
			m := e.Message
			if m.Kind != kind || e.Positioning {
				continue
			}
			b.PNR = cmp.Or(b.PNR, m.PNR)
			b.Surname = cmp.Or(b.Surname, m.Surname)
			b.GivenName = cmp.Or(b.GivenName, m.GivenName)
			b.WeightUnit = cmp.Or(b.WeightUnit, m.Weight.Unit)
			if b.Pieces < 0 {
				b.Pieces = m.Weight.Pieces
			}
			if b.Weight < 0 {
				b.Weight = m.Weight.Checked
			}
		}
	}
}

// originals returns the plates that the latest REFLIGHTED message which names one names, each once, in the order of its groups.
func (b *Bag) originals() []Plate {
	var named []Plate
	var latest *Message
	for _, e := range slices.Backward(b.Events) {
		m := e.Message
		if e.Code != EventReflighted || m.Original == "" || latest != nil && !sameMessage(m, latest) {
			continue
		}
		latest = m
		named = append(named, m.Original)
	}
	slices.Reverse(named)
	return smallmap.Distinct(named)
}

// findBy fills in by which PNRs and surnames the bag is found: those of its current BSMs; if these hold none, those of all its messages
// but positionings (rules §4).
func (b *Bag) findBy(current []*Message) {
	for _, m := range current {
		b.found(m, true, true)
	}
	byPNR, bySurname := len(b.PNRs) == 0, len(b.Surnames) == 0
	if byPNR || bySurname {
		for _, e := range b.Events {
			if !e.Positioning {
				b.found(e.Message, byPNR, bySurname)
			}
		}
	}
}

func (b *Bag) found(m *Message, byPNR, bySurname bool) {
	if pnr := strings.ToUpper(m.PNR); byPNR && pnr != "" && !slices.Contains(b.PNRs, pnr) {
		b.PNRs = append(b.PNRs, pnr)
	}
	if surname := FoldName(m.Surname); bySurname && surname != "" && !slices.Contains(b.Surnames, surname) {
		b.Surnames = append(b.Surnames, surname)
	}
}
