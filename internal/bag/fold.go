// Package bag holds the types of baggage tracking (plates, flights, legs, events, bags) and Fold,
// which makes bags from messages. It is pure: it has no clock, no store and no I/O. The result
// depends only on the set of messages and the rules, never on the order of the messages.
package bag

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"bagtrail/internal/smallmap"
	"bagtrail/parser"
)

// Rules are the settings of Fold.
type Rules struct {
	// Window is the duplicate window (rules §3).
	Window time.Duration
	Places
}

// Places says which location codes are one place: those that are equal, or share a city.
// *airport.Library implements it.
type Places interface {
	SamePlace(a, b string) bool
	// Cities returns the codes of the cities of a location, without its own code.
	Cities(code string) []string
}

// Fold returns the bags of a plate, in the order of Compare. It fails only with the error of ctx,
// which it checks often, but not while it makes the legs of a bag.
//
// messages are all messages that name the plate, including delayed-bag reports. stowage are the
// positionings of their Containers. Both may be in any order and may include copies.
func (r Rules) Fold(ctx context.Context, plate Plate, messages, stowage []*Message) ([]Bag, error) {
	var reports []*Message
	texts := make([]*Message, 0, len(messages))
	for _, m := range messages {
		if m.IsReport() {
			reports = append(reports, m)
		} else {
			texts = append(texts, m)
		}
	}
	positionings, err := r.positionings(ctx, stowage)
	if err != nil {
		return nil, err
	}
	if texts, err = r.withoutCopies(ctx, texts); err != nil {
		return nil, err
	}
	parts, err := identities(ctx, plate, texts)
	if err != nil {
		return nil, err
	}
	bags := make([]Bag, len(parts))
	for i, part := range parts {
		bags[i] = Bag{Plate: plate, FirstDay: firstDay(part), places: r.Places}
	}
	addReports(bags, reports)
	for i, part := range parts {
		if err := r.complete(ctx, &bags[i], part, positionings); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(bags, func(a, b Bag) int { return Compare(&a, &b) })
	if len(bags) > 1 {
		for i := range bags {
			bags[i].Nth, bags[i].plateBags = i, bags
		}
	}
	return bags, nil
}

// complete makes a bag that has only its plate, its first flight date and the events of its
// reports. messages and positionings are in the order of events.
func (r Rules) complete(ctx context.Context, b *Bag, messages, positionings []*Message) error {
	events, current, err := r.events(ctx, b.Plate, messages)
	if err != nil {
		return err
	}
	events = append(events, b.Events...)
	slices.SortStableFunc(events, func(x, y Event) int { return x.Message.compare(y.Message) })
	b.Events = withPositionings(events, positionings)
	b.describe()
	r.setLegs(b, current, ownRush(b.Plate, messages))
	return nil
}

// Compare orders bags as lists show them: by plate, PNR, surname, first flight date and first
// event.
func Compare(a, b *Bag) int {
	return cmp.Or(
		strings.Compare(string(a.Plate), string(b.Plate)),
		strings.Compare(a.PNR, b.PNR),
		strings.Compare(a.Surname, b.Surname),
		cmp.Compare(a.FirstDay, b.FirstDay),
		a.Events[0].Message.compare(b.Events[0].Message),
	)
}

// firstDay returns the first flight date that messages name. If they name none, it returns the
// first local day on which one of them happened.
func firstDay(messages []*Message) Day {
	flight, local, named := Day(math.MaxInt32), Day(math.MaxInt32), false
	for _, m := range messages {
		if day, _, names := m.flightDays(); names {
			flight, named = min(flight, day), true
		}
		local = min(local, m.LocalDay)
	}
	if named {
		return flight
	}
	return local
}

// filedBefore reports whether a report repeats one of the reports before it, which are in order. A
// report is in the log twice if it was sent again because the outcome of the first attempt was
// unknown.
func filedBefore(m *Message, before []*Message) bool {
	for _, n := range slices.Backward(before) {
		if !n.Received.Equal(m.Received) {
			return false
		}
		if n.Text == m.Text {
			return true
		}
	}
	return false
}

// reaches reports whether a report may be about a bag with this first flight date.
func (m *Message) reaches(first Day) bool {
	return first <= m.LocalDay && first >= m.LocalDay-DelayDays
}

// addReports adds the event of each report to the bag with the latest first flight date that is not
// after the report and at most DelayDays before it. If several bags have that date, each gets the
// event (rules §4, delayed bags).
func addReports(bags []Bag, reports []*Message) {
	slices.SortFunc(reports, (*Message).compare)
	for i, m := range reports {
		if filedBefore(m, reports[:i]) {
			continue
		}
		day, found := Day(0), false
		for _, b := range bags {
			if m.reaches(b.FirstDay) && (!found || b.FirstDay > day) {
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

// ownRush returns the messages that make a bag its own rush bag: BSMs that re-flight their own
// plate and come after another message. The messages of the bag must be in order.
func ownRush(plate Plate, messages []*Message) []*Message {
	var all []*Message
	for _, m := range messages {
		if m.reflightsItself(plate) && !sameMessage(m, messages[0]) {
			all = append(all, m)
		}
	}
	return all
}

// describe sets Unknown, Rush, Originals and the Description of a bag from its events, which must
// be in order. Each field of the Description comes from the latest BSM that holds it, else from the
// latest BPM that does. Positionings do not count.
func (b *Bag) describe() {
	b.Unknown = true
	for _, e := range b.Events {
		if e.Message.Kind.IsSource() {
			b.Unknown = false
		}
		b.Rush = b.Rush || e.Code == EventReflighted
	}
	b.Originals = b.originals()
	b.Description = Description{Pieces: -1, Weight: -1}
	for _, isWanted := range [...]func(parser.Kind) bool{parser.Kind.IsSource, parser.Kind.IsProcessing} {
		for _, e := range slices.Backward(b.Events) {
			m := e.Message
			if !isWanted(m.Kind) || e.Positioning {
				continue
			}
			b.PNR = cmp.Or(b.PNR, m.PNR)
			b.Surname = cmp.Or(b.Surname, m.Surname)
			b.GivenName = cmp.Or(b.GivenName, m.GivenName)
			b.PassengerStatus = cmp.Or(b.PassengerStatus, m.PassengerStatus)
			b.FrequentFlyer = cmp.Or(b.FrequentFlyer, m.FrequentFlyer)
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

// originals returns the plates that the latest REFLIGHTED message with an original names, each once,
// in the order of its groups.
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

// findBy sets the PNRs and surnames that find the bag (rules §4): those of its current BSMs. If these
// hold no PNR, the PNRs of all its messages except positionings find it; likewise for surnames.
func (b *Bag) findBy(current []*Message) {
	for _, m := range current {
		b.addNames(m, true, true)
	}
	b.addNamesOfEvents(len(b.PNRs) == 0, len(b.Surnames) == 0)
}

// addNamesOfEvents adds the names of all messages of the bag except positionings to those that find
// it, and removes repeated names.
func (b *Bag) addNamesOfEvents(byPNR, bySurname bool) {
	for _, e := range b.Events {
		if (byPNR || bySurname) && !e.Positioning {
			b.addNames(e.Message, byPNR, bySurname)
		}
	}
	b.PNRs, b.Surnames = smallmap.Distinct(b.PNRs), smallmap.Distinct(b.Surnames)
}

// addNames adds the PNR and the surname of m to those that find the bag. A name may then be
// repeated.
func (b *Bag) addNames(m *Message, byPNR, bySurname bool) {
	if pnr := strings.ToUpper(m.PNR); byPNR && pnr != "" {
		b.PNRs = append(b.PNRs, pnr)
	}
	if surname := FoldName(m.Surname); bySurname && surname != "" {
		b.Surnames = append(b.Surnames, surname)
	}
}
