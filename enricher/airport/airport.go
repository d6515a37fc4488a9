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
	index    [26 * 26 * 26]uint16 // by slotOf code: 1 + index in airports, or 0
	airports []entry
	statuses map[string][]string // status codes of single airports, by airport
}

type entry struct {
	cities              []string              // the codes of its cities other than its own code, which may be a city code too
	airport             bool                  // aircraft land there; else it is a metropolitan code or a station
	latitude, longitude string                // decimal degrees, or both "" if unknown
	zone                func() *time.Location // the zone is loaded when it is first needed
	names               string                // of the airport, its city and its country, with tabs between them
}

// New returns the compiled library with the additions of extra. If several airports have one code,
// the last one counts. New takes about two milliseconds.
func New(extra ...Extra) *Library {
	size := strings.Count(compiled, "\n")
	lib := &Library{airports: make([]entry, 0, size), statuses: map[string][]string{}}
	zones := map[string]func() *time.Location{}
	for line := range strings.Lines(compiled) {
		var a Airport
		a.Code, line, _ = strings.Cut(line, "\t")
		a.Latitude, line, _ = strings.Cut(line, "\t")
		a.Longitude, line, _ = strings.Cut(line, "\t")
		a.Zone, line, _ = strings.Cut(line, "\t")
		a.Metropolitan, line, _ = strings.Cut(line, "\t")
		kind, names, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		lib.add(a, names, kind == "A", zones)
	}
	for _, more := range extra {
		for _, a := range more.Airports {
			lib.add(a, strings.Join([]string{a.Name, a.City, a.Country}, "\t"), true, zones)
		}
		lib.addMetropolitan(more.Airports, zones)
		for code, added := range more.Statuses {
			lib.statuses[code] = append(lib.statuses[code], added...)
		}
	}
	return lib
}

// KnownLocation reports whether code is in the library. It need not be an airport: metropolitan
// codes, stations and retired codes are known too.
func (l *Library) KnownLocation(code string) bool { return l.find(code) != nil }

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
	x, y := l.find(a), l.find(b)
	if x == nil || y == nil {
		return false
	}
	for _, city := range x.cities {
		if city == b || slices.Contains(y.cities, city) {
			return true
		}
	}
	return slices.Contains(y.cities, a)
}

// Cities returns the codes of the cities of a location, without the code of the location itself.
func (l *Library) Cities(code string) []string {
	if a := l.find(code); a != nil {
		return a.cities
	}
	return nil
}

// Listed reports whether a leg that begins or ends at the code end is in the lists of an airport
// (rules §4): the codes are equal, or end is a metropolitan code of the airport, and not an airport
// itself.
func (l *Library) Listed(end, airport string) bool {
	if end == airport {
		return true
	}
	x, y := l.find(end), l.find(airport)
	return x != nil && y != nil && !x.airport && slices.Contains(y.cities, end)
}

// Codes returns the codes at which a leg may begin or end to be in the lists of an airport, see
// Listed: the code of the airport, and the metropolitan codes of its cities.
func (l *Library) Codes(airport string) []string {
	codes := []string{airport}
	if a := l.find(airport); a != nil {
		for _, city := range a.cities {
			if l.Listed(city, airport) {
				codes = append(codes, city)
			}
		}
	}
	return codes
}

// Coordinates returns the latitude and longitude of a location as text: decimal degrees, north and
// east positive. known is false if the position is unknown.
func (l *Library) Coordinates(code string) (latitude, longitude string, known bool) {
	a := l.find(code)
	if a == nil || a.latitude == "" {
		return "", "", false
	}
	return a.latitude, a.longitude, true
}

// Names returns the name of an airport, the name of its city, and its country as two letters (ISO
// 3166). Each is "" if it is unknown.
func (l *Library) Names(code string) (airport, city, country string) {
	a := l.find(code)
	if a == nil || a.names == "" {
		return "", "", ""
	}
	airport, rest, _ := strings.Cut(a.names, "\t")
	city, country, _ = strings.Cut(rest, "\t")
	return airport, city, country
}

// TimeZone returns the time zone of the airport, or UTC if the code is not in the library.
func (l *Library) TimeZone(code string) *time.Location {
	if a := l.find(code); a != nil {
		return a.zone()
	}
	return time.UTC
}

func (l *Library) find(code string) *entry {
	slot, valid := slotOf(code)
	if !valid || l.index[slot] == 0 {
		return nil
	}
	return &l.airports[l.index[slot]-1]
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

func (l *Library) add(a Airport, names string, isAirport bool, zones map[string]func() *time.Location) {
	slot, valid := slotOf(a.Code)
	if !valid {
		return
	}
	if zones[a.Zone] == nil {
		zones[a.Zone] = sync.OnceValue(func() *time.Location {
			location, err := time.LoadLocation(a.Zone)
			if err != nil {
				return time.UTC // never: a test loads every compiled zone, ReadExtra those of the file
			}
			return location
		})
	}
	added := entry{airport: isAirport, latitude: a.Latitude, longitude: a.Longitude, zone: zones[a.Zone], names: names}
	if a.Metropolitan != "" && a.Metropolitan != a.Code {
		added.cities = strings.Split(a.Metropolitan, ",")
	}
	l.airports = append(l.airports, added)
	l.index[slot] = uint16(len(l.airports))
}

// addMetropolitan adds the metropolitan codes that the added airports name and that are not in the
// library. Each takes position and zone from the first airport that names it.
func (l *Library) addMetropolitan(added []Airport, zones map[string]func() *time.Location) {
	for _, a := range added {
		if a.Metropolitan != "" && !l.KnownLocation(a.Metropolitan) {
			a.Code, a.Metropolitan = a.Metropolitan, ""
			l.add(a, "", false, zones)
		}
	}
}
