// Package airport is a library of IATA location codes: their names, positions, time zones and
// cities. It holds airports, metropolitan codes, railway and bus stations, and the codes retired
// since 2020, which old messages name. It also says which baggage status codes an airport may send.
// The data and the time zones are compiled in; an operator's file adds to them. A Library never
// changes and is safe for concurrent use.
package airport

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // for machines without time zones

	"bagtrail/parser"
)

//go:generate go run ./generate

// compiled holds one line for each code, with tabs between the fields: code, latitude, longitude,
// zone, further city codes with commas between them, A if the code is an airport, and the names of the
// airport, of its city and of its country.
//
//go:embed airports.tsv
var compiled string

// Library answers questions about airports. It implements parser.Reference.
type Library struct {
	index    [26 * 26 * 26]uint16             // index in airports, by slotOf code
	airports []entry                          // the first one is empty: it stands for codes that are not in the library
	zones    map[string]func() *time.Location // by name; a zone is loaded when it is first needed
	statuses map[string][]string              // status codes of single airports, by airport
}

type entry struct {
	Airport
	cities []string // the codes of its cities other than its own code, which may be a city code too
	lands  bool     // aircraft land there; else it is a metropolitan code or a station
}

// New returns the compiled library with the additions of extra. If several airports have one code,
// the last one counts. New takes a few milliseconds.
func New(extra ...Extra) *Library {
	lib := &Library{
		airports: make([]entry, 1, 1+strings.Count(compiled, "\n")),
		zones:    map[string]func() *time.Location{"": func() *time.Location { return time.UTC }},
		statuses: map[string][]string{},
	}
	for line := range strings.Lines(compiled) {
		var a Airport
		var kind string
		line = strings.TrimSuffix(line, "\n")
		for _, field := range [...]*string{&a.Code, &a.Latitude, &a.Longitude, &a.Zone, &a.Metropolitan, &kind, &a.Name, &a.City, &a.Country} {
			*field, line, _ = strings.Cut(line, "\t")
		}
		lib.add(a, kind == "A")
	}
	for _, more := range extra {
		for _, a := range more.Airports {
			lib.add(a, true)
		}
		lib.addMetropolitan(more.Airports)
		for code, added := range more.Statuses {
			lib.statuses[code] = append(lib.statuses[code], added...)
		}
	}
	return lib
}

// KnownLocation reports whether code is in the library. It need not be an airport: metropolitan
// codes, stations and retired codes are known too.
func (l *Library) KnownLocation(code string) bool { return l.find(code) != &l.airports[0] }

// KnownStatus reports whether airport may send the baggage status code: one that every airport may
// send, or one that an Extra adds for this airport.
func (l *Library) KnownStatus(airport, code string) bool {
	return slices.Contains(parser.Statuses[:], code) || slices.Contains(l.statuses[airport], code)
}

// SamePlace reports whether two codes are one place in the sense of the rules: they are equal, or
// have a city in common. A city code belongs to its own city.
func (l *Library) SamePlace(a, b string) bool {
	if a == b {
		return true
	}
	ofA, ofB := l.find(a).cities, l.find(b).cities
	for _, city := range ofA {
		if city == b || slices.Contains(ofB, city) {
			return true
		}
	}
	return slices.Contains(ofB, a)
}

// Cities returns the codes of the cities of a location, without the code of the location itself.
func (l *Library) Cities(code string) []string { return l.find(code).cities }

// Listed reports whether a leg that begins or ends at the code end is in the lists of an airport
// (rules §4): the codes are equal, or end is a metropolitan code of the airport, and not an airport
// itself.
func (l *Library) Listed(end, airport string) bool {
	return end == airport || !l.find(end).lands && slices.Contains(l.find(airport).cities, end)
}

// Codes returns the codes at which a leg may begin or end to be in the lists of an airport, see
// Listed: the code of the airport, and the metropolitan codes of its cities.
func (l *Library) Codes(airport string) []string {
	codes := []string{airport}
	for _, city := range l.Cities(airport) {
		if l.Listed(city, airport) {
			codes = append(codes, city)
		}
	}
	return codes
}

// Coordinates returns the latitude and longitude of a location as text: decimal degrees, north and
// east positive. known is false if the position is unknown.
func (l *Library) Coordinates(code string) (latitude, longitude string, known bool) {
	a := l.find(code)
	return a.Latitude, a.Longitude, a.Latitude != ""
}

// Names returns the name of an airport, the name of its city, and its country as two letters (ISO
// 3166). Each is "" if it is unknown.
func (l *Library) Names(code string) (airport, city, country string) {
	a := l.find(code)
	return a.Name, a.City, a.Country
}

// TimeZone returns the time zone of the airport, or UTC if the code is not in the library.
func (l *Library) TimeZone(code string) *time.Location { return l.zones[l.find(code).Zone]() }

// find returns the entry of a code. It is empty if the code is not in the library.
func (l *Library) find(code string) *entry {
	if slot, valid := slotOf(code); valid {
		return &l.airports[l.index[slot]]
	}
	return &l.airports[0]
}

// slotOf returns the index in Library.index of a code. valid is false unless code is three
// capitals.
func slotOf(code string) (slot int, valid bool) {
	if !parser.IsThreeCapitals(code) {
		return 0, false
	}
	for i := range 3 {
		slot = slot*26 + int(code[i]-'A')
	}
	return slot, true
}

func (l *Library) add(a Airport, lands bool) {
	slot, valid := slotOf(a.Code)
	if !valid {
		return
	}
	if name := a.Zone; l.zones[name] == nil {
		l.zones[name] = sync.OnceValue(func() *time.Location {
			location, err := time.LoadLocation(name)
			if err != nil {
				return time.UTC // never: a test loads every compiled zone, ReadExtra those of the file
			}
			return location
		})
	}
	added := entry{Airport: a, lands: lands}
	if a.Metropolitan != "" && a.Metropolitan != a.Code {
		added.cities = strings.Split(a.Metropolitan, ",")
	}
	l.index[slot] = uint16(len(l.airports))
	l.airports = append(l.airports, added)
}

// addMetropolitan adds the metropolitan codes that the added airports name and that are not in the
// library. Each takes position and zone from the first airport that names it.
func (l *Library) addMetropolitan(added []Airport) {
	for _, a := range added {
		if a.Metropolitan != "" && !l.KnownLocation(a.Metropolitan) {
			l.add(Airport{Code: a.Metropolitan, Zone: a.Zone, Latitude: a.Latitude, Longitude: a.Longitude}, false)
		}
	}
}
