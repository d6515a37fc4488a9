package bag

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Bag is what the messages of a plate say about one bag of one passenger.
type Bag struct {
	Plate     Plate
	Unknown   bool // no BSM belongs to it
	Rush      bool // it has a REFLIGHTED event
	OwnRush   bool // it is its own rush bag (rules §3, rush): no other original is sought for it
	Cancelled bool // it has a BSM, and no living leg
	FirstDay  Day  // first flight date that it names; where it names none, the first airport-local day of an event

	PNR        string // as sent
	Surname    string
	GivenName  string
	Pieces     int // -1 where unknown
	Weight     int // -1 where unknown
	WeightUnit string

	Legs   []Leg   // living ones first, each part in the order of travel
	Events []Event // oldest first

	// Originals are the plates that the latest REFLIGHTED message which names one names, one a group, in the order of groups.
	Originals []Plate
	// Reflighted and RushTag join the bag with other plates. Fold leaves them empty, since it sees one plate.
	Reflighted []Reflighted // one for each of Originals; without these one for the original that was found, or none
	RushTag    *Bag         // the last rush bag of the chain that re-flights this one

	reflights []*Message // by which it is its own rush bag, in order
	sources   *sources   // its current BSMs; nil once the legs are made

	PNRs     []string // by which it is found, in capitals (rules §4)
	Surnames []string // by which it is found, as FoldName returns them

	beside []Bag // all bags of the plate, as Fold made them, this one too; nil if it is the only one
	whole  *Bag  // the bag of which this one is a view, or nil
}

// HasPNR reports whether the bag is found by a PNR, compared without case (rules §4).
func (b *Bag) HasPNR(pnr string) bool { return slices.Contains(b.PNRs, strings.ToUpper(pnr)) }

// HasSurname reports whether the bag is found by a surname, compared by its letters (rules §4).
func (b *Bag) HasSurname(surname string) bool { return slices.Contains(b.Surnames, FoldName(surname)) }

// ReflightedBy returns what a REFLIGHTED event of the bag re-flights: the original that its own group names, else the first
// one; nil if there is none.
func (b *Bag) ReflightedBy(e *Event) *Reflighted {
	for i := range b.Reflighted {
		if e.Message.Original != "" && b.Reflighted[i].Plate == e.Message.Original {
			return &b.Reflighted[i]
		}
	}
	if len(b.Reflighted) == 0 {
		return nil
	}
	return &b.Reflighted[0]
}

// Reflighted tells which bag a rush bag re-flights.
type Reflighted struct {
	Plate   Plate
	Flight  Flight // its last living leg not Loaded on Aircraft, else its last leg; zero if the bag is not known
	Carrier string // the airline's code of Flight as sent
	Bag     *Bag   // nil if the bag is not known
}

// Leg is one flight of a bag.
type Leg struct {
	Flight
	Carrier  string // the airline's code as sent
	From, To string // airports; "" where unknown
	Living   bool
	Status   Status   // NoStatus for a leg that is known from an inbound element only
	Seat     string   // from the latest BSM at From, for this flight, that holds one
	Arrived  bool     // an ARRIVED event names the flight
	Departed bool     // it is Delayed because its flight has departed, not by an event
	SetBy    *Message // whose event set Status; nil if none did
}

// Event is one event of a bag: what a message says of it, under a code of rules §2.
type Event struct {
	Code        string // LOADED_ON_AIRCRAFT
	Description string // Bag Loaded on Aircraft
	Sets        Status // the loading status that it sets, or NoStatus
	Positioning bool   // it comes of a container positioning
	Message     *Message
}

// Names reports whether a message of the bag names a flight of that departure date; a bag without
// flights is named by the airport-local days of its events (rules §4).
func (b *Bag) Names(day Day) bool {
	flights := false
	for _, e := range b.Events {
		for f := range e.Message.Flights() {
			flights = true
			if f.Day == day {
				return true
			}
		}
	}
	if flights {
		return false
	}
	for _, e := range b.Events {
		if e.Message.LocalDay == day {
			return true
		}
	}
	return false
}

// LastLeg returns the leg on which the bag was left behind: its last living leg that is not Loaded on
// Aircraft, else its last living leg, else its last leg (rules §3, rush).
func (b *Bag) LastLeg() (Leg, bool) {
	living := len(b.Legs)
	for living > 0 && !b.Legs[living-1].Living {
		living--
	}
	for i := living - 1; i >= 0; i-- {
		if b.Legs[i].Status != OnAircraft {
			return b.Legs[i], true
		}
	}
	if living == 0 {
		living = len(b.Legs)
	}
	if living == 0 {
		return Leg{}, false
	}
	return b.Legs[living-1], true
}

// LastEvent returns the time of the last event of the bag: when it happened or was received, whichever
// is later, UTC.
func (b *Bag) LastEvent() time.Time {
	var end time.Time
	for _, e := range b.Events {
		for _, t := range [...]time.Time{e.Message.Happened, e.Message.Received} {
			if t.After(end) {
				end = t
			}
		}
	}
	return end
}

// ReflightedAfter reports whether b was re-flighted after other: its last REFLIGHTED event comes later, or both come of one
// message and its plate is higher. Both must be rush bags.
func (b *Bag) ReflightedAfter(other *Bag) bool {
	return cmp.Or(b.lastReflight().compareText(other.lastReflight()), strings.Compare(string(b.Plate), string(other.Plate))) > 0
}

// LeaveBehind makes Delayed the living legs of an original that are not Loaded on Aircraft and whose status no event set after
// the first REFLIGHTED event of its rush bags (rules §3, loading status). It leaves legs alone that other copies of the bag share.
func (b *Bag) LeaveBehind(reflight *Message) {
	b.Legs = slices.Clone(b.Legs)
	leaveBehind(b.Legs, reflight, nil)
}

// leaveBehind is LeaveBehind for legs whose flight is none of those.
func leaveBehind(legs []Leg, reflight *Message, but []Flight) {
	for i := range legs {
		l := &legs[i]
		if l.Living && l.Status != NoStatus && l.Status != OnAircraft && !slices.Contains(but, l.Flight) &&
			(l.SetBy == nil || l.SetBy.compare(reflight) < 0) {
			l.Status, l.SetBy, l.Departed = Delayed, reflight, false
		}
	}
}

// leaveBehindOwn is LeaveBehind for a bag that is its own rush bag: it leaves those legs alone that the rush BSMs name.
func (b *Bag) leaveBehindOwn(legs []Leg) {
	var named []Flight
	for _, m := range b.reflights {
		named = slices.AppendSeq(named, m.Flights())
	}
	leaveBehind(legs, b.reflights[0], named)
}

// FirstReflight returns the message of the first REFLIGHTED event of a rush bag.
func (b *Bag) FirstReflight() *Message {
	for _, e := range b.Events {
		if e.Code == EventReflighted {
			return e.Message
		}
	}
	return nil
}

func (b *Bag) lastReflight() *Message {
	for i := len(b.Events) - 1; i >= 0; i-- {
		if b.Events[i].Code == EventReflighted {
			return b.Events[i].Message
		}
	}
	return nil
}

// Depart makes the legs Delayed that are Not Loaded and that no ARRIVED event names, if their flight has departed (rules §3). It leaves legs alone that other copies of the bag share.
func (b *Bag) Depart(departed func(f Flight, from string) bool) {
	shared := true
	for i, l := range b.Legs {
		if !l.Living || l.Arrived || l.Status != NotLoaded || !departed(l.Flight, l.From) {
			continue
		}
		if shared {
			b.Legs, shared = slices.Clone(b.Legs), false
		}
		b.Legs[i].Status, b.Legs[i].Departed = Delayed, true
	}
}
