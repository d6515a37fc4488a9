package flightref_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/internal/bag"
	"bagtrail/internal/flightref"
)

const sample = `
flights:
  - {airline: LX, flight: "100", origin: ZRH, destination: JFK, date: 2026-11-21,
     departure: {scheduled: 2026-11-21T13:10:00+01:00, estimated: 2026-11-21T13:30:00+01:00, actual: 2026-11-21T13:25:00+01:00},
     arrival: {scheduled: 2026-11-21T16:10:00-05:00, estimated: 2026-11-21T16:20:00-05:00},
     blackout_start: 2026-11-21T12:10:00+01:00, paxinquiry_subscription: true}
  - {airline: BA, flight: 0117A, origin: LHR, destination: JFK, date: 2026-11-21,
     departure: {scheduled: 2026-11-21T14:00:00Z}, arrival: {scheduled: 2026-11-21T22:00:00Z}}
  - {airline: ET, flight: 0000, origin: FRA, destination: ADD, date: 2026-11-21,
     departure: {estimated: 2026-11-21T20:00:00Z}, arrival: {scheduled: 2026-11-22T06:00:00Z}}
  - {airline: ET, flight: 0, origin: ADD, destination: NBO, date: 2026-11-21,
     departure: {scheduled: 2026-11-22T08:00:00Z}, arrival: {scheduled: 2026-11-22T10:00:00Z}, paxinquiry_subscription: false}
`

var day = func() bag.Day { d, _ := bag.ParseDay("2026-11-21"); return d }()

func flight(airline, number string) bag.Flight {
	return bag.Flight{Airline: airline, Number: number, Day: day}
}

// place reports whether two codes are one place. It knows London only.
func place(a, b string) bool {
	london := func(code string) bool { return code == "LHR" || code == "LGW" || code == "LON" }
	return a == b || london(a) && london(b)
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func write(t *testing.T, path, text string, second int) {
	t.Helper()
	when := at("2026-11-21T00:00:00Z").Add(time.Duration(second) * time.Second)
	next := path + ".next"
	if err := errors.Join(os.WriteFile(next, []byte(text), 0o600), os.Chtimes(next, when, when), os.Rename(next, path)); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, text string) (*flightref.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flights.yaml")
	write(t, path, text, 0)
	store, err := flightref.Open(path, place, airline.New())
	if err != nil {
		t.Fatal(err)
	}
	return store, path
}

func TestALegIsFoundByFlightAndAirports(t *testing.T) {
	store, _ := open(t, sample)
	for _, c := range []struct {
		what                string
		flight              bag.Flight
		origin, destination string
		want                string // origin of the reference that is found, or ""
	}{
		{"as written", flight("LX", "100"), "ZRH", "JFK", "ZRH"},
		{"leading zeros in the file", flight("BA", "117A"), "LHR", "JFK", "LHR"},
		{"a number of zeros alone", flight("ET", "0"), "FRA", "ADD", "FRA"},
		{"the next leg of the flight", flight("ET", "0"), "ADD", "NBO", "ADD"},
		{"metropolitan code", flight("BA", "117A"), "LON", "JFK", "LHR"},
		{"another airport of the place", flight("BA", "117A"), "LGW", "JFK", "LHR"},
		{"origin not known", flight("LX", "100"), "", "JFK", "ZRH"},
		{"neither known", flight("LX", "100"), "", "", "ZRH"},
		{"origin not known, one leg fits", flight("ET", "0"), "", "NBO", "ADD"},
		{"neither known, two legs fit", flight("ET", "0"), "", "", ""},
		{"without the suffix", flight("BA", "117"), "LHR", "JFK", ""},
		{"another airline", flight("LH", "100"), "ZRH", "JFK", ""},
		{"another origin", flight("LX", "100"), "GVA", "JFK", ""},
		{"another destination", flight("LX", "100"), "ZRH", "BOS", ""},
		{"over two legs", flight("ET", "0"), "FRA", "NBO", ""},
		{"another day", bag.Flight{Airline: "LX", Number: "100", Day: day + 1}, "ZRH", "JFK", ""},
		{"no flight", bag.Flight{}, "", "", ""},
	} {
		r, found := store.Lookup(c.flight, c.origin, c.destination)
		if found != (c.want != "") || found != (r != nil) || found && r.Origin != c.want {
			t.Errorf("%s: found %v %+v", c.what, found, r)
		}
	}
}

func TestAFlightOfTheFileIsFoundByEitherCodeOfItsAirline(t *testing.T) {
	store, _ := open(t, strings.Replace(sample, "airline: LX", "airline: SWR", 1))
	r, found := store.Lookup(flight("LX", "100"), "ZRH", "JFK")
	if !found || r.Carrier != "SWR" || r.Flight != flight("LX", "100") {
		t.Errorf("found %v %+v", found, r)
	}
	if !store.Departed(flight("LX", "100"), "ZRH", "", at("2026-11-21T13:00:00Z")) {
		t.Error("LX100 has not departed")
	}
	twice := `flights:
  - {airline: LX, flight: "1", origin: ZRH, destination: JFK, date: 2026-11-21, departure: {scheduled: 2026-11-21T13:10:00Z}, arrival: {actual: 2026-11-21T13:10:00Z}}
  - {airline: SWR, flight: "1", origin: ZRH, destination: JFK, date: 2026-11-21, departure: {scheduled: 2026-11-21T13:10:00Z}, arrival: {actual: 2026-11-21T13:10:00Z}}
`
	_, err := flightref.Parse([]byte(twice), airline.New())
	if want := "line 3: flights[1]: SWR1 of 2026-11-21 from ZRH to JFK appears twice"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestALegBetweenTheSameAirportsGoesBeforeOthers(t *testing.T) {
	entry := func(origin string) string {
		return "  - {airline: BA, flight: 1, origin: " + origin + ", destination: JFK, date: 2026-11-21, departure: {scheduled: 2026-11-21T14:00:00Z}, arrival: {scheduled: 2026-11-21T22:00:00Z}}\n"
	}
	store, _ := open(t, "flights:\n"+entry("LGW")+entry("LHR"))
	for _, origin := range []string{"LHR", "LGW"} {
		if r, found := store.Lookup(flight("BA", "1"), origin, "JFK"); !found || r.Origin != origin {
			t.Errorf("from %s: %+v", origin, r)
		}
	}
	if _, found := store.Lookup(flight("BA", "1"), "LON", "JFK"); found {
		t.Error("two legs fit London")
	}
}

func TestAReferenceHoldsWhatTheFileSays(t *testing.T) {
	store, _ := open(t, sample)
	r, _ := store.Lookup(flight("LX", "100"), "ZRH", "JFK")
	if r.Flight != flight("LX", "100") || r.Destination != "JFK" || !r.Subscription || !r.BlackoutStart.Equal(at("2026-11-21T11:10:00Z")) {
		t.Errorf("%+v", r)
	}
	r, _ = store.Lookup(flight("ET", "0"), "ADD", "NBO")
	if r.Subscription || !r.BlackoutStart.IsZero() {
		t.Errorf("%+v", r)
	}
}

func TestTheBestKnownTimeIsActualThenEstimatedThenScheduled(t *testing.T) {
	s, e, a := at("2026-11-21T13:10:00Z"), at("2026-11-21T13:30:00Z"), at("2026-11-21T13:25:00Z")
	for _, c := range []struct {
		times flightref.Times
		want  time.Time
		basis flightref.Basis
	}{
		{flightref.Times{Scheduled: s, Estimated: e, Actual: a}, a, "ACTUAL"},
		{flightref.Times{Scheduled: s, Actual: a}, a, "ACTUAL"},
		{flightref.Times{Scheduled: s, Estimated: e}, e, "ESTIMATED"},
		{flightref.Times{Estimated: e}, e, "ESTIMATED"},
		{flightref.Times{Scheduled: s}, s, "SCHEDULED"},
	} {
		if got, basis := c.times.Best(); !got.Equal(c.want) || basis != c.basis {
			t.Errorf("%+v: %s %s", c.times, got, basis)
		}
	}
}

func TestAFlightHasDepartedByItsActualOrItsPastBestKnownTime(t *testing.T) {
	store, _ := open(t, sample)
	for _, c := range []struct {
		what   string
		flight bag.Flight
		from   string
		to     string
		now    string
		want   bool
	}{
		{"actual is given, and the clock is behind", flight("LX", "100"), "ZRH", "", "2026-11-21T12:24:59Z", true},
		{"scheduled is to come", flight("BA", "117A"), "LHR", "", "2026-11-21T13:59:59Z", false},
		{"scheduled is now", flight("BA", "117A"), "LHR", "", "2026-11-21T14:00:00Z", true},
		{"metropolitan code", flight("BA", "117A"), "LON", "", "2026-11-21T14:00:00Z", true},
		{"estimated is past", flight("ET", "0"), "FRA", "", "2026-11-21T20:00:00Z", true},
		{"the next leg has not left", flight("ET", "0"), "ADD", "", "2026-11-21T20:00:00Z", false},
		{"another airport", flight("LX", "100"), "JFK", "", "2026-12-21T00:00:00Z", false},
		{"one leg, origin not known", flight("LX", "100"), "", "", "2026-12-21T00:00:00Z", true},
		{"two legs, origin not known", flight("ET", "0"), "", "", "2026-12-21T00:00:00Z", false},
		{"two legs, origin not known, the first destination", flight("ET", "0"), "", "ADD", "2026-11-21T20:00:00Z", true},
		{"two legs, origin not known, the second destination", flight("ET", "0"), "", "NBO", "2026-11-21T20:00:00Z", false},
		{"two legs, origin not known, another destination", flight("ET", "0"), "", "ZRH", "2026-12-21T00:00:00Z", false},
		{"not in the file", flight("LX", "999"), "ZRH", "", "2026-12-21T00:00:00Z", false},
	} {
		if got := store.Departed(c.flight, c.from, c.to, at(c.now)); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

func TestOfSeveralLegsFromOnePlaceTheFirstToDepartCounts(t *testing.T) {
	entry := func(origin, destination, departure string) string {
		return "  - {airline: BA, flight: 1, origin: " + origin + ", destination: " + destination + ", date: 2026-11-21, departure: {" + departure + "}, arrival: {scheduled: 2026-11-21T22:00:00Z}}\n"
	}
	const estimated, scheduled, actual = "estimated: 2026-11-21T14:00:00Z", "scheduled: 2026-11-21T13:00:00Z", "actual: 2026-11-21T15:00:00Z"
	for _, c := range []struct{ lgw, lhr, want string }{{estimated, scheduled, "13:00"}, {scheduled, estimated, "13:00"}, {scheduled, actual, "15:00"}, {actual, scheduled, "15:00"}} {
		store, _ := open(t, "flights:\n"+entry("LGW", "JFK", c.lgw)+entry("LHR", "BOS", c.lhr))
		for _, from := range []string{"LHR", "LGW", "LON"} {
			r, known := store.Departure(flight("BA", "1"), from, "JFK")
			if !known {
				t.Fatalf("%+v from %s: none", c, from)
			}
			if at, _ := r.Departure.Best(); at.Format("15:04") != c.want {
				t.Errorf("%+v from %s: %s", c, from, at)
			}
		}
		if store.Departed(flight("BA", "1"), "LON", "JFK", at("2026-11-21T12:59:00Z")) != (c.want == "15:00") {
			t.Errorf("%+v: whether it has departed", c)
		}
	}
}

func TestWithoutAFileNoFlightIsKnown(t *testing.T) {
	store := flightref.None()
	if _, found := store.Lookup(flight("LX", "100"), "ZRH", "JFK"); found || store.Departed(flight("LX", "100"), "", "", at("2026-12-21T00:00:00Z")) {
		t.Error("a flight is known")
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	store.Watch(ctx, nil, nil) // without a file it only waits for ctx
}

func TestEveryFaultOfAFlightFileIsReported(t *testing.T) {
	_, err := flightref.Parse([]byte(`flights:
  - {airline: lx, flight: A1, origin: ZR, destination: [JFK], date: 21NOV, departure: {}, arrival: {actual: noon, off_block: 1}}
  - {airline: LX, flight: "1", origin: ZRH, destination: JFK, date: 2026-02-30, departure: {scheduled: 2026-11-21T13:10:00Z}}
  - {airline: LX, flight: "1", origin: ZRH, destination: JFK, date: 2026-11-21, departure: {scheduled: 2026-11-21T13:10:00Z}, arrival: {actual: 2026-11-21T13:10:00Z}}
  - {airline: LX, flight: "01", origin: ZRH, destination: JFK, date: 2026-11-21, departure: {scheduled: 2026-11-21T13:10:00}, arrival: {actual: 2026-11-21T13:10:00Z}, paxinquiry_subscription: 1, gate: A1}
flight: []
`), nil)
	want := `flight reference file:
line 2: flights[0].airline: "lx" is not an airline code of 2 or 3 capitals or digits
line 2: flights[0].flight: "A1" is not a flight number: 1-4 digits and perhaps a letter
line 2: flights[0].origin: "ZR" is not an airport of three capitals
line 2: flights[0].destination: not a plain value
line 2: flights[0].date: "21NOV" is not a calendar date of the form YYYY-MM-DD
line 2: flights[0].departure: none of scheduled, estimated and actual is known
line 2: flights[0].arrival.actual: "noon" is not a time like 2026-11-21T13:10:00+01:00
line 2: flights[0].arrival.off_block: unknown member
line 3: flights[1].date: "2026-02-30" is not a calendar date of the form YYYY-MM-DD
line 3: flights[1]: arrival is missing
line 5: flights[3].departure.scheduled: "2026-11-21T13:10:00" is not a time like 2026-11-21T13:10:00+01:00
line 5: flights[3].paxinquiry_subscription: neither true nor false
line 5: flights[3].gate: unknown member
line 5: flights[3]: LX1 of 2026-11-21 from ZRH to JFK appears twice
line 6: flight: unknown member`
	if err == nil || err.Error() != want {
		t.Errorf("faults:\n%v\nwant:\n%s", err, want)
	}
	if _, err := flightref.Parse(nil, nil); err == nil || !strings.Contains(err.Error(), "flights is missing") {
		t.Errorf("an empty file may be half written: %v", err)
	}
	if references, err := flightref.Parse([]byte(`{"flights": []}`), nil); err != nil || len(references) != 0 {
		t.Errorf("a file without flights: %v", err)
	}
}

func TestAFileThatCannotBeUsedIsNotOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flights.yaml")
	if _, err := flightref.Open(path, place, airline.New()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	write(t, path, "flights: 1", 0)
	if _, err := flightref.Open(path, place, airline.New()); err == nil || !strings.Contains(err.Error(), "line 1: flights: not a list") {
		t.Errorf("bad file: %v", err)
	}
}

func TestAChangedFileIsUsedAndABrokenOneIsNot(t *testing.T) {
	store, path := open(t, sample)
	ctx, stop := context.WithCancel(context.Background())
	ticks, reports := make(chan time.Time), make(chan error, 1)
	var watching, asking sync.WaitGroup
	var changed []bag.Flight // by the last report
	watching.Go(func() {
		store.Watch(ctx, ticks, func(flights []bag.Flight, err error) {
			changed = flights
			reports <- err
		})
	})
	asked := make(chan struct{})
	asking.Go(func() { // queries go on meanwhile
		for {
			select {
			case <-asked:
				return
			default:
				store.Departed(flight("LX", "100"), "ZRH", "", time.Time{})
			}
		}
	})
	version := 0
	change := func(text string) error {
		version++
		write(t, path, text, version)
		ticks <- time.Time{}
		ticks <- time.Time{}
		return <-reports
	}

	if err := change("flights: ["); err == nil || !strings.Contains(err.Error(), "flight reference file") || len(changed) != 0 {
		t.Errorf("broken: %v, changed %v", err, changed)
	}
	if _, found := store.Lookup(flight("LX", "100"), "ZRH", "JFK"); !found {
		t.Error("a broken file took the flights away")
	}
	if err := change(strings.ReplaceAll(sample, `"100"`, `"200"`)); err != nil {
		t.Errorf("mended: %v", err)
	}
	if want := []bag.Flight{flight("LX", "100"), flight("LX", "200")}; !slices.Equal(changed, want) {
		t.Errorf("changed %v, want %v", changed, want)
	}
	_, old := store.Lookup(flight("LX", "100"), "ZRH", "JFK")
	_, next := store.Lookup(flight("LX", "200"), "ZRH", "JFK")
	if old || !next {
		t.Errorf("old %v, new %v", old, next)
	}
	if err := change(strings.NewReplacer(`"100"`, `"200"`, "12:10", "12:20").Replace(sample)); err != nil || !slices.Equal(changed, []bag.Flight{flight("LX", "200")}) {
		t.Errorf("another time: %v, changed %v", err, changed)
	}
	close(asked)
	asking.Wait()
	stop()
	watching.Wait()
}
