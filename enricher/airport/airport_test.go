package airport_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/parser"
)

var _ parser.Reference = (*airport.Library)(nil)

// lines returns the fields of every line of the compiled data.
func lines(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile("airports.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

func TestAirportsMetropolitanAndRetiredCodesAreKnown(t *testing.T) {
	lib := airport.New()
	for _, code := range []string{
		"ZRH", "OSL", "LHR", "LGW", "TPE", "NBO", "SYZ", "IST", "MEX", "FRA", "ICN", "EBB", "JFK", "TOS", "FLR", "DXB", "ORD", // airports
		"SEL", "LON", "NYC", "PAR", "TYO", // metropolitan codes
		"YMQ", "BUH", "DTT", "EAP", // metropolitan codes too
		"QKL", "ZFT", // stations of the railway and of buses
		"PNH", "TXL", "SXF", // retired
	} {
		if !lib.KnownLocation(code) {
			t.Errorf("%s is not known", code)
		}
		if _, _, known := lib.Coordinates(code); !known {
			t.Errorf("%s has no position", code)
		}
	}
}

func TestNothingElseIsKnown(t *testing.T) {
	lib := airport.New()
	for _, code := range []string{"", "Z", "ZR", "ZRHX", "zrh", "Zrh", "ZR1", "ZR ", " ZRH", "Z\x00H", "ZÜR", "@@@", "[[[", "QQQ", "XXX", "ZZZ"} {
		if lib.KnownLocation(code) {
			t.Errorf("%q is known", code)
		}
		if lib.TimeZone(code) != time.UTC || lib.SamePlace(code, "ZRH") {
			t.Errorf("%q: zone %v, one place with ZRH: %v", code, lib.TimeZone(code), lib.SamePlace(code, "ZRH"))
		}
		if latitude, longitude, known := lib.Coordinates(code); known || latitude != "" || longitude != "" {
			t.Errorf("%q has a position", code)
		}
	}
}

func TestEveryCompiledLineIsSound(t *testing.T) {
	lib := airport.New()
	rows := lines(t)
	if len(rows) < 11000 {
		t.Fatalf("%d airports", len(rows))
	}
	zones := map[string]bool{}
	for i, row := range rows {
		code, latitude, longitude, zone, cities := row[0], row[1], row[2], row[3], row[4]
		if i > 0 && rows[i-1][0] >= code {
			t.Errorf("%s is out of order", code)
		}
		if !lib.KnownLocation(code) || lib.TimeZone(code).String() != zone || zone == "" {
			t.Errorf("%s: known %v, zone %v, want %s", code, lib.KnownLocation(code), lib.TimeZone(code), zone)
		}
		north, errNorth := strconv.ParseFloat(latitude, 64)
		east, errEast := strconv.ParseFloat(longitude, 64)
		if errNorth != nil || errEast != nil || north < -90 || north > 90 || east < -180 || east > 180 || (north == 0 && east == 0) {
			t.Errorf("%s lies at %s %s", code, latitude, longitude)
		}
		for city := range strings.SplitSeq(cities, ",") {
			if city != "" && (!lib.KnownLocation(city) || city == code || !lib.SamePlace(code, city)) {
				t.Errorf("%s is of %s, which is not its place", code, city)
			}
		}
		if kind := row[5]; kind != "A" && kind != "" {
			t.Errorf("%s is of the kind %q", code, kind)
		}
		if name, city, country := lib.Names(code); name != row[6] || city != row[7] || country != row[8] || len(country) != 2 && name+city+country != "" {
			t.Errorf("%s is %q in %q, %q", code, name, city, country)
		}
		zones[zone] = true
	}
	if len(zones) < 300 {
		t.Errorf("%d zones", len(zones))
	}
}

func TestZonesNeedNothingOnTheMachine(t *testing.T) {
	t.Setenv("ZONEINFO", "/nowhere")
	if got := airport.New().TimeZone("NBO").String(); got != "Africa/Nairobi" {
		t.Errorf("zone of NBO is %s", got)
	}
}

func TestCodesThatShareACityAreOnePlace(t *testing.T) {
	lib := airport.New()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"ZRH", "ZRH", true}, {"QQQ", "QQQ", true}, {"", "", true},
		{"LHR", "LGW", true}, {"LHR", "LON", true}, {"JFK", "NYC", true}, {"DXB", "DWC", true}, {"ICN", "GMP", true}, {"SEL", "ICN", true}, {"HLA", "JNB", true},
		{"YUL", "YMQ", true}, {"OTP", "BUH", true}, {"DTW", "DTT", true}, {"QKL", "CGN", true},
		{"DFW", "DAL", true},                       // the city code is an airport of another city
		{"EWR", "JFK", true}, {"EWR", "ZME", true}, // an airport of two cities
		{"BSL", "MLH", true}, {"BSL", "EAP", true}, {"EAP", "MLH", true},
		{"ZRH", "GVA", false}, {"LHR", "JFK", false}, {"QQQ", "ZRH", false}, {"ZRH", "QQQ", false}, {"QQQ", "", false},
	} {
		if lib.SamePlace(c.a, c.b) != c.same || lib.SamePlace(c.b, c.a) != c.same {
			t.Errorf("%q and %q: one place is not %v", c.a, c.b, c.same)
		}
	}
}

func TestCodesAreNotOnePlaceThroughAThird(t *testing.T) {
	lib := airport.New()
	if !lib.SamePlace("JFK", "EWR") || !lib.SamePlace("EWR", "ZME") || lib.SamePlace("JFK", "ZME") {
		t.Error("JFK and ZME are one place through EWR")
	}
	if !lib.SamePlace("BWI", "MTN") || !lib.SamePlace("MIA", "FXE") || lib.SamePlace("BWI", "MIA") {
		t.Error("BWI and MIA are not in one city")
	}
}

func TestOnlyALegThatEndsAtAMetropolitanCodeIsListedAtEveryAirportOfTheCity(t *testing.T) {
	lib := airport.New()
	for _, c := range []struct {
		end, airport string
		listed       bool
	}{
		{"LHR", "LHR", true}, {"LON", "LON", true}, {"QQQ", "QQQ", true},
		{"LON", "LHR", true}, {"LON", "LGW", true}, {"NYC", "EWR", true}, {"BUH", "OTP", true}, {"YMQ", "YUL", true},
		{"EAP", "BSL", true}, {"EAP", "MLH", true},
		{"LGW", "LHR", false}, {"LHR", "LON", false}, {"LON", "JFK", false}, {"BSL", "MLH", false}, {"BSL", "EAP", false},
		{"DXB", "DWC", false}, {"IST", "SAW", false}, // a city code that is an airport of its own
		{"QKL", "CGN", false}, // a station is not its city
		{"QQQ", "LHR", false}, {"LON", "QQQ", false}, {"", "LHR", false},
	} {
		if got := lib.Listed(c.end, c.airport); got != c.listed {
			t.Errorf("a leg that ends at %q is in the list of %q: %v", c.end, c.airport, got)
		}
	}
}

func TestTheCodesOfAnAirportAreThoseByWhichLegsAreListedThere(t *testing.T) {
	lib := airport.New()
	for code, want := range map[string][]string{
		"LHR": {"LHR", "LON"}, "ZRH": {"ZRH"}, "LON": {"LON"}, "BSL": {"BSL", "EAP"}, "DWC": {"DWC"}, "QQQ": {"QQQ"},
	} {
		got := lib.Codes(code)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
		for _, c := range got {
			if !lib.Listed(c, code) {
				t.Errorf("%s is a code of %s, but is not listed there", c, code)
			}
		}
	}
}

func TestAMetropolitanCodeOrAStationHasItsOwnLocalTime(t *testing.T) {
	lib := airport.New()
	for code, zone := range map[string]string{
		"YMQ": "America/Toronto", "BUH": "Europe/Bucharest", "DTT": "America/Detroit", "EAP": "Europe/Paris", "QKL": "Europe/Berlin",
	} {
		if got := lib.TimeZone(code).String(); got != zone {
			t.Errorf("zone of %s is %s, want %s", code, got, zone)
		}
	}
}

func TestAMetropolitanCodeHasThePositionAndZoneOfItsAirports(t *testing.T) {
	lib := airport.New()
	latitude, longitude, known := lib.Coordinates("LON")
	north, _ := strconv.ParseFloat(latitude, 64)
	east, _ := strconv.ParseFloat(longitude, 64)
	if !known || north < 51.1 || north > 51.9 || east < -0.6 || east > 0.4 {
		t.Errorf("LON lies at %s %s", latitude, longitude)
	}
	if zone := lib.TimeZone("SEL").String(); zone != "Asia/Seoul" {
		t.Errorf("zone of SEL is %s", zone)
	}
}

func TestPositionsAreDecimalText(t *testing.T) {
	latitude, longitude, known := airport.New().Coordinates("ZRH")
	if !known || !strings.HasPrefix(latitude, "47.4") || !strings.HasPrefix(longitude, "8.5") {
		t.Errorf("ZRH lies at %s %s", latitude, longitude)
	}
}

func TestNamesAreThoseOfTheAirportItsCityAndItsCountry(t *testing.T) {
	extra, err := airport.ReadExtra([]byte(
		"airports: [{code: QQQ, timezone: UTC, name: Somewhere, city: Nowhere, country: XX, metropolitan: QQZ}, {code: GVA, timezone: Europe/Zurich}]"))
	if err != nil {
		t.Fatal(err)
	}
	lib := airport.New(extra)
	for code, want := range map[string][3]string{
		"ZRH": {"Zurich Airport", "Zurich", "CH"}, "NYC": {"", "New York", "US"}, "XRF": {}, "QQQ": {"Somewhere", "Nowhere", "XX"}, "QQZ": {},
		"GVA": {}, "ZZZ": {}, "": {},
	} {
		name, city, country := lib.Names(code)
		if got := [3]string{name, city, country}; got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}

func TestTheFiveStatusCodesMayComeFromAnyAirport(t *testing.T) {
	lib := airport.New()
	for _, code := range []string{"NAL", "OFF", "OND", "ONA", "UNS"} {
		for _, from := range []string{"ZRH", "QQQ", ""} {
			if !lib.KnownStatus(from, code) {
				t.Errorf("%s at %q is not known", code, from)
			}
		}
	}
	for _, code := range []string{"", "LCK", "off", "OF", "OFFF", "XXX"} {
		if lib.KnownStatus("ZRH", code) {
			t.Errorf("%q is known", code)
		}
	}
}

func TestAZoneIsLoadedOnceForAll(t *testing.T) {
	lib := airport.New()
	locations := make([]*time.Location, 50)
	var all sync.WaitGroup
	for i := range locations {
		all.Go(func() { locations[i] = lib.TimeZone([]string{"ZRH", "GVA"}[i%2]) })
	}
	all.Wait()
	if slices.ContainsFunc(locations, func(l *time.Location) bool { return l != locations[0] }) {
		t.Error("one zone, several locations")
	}
}

func TestLookupsAllocateNothing(t *testing.T) {
	lib := airport.New()
	lib.TimeZone("ZRH")
	if n := testing.AllocsPerRun(100, func() {
		_ = lib.KnownLocation("ZRH") && lib.KnownLocation("QQQ") && lib.KnownStatus("ZRH", "LCK")
		_, _, _ = lib.Coordinates("ZRH")
		_ = lib.TimeZone("ZRH")
		_ = lib.SamePlace("LHR", "EWR") || lib.Listed("LHR", "EWR")
		_ = lib.Instant("ZRH", 20000, 3600)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
