package simulate

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
	_ "time/tzdata" // times are written in the local time of airports, wherever this runs
)

// airport is a place where bags are handled. No two of them belong to one city.
type airport struct {
	code string
	zone *time.Location
}

// The first ones are hubs, at which bags are transferred.
var airportTable = []struct{ code, zone string }{
	{"ZRH", "Europe/Zurich"}, {"FRA", "Europe/Berlin"}, {"LHR", "Europe/London"}, {"DXB", "Asia/Dubai"}, {"JFK", "America/New_York"},
	{"GVA", "Europe/Zurich"}, {"OSL", "Europe/Oslo"}, {"MAD", "Europe/Madrid"}, {"FCO", "Europe/Rome"}, {"VIE", "Europe/Vienna"},
	{"HEL", "Europe/Helsinki"}, {"ATH", "Europe/Athens"}, {"LIS", "Europe/Lisbon"}, {"CPH", "Europe/Copenhagen"}, {"DUB", "Europe/Dublin"},
	{"BOS", "America/New_York"}, {"ORD", "America/Chicago"}, {"SFO", "America/Los_Angeles"}, {"YYZ", "America/Toronto"}, {"GRU", "America/Sao_Paulo"},
	{"SIN", "Asia/Singapore"}, {"HKG", "Asia/Hong_Kong"}, {"DEL", "Asia/Kolkata"}, {"SYD", "Australia/Sydney"}, {"NBO", "Africa/Nairobi"},
}

const hubs = 5

// airline flies; accounting is its number on tags.
type airline struct {
	code, accounting string
	pads             bool // writes flight numbers with four digits
	ends             string
}

var airlines = []airline{
	{"LX", "724", false, "\r\n"}, {"LH", "220", true, "\r\n"}, {"BA", "125", true, "\r\n"}, {"EK", "176", false, "\n"},
	{"AA", "001", false, "\r\n"}, {"U2", "888", true, "\n"}, {"SAS", "117", false, "\r\n"}, {"SQ", "618", false, "\r\n"},
}

// departure is a flight of the timetable; it leaves every day.
type departure struct {
	line       *airline
	number     string
	from, to   *airport
	leaves     time.Duration // after midnight UTC
	takes      time.Duration
	containers int  // 0: its bags are loaded loose
	positioned bool // its containers are loaded by one message each, not bag by bag
}

// flight is a departure on one day.
type flight struct {
	*departure
	leaves time.Time // UTC
}

func (f flight) arrives() time.Time { return f.leaves.Add(f.takes) }

// date is the local date of departure.
func (f flight) date() time.Time { return f.leaves.In(f.from.zone) }

// timetable holds the departures in the order in which they leave.
type timetable struct {
	all  []*departure
	from map[*airport][]*departure
	pair map[[2]*airport][]*departure
}

// newTimetable draws some five hundred departures a day: from each airport to each hub and back, two or three times.
func newTimetable(r *rand.Rand) (*timetable, error) {
	places := make([]*airport, len(airportTable))
	for i, row := range airportTable {
		zone, err := time.LoadLocation(row.zone)
		if err != nil {
			return nil, fmt.Errorf("time zone of %s: %w", row.code, err)
		}
		places[i] = &airport{row.code, zone}
	}
	t := &timetable{from: map[*airport][]*departure{}, pair: map[[2]*airport][]*departure{}}
	for hub := range hubs {
		for place := range places {
			if place < hubs && place <= hub {
				continue // once for each two hubs
			}
			t.connect(r, places[hub], places[place])
		}
	}
	slices.SortFunc(t.all, func(a, b *departure) int {
		return cmp.Or(cmp.Compare(a.leaves, b.leaves), cmp.Compare(a.number, b.number))
	})
	for _, d := range t.all {
		t.from[d.from] = append(t.from[d.from], d)
		t.pair[[2]*airport{d.from, d.to}] = append(t.pair[[2]*airport{d.from, d.to}], d)
	}
	return t, nil
}

// connect adds the departures of a day between two airports, both ways.
func (t *timetable) connect(r *rand.Rand, a, b *airport) {
	takes := time.Duration(60+r.IntN(600)) * time.Minute
	for range 2 + r.IntN(2) {
		line := &airlines[r.IntN(len(airlines))]
		number := 1 + r.IntN(9) + 10*len(t.all) // no two alike; the way back has the next one
		containers := 0
		if takes > 3*time.Hour {
			containers = 6 + r.IntN(6)
		}
		for way, ends := range [2][2]*airport{{a, b}, {b, a}} {
			t.all = append(t.all, &departure{
				line: line, number: fmt.Sprint(number + way), from: ends[0], to: ends[1],
				leaves: byDay(r, ends[0].zone), takes: takes + time.Duration(r.IntN(30))*time.Minute,
				containers: containers, positioned: containers > 0 && r.IntN(3) > 0,
			})
		}
	}
}

// byDay draws a time after midnight UTC from the hours 5 to 23 of a zone, in which no change of summer time puts two
// departures on one date.
func byDay(r *rand.Rand, zone *time.Location) time.Duration {
	_, east := time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC).In(zone).Zone()
	local := time.Duration(5*60+r.IntN(18*60)) * time.Minute
	return (local - time.Duration(east)*time.Second + 24*time.Hour) % (24 * time.Hour)
}

// between draws one of the departures of a list that leave from one time to another, at most a day later; the first
// that leaves thereafter where there are none.
func between(r *rand.Rand, list []*departure, first, last time.Time) flight {
	midnight := first.Truncate(24 * time.Hour)
	begin, _ := slices.BinarySearchFunc(list, first.Sub(midnight), func(d *departure, t time.Duration) int { return cmp.Compare(d.leaves, t) })
	choice := 1
	for choice < len(list) && !nth(list, begin+choice, midnight).leaves.After(last) {
		choice++
	}
	return nth(list, begin+r.IntN(choice), midnight)
}

// nth returns the departure at a place of a list that begins again every midnight.
func nth(list []*departure, place int, midnight time.Time) flight {
	d := list[place%len(list)]
	return flight{d, midnight.Add(time.Duration(place/len(list))*24*time.Hour + d.leaves)}
}

const (
	checkIn    = 70 * time.Minute // before departure, at the latest
	connecting = 75 * time.Minute // between two flights, at least
)

// itinerary draws one to three flights that follow each other.
func (t *timetable) itinerary(r *rand.Rand, now time.Time) []flight {
	legs := [...]int{1, 1, 2, 2, 2, 2, 2, 2, 3, 3}[r.IntN(10)]
	trip := make([]flight, 1, 3)
	trip[0] = between(r, t.all, now.Add(checkIn), now.Add(checkIn+2*time.Hour))
	for len(trip) < legs {
		last := trip[len(trip)-1]
		earliest := last.arrives().Add(connecting)
		next := between(r, t.from[last.to], earliest, earliest.Add(4*time.Hour))
		if next.to == trip[0].from || next.to == last.from {
			break // nobody travels in a circle
		}
		trip = append(trip, next)
	}
	return trip
}

// after returns the same way again: the next flights between the same airports, the first of them at the earliest at a time.
func (t *timetable) after(trip []flight, earliest time.Time) []flight {
	later := make([]flight, len(trip))
	for i, f := range trip {
		list := t.pair[[2]*airport{f.from, f.to}]
		midnight := earliest.Truncate(24 * time.Hour)
		begin, _ := slices.BinarySearchFunc(list, earliest.Sub(midnight), func(d *departure, t time.Duration) int { return cmp.Compare(d.leaves, t) })
		later[i] = nth(list, begin, midnight)
		earliest = later[i].arrives().Add(connecting)
	}
	return later
}
