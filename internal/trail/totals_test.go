package trail_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
)

// board is the flights of a day of March 2026 at an airport, with their totals: far end, bags, rush
// bags, statuses and the newest message.
func (w *world) board(airport string, arriving bool, day int) []string {
	w.t.Helper()
	reader := w.reader()
	flights, err := reader.FlightsAt(context.Background(), airport, arriving, bag.DayIn(2026, 3, day))
	if err != nil {
		w.t.Fatal(err)
	}
	totals, err := reader.Totals(context.Background(), airport, arriving, flights)
	if err != nil {
		w.t.Fatal(err)
	}
	var lines []string
	for i, f := range flights {
		t := totals[i]
		lines = append(lines, fmt.Sprintf("%s%s %s %d %d %v %s", f.Airline, f.Number, t.FarEnd, t.Bags, t.Rush, t.Status, t.Changed.Format("02T15:04")))
	}
	slices.Sort(lines)
	return lines
}

// The legs of a bag begin and end in the lists of their airports, whichever message tells of them.
// Codes of a metropolitan area stand in the lists of all its airports.
func TestFlightsOfAnAirportAndDay(t *testing.T) {
	w := newWorld(t)
	w.keep = trail.New(w.index, w.enricher, w.settings)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".O/AA1/12MAR/LAX", ".O/AA2/13MAR/SFO", ".N/0724100001002", ".P/1MUELLER", "ENDBSM")
	w.send("12T06:01", "BSM", ".V/1TZRH", ".I/LH9/11MAR/FRA", ".F/LX100/12MAR/JFK", ".N/0220100009001", ".P/1MEIER", "ENDBSM")
	w.send("12T06:02", "BSM", ".V/1LZRH", ".F/LX99/12MAR/LON", ".N/0724100003001", ".P/1HUBER", "ENDBSM")
	w.send("12T06:03", "BSM", ".V/1XLHR", ".F/BA17/12MAR/LHR", ".N/0125100004001", ".P/1SMITH", "ENDBSM")
	w.send("12T07:00", "BPM", ".V/1LZRH", ".J/R", ".F/LX100/12MAR/JFK", ".U/AKE1LX/31L", ".N/0724100002001", "ENDBPM")
	check := func(airport string, arriving bool, day int, want ...string) {
		t.Helper()
		for range 2 { // from what was read, and from what is cached
			if got := w.board(airport, arriving, day); !slices.Equal(got, want) {
				t.Errorf("%s %v: %q, want %q", airport, arriving, got, want)
			}
		}
	}
	check("ZRH", false, 12, "LX100 JFK 3 0 [0 2 0 1 0 0] 12T07:00", "LX99 LON 1 0 [0 1 0 0 0 0] 12T06:02")
	check("ZRH", true, 11, "LH9 FRA 1 0 [1 0 0 0 0 0] 12T06:01")
	check("ZRH", true, 12)
	check("JFK", true, 12, "LX100 ZRH 3 0 [0 2 0 1 0 0] 12T07:00")
	check("JFK", false, 12, "AA1 LAX 2 0 [0 2 0 0 0 0] 12T07:00")
	check("LAX", false, 13, "AA2 SFO 2 0 [0 2 0 0 0 0] 12T07:00")
	check("SFO", true, 13, "AA2 LAX 2 0 [0 2 0 0 0 0] 12T07:00")
	check("LHR", true, 12, "BA17  1 0 [0 1 0 0 0 0] 12T06:03", "LX99 ZRH 1 0 [0 1 0 0 0 0] 12T06:02")
	check("LGW", true, 12, "LX99 ZRH 1 0 [0 1 0 0 0 0] 12T06:02")

	// What is cached is checked by the versions of the bags.
	w.send("12T08:00", "BPM", ".V/1LZRH", ".J/R", ".F/LX100/12MAR/JFK", ".N/0724100001001", "ENDBPM")
	w.send("12T08:01", "BSM", "DEL", ".V/1LZRH", ".F/LX99/12MAR/LON", ".N/0724100003001", ".P/1HUBER", "ENDBSM")
	w.send("12T08:02", "BSM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/2001100005001", ".E/RUSH", ".P/1KOCH", "ENDBSM")
	check("ZRH", false, 12, "LX100 JFK 4 1 [0 2 0 2 0 0] 12T08:02", "LX99  0 0 [0 0 0 0 0 0] 01T00:00")
}

func TestAFlightIsOnceOnTheBoardOfAnAirportThatMessagesGiveTwoCodes(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX99/12MAR/LON", ".N/0724100003001", ".P/1HUBER", "ENDBSM")
	w.send("12T06:01", "BSM", ".V/1LZRH", ".F/LX99/12MAR/LHR", ".N/0724100004001", ".P/1MEIER", "ENDBSM")
	expectList(t, "board", w.board("LHR", true, 12), "LX99 ZRH 2 0 [0 2 0 0 0 0] 12T06:01")
}

func TestThePlatesOfASurnameAreFoundByItsLetters(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX99/12MAR/LHR", ".N/0724100003001", ".P/1O'NEIL", "ENDBSM")
	plates, err := w.reader().PlatesNamed(t.Context(), []bag.Flight{{Airline: "LX", Number: "99", Day: inMarch(12)}}, "o neil")
	if err != nil || !slices.Equal(plates, []bag.Plate{"0724100003"}) {
		t.Errorf("%s, %v", plates, err)
	}
}

func TestTotalsHaveTheFarEndOfMostLegsAndTheNewestMessage(t *testing.T) {
	var totals trail.Totals
	for i, to := range []string{"JFK", "BOS", "BOS"} {
		totals.Add(&trail.Listed{Bag: &bag.Bag{}, Leg: bag.Leg{To: to}, Changed: at("2026-03-12T06:00:00Z").AddDate(0, 0, -i)}, false)
	}
	expect(t, "far end", totals.FarEnd, "BOS")
	expect(t, "changed", totals.Changed, at("2026-03-12T06:00:00Z"))
}

// Most bags of a flight may be known from the station where it arrives alone.
func TestTotalsHaveTheFarEndThoughOneLegAloneTellsIt(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0724100002001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T09:00", "BPM", ".V/1LLHR", ".J/R", ".F/LX318/12MAR/LHR", ".N/0724100001001", ".N/0724100003001", "ENDBPM")
	if got, want := w.board("LHR", true, 12), []string{"LX318 ZRH 3 0 [0 3 0 0 0 0] 12T09:00"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Who may ask for a flight, but not see all of a bag, is not told when the rest of it was last
// heard of.
func TestTotalsTellNothingOfOtherFlights(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0724100001001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T07:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0724100001001", "ENDBSM")
	if got, want := w.board("LHR", false, 12), []string{"BA177 JFK 1 0 [0 1 0 0 0 0] 12T07:00"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	w.send("12T08:00", "BPM", ".V/1LZRH", ".J/R", ".F/LX318/12MAR/LHR", ".N/0724100001001", ".L/ABC123", "ENDBPM")
	if got := w.board("LHR", false, 12); !strings.HasSuffix(got[0], "12T07:00") {
		t.Errorf("%q", got)
	}
	if got := w.board("ZRH", false, 12); !strings.HasSuffix(got[0], "12T08:00") {
		t.Errorf("%q", got)
	}
}

// The message of a rush bag counts for the bag that it makes Delayed, also if a report has made it
// Delayed before.
func TestTotalsTellWhenABagBecameDelayed(t *testing.T) {
	for _, reported := range []bool{false, true} {
		w := newWorld(t)
		w.send("12T06:00", checkIn("0220000001", "12")...)
		if reported {
			w.report("12T20:00", "0220000001")
		}
		w.send("13T06:00", rushTag("2220000009", "13", ".M/0220000001")...)
		if got, want := w.board("ZRH", false, 12), []string{"LX100 JFK 1 0 [0 0 0 0 0 1] 13T06:00"}; !slices.Equal(got, want) {
			t.Errorf("reported %t: %q, want %q", reported, got, want)
		}
		traced, err := w.reader().TracePlates(t.Context(), []bag.Plate{"0220000001"})
		if err != nil || len(traced) != 1 || traced[0].Bag.Legs[0].SetBy.Received != at("2026-03-13T06:00:00Z") {
			t.Errorf("reported %t: traced %+v, %v", reported, traced, err)
		}
	}
}
