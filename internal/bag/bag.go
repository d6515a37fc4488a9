package bag

import (
	"slices"
	"time"
)

// Bag is what the messages of a plate say about one bag of one passenger.
type Bag struct {
	Plate     Plate
	Unknown   bool // no BSM belongs to it
	Rush      bool // it has a REFLIGHTED event
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

	// Original is the plate that its REFLIGHTED messages name; "" where they name none.
	Original Plate
	// Reflighted and RushTag join the bag with other plates. Fold leaves them empty, since it sees one plate.
	Reflighted *Reflighted
	RushTag    *Bag // the last rush bag of the chain that re-flights this one
}

// Reflighted tells which bag a rush bag re-flights.
type Reflighted struct {
	Plate  Plate
	Flight Flight // its last living leg not Loaded on Aircraft, else its last leg; zero where the bag is not known
	Bag    *Bag   // nil where the bag is not known
}

// Leg is one flight of a bag.
type Leg struct {
	Flight
	Carrier  string // the airline's code as sent
	From, To string // airports; "" where unknown
	Living   bool
	Status   Status // NoStatus for a leg that is known from an inbound element only
	Seat     string // from the latest BSM at From
}

// Event is one event of a bag: what a message says of it, under a code of rules §2.
type Event struct {
	Code        string // LOADED_ON_AIRCRAFT
	Description string // Bag Loaded on Aircraft
	Sets        Status // the loading status that it sets, or NoStatus
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
		if e.Message.Kind != Report && e.Message.LocalDay == day {
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

// ReflightedAfter reports whether the last REFLIGHTED event of b comes after that of other. Both must be
// rush bags.
func (b *Bag) ReflightedAfter(other *Bag) bool {
	return b.lastReflight().compare(other.lastReflight()) > 0
}

// firstReflight returns the message of the first REFLIGHTED event of a rush bag.
func (b *Bag) firstReflight() *Message {
	for _, e := range b.Events {
		if e.Code == reflighted.Code {
			return e.Message
		}
	}
	return nil
}

func (b *Bag) lastReflight() *Message {
	for i := len(b.Events) - 1; i >= 0; i-- {
		if b.Events[i].Code == reflighted.Code {
			return b.Events[i].Message
		}
	}
	return nil
}

// Depart makes the legs Delayed that are neither Loaded nor Offloaded when their flight has departed
// (rules §3). It leaves legs alone that other copies of the bag share.
func (b *Bag) Depart(departed func(f Flight, from string) bool) {
	shared := true
	for i, l := range b.Legs {
		if !l.Living || l.Status != NotLoaded || !departed(l.Flight, l.From) {
			continue
		}
		if shared {
			b.Legs, shared = slices.Clone(b.Legs), false
		}
		b.Legs[i].Status = Delayed
	}
}
