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

// The first ones make a crowded world: two cities with several airports, zones on both sides of
// UTC, and summer time of half an hour.
var airportTable = []struct{ code, metropolitan, zone string }{
	{"ZRH", "", "Europe/Zurich"},
	{"LHR", "LON", "Europe/London"},
	{"JFK", "NYC", "America/New_York"},
	{"LGW", "LON", "Europe/London"},
	{"SYD", "", "Australia/Sydney"},
	{"LDH", "", "Australia/Lord_Howe"},
	{"FRA", "", "Europe/Berlin"},
	{"EWR", "NYC", "America/New_York"},
	{"ICN", "SEL", "Asia/Seoul"},
	{"TPE", "", "Asia/Taipei"},
	{"OSL", "", "Europe/Oslo"},
	{"IST", "", "Europe/Istanbul"},
	{"KTM", "", "Asia/Kathmandu"},
	{"MUC", "", "Europe/Berlin"},
	{"GVA", "", "Europe/Zurich"},
	{"MAD", "", "Europe/Madrid"},
	{"SIN", "", "Asia/Singapore"},
	{"HEL", "", "Europe/Helsinki"},
	{"GIG", "RIO", "America/Sao_Paulo"},
	{"NBO", "", "Africa/Nairobi"},
}

var (
	airlines = []struct{ code, accounting string }{
		{"LX", "724"}, {"BA", "125"}, {"U2", "888"}, {"DLH", "220"}, {"SK", "117"}, {"OZ", "988"}, {"LH", "221"}, {"KQ", "706"},
	}
	surnames = []string{"SMITH", "MUELLER", "SMITH-JONES", "O BRIEN", "SMITHJONES", "MARTIN", "ROSSI", "KIM", "LEE", "HANSEN",
		"DUBOIS", "GARCIA", "KELLER", "MEIER", "FITZROY", "MARCHETTI", "BAUER", "OKAFOR", "SATO", "NOVAK"}
	givenNames = []string{"ANNA", "JOHN", "MARTA", "ALEX", "TOM", "WEI", "INGRID", "JOSE"}
	titles     = []string{"", "MR", "MRS", "MS", "MISS", "MSTR"}
	containers = []string{"AKE1", "AKE25219OZ", "PMC7", "AKH03LX"}
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

// world is shared by all journeys of a run.
type world struct {
	airports   []airport
	routes     []route
	ways       map[string][]route // routes out of each place
	surnames   []string
	pnrs       []string
	plates     []uint64
	containers []string
}

// newWorld draws a world of the sizes in opt.
func newWorld(r *rand.Rand, opt Options) *world {
	w := &world{ways: map[string][]route{}, containers: containers[:min(len(containers), 1+opt.Routes/3)]}
	for _, a := range airportTable[:min(max(opt.Airports, 2), len(airportTable))] {
		zone, err := time.LoadLocation(a.zone)
		if err != nil {
			zone = time.UTC // never: the zones are compiled in
		}
		w.airports = append(w.airports, airport{a.code, a.metropolitan, zone})
	}
	for i := range max(opt.Routes, 2) {
		from := w.airports[i%len(w.airports)]
		to := from
		for to.code == from.code {
			to = pick(r, w.airports...)
		}
		number := fmt.Sprint(1 + r.IntN(20))
		if opt.Routes > 20 {
			number = fmt.Sprint(1 + i)
		}
		if r.IntN(6) == 0 {
			number += "A"
		}
		way := route{airlines[i/2%len(airlines)].code, number, from, to}
		w.routes = append(w.routes, way)
		w.ways[from.place()] = append(w.ways[from.place()], way)
	}
	for i := range max(opt.Passengers, 1) {
		name := surnames[i%len(surnames)]
		if i >= len(surnames) {
			name += givenNames[i%len(givenNames)]
		}
		w.surnames = append(w.surnames, name)
		w.pnrs = append(w.pnrs, locator(r, i))
	}
	for i := range max(opt.Plates, 1) {
		line := airlines[i/40%len(airlines)]
		w.plates = append(w.plates, number("0"+line.accounting+fmt.Sprintf("%06d", 120000+i)))
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

func number(digits string) uint64 {
	var n uint64
	for _, d := range []byte(digits) {
		n = n*10 + uint64(d-'0')
	}
	return n
}

// someone draws a passenger. Surname and PNR are drawn independently, so that they repeat
// independently.
func (w *world) someone(r *rand.Rand) passenger {
	return passenger{pick(r, w.surnames...), pick(r, givenNames...) + pick(r, titles...), pick(r, w.pnrs...)}
}

// itinerary draws one to three connecting flights from any airport, the first on day.
func (w *world) itinerary(r *rand.Rand, day time.Time) []flight {
	return w.travel(r, day, w.routes)
}

// itineraryFrom draws an itinerary out of a place. It returns nil if no route leaves it.
func (w *world) itineraryFrom(r *rand.Rand, place string, day time.Time) []flight {
	return w.travel(r, day, w.ways[place])
}

// travel draws an itinerary that begins with one of the ways.
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
