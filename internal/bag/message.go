package bag

import (
	"cmp"
	"iter"
	"strings"
	"time"

	"bagtrail/parser"
)

// Message is one accepted message as far as it concerns one plate: one of its groups. A message that
// names the plate in two groups makes two. A container positioning names no plate: it concerns the bags
// in its stowage device. A delayed-bag report is a Message too, of kind None: see IsReport.
//
// What needs no calculation is as the parser returned it; the flights have their dates here. Strings
// may be views of Raw. A Message is never changed once made.
type Message struct {
	parser.Head    // .V .J .X
	parser.Details // .S .W .P .L .Y .E .M .R of the group
	parser.Stowage // .U 1 and 2 of the group
	Outbound       Segment
	Inbound        Segment
	Onward         []Segment
	Connection     *Segment // .U 7-9; nil if absent

	Irregularity string // status code of the .B that names the plate, or ""
	Original     Plate  // .M 1 if that is another plate, else the first ten-digit word of .R; or ""

	Received time.Time // UTC, whole milliseconds
	Happened time.Time // UTC; the read time of a BPM if it does not lie after Received, else Received
	Order    time.Time // UTC; where its event stands among others (rules §2): Happened, or the end of that minute if no second was read
	Read     time.Time // UTC; the .J read time if .J has date and time, else zero
	LocalDay Day       // date of Happened at the .V airport
	Group    int32     // index of the group in the message
	Position Position  // where it stands in the log of record
	Raw      string    // the message as sent; of a report, its document
	Text     Text      // canonical text, by which copies are recognised (rules §3)
}

// IsReport reports whether m is a delayed-bag report that was created downstream. Of the parser's
// members it has the airport alone.
func (m *Message) IsReport() bool { return m.Kind == parser.None }

// Flights yields every flight that the message names in its flight elements: .I, .F, .O.
func (m *Message) Flights() iter.Seq[Flight] {
	return func(yield func(Flight) bool) {
		if !m.Inbound.IsZero() && !yield(m.Inbound.Flight) {
			return
		}
		if !m.Outbound.IsZero() && !yield(m.Outbound.Flight) {
			return
		}
		for _, o := range m.Onward {
			if !yield(o.Flight) {
				return
			}
		}
	}
}

// compare orders messages as their events are ordered: by the order of what happened, received, position, content (rules §2).
func (m *Message) compare(n *Message) int {
	if c := m.compareText(n); c != 0 {
		return c
	}
	return cmp.Compare(m.Group, n.Group)
}

// Before reports whether m comes before n in the order of events.
func (m *Message) Before(n *Message) bool { return m.compare(n) < 0 }

// compareText is compare for whole messages: the groups of one are equal.
func (m *Message) compareText(n *Message) int {
	if c := m.Order.Compare(n.Order); c != 0 {
		return c
	}
	return compareArrival(m, n)
}

// compareArrival orders messages by received time, position and content (rules §3, duplicates).
func compareArrival(m, n *Message) int {
	if c := m.Received.Compare(n.Received); c != 0 {
		return c
	}
	if c := m.Position.Compare(n.Position); c != 0 {
		return c
	}
	if c := m.Text.Compare(n.Text); c != 0 {
		return c
	}
	return strings.Compare(m.Raw, n.Raw)
}

// days returns the days that the message covers: from the first to the last flight date that it names,
// or the airport-local day on which it happened.
func (m *Message) days() (first, last Day) {
	named := false
	for f := range m.Flights() {
		if !named {
			first, last, named = f.Day, f.Day, true
			continue
		}
		first, last = min(first, f.Day), max(last, f.Day)
	}
	if !named {
		return m.LocalDay, m.LocalDay
	}
	return first, last
}

func (m *Message) isDelete() bool { return m.Kind == parser.BSM && m.Change == parser.Delete }

// isNew reports whether m is a BSM that is neither CHG nor DEL.
func (m *Message) isNew() bool { return m.Kind == parser.BSM && m.Change == parser.New }

// namesPassenger reports whether m names a PNR or a surname.
func (m *Message) namesPassenger() bool { return m.PNR != "" || FoldName(m.Surname) != "" }

// reflightsItself reports whether m re-flights the bag on its own plate: a BSM with .E/RUSH, no DEL, that names no other plate, on a plate
// that does not begin with 2 (rules §3, rush).
func (m *Message) reflightsItself(plate Plate) bool {
	return m.Kind == parser.BSM && m.Rush && m.Change != parser.Delete && m.Original == "" && plate[0] != '2'
}

// firstFlight returns the first flight date that the message names.
func (m *Message) firstFlight() (day Day, names bool) {
	for f := range m.Flights() {
		if !names || f.Day < day {
			day, names = f.Day, true
		}
	}
	return day, names
}
