// Package oracle is a second, plain implementation of rules §2 and §3 and of the selections of rules §4,
// written from their sentences alone, to be compared with the service. It shares nothing with it but the
// parser. It keeps everything in memory, folds everything at once, and prefers the obvious way to the fast
// one. Where a sentence of the rules can be read in two ways, the code says which reading it takes.
package oracle

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"bagtrail/parser"
)

// Input is one message as it was received, or one delayed-bag report as the log holds it:
// {"station": "ZRH", "bags": ["0220123456"]}.
type Input struct {
	Text     string
	Received time.Time // UTC, whole milliseconds
	Report   bool
}

// Settings are the configuration and the reference data on which the answers depend.
type Settings struct {
	Window    time.Duration // duplicate window, inclusive
	Reference parser.Reference
	Place     func(airport string) string         // metropolitan code, or the airport itself
	Zone      func(airport string) *time.Location // never nil
	Position  func(airport string) (latitude, longitude string)
	Departed  func(airline, number, date, from string) bool // may be nil
}

// Oracle holds every bag that the messages make.
type Oracle struct {
	set  Settings
	bags []*Bag // by plate, PNR, surname, first flight date
}

// New folds all inputs. Their order does not matter; messages with errors are left out.
func New(inputs []Input, set Settings) *Oracle {
	o := &Oracle{set: set}
	byPlate := map[string][]*message{}
	reports := map[string][]*message{}
	var positionings []*message
	for _, in := range inputs {
		if in.Report {
			m := o.readReport(in)
			for _, plate := range m.plates {
				reports[plate] = append(reports[plate], m)
			}
			continue
		}
		m := o.read(in)
		if m == nil {
			continue
		}
		if len(m.plates) == 0 {
			positionings = append(positionings, m)
		}
		for _, plate := range m.plates {
			byPlate[plate] = append(byPlate[plate], m)
		}
	}
	for plate, messages := range byPlate {
		messages = o.withoutCopies(messages)
		var bags []*Bag
		for _, items := range o.identities(itemsOf(plate, messages)) {
			bags = append(bags, o.newBag(plate, items))
		}
		for _, b := range bags {
			o.addEvents(b)
			o.addPositionings(b, positionings)
		}
		o.addReports(bags, reports[plate])
		for _, b := range bags {
			o.addLegs(b)
			o.fillFields(b)
		}
		o.bags = append(o.bags, bags...)
	}
	slices.SortFunc(o.bags, compareBags)
	o.joinRush()
	for _, b := range o.bags {
		o.render(b)
	}
	return o
}

func compareBags(a, b *Bag) int {
	return cmp.Or(cmp.Compare(a.Plate, b.Plate), cmp.Compare(a.PNR, b.PNR), cmp.Compare(a.LastName, b.LastName),
		cmp.Compare(a.first, b.first))
}

// Plates returns every plate that has a bag, in order.
func (o *Oracle) Plates() []string {
	var plates []string
	for _, b := range o.bags {
		plates = append(plates, b.Plate)
	}
	return slices.Compact(plates)
}

// Bags returns every bag of the plate, in the order PNR, surname, first flight date.
func (o *Oracle) Bags(plate string) []*Bag {
	var found []*Bag
	for _, b := range o.bags {
		if b.Plate == plate {
			found = append(found, b)
		}
	}
	return found
}

// OfFlight answers bags for flight: living legs only; D departs from the airport, A arrives there.
func (o *Oracle) OfFlight(airport string, arriving bool, airline, number, date string) []FlightEntry {
	var list []FlightEntry
	for _, b := range o.bags {
		for _, l := range b.Legs {
			end := l.From
			if arriving {
				end = l.To
			}
			if l.Living && l.Airline == airline && l.Number == strip(number) && l.Date == date && o.place(end) == o.place(airport) {
				list = append(list, FlightEntry{b.Plate, yn(b.Rush), b.FirstName, b.LastName, l.Status, l.seat, b.PNR})
			}
		}
	}
	return list
}

// OfPassenger answers bags for passenger: that PNR, and a living leg that departs on that day.
func (o *Oracle) OfPassenger(pnr, date string) []PassengerEntry {
	var list []PassengerEntry
	for _, b := range o.bags {
		departs := slices.ContainsFunc(b.Legs, func(l Leg) bool { return l.Living && l.Date == date })
		if departs && b.PNR != "" && strings.EqualFold(b.PNR, pnr) {
			list = append(list, PassengerEntry{b.Plate, b.FirstName, b.LastName, yn(b.Rush), b.RushTag})
		}
	}
	return list
}

// History answers bag history: every bag that matches. A cancelled one counts only where no other matches.
func (o *Oracle) History(plate, date, pnr, surname string) []*Bag {
	var live, cancelled []*Bag
	for _, b := range o.Bags(plate) {
		if !slices.Contains(b.dates, date) ||
			pnr != "" && !strings.EqualFold(pnr, b.PNR) ||
			surname != "" && plainName(surname) != plainName(b.LastName) {
			continue
		}
		if b.Cancelled {
			cancelled = append(cancelled, b)
		} else {
			live = append(live, b)
		}
	}
	if len(live) > 0 {
		return live
	}
	return cancelled
}

// place returns the place of an airport; no airport is no place.
func (o *Oracle) place(airport string) string {
	if airport == "" {
		return "nowhere"
	}
	return o.set.Place(airport)
}

func strip(number string) string {
	stripped := strings.TrimLeft(number, "0")
	if stripped == "" || stripped[0] > '9' {
		return "0" + stripped
	}
	return stripped
}

// plainName writes a name or a PNR without case, blanks and hyphens.
func plainName(s string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(s))
}

func yn(b bool) string {
	if b {
		return "Y"
	}
	return "N"
}

// Dates returns the departure dates under which history finds the bag.
func (b *Bag) Dates() []string { return b.dates }
