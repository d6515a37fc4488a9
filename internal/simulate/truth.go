package simulate

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// Bag is the truth about one bag: the answer of the service once it has every message of the bag.
type Bag struct {
	Plate     string    `json:"plate"`
	PNR       string    `json:"pnr,omitempty"`       // "" if no message names it
	Surname   string    `json:"surname,omitempty"`   // "" if no message names it
	Unknown   bool      `json:"unknown,omitempty"`   // none of its messages is a BSM
	Rush      bool      `json:"rush,omitempty"`      // it is a rush bag
	Cancelled bool      `json:"cancelled,omitempty"` // its journey was cancelled; it has no legs
	RushTag   string    `json:"rushtag,omitempty"`   // plate of the rush bag that it became, or ""
	Reflights *Original `json:"reflights,omitempty"` // nil unless it is a rush bag
	Legs      []Leg     `json:"legs"`                // living legs, in the order of travel
	Events    []string  `json:"events"`              // codes, in the order in which they happened
}

// Original is the bag that a rush bag was before.
type Original struct {
	Plate  string `json:"plate"`
	Flight string `json:"flight"` // the flight that it missed
	Date   string `json:"date"`   // of its departure, YYYY-MM-DD
}

// Leg is one flight of a bag.
type Leg struct {
	Flight string `json:"flight"` // LX14
	Date   string `json:"date"`   // of departure, YYYY-MM-DD
	From   string `json:"from"`
	To     string `json:"to"`
	Status string `json:"status"` // Loaded on Aircraft, or Delayed if the bag was left behind
}

// Designator returns the airline code and the number of the flight.
func (l Leg) Designator() (airline, number string) {
	airline, number, _ = parser.FlightOf(l.Flight)
	return airline, number
}

// Lines returns a function that writes the truth about a bag to w as one line of JSON.
func Lines(w io.Writer) func(Bag) error {
	encoder := json.NewEncoder(w)
	return func(b Bag) error { return encoder.Encode(b) }
}

func (j *journey) truth() Bag {
	b := Bag{Plate: j.plate, Unknown: j.disruption == unannounced, Cancelled: j.disruption == cancelled, Rush: j.original != nil, Legs: j.legs()}
	if j.rush != nil {
		b.RushTag = j.rush.plate
	}
	if j.original != nil {
		missed := j.original.trip()[len(j.original.trip())-1]
		b.Reflights = &Original{j.original.plate, missed.airline.code + missed.number, missed.date().Format(time.DateOnly)}
	}
	steps := slices.DeleteFunc(slices.Clone(j.steps), func(s step) bool { return s.copied || s.mutation > 0 })
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.happened(), b.happened()) })
	b.Events = make([]string, len(steps))
	for i, s := range steps {
		b.Events[i] = eventCodes[s.kind]
		if s.kind == source && b.Rush {
			b.Events[i] = bag.EventReflighted
		}
		if s.named && s.kind != positioned {
			b.PNR, b.Surname = j.passenger.pnr, j.passenger.surname
		}
	}
	return b
}

// happened is the place of the event in the order of events, in milliseconds since 1970: the
// received time of a BSM, the time of a reading. A reading at a full minute is written without
// seconds, so that it counts at the end of its minute, but not after it was received. All events of
// a bag differ.
func (s step) happened() int64 {
	if s.kind.isBSM() {
		return s.received
	}
	if s.moment%60_000 == 0 {
		return min(s.moment+59_999, s.received)
	}
	return s.moment
}

// legs returns the living legs of the bag with their loading status.
func (j *journey) legs() []Leg {
	if j.disruption == cancelled {
		return []Leg{}
	}
	legs := make([]Leg, len(j.trip()))
	for i, f := range j.trip() {
		legs[i] = Leg{f.airline.code + f.number, f.date().Format(time.DateOnly), f.from.code, f.to.code, "Loaded on Aircraft"}
	}
	if j.disruption == leftBehind {
		legs[len(legs)-1].Status = "Delayed" // since there is a rush bag
	}
	return legs
}
