package simulate

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"time"
)

// Bag is the truth about one bag, once all its messages are received: what the service is to answer.
type Bag struct {
	Plate     string      `json:"plate"`
	PNR       string      `json:"pnr,omitempty"`
	Surname   string      `json:"surname,omitempty"`
	Unknown   bool        `json:"unknown,omitempty"`   // none of its messages is a BSM
	Rush      bool        `json:"rush,omitempty"`      // it is sent after its passenger
	Cancelled bool        `json:"cancelled,omitempty"` // its journey was deleted; it has no legs
	RushTag   string      `json:"rushtag,omitempty"`   // the plate under which it is sent after its passenger
	Reflights *Reflighted `json:"reflights,omitempty"` // of a rush bag
	Legs      []Leg       `json:"legs"`                // living ones, in the order of travel
	Events    []string    `json:"events"`              // codes in the order in which they happened
}

// Reflighted is what a rush bag was before.
type Reflighted struct {
	Plate  string `json:"plate"`
	Flight string `json:"flight"` // on which it should have been
	Date   string `json:"date"`
}

// Leg is a flight of a bag.
type Leg struct {
	Flight string `json:"flight"` // LX14
	Date   string `json:"date"`   // of departure, YYYY-MM-DD
	From   string `json:"from"`
	To     string `json:"to"`
	Status string `json:"status"` // Loaded on Aircraft
}

// Designator returns the airline code and the number of the flight.
func (l Leg) Designator() (airline, number string) {
	code := 2
	if c := l.Flight[2]; c < '0' || c > '9' {
		code = 3
	}
	return l.Flight[:code], l.Flight[code:]
}

// Lines returns what writes the truth about each bag as a line of JSON.
func Lines(w io.Writer) func(Bag) error {
	encoder := json.NewEncoder(w)
	return func(b Bag) error { return encoder.Encode(b) }
}

// truth says what became of the bag.
func (j *journey) truth() Bag {
	b := Bag{Plate: j.plate, Unknown: j.twist == unannounced, Cancelled: j.twist == dropped, Rush: j.original != nil, Legs: j.legs()}
	if j.rush != nil {
		b.RushTag = j.rush.plate
	}
	if j.original != nil {
		missed := j.original.trip()[len(j.original.trip())-1]
		b.Reflights = &Reflighted{j.original.plate, missed.line.code + missed.number, missed.date().Format(time.DateOnly)}
	}
	steps := slices.DeleteFunc(slices.Clone(j.steps), func(s step) bool { return s.copied || s.spoiled > 0 })
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.happened(), b.happened()) })
	b.Events = make([]string, len(steps))
	for i, s := range steps {
		b.Events[i] = codeNames[s.code]
		if s.named && s.kind != positioned {
			b.PNR, b.Surname = j.who.pnr, j.who.surname
		}
	}
	return b
}

// happened is where the event stands in order: at its reading, or when a BSM was received. A reading at a full minute is written
// without seconds, and so stands at the end of its minute, but not after its receipt. No two of a bag are equal.
func (s step) happened() int64 {
	if s.kind.isBSM() {
		return s.received
	}
	if s.moment/1000%60 == 0 {
		return min(s.moment-s.moment%60_000+59_999, s.received)
	}
	return s.moment
}

// legs says with which status the bag took which flights.
func (j *journey) legs() []Leg {
	if j.twist == dropped {
		return []Leg{}
	}
	legs := make([]Leg, len(j.trip()))
	for i, f := range j.trip() {
		legs[i] = Leg{f.line.code + f.number, f.date().Format(time.DateOnly), f.from.code, f.to.code, "Loaded on Aircraft"}
	}
	if j.twist == leftBehind {
		last := &legs[len(legs)-1]
		last.Status = "Not Loaded"
		if slices.ContainsFunc(j.steps, func(s step) bool { return s.kind == taken }) {
			last.Status = "Offloaded"
		}
		if j.rush != nil {
			last.Status = "Delayed"
		}
	}
	return legs
}
