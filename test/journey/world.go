package journey

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	_ "time/tzdata" // for machines without time zones
)

// airport is an airport of the world.
type airport struct {
	code, metropolitan string // metropolitan is "" if it has none
	zone               *time.Location
}

// names returns the codes by which an element may name the airport.
func (a airport) names() []string {
	if a.metropolitan == "" {
		return []string{a.code}
	}
	return []string{a.code, a.code, a.metropolitan}
}

// place returns the metropolitan code, or else the code of the airport.
func (a airport) place() string {
	if a.metropolitan != "" {
		return a.metropolitan
	}
	return a.code
}

// airportTable lists the airports: two of one city, zones on both sides of UTC.
var airportTable = []struct{ code, metropolitan, zone string }{
	{"ZRH", "", "Europe/Zurich"},
	{"LHR", "LON", "Europe/London"},
	{"JFK", "NYC", "America/New_York"},
	{"LGW", "LON", "Europe/London"},
}

// The world is so small that journeys share nearly everything.
var (
	airlines   = []string{"LX", "BA", "U2"}
	surnames   = []string{"SMITH", "MUELLER", "SMITH-JONES"}
	givenNames = []string{"ANNA", "JOHN", "MARTA", "ALEX", "TOM", "WEI", "INGRID", "JOSE"}
	titles     = []string{"", "MR", "MRS", "MS", "MISS", "MSTR"}
	plates     = []uint64{724120000, 724120001, 724120002}
	containers = []string{"AKE1", "AKE25219OZ", "PMC7"}
)

// route is a flight number between two airports.
type route struct {
	airline, number string
	from, to        airport
}

// passenger is a passenger as messages name him.
type passenger struct {
	surname, given, pnr string
}

// world holds what all journeys of a run share.
type world struct {
	routes []route
	ways   map[string][]route // routes out of each place
	pnrs   []string
}

// newWorld draws a world.
func newWorld(r *rand.Rand) *world {
	var airports []airport
	for _, a := range airportTable {
		zone, err := time.LoadLocation(a.zone)
		if err != nil {
			zone = time.UTC // never: the zones are compiled in
		}
		airports = append(airports, airport{a.code, a.metropolitan, zone})
	}
	w := &world{ways: map[string][]route{}}
	for i := range 2 * len(airlines) {
		from := airports[i%len(airports)]
		to := from
		for to.code == from.code {
			to = pick(r, airports...)
		}
		number := fmt.Sprint(1 + r.IntN(20))
		if r.IntN(6) == 0 {
			number += "A"
		}
		way := route{airlines[i/2], number, from, to}
		w.routes = append(w.routes, way)
		w.ways[from.place()] = append(w.ways[from.place()], way)
	}
	for i := range surnames {
		w.pnrs = append(w.pnrs, locator(r, i))
	}
	return w
}

// locator returns the i-th PNR: five or six letters and digits, all different.
func locator(r *rand.Rand, i int) string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
	var b strings.Builder
	for range 2 + r.IntN(2) {
		b.WriteByte(letters[r.IntN(len(letters))])
	}
	return b.String() + fmt.Sprintf("%03d", i)
}

// someone draws a passenger. Surname and PNR are drawn independently, so that they repeat
// independently.
func (w *world) someone(r *rand.Rand) passenger {
	return passenger{pick(r, surnames...), pick(r, givenNames...) + pick(r, titles...), pick(r, w.pnrs...)}
}

// travel draws one to three connecting flights, the first one on day and one of the ways. It
// returns nil if there are no ways.
func (w *world) travel(r *rand.Rand, day time.Time, ways []route) []flight {
	var trip []flight
	for range pick(r, 1, 2, 2, 2, 3) {
		if len(ways) == 0 {
			break
		}
		way := pick(r, ways...)
		trip = append(trip, flight{way.airline, way.number, day, way.from, way.to})
		day = day.AddDate(0, 0, pick(r, 0, 0, 0, 1))
		ways = w.ways[way.to.place()]
	}
	return trip
}
