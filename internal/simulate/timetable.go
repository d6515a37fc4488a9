package simulate

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
	_ "time/tzdata" // for machines without time zones
)

// airport is an airport of the timetable. No two of them belong to one city.
type airport struct {
	code string
	zone *time.Location
}

// airportTable lists the airports. The first ones are hubs, where bags change flights.
var airportTable = []struct{ code, zone string }{
	{"ZRH", "Europe/Zurich"}, {"FRA", "Europe/Berlin"}, {"LHR", "Europe/London"}, {"DXB", "Asia/Dubai"}, {"JFK", "America/New_York"},
	{"GVA", "Europe/Zurich"}, {"OSL", "Europe/Oslo"}, {"MAD", "Europe/Madrid"}, {"FCO", "Europe/Rome"}, {"VIE", "Europe/Vienna"},
	{"HEL", "Europe/Helsinki"}, {"ATH", "Europe/Athens"}, {"LIS", "Europe/Lisbon"}, {"CPH", "Europe/Copenhagen"}, {"DUB", "Europe/Dublin"},
	{"BOS", "America/New_York"}, {"ORD", "America/Chicago"}, {"SFO", "America/Los_Angeles"}, {"YYZ", "America/Toronto"}, {"GRU", "America/Sao_Paulo"},
	{"SIN", "Asia/Singapore"}, {"HKG", "Asia/Hong_Kong"}, {"DEL", "Asia/Kolkata"}, {"SYD", "Australia/Sydney"}, {"NBO", "Africa/Nairobi"},
}

const hubs = 5

// airline is an airline of the timetable, with the habits of its messages.
type airline struct {
	code       string
	accounting string // its number on tags
	pads       bool   // it writes flight numbers with four digits
	lineEnd    string
}

var airlines = []airline{
	{"LX", "724", false, "\r\n"}, {"LH", "220", true, "\r\n"}, {"BA", "125", true, "\r\n"}, {"EK", "176", false, "\n"},
	{"AA", "001", false, "\r\n"}, {"U2", "888", true, "\n"}, {"SAS", "117", false, "\r\n"}, {"SQ", "618", false, "\r\n"},
}

// departure is a daily flight of the timetable.
type departure struct {
	airline    *airline
	number     string
	from, to   *airport
	leaves     time.Duration // after midnight UTC
	takes      time.Duration
	containers int  // number of containers; 0 if bags are loaded loose
	positioned bool // one message says that a container is loaded into the aircraft, not one for each bag
}

// flight is a departure on one day.
type flight struct {
	*departure
	leaves time.Time // UTC
}

func (f flight) arrives() time.Time { return f.leaves.Add(f.takes) }

// date is the local date of departure.
func (f flight) date() time.Time { return f.leaves.In(f.from.zone) }

// timetable holds the departures of a day, each list in the order of departure times.
type timetable struct {
	all     []*departure
	from    map[*airport][]*departure
	between map[[2]*airport][]*departure // by origin and destination
}

// newTimetable draws 550 departures a day: two or three between each airport and each hub,
// both ways.
func newTimetable(r *rand.Rand) *timetable {
	places := make([]*airport, len(airportTable))
	for i, row := range airportTable {
		zone, err := time.LoadLocation(row.zone)
		if err != nil {
			panic(err) // never: the zones are compiled in
		}
		places[i] = &airport{row.code, zone}
	}
	t := &timetable{from: map[*airport][]*departure{}, between: map[[2]*airport][]*departure{}}
	for hub := range hubs {
		for place := range places {
			if place < hubs && place <= hub {
				continue // two hubs are connected once
			}
			t.connect(r, places[hub], places[place])
		}
	}
	slices.SortFunc(t.all, func(a, b *departure) int {
		return cmp.Or(cmp.Compare(a.leaves, b.leaves), cmp.Compare(a.number, b.number))
	})
	for _, d := range t.all {
		t.from[d.from] = append(t.from[d.from], d)
		ends := [2]*airport{d.from, d.to}
		t.between[ends] = append(t.between[ends], d)
	}
	return t
}

// connect adds the daily departures between two airports, both ways.
func (t *timetable) connect(r *rand.Rand, a, b *airport) {
	takes := time.Duration(60+r.IntN(600)) * time.Minute
	for range 2 + r.IntN(2) {
		carrier := &airlines[r.IntN(len(airlines))]
		number := 1 + r.IntN(9) + 10*len(t.all) // unique; the way back has the next number
		containers := 0
		if takes > 3*time.Hour {
			containers = 6 + r.IntN(6)
		}
		for way, ends := range [2][2]*airport{{a, b}, {b, a}} {
			t.all = append(t.all, &departure{
				airline: carrier, number: fmt.Sprint(number + way), from: ends[0], to: ends[1],
				leaves: daytime(r, ends[0].zone), takes: takes + time.Duration(r.IntN(30))*time.Minute,
				containers: containers, positioned: containers > 0 && r.IntN(3) > 0,
			})
		}
	}
}

// daytime draws a time after midnight UTC, between 5 and 23 o'clock in a zone. Within these hours a
// change of the clocks never puts two departures of a daily flight on one local date.
func daytime(r *rand.Rand, zone *time.Location) time.Duration {
	_, east := time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC).In(zone).Zone()
	local := time.Duration(5*60+r.IntN(18*60)) * time.Minute
	return (local - time.Duration(east)*time.Second + 24*time.Hour) % (24 * time.Hour)
}

// following returns a function that returns the n-th flight, from 0, of a list at or after a time.
// The list begins again every midnight.
func following(list []*departure, earliest time.Time) func(n int) flight {
	midnight := earliest.Truncate(24 * time.Hour)
	place, _ := slices.BinarySearchFunc(list, earliest.Sub(midnight), func(d *departure, t time.Duration) int {
		return cmp.Compare(d.leaves, t)
	})
	return func(n int) flight {
		d := list[(place+n)%len(list)]
		return flight{d, midnight.Add(time.Duration((place+n)/len(list))*24*time.Hour + d.leaves)}
	}
}

// draw draws one of the departures of a list between two times, which are at most a day apart. If
// there are none, it returns the next one.
func draw(r *rand.Rand, list []*departure, first, last time.Time) flight {
	next, choices := following(list, first), 1
	for choices < len(list) && !next(choices).leaves.After(last) {
		choices++
	}
	return next(r.IntN(choices))
}

const (
	checkIn    = 70 * time.Minute // least time between check-in and departure
	connecting = 75 * time.Minute // least time between two flights
)

// itinerary draws one to three connecting flights for a check-in at now.
func (t *timetable) itinerary(r *rand.Rand, now time.Time) []flight {
	legs := [...]int{1, 1, 2, 2, 2, 2, 2, 2, 3, 3}[r.IntN(10)]
	trip := make([]flight, 1, 3)
	trip[0] = draw(r, t.all, now.Add(checkIn), now.Add(checkIn+2*time.Hour))
	for len(trip) < legs {
		last := trip[len(trip)-1]
		earliest := last.arrives().Add(connecting)
		next := draw(r, t.from[last.to], earliest, earliest.Add(4*time.Hour))
		if next.to == trip[0].from || next.to == last.from {
			break // no round trips
		}
		trip = append(trip, next)
	}
	return trip
}

// rebook returns the next flights on the same way, the first of them at or after earliest.
func (t *timetable) rebook(trip []flight, earliest time.Time) []flight {
	later := make([]flight, len(trip))
	for i, f := range trip {
		later[i] = following(t.between[[2]*airport{f.from, f.to}], earliest)(0)
		earliest = later[i].arrives().Add(connecting)
	}
	return later
}
