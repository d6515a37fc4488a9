package flightref

import (
	"fmt"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/internal/bag"
	"bagtrail/internal/strictyaml"
	"bagtrail/parser"
)

// Parse reads the text of a flight reference file:
//
//	flights:
//	  - airline: LX
//	    flight: "100"              # number and suffix; leading zeros do not count
//	    origin: ZRH
//	    destination: JFK
//	    date: 2026-11-21           # local date of departure
//	    departure: {scheduled: 2026-11-21T13:10:00+01:00, estimated: …, actual: …}
//	    arrival: {…}               # the same members
//	    blackout_start: 2026-11-21T12:10:00+01:00
//	    paxinquiry_subscription: true
//
// An airline may be named by its IATA or its ICAO code. The last two members are optional.
// departure and arrival each need at least one time. The error joins the faults of the file, each
// with its line.
func Parse(text []byte, airlines *airline.Library) ([]*Reference, error) {
	var references []*Reference
	seen := map[leg]bool{}
	err := strictyaml.Read(text, func(document strictyaml.Value) {
		document.Object(strictyaml.Members{"flights": func(list strictyaml.Value) {
			list.List(func(v strictyaml.Value) {
				r := readReference(v)
				r.Flight.Airline = airlines.Code(r.Carrier)
				if id := (leg{r.Flight, r.Origin, r.Destination}); id.complete() {
					if seen[id] {
						v.Fault("%s%s of %s from %s to %s appears twice", r.Carrier, r.Flight.Number, r.Flight.Day, r.Origin, r.Destination)
					}
					seen[id] = true
				}
				references = append(references, r)
			})
		}}, "flights")
	})
	if err != nil {
		return nil, fmt.Errorf("flight reference file:\n%w", err)
	}
	return references, nil
}

type leg struct {
	flight              bag.Flight
	origin, destination string
}

func (l leg) complete() bool {
	return l.flight.Airline != "" && l.flight.Number != "" && l.flight.Day != 0 && l.origin != "" && l.destination != ""
}

func readReference(v strictyaml.Value) *Reference {
	r := &Reference{}
	v.Object(strictyaml.Members{
		"airline": func(v strictyaml.Value) {
			r.Carrier = v.Pattern(parser.IsAirline, "an airline code of 2 or 3 capitals or digits")
		},
		"flight": func(v strictyaml.Value) {
			r.Flight.Number, _ = parser.FlightNumber(v.Pattern(isNumber, "a flight number: 1-4 digits and perhaps a letter"))
		},
		"origin": func(v strictyaml.Value) { r.Origin = v.Pattern(parser.IsThreeCapitals, "an airport of three capitals") },
		"destination": func(v strictyaml.Value) {
			r.Destination = v.Pattern(parser.IsThreeCapitals, "an airport of three capitals")
		},
		"date":                    func(v strictyaml.Value) { r.Flight.Day = readDay(v) },
		"departure":               func(v strictyaml.Value) { r.Departure = readTimes(v) },
		"arrival":                 func(v strictyaml.Value) { r.Arrival = readTimes(v) },
		"blackout_start":          func(v strictyaml.Value) { r.BlackoutStart = v.Time() },
		"paxinquiry_subscription": func(v strictyaml.Value) { r.Subscription = v.Bool() },
	}, "airline", "flight", "origin", "destination", "date", "departure", "arrival")
	return r
}

func readTimes(v strictyaml.Value) (t Times) {
	known := 0
	read := func(to *time.Time) func(strictyaml.Value) {
		return func(v strictyaml.Value) { *to, known = v.Time(), known+1 }
	}
	v.Object(strictyaml.Members{"scheduled": read(&t.Scheduled), "estimated": read(&t.Estimated), "actual": read(&t.Actual)})
	if known == 0 {
		v.Fault("none of scheduled, estimated and actual is known")
	}
	return t
}

func readDay(v strictyaml.Value) bag.Day {
	text, plain := v.Text()
	day, err := bag.ParseDay(text)
	if plain && err != nil {
		v.Fault("%q is %v", text, err)
	}
	return day
}

func isNumber(s string) bool {
	_, ok := parser.FlightNumber(s)
	return ok
}
