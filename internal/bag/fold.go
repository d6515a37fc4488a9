// Package bag holds the words of baggage tracking (plates, flights, legs, events, bags) and the fold that
// makes bags from messages. It is pure: it knows no clock, no store and no text format. What comes out
// depends on the set of messages and the rules alone, never on the order in which they are given.
package bag

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Rules are the settings on which the fold depends.
type Rules struct {
	// Window is the duplicate window of rules §3.
	Window time.Duration
	// Place returns the metropolitan code of an airport, or the airport itself.
	Place func(airport string) string
}

// Fold makes the bags of a plate, in the order PNR, surname, first flight date.
//
// messages are all that name the plate, delayed-bag reports included, and stowage the positionings of
// their Containers; both in any order, copies included.
func (r Rules) Fold(plate Plate, messages, stowage []*Message) []Bag {
	bags := r.FoldEvents(plate, messages, stowage)
	for i := range bags {
		r.route(&bags[i])
	}
	return bags
}

// FoldEvents is Fold for who does not ask where bags travel: they have no Legs, and none is Cancelled.
func (r Rules) FoldEvents(plate Plate, messages, stowage []*Message) []Bag {
	var reports []*Message
	texts := make([]*Message, 0, len(messages))
	for _, m := range messages {
		if m.Kind == Report {
			reports = append(reports, m)
		} else {
			texts = append(texts, m)
		}
	}
	positionings := withoutCopies(stowage, r.Window)
	slices.SortFunc(positionings, (*Message).compare)

	parts := identities(withoutCopies(texts, r.Window))
	bags := make([]Bag, len(parts))
	for i, part := range parts {
		bags[i] = Bag{Plate: plate, FirstDay: firstDay(part)}
		bags[i].Events = r.withPositionings(r.events(plate, part), positionings)
	}
	addReports(bags, reports)
	for i := range bags {
		bags[i].describe()
	}
	slices.SortFunc(bags, func(a, b Bag) int { return Compare(&a, &b) })
	return bags
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

// reportDays is how many days before a delayed-bag report the first flight of its bag may lie.
const reportDays = 14

// addReports gives every report to the bag with the latest first flight date not after the report, at
// most reportDays before; to each of them where several share that date (rules §4, delayed bags).
func addReports(bags []Bag, reports []*Message) {
	slices.SortFunc(reports, (*Message).compare)
	for i, m := range reports {
		if i > 0 && m.compare(reports[i-1]) == 0 {
			continue
		}
		day, found := Day(0), false
		for _, b := range bags {
			if b.FirstDay <= m.LocalDay && b.FirstDay >= m.LocalDay-reportDays && (!found || b.FirstDay > day) {
				day, found = b.FirstDay, true
			}
		}
		if !found {
			continue
		}
		for j := range bags {
			if bags[j].FirstDay == day {
				bags[j].Events = append(bags[j].Events, mishandled.of(m))
			}
		}
	}
}

// route fills in the legs, and what follows from them.
func (r Rules) route(b *Bag) {
	messages := make([]*Message, 0, len(b.Events))
	for _, e := range b.Events {
		if e.Message.Kind != Report {
			messages = append(messages, e.Message)
		}
	}
	b.Legs = r.legs(b, messages)
	b.Cancelled = !b.Unknown && (len(b.Legs) == 0 || !b.Legs[0].Living)
}

// describe puts the events of the bag in order, and fills in what they say of it: each field from the latest BSM that
// holds it, else the latest BPM.
func (b *Bag) describe() {
	slices.SortStableFunc(b.Events, func(x, y Event) int { return x.Message.compare(y.Message) })
	b.Unknown = true
	for _, e := range b.Events {
		if e.Message.Kind == BSM {
			b.Unknown = false
		}
		if e.Code == reflighted.Code {
			b.Rush = true
			if e.Message.Original != "" {
				b.Original = e.Message.Original
			}
		}
	}
	b.Pieces, b.Weight = -1, -1
	for _, kind := range [...]Kind{BSM, BPM} {
		for i := range b.Events {
			m := b.Events[len(b.Events)-1-i].Message
			if m.Kind != kind {
				continue
			}
			b.PNR = cmp.Or(b.PNR, m.PNR)
			b.Surname = cmp.Or(b.Surname, m.Surname)
			b.GivenName = cmp.Or(b.GivenName, m.GivenName)
			b.WeightUnit = cmp.Or(b.WeightUnit, m.WeightUnit)
			if b.Pieces < 0 {
				b.Pieces = int(m.Pieces)
			}
			if b.Weight < 0 {
				b.Weight = int(m.Weight)
			}
		}
	}
}
