package bag

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"
)

// Bag is one bag of one passenger, as the messages of its plate describe it.
type Bag struct {
	Plate     Plate
	Unknown   bool // no BSM belongs to it
	Rush      bool // it has a REFLIGHTED event
	OwnRush   bool // it is its own rush bag (rules §3, rush), so it has no other original
	Cancelled bool // it has a BSM, and no living leg
	FirstDay  Day  // first flight date of its messages; if there is none, their first local day

	Description

	Legs   []Leg   // the living legs, then the others, each in the order of travel
	Events []Event // oldest first

	// Originals are the plates that the latest REFLIGHTED message with an original names, each
	// once, in the order of its groups.
	Originals []Plate
	// Reflighted and RushTag join the bag with other plates. Fold leaves them empty, since it sees
	// one plate.
	Reflighted []Reflighted // one for each of Originals; without Originals at most one, which is found by PNR and surname
	RushTag    *Bag         // the last rush bag of the chain that re-flights this one

	PNRs     []string // the PNRs that find it (rules §4), in capitals
	Surnames []string // the surnames that find it, as FoldName returns them

	Nth       int // its place among the bags of the plate, from 0
	places    Places
	plateBags []Bag // all bags of the plate as Fold returned them; nil if this is the only one
	whole     *Bag  // the bag of which this is a view; nil if it is not a view
}

// Description holds the fields that messages give to a bag (rules §2). In a view of a bag, they
// come only from the messages that are seen.
type Description struct {
	PNR             string // as sent
	Surname         string
	GivenName       string
	PassengerStatus string
	FrequentFlyer   string
	Pieces          int // -1 if unknown
	Weight          int // -1 if unknown
	WeightUnit      string
}

// HasPNR reports whether a PNR finds the bag, compared without case (rules §4).
func (b *Bag) HasPNR(pnr string) bool { return slices.Contains(b.PNRs, strings.ToUpper(pnr)) }

// HasSurname reports whether a surname finds the bag, compared by its letters (rules §4).
func (b *Bag) HasSurname(surname string) bool { return slices.Contains(b.Surnames, FoldName(surname)) }

// OriginalOf returns the original that a REFLIGHTED event of the bag re-flights: the original
// that the group of the event names, else the first one; nil if there is none.
func (b *Bag) OriginalOf(e *Event) *Reflighted {
	if len(b.Reflighted) == 0 {
		return nil
	}
	named := slices.IndexFunc(b.Reflighted, func(r Reflighted) bool { return r.Plate == e.Message.Original })
	return &b.Reflighted[max(named, 0)]
}

// Reflighted is the original of a rush bag.
type Reflighted struct {
	Plate   Plate
	Flight  Flight // of LastLeg; zero if the bag is not known
	Carrier string // the airline code of Flight as sent
	Bag     *Bag   // the original; nil if it is not known
}

// Leg is one flight of a bag.
type Leg struct {
	Flight
	Carrier        string // the airline code as sent
	From, To       string // airports; "" if unknown
	Living         bool
	Status         Status   // NoStatus if not Living, or if known from an .I only and no event there set one
	Seat           string   // from the latest BSM at From, for this flight, that holds a seat
	Arrived        bool     // an ARRIVED event at another airport than From names the flight
	LeftWithoutBag bool     // DelayDeparted made it Delayed
	SetBy          *Message // the message of the event that set Status; nil if none did
}

// Event is one event of a bag (rules §2).
type Event struct {
	Code        string // an event code, or a status code of .B from the configuration
	Description string
	Sets        Status // the loading status that it sets, or NoStatus
	Positioning bool   // Message is a container positioning
	Message     *Message
}

// IsOfDay reports whether a message of the bag names a flight of that departure date. If no message
// names a flight, the local days of the events count (rules §4).
func (b *Bag) IsOfDay(day Day) bool {
	flights := false
	for _, e := range b.Events {
		for f := range e.Message.Flights() {
			flights = true
			if f.Day == day {
				return true
			}
		}
	}
	return !flights && slices.ContainsFunc(b.Events, func(e Event) bool { return e.Message.LocalDay == day })
}

// DepartsOn reports whether the bag has a living leg that departs on the day.
func (b *Bag) DepartsOn(day Day) bool {
	return slices.ContainsFunc(b.Legs, func(l Leg) bool { return l.Living && l.Day == day })
}

// LastLeg returns the leg on which the bag was left behind: its last living leg that is not Loaded
// on Aircraft, else its last living leg, else its last leg (rules §3, rush).
func (b *Bag) LastLeg() (Leg, bool) {
	legs := b.Legs
	if end := slices.IndexFunc(legs, func(l Leg) bool { return !l.Living }); end > 0 {
		legs = legs[:end]
	}
	for _, l := range slices.Backward(legs) {
		if l.Status != OnAircraft {
			return l, true
		}
	}
	if len(legs) == 0 {
		return Leg{}, false
	}
	return legs[len(legs)-1], true
}

// LastEvent returns the latest time, UTC, at which an event of the bag was received. No event has
// happened after that time.
func (b *Bag) LastEvent() time.Time {
	var end time.Time
	for _, e := range b.Events {
		if at := e.Message.Received; at.After(end) {
			end = at
		}
	}
	return end
}

// ReflightedAfter reports whether b was re-flighted after other: its last REFLIGHTED event is
// later, or one message made both events and the plate of b is higher. Both must be rush bags.
func (b *Bag) ReflightedAfter(other *Bag) bool {
	last, otherLast := b.lastReflight(), other.lastReflight()
	if sameMessage(last, otherLast) {
		return b.Plate > other.Plate
	}
	return last.compare(otherLast) > 0
}

// ReflightedBefore reports whether b was re-flighted before other: its first REFLIGHTED event is
// earlier, or one group of a message made both events and the plate of b is lower. Both must be
// rush bags.
func (b *Bag) ReflightedBefore(other *Bag) bool {
	return cmp.Or(b.FirstReflight().compare(other.FirstReflight()), cmp.Compare(b.Plate, other.Plate)) < 0
}

// LeaveBehind makes living legs of an original Delayed (rules §3, loading status): the legs that
// are not Loaded on Aircraft and whose status was set before reflight, the first REFLIGHTED message
// of its rush bags. It copies the legs, which other copies of the bag may share.
func (b *Bag) LeaveBehind(reflight *Message) {
	b.Legs = slices.Clone(b.Legs)
	leaveBehind(b.Legs, reflight, nil)
}

// leaveBehind is LeaveBehind for all legs except those on some flights.
func leaveBehind(legs []Leg, reflight *Message, except []Flight) {
	for i := range legs {
		l := &legs[i]
		if l.Status != NoStatus && l.Status != OnAircraft && !slices.Contains(except, l.Flight) &&
			(l.SetBy == nil || l.SetBy.compare(reflight) < 0) {
			l.Status, l.SetBy, l.LeftWithoutBag = Delayed, reflight, false
		}
	}
}

// leaveBehindOwn is LeaveBehind for the legs of a bag that is its own rush bag, except legs on
// flights that reflights name, the BSMs that make it one.
func leaveBehindOwn(legs []Leg, reflights []*Message) {
	var named []Flight
	for _, m := range reflights {
		named = slices.AppendSeq(named, m.Flights())
	}
	leaveBehind(legs, reflights[0], named)
}

// FirstReflight returns the message of the first REFLIGHTED event; nil if there is none.
func (b *Bag) FirstReflight() *Message { return firstReflight(slices.All(b.Events)) }

func (b *Bag) lastReflight() *Message { return firstReflight(slices.Backward(b.Events)) }

func firstReflight(events iter.Seq2[int, Event]) *Message {
	for _, e := range events {
		if e.Code == EventReflighted {
			return e.Message
		}
	}
	return nil
}

// DelayDeparted makes living legs that are Not Loaded Delayed, if their flight has departed and no
// ARRIVED event names it (rules §3). If it changes a leg, it copies the legs, which other copies of
// the bag may share.
func (b *Bag) DelayDeparted(departed func(f Flight, from, to string) bool) {
	shared := true
	for i, l := range b.Legs {
		if l.Arrived || l.Status != NotLoaded || !departed(l.Flight, l.From, l.To) {
			continue
		}
		if shared {
			b.Legs, shared = slices.Clone(b.Legs), false
		}
		b.Legs[i].Status, b.Legs[i].LeftWithoutBag = Delayed, true
	}
}
