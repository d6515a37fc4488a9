package trail_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
)

// covering is the sight of somebody who covers an airline at an airport; "" is every one.
type covering struct{ airline, airport string }

func (c covering) Leg(l bag.Leg) bool {
	return (c.airline == "" || c.airline == l.Airline) && (c.airport == "" || c.airport == l.From || c.airport == l.To)
}

func (c covering) Station(airport string) bool {
	return c.airline == "" && (c.airport == "" || c.airport == airport)
}

// listed is a list as it shows bags: plate, surname, PNR, status, seat.
func listed(t *testing.T, r *trail.Reader, airport string, f bag.Flight) []string {
	t.Helper()
	list, err := r.OfFlight(context.Background(), airport, false, f)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range list {
		lines = append(lines, fmt.Sprintf("%s %s %s %v %s", l.Bag.Plate, l.Bag.Surname, l.Bag.PNR, l.Leg.Status, l.Leg.Seat))
	}
	return lines
}

// A list shows of each bag the fields that the asker sees, and the loading status that everybody sees. It remembers for who may see
// the whole bag what it shows, and reads the others again.
func TestListShowsOfABagTheFieldsThatAreSeen(t *testing.T) {
	w := newWorld(t)
	// Named for LX, then taken on by BA in a message that names nobody: who covers BA at LHR sees no name.
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0724100001001", ".S/Y/3A", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T06:01", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0724100001001", ".S/Y/12A", "ENDBSM")
	// Booked with both: who covers BA sees all.
	w.send("12T06:02", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".O/BA177/12MAR/JFK", ".N/0724100002001", ".P/1MEIER", ".L/DEF456", "ENDBSM")
	w.send("12T07:00", "BPM", ".V/1LLHR", ".J/R", ".F/BA177/12MAR/JFK", ".U/AKE12345BA/41", ".N/0724100001001", "ENDBPM")
	flight := bag.Flight{Airline: "BA", Number: "177", Day: bag.DayIn(2026, 3, 12)}
	reader := w.reader()
	for range 2 { // from what was read, and from what is remembered
		for _, tc := range []struct {
			who  string
			seen bag.Sight
			want []string
		}{
			{"everybody", nil, []string{"0724100001 MUELLER ABC123 Loaded on Aircraft 12A", "0724100002 MEIER DEF456 Not Loaded "}},
			{"BA at LHR", covering{"BA", "LHR"}, []string{"0724100001   Loaded on Aircraft 12A", "0724100002 MEIER DEF456 Not Loaded "}},
			{"every airline at LHR", covering{"", "LHR"}, []string{"0724100001 MUELLER ABC123 Loaded on Aircraft 12A", "0724100002 MEIER DEF456 Not Loaded "}},
			{"LX at ZRH, who sees of one bag no BSM at LHR", covering{"LX", "ZRH"}, []string{"0724100001 MUELLER ABC123 Loaded on Aircraft 12A", "0724100002 MEIER DEF456 Not Loaded "}},
			// No such key may ask for the list: an entry that every key that may ask sees whole is
			// not narrowed.
			{"nobody", covering{"", "GVA"}, []string{"0724100001   Loaded on Aircraft ", "0724100002 MEIER DEF456 Not Loaded "}},
		} {
			if got := listed(t, reader.For(tc.seen), "LHR", flight); !slices.Equal(got, tc.want) {
				t.Errorf("%s: %q, want %q", tc.who, got, tc.want)
			}
		}
	}
}

// Who posts about a bag does not see its first message, and so not its nameless ones, by a read time
// that lies before it.
func TestTheFirstMessageIsFirstByReceipt(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BPM", ".V/1LZRH", ".J/H", ".F/LX318/12MAR/LHR", ".N/0220000001001", ".P/1MUELLER", ".L/ABC123", "ENDBPM")
	w.send("12T06:30", "BPM", ".V/1LZRH", ".J/G", ".F/LX318/12MAR/LHR", ".N/0220000001001", "ENDBPM")
	w.send("12T07:00", "BPM", ".V/1LLHR", ".J/S///12MAR/0500Z", ".F/BA177/12MAR/JFK", ".N/0220000001001", ".P/1MUELLER", "ENDBPM")
	b := w.one(plate)
	expect(t, "events", codes(b), "SORTED HAND_SCANNED GROUND_TRACKED")
	expect(t, "seen by BA at LHR", codes(bag.NewViewer(t.Context(), covering{"BA", "LHR"}).View(b)), "SORTED")
}

func TestTheFirstMessageIsTheFirstThatNamesThePassenger(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BPM", ".V/1LZRH", ".J/S", ".F/LX318/12MAR/LHR", ".N/0220000001001", "ENDBPM")
	w.send("12T07:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0220000001001", ".P/1MUELLER", "ENDBSM")
	view := bag.NewViewer(t.Context(), covering{"BA", "LHR"}).View(w.one(plate))
	expect(t, "seen by BA at LHR", codes(view), "SORTED EXPECTED")
}

func TestThePNROfAPositioningShowsNoMessage(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0220000001001", ".P/1MUELLER", ".L/XYZ789", "ENDBSM")
	w.send("12T07:00", "BPM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".U/AKE12345LX", ".N/0220000001001", "ENDBPM")
	w.send("12T08:00", "BPM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".U/AKE12345LX/41", ".L/XYZ789", "ENDBPM")
	view := bag.NewViewer(t.Context(), covering{"LX", "ZRH"}).View(w.one(plate))
	expect(t, "seen by LX at ZRH", codes(view), "LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT")
}

func TestAViewerWhoseContextHasEndedSaysSo(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0220000001001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T07:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0220000001001", ".P/1MUELLER", ".L/XYZ789", "ENDBSM")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	viewer := bag.NewViewer(ctx, covering{"BA", "LHR"})
	expect(t, "seen by BA at LHR", codes(viewer.View(w.one(plate))), "EXPECTED")
	expect(t, "error", viewer.Err(), context.Canceled)
}

func TestABagThatIsNotSeenIsNotAmongTheBagsThatMayBeTheOriginal(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", checkIn("0220000001", "12")...)
	w.send("12T06:01", "BSM", ".V/1LZRH", ".F/BA9/12MAR/LHR", ".N/0125000001001", ".P/SMITH/JOHN", ".L/ABC123", "ENDBSM")
	w.send("13T06:00", rushTag("2220000009", "13", ".P/SMITH/JOHN", ".L/ABC123")...)
	for _, tc := range []struct {
		sight bag.Sight
		want  string
	}{{nil, "none"}, {covering{"LX", ""}, "0220000001 LX100/12"}} {
		bags, err := w.reader().For(tc.sight).OfPlates(t.Context(), []bag.Plate{"2220000009"})
		if err != nil || len(bags) != 1 {
			t.Fatalf("%v, %v", bags, err)
		}
		expect(t, "original", original(bags[0]), tc.want)
	}
}

// A key sees the messages of other airlines that have the PNR of one of its own, and no others with a
// PNR.
func TestAMessageWithThePNROfOneInScopeIsSeen(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0220000001001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T07:00", "BPM", ".V/1LLHR", ".J/S", ".F/BA177/12MAR/JFK", ".N/0220000001001", ".L/abc123", "ENDBPM")
	w.send("12T07:10", "BPM", ".V/1LLHR", ".J/G", ".F/BA177/12MAR/JFK", ".N/0220000001001", ".P/1MUELLER", ".L/XYZ789", "ENDBPM")
	b := w.one(plate)
	expect(t, "events", codes(b), "EXPECTED SORTED GROUND_TRACKED")
	expect(t, "seen by LX at ZRH", codes(bag.NewViewer(t.Context(), covering{"LX", "ZRH"}).View(b)), "EXPECTED SORTED")
}

// An arriving flight does not touch the airport that its .F names, and the first .O departs from the .V
// airport.
func TestAKeySeesAnArrivingFlightAtItsAirportAlone(t *testing.T) {
	for _, tc := range []struct {
		v, f, elsewhere string
		seenElsewhere   string
	}{
		{".V/1XJFK", ".F/LX14/12MAR/ZRH", "ZRH", ""},
		{".V/1LJFK", ".F/LX14/12MAR/JFK", "ZRH", ""},
		{".V/1LJFK", ".F/LX14/12MAR/NYC", "NYC", ""},
		{".V/1LJFK", ".F/LX14/12MAR/ZRH", "ZRH", "EXPECTED"}, // departs
	} {
		w := newWorld(t)
		w.send("12T06:00", "BSM", tc.v, tc.f, ".O/AA1/12MAR/BOS", ".N/0220000001001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
		b := w.one(plate)
		seen := func(airline, airport string) string {
			if view := bag.NewViewer(t.Context(), covering{airline, airport}).View(b); view != nil {
				return codes(view)
			}
			return ""
		}
		onward := "EXPECTED"
		if tc.seenElsewhere != "" {
			onward = ""
		}
		for _, c := range []struct{ airline, airport, want string }{
			{"LX", "JFK", "EXPECTED"}, {"AA", "JFK", onward}, {"AA", "BOS", "EXPECTED"}, {"", tc.elsewhere, tc.seenElsewhere},
		} {
			expect(t, fmt.Sprintf("%s %s seen by %q at %s", tc.v, tc.f, c.airline, c.airport), seen(c.airline, c.airport), c.want)
		}
	}
}

// A message that names nobody is about two bags here, and the key sees the first message of one.
func TestAMessageIsNotSeenThatIsAboutABagWhoseFirstMessageIsNot(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0220000001001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T07:00", "BPM", ".V/1LFRA", ".J/S", ".F/LH400/12MAR/JFK", ".N/0220000001001", "ENDBPM")
	seen := func() string {
		viewer := bag.NewViewer(t.Context(), covering{"LX", "ZRH"})
		for _, b := range w.bags(plate) {
			if b.PNR == "ABC123" {
				return codes(viewer.View(b))
			}
		}
		return ""
	}
	expect(t, "of one bag", seen(), "EXPECTED SORTED")
	w.send("12T08:00", "BPM", ".V/1LLHR", ".J/G", ".F/BA177/12MAR/JFK", ".N/0220000001001", ".P/1JONES", ".L/XYZ789", "ENDBPM")
	expect(t, "bags", len(w.bags(plate)), 2)
	expect(t, "of two bags", seen(), "EXPECTED")
}

// A report that came before every message of a bag does not show its messages to the station.
func TestADelayedBagReportIsNeverTheFirstMessage(t *testing.T) {
	w := newWorld(t)
	w.report("12T06:00", plate) // at JFK
	w.send("12T06:30", "BPM", ".V/1LZRH", ".J/G", ".F/LX318/12MAR/LHR", ".N/0220000001001", "ENDBPM")
	b := w.one(plate)
	expect(t, "events", codes(b), "MISHANDLED GROUND_TRACKED")
	expect(t, "seen at JFK", codes(bag.NewViewer(t.Context(), covering{"", "JFK"}).View(b)), "MISHANDLED")
}

// A report is withheld only if it may be about a booking that is not seen: one that began in the two
// weeks before it.
func TestABookingThatIsNotSeenHidesOnlyReportsThatMayBeAboutIt(t *testing.T) {
	for earlier, want := range map[string]string{"01": "EXPECTED MISHANDLED", "05": "EXPECTED"} {
		w := newWorld(t)
		w.send(earlier+"T06:00", "BSM", ".V/1LLHR", ".F/BA177/"+earlier+"MAR/JFK", ".N/0220000001001", ".P/1JONES", ".L/XYZ789", "ENDBSM")
		w.send("18T06:00", "BSM", ".V/1LZRH", ".F/LX14/18MAR/JFK", ".N/0220000001001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
		w.report("18T20:00", plate) // at JFK
		viewer := bag.NewViewer(t.Context(), covering{"LX", ""})
		for _, b := range w.bags(plate) {
			if b.PNR == "ABC123" {
				expect(t, "seen by LX after a booking of March "+earlier, codes(viewer.View(b)), want)
			}
		}
	}
}

// A rush bag that is not seen takes no place in a chain of those that are: the tag is the last one that is seen without a gap.
func TestRushChainEndsBeforeABagThatIsNotSeen(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T07:00", "BSM", ".V/1LZRH", ".F/LX16/12MAR/JFK", ".N/2724100002001", ".M/0724100001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T08:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/2724100003001", ".M/2724100002", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T09:00", "BSM", ".V/1LZRH", ".F/LX18/12MAR/JFK", ".N/2724100004001", ".M/2724100003", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T10:00", "BSM", ".V/1LLHR", ".F/BA179/12MAR/JFK", ".N/2724100005001", ".M/0724100001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	for _, tc := range []struct {
		seen bag.Sight
		want bag.Plate
	}{
		{nil, "2724100005"}, // of two rush bags of one original the one that was re-flighted last
		{covering{"LX", ""}, "2724100002"},
	} {
		bags, err := w.reader().For(tc.seen).OfPassenger(t.Context(), "ABC123", bag.DayIn(2026, 3, 12))
		if err != nil {
			t.Fatal(err)
		}
		if b := bags[0]; b.Plate != "0724100001" || b.RushTag == nil || b.RushTag.Plate != tc.want {
			t.Errorf("%v: %s has the rush tag %v, want %s", tc.seen, b.Plate, b.RushTag, tc.want)
		}
	}
}

// seats returns the flight and the seat of each leg.
func seats(b *bag.Bag) (all []string) {
	for _, l := range b.Legs {
		all = append(all, l.Airline+l.Number+" "+l.Seat)
	}
	return all
}

// The legs and seats that only messages out of scope give are not shown.
func TestLegsAndSeatsOfMessagesThatAreNotSeenAreNotShown(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".O/BA177/12MAR/JFK", ".N/0220000001001", ".S/Y/3A", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T07:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".O/BA999/13MAR/BOS", ".N/0220000001001", ".S/Y/12A", ".P/1MUELLER", ".L/XYZ789", "ENDBSM")
	b := w.one(plate)
	expectList(t, "the bag", seats(b), "LX318 3A", "BA177 12A", "BA999 ")
	expectList(t, "seen by LX", seats(bag.NewViewer(t.Context(), covering{"LX", ""}).View(b)), "LX318 3A", "BA177 ")
}

// Another airline has given the passenger another seat, under a PNR of its own. The seat that the viewer
// had seen was not shown any more.
func TestASeatIsThatOfTheMessagesThatAreSeen(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1TLHR", ".F/BA177/12MAR/JFK", ".I/LX318/12MAR/ZRH", ".N/0220000001001", ".S/Y/12A", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T07:00", "BSM", ".V/1TLHR", ".F/BA177/12MAR/JFK", ".N/0220000001001", ".S/Y/14C", ".P/1MUELLER", ".L/XYZ789", "ENDBSM")
	b := w.one(plate)
	expectList(t, "the bag", seats(b), "LX318 ", "BA177 14C")
	expectList(t, "seen by LX", seats(bag.NewViewer(t.Context(), covering{"LX", ""}).View(b)), "LX318 ", "BA177 12A")
}

// Of a through flight a viewer sees the legs that the messages that it sees name: those that depart where
// they say, or arrive there if they do not say where the flight departs.
func TestALegOfAThroughFlightThatNoSeenMessageNamesIsNotShown(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LGVA", ".F/LX204/12MAR/ZRH", ".N/0220000001001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T07:00", "BSM", ".V/1LZRH", ".F/LX204/12MAR/NYC", ".N/0220000001001", ".P/1MUELLER", ".L/XYZ789", "ENDBSM")
	w.send("12T08:00", "BSM", ".V/1XJFK", ".F/LX204/12MAR/JFK", ".N/0220000001001", ".P/1MUELLER", ".L/GHI789", "ENDBSM")
	b := w.one(plate)
	for airport, want := range map[string][]string{
		"": {"GVA-ZRH", "ZRH-NYC"}, "GVA": {"GVA-ZRH"}, "ZRH": {"GVA-ZRH", "ZRH-NYC"}, "NYC": {"ZRH-NYC"}, "JFK": {"ZRH-NYC"},
	} {
		var legs []string
		for _, l := range bag.NewViewer(t.Context(), covering{"", airport}).View(b).Legs {
			legs = append(legs, l.From+"-"+l.To)
		}
		expectList(t, "seen at "+airport, legs, want...)
	}
}

// A positioning is never the first message of a bag, although it may be received before all of them.
func TestAPositioningIsNeverTheFirstMessage(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:30", "BPM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".U/AKE12345LX/41", "ENDBPM")
	w.send("12T07:00", "BPM", ".V/1LZRH", ".J/S///12MAR/0600Z", ".I/BA712/12MAR/LHR", ".F/LX318/12MAR/LHR", ".U/AKE12345LX", ".N/0220000001001", "ENDBPM")
	w.send("12T07:10", "BPM", ".V/1LZRH", ".J/G", ".F/LX318/12MAR/LHR", ".N/0220000001001", "ENDBPM")
	b := w.one(plate)
	expect(t, "events", codes(b), "LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT GROUND_TRACKED")
	expect(t, "seen by BA", codes(bag.NewViewer(t.Context(), covering{"BA", ""}).View(b)), codes(b))
}

// Of two bags of a plate on one flight, each entry of a list shows the passenger of its own bag.
func TestEntriesOfTwoBagsOfAPlateAreNotMixedUp(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0724100001001", ".P/1JONES", ".L/ABC123", "ENDBSM")
	w.send("12T06:01", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0724100001001", ".S/Y/12A", ".P/1SMITH", ".L/DEF456", "ENDBSM")
	w.send("12T06:02", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0724100001001", ".P/1SMITH", ".L/XYZ789", "ENDBSM") // is not seen
	got := listed(t, w.reader().For(covering{"BA", "LHR"}), "LHR", bag.Flight{Airline: "BA", Number: "177", Day: bag.DayIn(2026, 3, 12)})
	expectList(t, "seen by BA at LHR", got, "0724100001 JONES ABC123 Not Loaded ", "0724100001 SMITH DEF456 Not Loaded 12A")
}

func TestEntriesOfTwoBagsWithOnePNRAndSurnameAreNotMixedUp(t *testing.T) {
	w := newWorld(t)
	// The first messages name other flights, so the bags are read again for a limited key.
	w.send("12T05:00", "BSM", ".V/1LGVA", ".F/LX9/12MAR/FRA", ".N/0724100001001", ".P/1AMSLER", "ENDBSM")
	w.send("12T05:01", "BPM", ".V/1LGVA", ".J/S", ".F/LX7/12MAR/FRA", ".N/0724100001001", ".P/1MUELLER", "ENDBPM")
	// A CHG that names the flight of one booking is about it; one that names the flights of both stays a bag of its own.
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".P/1AMSLER/ANNA", ".L/AAAAAA", "ENDBSM")
	w.send("12T06:01", "BSM", ".V/1LFRA", ".F/LH400/12MAR/JFK", ".N/0724100001001", ".P/1BERGER/BEAT", ".L/BBBBBB", "ENDBSM")
	w.send("12T06:02", "BSM", "CHG", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".P/1MUELLER", ".L/CCCCCC", "ENDBSM")
	w.send("12T06:03", "BSM", "CHG", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".O/LH400/12MAR/FRA", ".N/0724100001001", ".P/1MUELLER", ".L/CCCCCC", "ENDBSM")
	reader := w.reader()
	flight := bag.Flight{Airline: "LX", Number: "14", Day: bag.DayIn(2026, 3, 12)}
	for _, seen := range []bag.Sight{nil, covering{"", "ZRH"}} {
		list, err := reader.For(seen).OfFlight(context.Background(), "ZRH", false, flight)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, l := range list {
			names = append(names, l.Bag.PNR+" "+l.Bag.Surname+" "+l.Bag.GivenName)
		}
		slices.Sort(names)
		expectList(t, "list", names, "CCCCCC MUELLER ", "CCCCCC MUELLER ANNA")
	}
}

// The two bags differ only in their seats.
func TestEntriesOfTwoBagsWithOneNameAreNotMixedUp(t *testing.T) {
	w := newWorld(t)
	w.send("12T05:00", "BSM", ".V/1LGVA", ".F/LX9/12MAR/FRA", ".N/0724100001001", ".P/1AMSLER", "ENDBSM")
	w.send("12T05:01", "BPM", ".V/1LGVA", ".J/S", ".F/LX7/12MAR/FRA", ".N/0724100001001", ".P/1MUELLER", "ENDBPM")
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".P/1AMSLER", ".L/AAAAAA", "ENDBSM")
	w.send("12T06:01", "BSM", ".V/1LFRA", ".F/LH400/12MAR/JFK", ".N/0724100001001", ".P/1BERGER", ".L/BBBBBB", "ENDBSM")
	w.send("12T06:02", "BSM", "CHG", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".S/Y/1A", ".P/1MUELLER", ".L/CCCCCC", "ENDBSM")
	w.send("12T06:03", "BSM", "CHG", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".O/LH400/12MAR/FRA", ".N/0724100001001", ".S/Y/2B", ".P/1MUELLER", ".L/CCCCCC", "ENDBSM")
	flight := bag.Flight{Airline: "LX", Number: "14", Day: bag.DayIn(2026, 3, 12)}
	for _, sight := range []bag.Sight{nil, covering{"", "ZRH"}} {
		got := listed(t, w.reader().For(sight), "ZRH", flight)
		slices.Sort(got)
		expectList(t, "list", got, "0724100001 MUELLER CCCCCC Not Loaded 1A", "0724100001 MUELLER CCCCCC Not Loaded 2B")
	}
}

// The bags of a plate stand in the order of what is seen of them. In the order of the whole bags, a caller
// found a PNR that it does not see in some thirty posts, each with another PNR.
func TestTheOrderOfBagsTellsNothingOfPNRsThatAreNotSeen(t *testing.T) {
	for _, hidden := range []string{"AAA111", "ZZZ999"} {
		w := newWorld(t)
		w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0724100001001", ".P/1MUELLER", ".L/"+hidden, "ENDBSM")
		w.send("12T07:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0724100001001", ".P/1MUELLER", "ENDBSM")
		w.send("12T08:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0724100001001", ".P/1SMITH", ".L/GUESS1", "ENDBSM")
		reader := w.reader().For(covering{"BA", ""})
		flight := bag.Flight{Airline: "BA", Number: "177", Day: bag.DayIn(2026, 3, 12)}
		expectList(t, "list", listed(t, reader, "LHR", flight), "0724100001 MUELLER  Not Loaded ", "0724100001 SMITH GUESS1 Not Loaded ")
		traced, err := reader.TracePlates(t.Context(), []bag.Plate{"0724100001"})
		if err != nil {
			t.Fatal(err)
		}
		viewer := bag.NewViewer(t.Context(), covering{"BA", ""})
		var names []string
		for _, b := range traced {
			names = append(names, viewer.View(b.Bag).Surname)
		}
		expectList(t, "bags", names, "MUELLER", "SMITH")
	}
}

func TestAnEntryIsOfTheBagThatHasItsPlaceAndShowsItsNames(t *testing.T) {
	description := bag.Description{PNR: "ABC123", Surname: "MUELLER", GivenName: "ANNA"}
	entry := trail.Listed{Bag: &bag.Bag{Nth: 1, Description: description}}
	other := func(change func(*bag.Bag)) *bag.Bag {
		b := &bag.Bag{Nth: 1, Description: description}
		change(b)
		return b
	}
	for name, tc := range map[string]struct {
		bag  *bag.Bag
		want bool
	}{
		"the same":    {other(func(b *bag.Bag) { b.Pieces = 2 }), true},
		"other place": {other(func(b *bag.Bag) { b.Nth = 0 }), false},
		"other PNR":   {other(func(b *bag.Bag) { b.PNR = "XYZ789" }), false},
		"other name":  {other(func(b *bag.Bag) { b.Surname = "MEIER" }), false},
		"other given": {other(func(b *bag.Bag) { b.GivenName = "" }), false},
	} {
		if got := entry.IsOf(tc.bag); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A through flight has two legs of one number, each with its seat. The first message is not seen.
func TestTheSeatInAListIsThatOfTheLeg(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0724100001001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T06:01", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0724100001001", ".S/Y/12A", ".P/1MUELLER", ".L/XYZ789", "ENDBSM")
	w.send("12T06:02", "BSM", ".V/1LJFK", ".F/BA177/12MAR/BOS", ".N/0724100001001", ".S/Y/14C", ".P/1MUELLER", ".L/XYZ789", "ENDBSM")
	flight := bag.Flight{Airline: "BA", Number: "177", Day: bag.DayIn(2026, 3, 12)}
	reader := w.reader().For(covering{"BA", ""})
	expectList(t, "LHR", listed(t, reader, "LHR", flight), "0724100001 MUELLER XYZ789 Not Loaded 12A")
	expectList(t, "JFK", listed(t, reader, "JFK", flight), "0724100001 MUELLER XYZ789 Not Loaded 14C")
}

// Of the two ends of the flight, only LHR sees the first message, which names another destination,
// and so the last one, which names no flight.
func TestABagIsSeenWholeAtOneEndOfItsFlight(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BPM", ".V/1LLHR", ".J/S", ".F/BA177/12MAR/BOS", ".N/0724100001001", ".P/1MUELLER/ANNA", "ENDBPM")
	w.send("12T07:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0724100001001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	w.send("12T08:00", "BPM", ".V/1LLHR", ".J/G", ".N/0724100001001", "ENDBPM")
	flight := bag.Flight{Airline: "BA", Number: "177", Day: bag.DayIn(2026, 3, 12)}
	for airport, want := range map[string]string{"LHR": "MUELLER/ANNA", "JFK": "MUELLER/"} {
		list, err := w.reader().For(covering{"BA", airport}).OfFlight(t.Context(), airport, airport == "JFK", flight)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v, %v", airport, list, err)
		}
		expect(t, airport, list[0].Bag.Surname+"/"+list[0].Bag.GivenName, want)
		expect(t, "changed", list[0].Changed, at("2026-03-12T07:00:00Z"))
	}
}

// A key that sees neither the BSM nor the REFLIGHTED event of a bag is told nevertheless that the
// bag is known and rush. A PNR that does not find the bag does not find a view of it.
func TestAViewIsRushAndUnknownAndFoundAsTheWholeBagIs(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BPM", ".V/1LLHR", ".J/S", ".F/BA177/12MAR/JFK", ".N/0220000001001", ".P/1MUELLER", ".L/OLD111", "ENDBPM")
	w.send("12T07:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0220000001001", ".E/RUSH", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
	b := w.one(plate)
	expectList(t, "PNRs", b.PNRs, "ABC123")
	view := bag.NewViewer(t.Context(), covering{"BA", ""}).View(b)
	expect(t, "seen by BA", codes(view), "SORTED")
	if !view.Rush || view.Unknown || view.Cancelled || len(view.PNRs) != 0 {
		t.Errorf("rush %t, unknown %t, cancelled %t, PNRs %q", view.Rush, view.Unknown, view.Cancelled, view.PNRs)
	}
}

// A booking that begins after a positioning hides it nevertheless: only reports are told apart by
// their days.
func TestABookingThatIsNotSeenHidesEveryPositioning(t *testing.T) {
	for _, booking := range []bool{false, true} {
		w := newWorld(t)
		w.send("12T06:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/0220000001001", ".P/1MUELLER", ".L/ABC123", "ENDBSM")
		w.send("12T07:00", "BPM", ".V/1LJFK", ".J/R", ".F/AA1/12MAR/BOS", ".N/0220000001001", ".U/AKE12345AA", ".L/ABC123", "ENDBPM")
		w.send("12T08:00", "BPM", ".V/1LJFK", ".F/AA1/12MAR/BOS", ".U/AKE12345AA/41", "ENDBPM")
		want := "EXPECTED LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT"
		if booking {
			w.send("12T09:00", "BSM", ".V/1LZRH", ".F/LX318/14MAR/LHR", ".N/0220000001001", ".P/1JONES", ".L/XYZ789", "ENDBSM")
			want = "EXPECTED LOADED_IN_CONTAINER"
		}
		viewer := bag.NewViewer(t.Context(), covering{"BA", ""})
		for _, b := range w.bags(plate) {
			if b.PNR == "ABC123" {
				expect(t, "seen by BA", codes(viewer.View(b)), want)
			}
		}
	}
}

// A rush bag whose first message is not seen is not joined with its original, nor an original with
// its rush bags.
func TestABagWhoseFirstMessageIsNotSeenIsJoinedWithNoOther(t *testing.T) {
	const first, rush, last = bag.Plate("0220000001"), bag.Plate("2220000002"), bag.Plate("2220000003")
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LLHR", ".F/BA177/12MAR/JFK", ".N/"+string(first)+"001", ".P/1JONES", ".L/ABC123", "ENDBSM")
	w.send("13T06:00", "BPM", ".V/1LZRH", ".J/S", ".F/LX14/13MAR/JFK", ".N/"+string(rush)+"001", ".P/1JONES", ".L/ABC123", "ENDBPM")
	w.send("13T07:00", "BSM", ".V/1LLHR", ".F/BA179/13MAR/JFK", ".N/"+string(rush)+"001", ".M/"+string(first), ".P/1JONES", "ENDBSM")
	w.send("14T07:00", "BSM", ".V/1LLHR", ".F/BA181/14MAR/JFK", ".N/"+string(last)+"001", ".M/"+string(rush), "ENDBSM")
	for _, tc := range []struct {
		seen     bag.Sight
		original string
		chain    []bag.Plate
	}{
		{nil, "0220000001 BA177/12", []bag.Plate{first, rush, last}},
		{covering{"BA", ""}, "0220000001", []bag.Plate{rush}},
	} {
		traced, err := w.reader().For(tc.seen).TracePlates(t.Context(), []bag.Plate{rush})
		if err != nil || len(traced) != 1 {
			t.Fatalf("%v, %v", traced, err)
		}
		expect(t, "original", original(traced[0].Bag), tc.original)
		if !slices.Equal(traced[0].Chain, tc.chain) || (traced[0].Bag.RushTag != nil) != (tc.seen == nil) {
			t.Errorf("%v: chain %s, rush tag %v; want %s", tc.seen, traced[0].Chain, traced[0].Bag.RushTag, tc.chain)
		}
	}
}
