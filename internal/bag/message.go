package bag

import (
	"cmp"
	"iter"
	"strings"
	"time"

	"bagtrail/parser"
)

// Message is one group of an accepted message, for one plate. A message that names the plate in two
// groups makes two. A container positioning names no plate: it concerns the bags in its stowage
// device. A delayed-bag report is a Message too, of kind None: see IsReport.
//
// The embedded fields are as the parser returned them; the flights have full dates here. Strings
// may share the memory of Raw. A Message does not change after it is made.
type Message struct {
	parser.Head    // .V .J .X
	parser.Details // .S .W .P .L .Y .E .M .R of the group
	parser.Stowage // .U 1 and 2 of the group
	Outbound       Segment
	Inbound        Segment
	Onward         []Segment
	Connection     *Segment // .U 7-9; nil if absent

	Arriving     bool   // .F arrives at the .V airport (rules §3, legs)
	LongDevice   bool   // .U 1 is too long for a stowage device, so Device is ""
	Irregularity string // status code of the .B that names the plate, or ""
	Original     Plate  // .M 1 if that is another plate, else the first ten-digit word of .R if that is another plate, else ""

	Received time.Time // UTC, whole milliseconds
	Happened time.Time // UTC; the read time of a BPM if it is not after Received, else Received
	Order    time.Time // UTC; orders events (rules §2): Happened, or the end of its minute if the read time has no seconds
	Read     time.Time // UTC; the .J read time if .J has date and time, else zero
	LocalDay Day       // date of Happened at the .V airport
	Group    int32     // index of the group in the message
	Position Position
	Raw      string // the message as sent, or the document of the report
	Text     string // canonical text, by which copies are recognised (rules §3)
}

// IsReport reports whether m is a report that the delayed-bag system has created. The only embedded
// field that a report has is the airport.
func (m *Message) IsReport() bool { return m.Kind == parser.None }

// hasDevice reports whether .U of the group has field 1, even if it is too long (rules §2).
func (m *Message) hasDevice() bool { return m.Device != "" || m.LongDevice }

// Flights yields the flights of .I, .F and .O.
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

// Legs yields the legs of .I, .F and .O, each with the airports that the message itself gives
// (rules §3, legs).
func (m *Message) Legs() iter.Seq[Leg] {
	return func(yield func(Leg) bool) {
		if m.Inbound.IsZero() || yield(m.inbound()) {
			m.outwardLegs()(yield)
		}
	}
}

// outwardLegs yields the legs of .F and .O.
func (m *Message) outwardLegs() iter.Seq[Leg] {
	return func(yield func(Leg) bool) {
		if m.Outbound.IsZero() || yield(m.outbound()) {
			m.onward()(yield)
		}
	}
}

// inbound returns the leg of .I.
func (m *Message) inbound() Leg {
	return Leg{Flight: m.Inbound.Flight, Carrier: m.Inbound.Carrier, From: m.Inbound.Airport, To: m.Airport}
}

// outbound returns the leg of .F. If the flight arrives at the .V airport, its departure is unknown.
func (m *Message) outbound() Leg {
	f := m.Outbound
	if m.Arriving {
		return Leg{Flight: f.Flight, Carrier: f.Carrier, To: m.Airport}
	}
	return Leg{Flight: f.Flight, Carrier: f.Carrier, From: m.Airport, To: f.Airport}
}

// onward yields the legs of .O. Each departs where the one before it, or the .F, arrives.
func (m *Message) onward() iter.Seq[Leg] {
	return func(yield func(Leg) bool) {
		from := ""
		if !m.Outbound.IsZero() {
			from = m.outbound().To
		}
		for _, o := range m.Onward {
			if !yield(Leg{Flight: o.Flight, Carrier: o.Carrier, From: from, To: o.Airport}) {
				return
			}
			from = o.Airport
		}
	}
}

// Names reports whether the message names a flight in .I, .F or .O.
func (m *Message) Names(f Flight) bool {
	for named := range m.Flights() {
		if named == f {
			return true
		}
	}
	return false
}

// compare orders messages as their events (rules §2): by Order, then as compareReceipt.
func (m *Message) compare(n *Message) int {
	if c := m.Order.Compare(n.Order); c != 0 {
		return c
	}
	return m.compareReceipt(n)
}

// compareReceipt orders messages as they were received (rules §3, duplicates): by received time,
// position, text, and group. Unlike the order of compare, it does not depend on times that a sender
// gives.
func (m *Message) compareReceipt(n *Message) int {
	if c := cmp.Or(m.Received.Compare(n.Received), m.Position.Compare(n.Position)); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(m.Text, n.Text), strings.Compare(m.Raw, n.Raw), cmp.Compare(m.Group, n.Group))
}

// sameMessage reports whether m and n are groups of one message.
func sameMessage(m, n *Message) bool {
	return m.Received.Equal(n.Received) && m.Position == n.Position && m.Raw == n.Raw
}

// flightDays returns the first and the last flight date that the message names, and whether it
// names one.
func (m *Message) flightDays() (first, last Day, named bool) {
	for f := range m.Flights() {
		if !named {
			first, last, named = f.Day, f.Day, true
			continue
		}
		first, last = min(first, f.Day), max(last, f.Day)
	}
	return first, last, named
}

// days returns the first and the last day that the message covers (rules §3, journeys): those of
// its flights, or the airport-local day on which it happened.
func (m *Message) days() (first, last Day) {
	if first, last, named := m.flightDays(); named {
		return first, last
	}
	return m.LocalDay, m.LocalDay
}

func (m *Message) isDelete() bool { return m.Kind.IsSource() && m.Change == parser.Delete }

// isNew reports whether m is a BSM that is neither CHG nor DEL.
func (m *Message) isNew() bool { return m.Kind.IsSource() && m.Change == parser.New }

// namesPassenger reports whether m names a PNR or a surname.
func (m *Message) namesPassenger() bool { return m.PNR != "" || FoldName(m.Surname) != "" }

// isNamedBSM reports whether m is a BSM that names a passenger.
func (m *Message) isNamedBSM() bool { return m.Kind.IsSource() && m.namesPassenger() }

// reflightsItself reports whether m re-flights the bag on its own plate (rules §3, rush): it is a
// BSM with .E/RUSH, not a DEL, it names no other plate, and the plate does not begin with 2.
func (m *Message) reflightsItself(plate Plate) bool {
	return m.Kind.IsSource() && m.Rush && m.Change != parser.Delete && m.Original == "" && plate[0] != '2'
}
