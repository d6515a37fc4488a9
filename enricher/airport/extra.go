package airport

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"bagtrail/internal/strictyaml"
	"bagtrail/parser"
)

// Airport is an airport of an operator's file, or a location code of the compiled data: an airport,
// a metropolitan code or a station.
type Airport struct {
	Code                string // three capitals
	Zone                string // name of the time zone: Europe/Zurich
	Latitude, Longitude string // decimal degrees, north and east positive; both "" if unknown
	Metropolitan        string // its metropolitan code or ""; compiled data may have several, with commas
	Name, City          string // for people; "" if unknown
	Country             string // two capitals (ISO 3166), or ""
}

// Extra holds the additions of an operator to the compiled library.
type Extra struct {
	Airports []Airport           // an airport that is compiled in is replaced as a whole
	Statuses map[string][]string // b_codes: further status codes of the element .B, by the airport that may send them
}

// ReadExtra reads an airports file in YAML:
//
//	airports:
//	  - {code: MYS, timezone: Africa/Addis_Ababa, latitude: 3.5, longitude: 39.05, metropolitan: "",
//	     name: Moyale Airport, city: Moyale, country: ET}
//	b_codes: {ZRH: [LCK]}
//
// Each airport needs code and timezone. It has both latitude and longitude, in decimal degrees, or
// neither. It replaces the airport of the library with the same code as a whole: a member that the
// file leaves out is then unknown, even if the library knows it. An airport belongs to the
// metropolitan code that it names, or to none. A metropolitan code that is not in the library is
// added to it.
//
// The keys of b_codes are airports. The list of an airport holds further baggage status codes that
// .B may have in messages of that airport.
//
// The error joins the faults of the file, each with its line.
func ReadExtra(text []byte) (Extra, error) {
	extra := Extra{Statuses: map[string][]string{}}
	err := strictyaml.Read(text, func(document strictyaml.Value) {
		readStatuses := func() {}
		document.Object(strictyaml.Members{
			"airports": extra.readAirports,
			"b_codes":  func(v strictyaml.Value) { readStatuses = func() { extra.readStatuses(v, New(extra)) } },
		})
		readStatuses() // last, since b_codes may name airports that follow it in the file
	})
	if err != nil {
		return Extra{}, fmt.Errorf("airports:\n%w", err)
	}
	return extra, nil
}

// readAirports reads the list of airports. It keeps airports with faults too, since ReadExtra then
// fails.
func (x *Extra) readAirports(list strictyaml.Value) {
	seen := map[string]bool{}
	list.List(func(v strictyaml.Value) {
		var a Airport
		v.Object(strictyaml.Members{
			"code":         func(v strictyaml.Value) { a.Code = readCode(v) },
			"timezone":     func(v strictyaml.Value) { a.Zone = readZone(v) },
			"latitude":     func(v strictyaml.Value) { a.Latitude = readDegrees(v, 90) },
			"longitude":    func(v strictyaml.Value) { a.Longitude = readDegrees(v, 180) },
			"metropolitan": func(v strictyaml.Value) { a.Metropolitan = readMetropolitan(v) },
			"name":         func(v strictyaml.Value) { a.Name = readName(v) },
			"city":         func(v strictyaml.Value) { a.City = readName(v) },
			"country":      func(v strictyaml.Value) { a.Country = v.Pattern(isCountry, "two capitals") },
		}, "code", "timezone")
		if (a.Latitude == "") != (a.Longitude == "") {
			v.Fault("latitude and longitude go together")
		}
		if a.Code != "" && seen[a.Code] {
			v.Fault("%s appears twice", a.Code)
		}
		seen[a.Code] = true
		x.Airports = append(x.Airports, a)
	})
}

// readStatuses reads b_codes. lib has the airports of the file too.
func (x *Extra) readStatuses(object strictyaml.Value, lib *Library) {
	object.Entries(func(code string, v strictyaml.Value) {
		if !lib.KnownLocation(code) {
			v.Fault("%q is not an airport of the library or of this file", code)
		}
		v.List(func(v strictyaml.Value) {
			if status := readCode(v); status != "" {
				x.Statuses[code] = append(x.Statuses[code], status)
			}
		})
	})
}

// readCode reads a location code or a baggage status code.
func readCode(v strictyaml.Value) string {
	return v.Pattern(parser.IsThreeCapitals, "three capitals")
}

// readMetropolitan reads a metropolitan code, or "" for none.
func readMetropolitan(v strictyaml.Value) string {
	if text, plain := v.Text(); !plain || text == "" {
		return ""
	}
	return readCode(v)
}

// readName reads a name for people.
func readName(v strictyaml.Value) string {
	return v.Pattern(func(name string) bool {
		return len(name) <= 100 && !strings.ContainsFunc(name, unicode.IsControl)
	}, "a name of at most 100 bytes without control characters")
}

// isCountry reports whether code is two capitals, as the codes of ISO 3166 are.
func isCountry(code string) bool {
	return len(code) == 2 && 'A' <= code[0] && code[0] <= 'Z' && 'A' <= code[1] && code[1] <= 'Z'
}

// readZone reads the name of a time zone that this program knows.
func readZone(v strictyaml.Value) string {
	name, plain := v.Text()
	if !plain {
		return ""
	}
	if _, err := time.LoadLocation(name); err != nil || name == "" || name == "Local" {
		v.Fault("%q is not the name of a time zone, such as Europe/Zurich", name)
		return ""
	}
	return name
}

// readDegrees reads decimal degrees from -most to most, and returns them in the shortest form.
func readDegrees(v strictyaml.Value, most float64) string {
	return strconv.FormatFloat(v.Number(-most, most), 'f', -1, 64)
}
