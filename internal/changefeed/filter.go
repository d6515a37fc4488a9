package changefeed

import (
	"hash/fnv"
	"slices"
	"strings"

	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/strictjson"
)

// Filter selects changes. A plate must match every field that is set; the zero Filter selects all
// changes.
//
// A plate matches by all its bags together, and by every flight that their messages name, even if
// it is not a living leg any more. So if a plate leaves a filter, that change is still selected,
// and its state shows that the plate has left. Positionings of containers do not count: a flight or
// a PNR that only positionings name selects no plate.
type Filter struct {
	Airline string      `json:"airline,omitempty"` // as airline.Library.Code returns it
	Airport string      `json:"airport,omitempty"`
	Flight  *Flight     `json:"flight,omitempty"`
	Plates  []bag.Plate `json:"plate,omitempty"` // ascending, each once
	PNR     string      `json:"pnr,omitempty"`   // in capitals
	Date    bag.Day     `json:"date,omitempty"`  // departure date of a flight; counts only with PNR
}

// Flight is a flight that departs from an airport, or arrives there.
type Flight struct {
	bag.Flight
	Airport  string `json:"airport"`
	Arriving bool   `json:"arriving"`
}

// Current returns the filter with the codes by which airlines are compared now. The airlines file
// may have changed since the filter was made.
func (f Filter) Current(airlines *airline.Library) Filter {
	f.Airline = airlines.Code(f.Airline)
	if f.Flight != nil {
		flight := *f.Flight
		flight.Airline = airlines.Code(flight.Airline)
		f.Flight = &flight
	}
	return f
}

// Digest returns a hash of the filter. Two different filters have the same hash with a probability
// of one in four billion.
func (f Filter) Digest() uint32 {
	h := fnv.New32a()
	_, _ = h.Write(append(strictjson.Encode(f), 0))
	return h.Sum32()
}

// matches reports whether the filter selects a plate. seen are the views of its bags that the asker
// has.
func (f *Filter) matches(airports *airport.Library, plate bag.Plate, seen []*bag.Bag) bool {
	if len(f.Plates) > 0 && !slices.Contains(f.Plates, plate) {
		return false
	}
	airline, airport, flight := f.Airline == "", f.Airport == "", f.Flight == nil
	booked, dated := f.PNR == "", f.PNR == ""
	at := func(code string) bool { return code != "" && airports.Listed(code, f.Airport) }
	for _, b := range seen {
		booked = booked || b.HasPNR(f.PNR)
		named := f.Flight != nil && hasMessage(b, func(m *bag.Message) bool { return m.Names(f.Flight.Flight) })
		eachLeg(b, func(leg bag.Leg) {
			airline = airline || leg.Airline == f.Airline
			airport = airport || at(leg.From) || at(leg.To)
			flight = flight || named && f.Flight.holds(airports, leg)
			dated = dated || leg.Day == f.Date
		})
		booked = booked || hasMessage(b, func(m *bag.Message) bool { return strings.EqualFold(m.PNR, f.PNR) })
		for i := range b.Events {
			airport = airport || at(b.Events[i].Message.Airport)
		}
	}
	return airline && airport && flight && booked && dated
}

// hasMessage reports whether a message of a bag meets a condition. Positionings do not count.
func hasMessage(b *bag.Bag, meets func(*bag.Message) bool) bool {
	return slices.ContainsFunc(b.Events, func(e bag.Event) bool { return !e.Positioning && meets(e.Message) })
}

// holds reports whether a leg is the flight. A leg whose airport no message gives counts too: the
// airport may become known, and unknown again if the messages are divided into other bags.
func (f *Flight) holds(airports *airport.Library, leg bag.Leg) bool {
	end := leg.From
	if f.Arriving {
		end = leg.To
	}
	return leg.Flight == f.Flight && (end == "" || airports.Listed(end, f.Airport))
}

// eachLeg calls visit with each leg of a bag, and with each leg that its messages give.
func eachLeg(b *bag.Bag, visit func(bag.Leg)) {
	for _, leg := range b.Legs {
		visit(leg)
	}
	for i := range b.Events {
		for leg := range b.Events[i].Message.Legs() {
			visit(leg)
		}
	}
}

// mayMatch returns a function that returns false only if the filter certainly does not select a
// published change. Such a change need not be folded. A process with many streams calls the
// function for each stream and change.
func (f Filter) mayMatch(airports *airport.Library) func(*changes.Record) bool {
	flight := ""
	if f.Flight != nil {
		flight = changes.FlightName(f.Flight.Flight)
	}
	return func(r *changes.Record) bool {
		switch {
		case len(f.Plates) > 0 && !slices.Contains(f.Plates, r.Plate),
			f.PNR != "" && r.PNRs != nil && !slices.Contains(r.PNRs, f.PNR),
			f.Airline != "" && !slices.Contains(r.Airlines, f.Airline),
			flight != "" && r.Flights != nil && !slices.Contains(r.Flights, flight):
			return false
		case f.Airport != "":
			return touches(airports, f.Airport, r.Airports)
		}
		return true
	}
}

// touches reports whether one of the codes is listed for an airport.
func touches(airports *airport.Library, airport string, codes []string) bool {
	return slices.ContainsFunc(codes, func(code string) bool { return airports.Listed(code, airport) })
}
