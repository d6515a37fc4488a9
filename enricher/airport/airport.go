// Package airport is the library of IATA location codes: position, time zone and cities of every airport of today, of
// the metropolitan codes, of railway and bus stations, and of the codes retired since 2020, which old messages name. It
// also knows the baggage status codes that an airport may send. The data and the time zones are compiled in; an
// operator's file adds to them. A Library never changes once made and is safe for concurrent use.
package airport

import (
	_ "embed"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	_ "time/tzdata" // zones where the machine has none
)

//go:generate go run ./generate

// compiled has a line a code: code, latitude, longitude, zone, the codes of its cities beside its own with commas between
// them, and A if it is an airport, split by tabs.
//
//go:embed airports.tsv
var compiled string

// statuses are the baggage status codes that every airport may send.
var statuses = [...]string{"NAL", "OFF", "OND", "ONA", "UNS"}

// Library answers questions about airports. It implements parser.Reference.
type Library struct {
	index    [26 * 26 * 26]uint16 // by code: 1 + place in airports, or 0
	airports []entry
	zones    []zone
	statuses map[string][]string // by airport, beside those of every airport
}

type entry struct {
	cities              cities
	airport             bool   // aircraft land there; else it is a metropolitan code or a station
	latitude, longitude string // decimal degrees, or both "" where unknown
	zone                uint16 // place in Library.zones
}

// cities are the codes of the cities of an airport, each as 1 + its place in Library.index: first its own, since a city
// code is of its own city, then at most two others; 0 is none.
type cities [3]uint16

type zone struct {
	name     string
	location atomic.Pointer[time.Location] // nil until asked for
}

// New returns the compiled library with what extra adds to it; of two airports with one code the later one stands.
// It takes about two milliseconds.
func New(extra ...Extra) *Library {
	size := strings.Count(compiled, "\n")
	lib := &Library{airports: make([]entry, 0, size), statuses: map[string][]string{}}
	zones := map[string]uint16{}
	for line := range strings.Lines(compiled) {
		var a Airport
		a.Code, line, _ = strings.Cut(line, "\t")
		a.Latitude, line, _ = strings.Cut(line, "\t")
		a.Longitude, line, _ = strings.Cut(line, "\t")
		a.Zone, line, _ = strings.Cut(line, "\t")
		a.Metropolitan, line, _ = strings.Cut(line, "\t")
		lib.add(a, line == "A\n", zones)
	}
	for _, more := range extra {
		for _, a := range more.Airports {
			lib.add(a, true, zones)
		}
		lib.addMetropolitan(more.Airports, zones)
		for code, added := range more.Statuses {
			lib.statuses[code] = append(lib.statuses[code], added...)
		}
	}
	lib.zones = make([]zone, len(zones))
	for name, i := range zones {
		lib.zones[i].name = name
	}
	return lib
}

// KnownAirport reports whether code is a location code of the library: of an airport, a metropolitan area, a station, or
// retired.
func (l *Library) KnownAirport(code string) bool { return l.find(code) != nil }

// KnownStatus reports whether code is a baggage status code that airport may send: one of every airport, or one that
// was added for this airport.
func (l *Library) KnownStatus(airport, code string) bool {
	return slices.Contains(statuses[:], code) || slices.Contains(l.statuses[airport], code)
}

// SamePlace reports whether two codes are one place to the rules: they are equal, or share a city. A city code is of its
// own city.
func (l *Library) SamePlace(a, b string) bool {
	if a == b {
		return true
	}
	x, y := l.find(a), l.find(b)
	if x == nil || y == nil || x.cities[1]|y.cities[1] == 0 {
		return false // two codes that are of their own city alone
	}
	for _, city := range x.cities {
		if city != 0 && slices.Contains(y.cities[:], city) {
			return true
		}
	}
	return false
}

// Listed reports whether a leg that ends at the code end is in the lists of the airport (rules §4): it ends there, or
// end is the metropolitan code of a city of the airport, so that nobody knows at which airport it ends.
func (l *Library) Listed(end, airport string) bool {
	if end == airport {
		return true
	}
	x, y := l.find(end), l.find(airport)
	return x != nil && y != nil && !x.airport && slices.Contains(y.cities[1:], x.cities[0])
}

// Position returns the latitude and longitude in decimal degrees, north and east positive, as text.
func (l *Library) Position(code string) (latitude, longitude string, known bool) {
	a := l.find(code)
	if a == nil || a.latitude == "" {
		return "", "", false
	}
	return a.latitude, a.longitude, true
}

// Location returns the time zone of the airport, and UTC for a code that is not in the library.
func (l *Library) Location(code string) *time.Location {
	a := l.find(code)
	if a == nil {
		return time.UTC
	}
	z := &l.zones[a.zone]
	if location := z.location.Load(); location != nil {
		return location
	}
	location, err := time.LoadLocation(z.name)
	if err != nil {
		location = time.UTC // never: a test loads every compiled zone, and ReadExtra those of the file
	}
	z.location.CompareAndSwap(nil, location)
	return z.location.Load()
}

func (l *Library) find(code string) *entry {
	slot, valid := slotOf(code)
	if !valid || l.index[slot] == 0 {
		return nil
	}
	return &l.airports[l.index[slot]-1]
}

// slotOf returns the place of a code of three capitals in Library.index.
func slotOf(code string) (slot int, valid bool) {
	if len(code) != 3 {
		return 0, false
	}
	for i := range 3 {
		if code[i] < 'A' || code[i] > 'Z' {
			return 0, false
		}
		slot = slot*26 + int(code[i]-'A')
	}
	return slot, true
}

func (l *Library) add(a Airport, isAirport bool, zones map[string]uint16) {
	slot, valid := slotOf(a.Code)
	if !valid {
		return
	}
	number, known := zones[a.Zone]
	if !known {
		number = uint16(len(zones))
		zones[a.Zone] = number
	}
	added := entry{
		cities: cities{uint16(slot + 1)}, airport: isAirport,
		latitude: a.Latitude, longitude: a.Longitude, zone: number,
	}
	if a.Metropolitan != "" {
		n := 1
		for city := range strings.SplitSeq(a.Metropolitan, ",") {
			if slot, valid := slotOf(city); valid && n < len(added.cities) {
				added.cities[n] = uint16(slot + 1)
				n++
			}
		}
	}
	l.airports = append(l.airports, added)
	l.index[slot] = uint16(len(l.airports))
}

// addMetropolitan makes the metropolitan codes that added airports name and nobody describes: they take position and
// zone of the first airport that names them.
func (l *Library) addMetropolitan(added []Airport, zones map[string]uint16) {
	for _, a := range added {
		if a.Metropolitan != "" && !l.KnownAirport(a.Metropolitan) {
			a.Code, a.Metropolitan = a.Metropolitan, ""
			l.add(a, false, zones)
		}
	}
}
