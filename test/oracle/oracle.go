// Package oracle is a second, plain implementation of rules §2 and §3 and of the selections of
// rules §4. Tests compare it with the service. It was written from the sentences of the rules,
// keeps everything in memory and prefers obvious code to fast code. It shares the parser with the
// service, which reads the fields of elements, such as names without their count and title, and
// decides which of several .X counts; and, by its settings, the libraries of airports and airlines.
// If a sentence of the rules can be read in two ways, a comment that begins with "Reading" says
// which one it takes.
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
	Position *Position // nil: replayed from a file
	Report   bool
}

// Position is the place of a message's record in the raw topic.
type Position struct {
	Partition int
	Offset    int64
}

// Settings are the configuration and the reference data on which the answers depend.
type Settings struct {
	Window      time.Duration // duplicate window, inclusive
	Reference   parser.Reference
	SamePlace   func(a, b string) bool                 // the codes are equal or share a city
	Listed      func(end, airport string) bool         // a leg that ends at end is in the lists of the airport
	SameAirline func(a, b string) bool                 // the codes are those of one airline
	Zone        func(airport string) *time.Location    // never nil
	Departed    func(f Flight, from string) bool       // may be nil
	Location    func(airport string) (lat, lon string) // may be nil
}

// Oracle holds every bag that the messages make.
type Oracle struct {
	set  Settings
	bags []*Bag // by plate, PNR, surname, first flight date
}

// New folds all inputs. Their order does not matter. Messages with errors are left out.
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
	positioned := o.positionings(positionings)
	for plate, messages := range byPlate {
		messages = o.withoutCopies(plate, messages)
		var bags []*Bag
		for _, items := range o.identities(plate, itemsOf(plate, messages)) {
			bags = append(bags, newBag(plate, items))
		}
		for _, b := range bags {
			o.addEvents(b)
		}
		addReports(bags, reports[plate])
		for _, b := range bags {
			o.addPositionings(b, positioned)
			o.addLegs(b)
			fillFields(b)
			o.fillNames(b)
		}
		o.bags = append(o.bags, bags...)
	}
	slices.SortFunc(o.bags, compareBags)
	o.joinRush()
	for _, b := range o.bags {
		o.renderLegs(b)
	}
	for _, b := range o.bags {
		o.renderEvents(b)
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

// OfFlight returns the list of bags for a flight. Only living legs count: those that depart from
// the airport, or arrive there. A bag is in the list once, with the first leg that fits.
func (o *Oracle) OfFlight(airport string, arriving bool, airline, number, date string) []FlightEntry {
	var list []FlightEntry
	for _, b := range o.bags {
		for _, l := range b.Legs {
			end := l.From
			if arriving {
				end = l.To
			}
			if l.Living && o.set.SameAirline(l.Airline, airline) && l.Number == strip(number) && l.Date == date &&
				end != "" && o.set.Listed(end, airport) {
				list = append(list, FlightEntry{b.Plate, yn(b.Rush), b.FirstName, b.LastName, l.Status, l.seat, b.PNR})
				break
			}
		}
	}
	return list
}

// MissedByLists reports whether lists may miss a rush bag that re-flights a bag of the plate, so
// that the loading statuses there are open.
func (o *Oracle) MissedByLists(plate string) bool {
	return slices.ContainsFunc(o.Bags(plate), func(b *Bag) bool {
		return slices.ContainsFunc(o.bags, func(r *Bag) bool { return r.reflights(b) && !r.foundByLists() })
	})
}

// OfPassenger returns the list of bags for a passenger: found by that PNR, with a living leg that
// departs on that day.
func (o *Oracle) OfPassenger(pnr, date string) []PassengerEntry {
	var list []PassengerEntry
	for _, b := range o.bags {
		departs := slices.ContainsFunc(b.Legs, func(l Leg) bool { return l.Living && l.Date == date })
		if departs && b.FoundByPNR(pnr) {
			list = append(list, PassengerEntry{b.Plate, b.FirstName, b.LastName, yn(b.Rush), b.RushTag})
		}
	}
	return list
}

// History returns every bag that matches a history query. A cancelled bag counts only if no other
// matches.
func (o *Oracle) History(plate, date, pnr, surname string) []*Bag {
	var live, cancelled []*Bag
	for _, b := range o.Bags(plate) {
		if !slices.Contains(b.dates, date) || pnr != "" && !b.FoundByPNR(pnr) || surname != "" && !b.FoundBySurname(surname) {
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

// samePlace reports whether two airports are one place. An empty airport is no place.
func (o *Oracle) samePlace(a, b string) bool {
	return a != "" && b != "" && o.set.SamePlace(a, b)
}

func strip(number string) string {
	stripped := strings.TrimLeft(number, "0")
	if stripped == "" || stripped[0] > '9' {
		return "0" + stripped
	}
	return stripped
}

func yn(b bool) string {
	if b {
		return "Y"
	}
	return "N"
}
