package trail_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
)

func source(airport, change string, lines ...string) []string {
	head := []string{"BSM"}
	if change != "" {
		head = append(head, change)
	}
	return append(append(append(head, ".V/1"+airport, ".N/0220000001001", ".L/ABC123"), lines...), "ENDBSM")
}

func processed(airport string, lines ...string) []string {
	return append(append([]string{"BPM", ".V/1" + airport, ".N/0220000001001", ".L/ABC123"}, lines...), "ENDBPM")
}

// TestRules3Legs has the rules of the paragraph on legs, each with the legs that it makes.
func TestRules3Legs(t *testing.T) {
	for _, row := range []struct {
		name string
		send func(w *world)
		legs []string
	}{
		{"1: the .F of the current BSM", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/JFK")...)
			w.send("12T07:00", source("LZRH", "CHG", ".F/LX102/12MAR/JFK")...)
		}, []string{"LX102/12 ZRH-JFK Not Loaded", "(LX100/12 ZRH-JFK)"}},
		{"1: none when that is a DEL", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/JFK")...)
			w.send("12T07:00", source("LZRH", "DEL", ".F/LX100/12MAR/JFK")...)
		}, []string{"(LX100/12 ZRH-JFK)"}},
		{"2: the .O of another airport's BSM", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/FRA", ".O/LH400/12MAR/JFK", ".O/AA1/12MAR/LAX")...)
		}, []string{"LX100/12 ZRH-FRA Not Loaded", "LH400/12 FRA-JFK Not Loaded", "AA1/12 JFK-LAX Not Loaded"}},
		{"2: not where the airport has a BSM", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/FRA", ".O/LH400/12MAR/JFK")...)
			w.send("12T05:00", source("TFRA", "", ".F/LH402/12MAR/EWR")...)
		}, []string{"LX100/12 ZRH-FRA Not Loaded", "LH402/12 FRA-EWR Not Loaded", "(LH400/12 FRA-JFK)"}},
		{"2: not from a DEL", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/FRA", ".O/LH400/12MAR/JFK")...)
			w.send("12T07:00", source("LZRH", "DEL", ".F/LX100/12MAR/FRA", ".O/LH400/12MAR/JFK")...)
		}, []string{"(LX100/12 ZRH-FRA)", "(LH400/12 FRA-JFK)"}},
		{"2: the latest BSM that has one from there", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/FRA", ".O/LH400/12MAR/JFK")...)
			w.send("12T07:00", source("LGVA", "", ".F/LX2801/11MAR/ZRH", ".O/LX100/12MAR/FRA", ".O/LH402/12MAR/EWR")...)
		}, []string{"LX2801/11 GVA-ZRH Not Loaded", "LX100/12 ZRH-FRA Not Loaded", "LH402/12 FRA-EWR Not Loaded", "(LH400/12 FRA-JFK)"}},
		{"3: the .I that comes from there, without status", func(w *world) {
			w.send("12T06:00", source("TFRA", "", ".I/LX100/12MAR/ZRH", ".F/LH400/12MAR/JFK")...)
		}, []string{"LX100/12 ZRH-FRA", "LH400/12 FRA-JFK Not Loaded"}},
		{"3: else the .F of the latest BPM there", func(w *world) {
			w.send("12T06:00", processed("LZRH", ".J/S", ".F/LX100/12MAR/JFK")...)
			w.send("12T07:00", processed("LZRH", ".J/S", ".F/LX102/12MAR/JFK")...)
		}, []string{"LX102/12 ZRH-JFK Not Loaded", "(LX100/12 ZRH-JFK)"}},
		{"beside it, another flight on which the bag was loaded", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/JFK")...)
			w.send("12T07:00", processed("LZRH", ".J/R", ".F/LX102/12MAR/JFK")...)
		}, []string{"LX102/12 ZRH-JFK Loaded on Aircraft", "LX100/12 ZRH-JFK Not Loaded"}},
		{"beside it, not when offloaded again", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/JFK")...)
			w.send("12T07:00", processed("LZRH", ".J/R", ".F/LX102/12MAR/JFK")...)
			w.send("12T08:00", "BPM", ".V/1LZRH", ".F/LX102/12MAR/JFK", ".B/OFF/0220000001001", "ENDBPM")
		}, []string{"LX100/12 ZRH-JFK Not Loaded", "(LX102/12 ZRH-JFK)"}},
		{"loaded on a through flight, whose arrival is reported late", func(w *world) {
			w.send("12T06:00", processed("LZRH", ".J/R", ".F/LX204/12MAR/JFK")...)
			w.send("12T07:00", processed("LZRH", ".F/LX204/12MAR/ZRH")...)
		}, []string{"LX204/12 ZRH-JFK Loaded on Aircraft"}},
		{"loaded after a DEL", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/JFK")...)
			w.send("12T07:00", source("LZRH", "DEL", ".F/LX100/12MAR/JFK")...)
			w.send("12T08:00", processed("LZRH", ".J/R", ".F/LX100/12MAR/JFK")...)
		}, []string{"LX100/12 ZRH-JFK Loaded on Aircraft"}},
		{"a DEL takes away the booking, not the bag", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/JFK")...)
			w.send("12T07:00", processed("LZRH", ".J/R", ".F/LX100/12MAR/JFK")...)
			w.send("12T08:00", source("LZRH", "DEL", ".F/LX100/12MAR/JFK")...)
			w.send("12T09:00", source("LZRH", "", ".F/LX100/12MAR/JFK")...)
		}, []string{"LX100/12 ZRH-JFK Loaded on Aircraft"}},
		{"airports of one metropolitan code are one place", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX318/12MAR/LON", ".O/BA117/12MAR/JFK")...)
			w.send("12T05:00", source("TLHR", "", ".F/BA119/12MAR/JFK")...)
		}, []string{"LX318/12 ZRH-LON Not Loaded", "BA119/12 LHR-JFK Not Loaded", "(BA117/12 LON-JFK)"}},
		{"an .F that names the .V airport arrives there", func(w *world) {
			w.send("12T06:00", processed("LJFK", ".J/S", ".F/LX100/12MAR/JFK")...)
		}, []string{"LX100/12 -JFK Not Loaded"}},
		{"every .F of a BSM with source X arrives at .V", func(w *world) {
			w.send("12T06:00", source("XJFK", "", ".F/LX100/12MAR/ZRH")...)
		}, []string{"LX100/12 -JFK Not Loaded"}},
		{"two legs on one flight are one", func(w *world) {
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/JFK")...)
			w.send("12T09:00", source("XJFK", "", ".F/LX0100/12MAR/JFK")...)
		}, []string{"LX100/12 ZRH-JFK Not Loaded"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			row.send(w)
			expectList(t, "legs", legs(w.one(plate)), row.legs...)
		})
	}
}

// TestRules3Cancelled: a bag with a BSM and no living leg is cancelled; an unknown bag never is.
func TestRules3Cancelled(t *testing.T) {
	w := newWorld(t)
	w.send("12T07:00", source("LZRH", "DEL", ".F/LX100/12MAR/JFK")...)
	expect(t, "a DEL alone", w.one(plate).Cancelled, true)
	expectList(t, "lists show it not", w.flight("ZRH", false, "LX100/12"))
	w = newWorld(t)
	w.send("12T07:00", bpm(".J/S", ".N/0220000001001")...)
	expect(t, "unknown", w.one(plate).Cancelled, false)
}

// TestRules3LoadingStatus: the status of a leg is set by the latest status-setting event that names its
// flight, or names none and happened at its departure.
func TestRules3LoadingStatus(t *testing.T) {
	load := processed("LZRH", ".J/R", ".F/LX100/12MAR/FRA")
	for _, row := range []struct {
		name string
		send func(w *world)
		legs []string
	}{
		{"none", func(w *world) { w.send("12T07:00", processed("LZRH", ".J/S", ".F/LX100/12MAR/FRA")...) },
			[]string{"LX100/12 ZRH-FRA Not Loaded", "LH400/12 FRA-JFK Not Loaded"}},
		{"one that names its flight", func(w *world) { w.send("12T07:00", load...) },
			[]string{"LX100/12 ZRH-FRA Loaded on Aircraft", "LH400/12 FRA-JFK Not Loaded"}},
		{"the latest", func(w *world) {
			w.send("12T07:00", load...)
			w.send("12T08:00", bpm(".F/LX100/12MAR/FRA", ".B/OFF/0220000001001")...)
		}, []string{"LX100/12 ZRH-FRA Offloaded", "LH400/12 FRA-JFK Not Loaded"}},
		{"a late BSM never turns a status back", func(w *world) {
			w.send("12T05:00", load...)
		}, []string{"LX100/12 ZRH-FRA Loaded on Aircraft", "LH400/12 FRA-JFK Not Loaded"}},
		{"one that names no flight, at the departure", func(w *world) {
			w.send("12T07:00", "BPM", ".V/1TFRA", ".B/OFF/0220000001001", "ENDBPM")
		}, []string{"LX100/12 ZRH-FRA Not Loaded", "LH400/12 FRA-JFK Offloaded"}},
		{"a delayed-bag report, on every living leg that is not Loaded on Aircraft", func(w *world) {
			w.send("12T07:00", load...)
			w.report("12T20:00", plate)
		}, []string{"LX100/12 ZRH-FRA Loaded on Aircraft", "LH400/12 FRA-JFK Delayed"}},
		{"a delayed-bag report, on the last leg if all are Loaded on Aircraft", func(w *world) {
			w.send("12T07:00", load...)
			w.send("12T12:00", processed("TFRA", ".J/R", ".F/LH400/12MAR/JFK")...)
			w.report("12T20:00", plate)
		}, []string{"LX100/12 ZRH-FRA Loaded on Aircraft", "LH400/12 FRA-JFK Delayed"}},
		{"a status after the report", func(w *world) {
			w.report("12T07:00", plate)
			w.send("12T08:00", load...)
		}, []string{"LX100/12 ZRH-FRA Loaded on Aircraft", "LH400/12 FRA-JFK Delayed"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/FRA", ".O/LH400/12MAR/JFK")...)
			row.send(w)
			expectList(t, "legs", legs(w.one(plate)), row.legs...)
		})
	}
}

// Otherwise the report would make the only leg with a status Delayed.
func TestALegOnWhichTheBagIsLoadedIsNotLoadedAtFirstThoughAnInboundElementNamesItToo(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", source("TFRA", "", ".I/LX100/12MAR/ZRH", ".F/LH400/12MAR/JFK")...)
	w.send("12T07:00", processed("TFRA", ".J/R", ".F/LH400/12MAR/JFK")...)
	w.report("12T08:00", plate)
	w.send("12T09:00", processed("LZRH", ".J/R", ".F/LX100/12MAR/FRA")...)
	expectList(t, "legs", legs(w.one(plate)), "LX100/12 ZRH-FRA Loaded on Aircraft", "LH400/12 FRA-JFK Loaded on Aircraft")
}

func TestALoadOnAnotherFlightIsWhatSetsTheStatusThatItEnds(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/JFK")...)
	w.send("12T07:00", processed("LZRH", ".J/R", ".F/LX100/12MAR/JFK")...)
	w.send("12T08:00", processed("LZRH", ".J/R", ".F/LX102/12MAR/JFK")...)
	b := w.one(plate)
	expectList(t, "legs", legs(b), "LX102/12 ZRH-JFK Loaded on Aircraft", "LX100/12 ZRH-JFK Not Loaded")
	expect(t, "set by the second load", b.Legs[1].SetBy, b.Events[2].Message)
}

// TestRules3Departed: a leg neither Loaded nor Offloaded is Delayed when its flight has departed by the
// flight reference; a leg without a status stays so.
func TestRules3Departed(t *testing.T) {
	w := newWorld(t)
	w.settings.Departed = func(f bag.Flight, from, to string, now time.Time) bool {
		return now.Equal(at("2026-03-20T00:00:00Z")) && f.Number != "400"
	}
	w.send("12T06:00", source("TFRA", "", ".I/LX90/12MAR/ZRH", ".F/LH402/12MAR/JFK", ".O/AA1/12MAR/LAX")...)
	w.send("12T07:00", processed("TFRA", ".J/R", ".F/LH402/12MAR/JFK")...)
	expectList(t, "legs", legs(w.one(plate)),
		"LX90/12 ZRH-FRA", "LH402/12 FRA-JFK Loaded on Aircraft", "AA1/12 JFK-LAX Delayed")

	w.send("12T08:00", "BPM", ".V/1TFRA", ".F/LH402/12MAR/JFK", ".B/OFF/0220000001001", "ENDBPM")
	expectList(t, "offloaded", legs(w.one(plate)),
		"LX90/12 ZRH-FRA", "LH402/12 FRA-JFK Offloaded", "AA1/12 JFK-LAX Delayed")
}

// If the flight reference puts off a departure after a bag was shown, the leg is Not Loaded again.
func TestADepartureThatIsPutOffDelaysNoLeg(t *testing.T) {
	w := newWorld(t)
	departed := true
	w.settings.Departed = func(bag.Flight, string, string, time.Time) bool { return departed }
	w.keep = trail.New(w.index, w.enricher, w.settings)
	w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/JFK")...)
	for _, want := range []string{"Delayed", "Not Loaded", "Delayed"} {
		for range 2 {
			bags, err := w.keep.History(t.Context(), plate)
			if err != nil || len(bags) != 1 {
				t.Fatalf("%v, %v", bags, err)
			}
			expectList(t, "history", legs(bags[0]), "LX100/12 ZRH-JFK "+want)
			expectList(t, "list", w.flight("ZRH", false, "LX100/12"), "0220000001 "+want)
		}
		departed = !departed
	}
}

// TestRules3DepartedFromAnUnknownAirport: of a through flight the leg counts that arrives where the bag arrives.
func TestRules3DepartedFromAnUnknownAirport(t *testing.T) {
	w := newWorld(t)
	w.settings.Departed = func(_ bag.Flight, from, to string, _ time.Time) bool { return from == "" && to == "JFK" }
	w.send("12T06:00", "BSM", ".V/1XJFK", ".F/LX204/12MAR/JFK", ".N/0220000001001", "ENDBSM")
	expectList(t, "legs", legs(w.one(plate)), "LX204/12 -JFK Delayed")
}

// TestRules3OwnRush: of a bag that is its own rush bag those legs are Delayed that the rush BSM does not name, that are not Loaded on
// Aircraft, and whose status no event set after it.
func TestRules3OwnRush(t *testing.T) {
	rush := source("LZRH", "", ".F/LX102/13MAR/JFK", ".E/RUSH")
	w := newWorld(t)
	w.send("12T06:00", source("TGVA", "", ".F/LX2801/12MAR/ZRH", ".O/LX100/12MAR/JFK", ".O/AA1/12MAR/LAX")...)
	w.send("13T06:00", rush...)
	b := w.one(plate)
	expect(t, "its own rush bag", b.OwnRush, true)
	expect(t, "reflighted_info", original(b), "none")
	expectList(t, "re-flighted", legs(b), "LX2801/12 GVA-ZRH Delayed", "AA1/12 JFK-LAX Delayed", "LX102/13 ZRH-JFK Not Loaded", "(LX100/12 ZRH-JFK)")
	w.send("13T07:00", processed("LJFK", ".J/R", ".U/AKE12345AA", ".F/AA1/12MAR/LAX")...)
	expectList(t, "loaded since", legs(w.one(plate)), "AA1/12 JFK-LAX Loaded in Container", "LX2801/12 GVA-ZRH Delayed", "LX102/13 ZRH-JFK Not Loaded", "(LX100/12 ZRH-JFK)")
}

func TestAGroupOfTheSameMessageIsNotBeforeTheOneThatReflightsItsOwnPlate(t *testing.T) {
	for day, bags := range map[string]int{"12": 1, "02": 2} {
		w := newWorld(t)
		w.send("01T06:00", source("LZRH", "", ".F/LX100/"+day+"MAR/JFK", ".N/0220000001001", ".L/ABC123",
			".F/LX102/12MAR/JFK", ".N/0220000001001", ".L/ABC123", ".E/RUSH")...)
		all := w.bags(plate)
		expect(t, "bags", len(all), bags)
		for _, b := range all {
			expect(t, "its own rush bag", b.OwnRush, false)
		}
	}
}

func TestARushBSMContinuesTheJourneyOfItsPlateThatBeganUpToFourteenDaysBefore(t *testing.T) {
	for days, bags := range map[string]int{"03 06": 1, "02 04": 2, "02 05": 2, "05 02": 2} { // up to three days apart are one journey
		w := newWorld(t)
		for i, day := range strings.Fields(days) {
			w.send(fmt.Sprintf("01T0%d:00", i), source("LZRH", "", ".F/LX100/"+day+"MAR/JFK")...)
		}
		w.send("01T06:00", source("LZRH", "", ".F/LX100/17MAR/JFK", ".E/RUSH")...)
		expect(t, "bags after flights on "+days, len(w.bags(plate)), bags)
	}
}

// TestRules3TheRushBagsOwnLegsAreJudgedLikeAnyOthers: a REFLIGHTED event makes no leg of its own bag Delayed.
func TestRules3TheRushBagsOwnLegsAreJudgedLikeAnyOthers(t *testing.T) {
	w := newWorld(t)
	w.send("13T06:00", source("LZRH", "", ".F/LX102/13MAR/JFK", ".E/RUSH")...)
	expectList(t, "re-flighted", legs(w.one(plate)), "LX102/13 ZRH-JFK Not Loaded")
}

// TestRules4BagsForFlight: D departs from the airport, A arrives there; only living legs; the order is
// plate, PNR, surname; the seat is that of the latest BSM at the departure.
func TestRules4BagsForFlight(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX0100/12MAR/FRA", ".O/LH400/12MAR/JFK", ".N/0220000002001", ".S/Y/12A/C", ".P/SMITH/JOHN", "ENDBSM")
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX100/12MAR/FRA", ".N/0220000001001", ".L/XYZ789", "ENDBSM")
	w.send("12T06:01", "BSM", ".V/1LZRH", ".F/LX100/12MAR/FRA", ".N/0220000001001", ".L/ABC123", "ENDBSM")
	expectList(t, "departing", w.flight("ZRH", false, "LX100/12"), "0220000001 Not Loaded", "0220000001 Not Loaded", "0220000002 Not Loaded")
	expectList(t, "arriving", w.flight("FRA", true, "LX100/12"), "0220000001 Not Loaded", "0220000001 Not Loaded", "0220000002 Not Loaded")
	expectList(t, "arriving where it departs", w.flight("ZRH", true, "LX100/12"))
	expectList(t, "another day", w.flight("ZRH", false, "LX100/13"))
	expectList(t, "onward", w.flight("JFK", true, "LH400/12"), "0220000002 Not Loaded")
	b := w.one("0220000002")
	expect(t, "seat", b.Legs[0].Seat, "12A")
	expect(t, "seat on the onward leg", b.Legs[1].Seat, "")
}

// swept is an index from whose flights a plate was removed.
type swept struct {
	trail.Index
	gone bag.Plate
}

func (s *swept) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	found, err := s.Index.Read(ctx, w)
	for i, plates := range found.Flights {
		found.Flights[i] = slices.DeleteFunc(plates, func(p bag.Plate) bool { return p == s.gone })
	}
	return found, err
}

func TestABagThatTheIndexHasRemovedLeavesTheListOfItsFlight(t *testing.T) {
	w := newWorld(t)
	index := &swept{Index: w.index}
	w.keep = trail.New(index, w.enricher, w.settings)
	for _, p := range []string{"0220000001", "0220000002"} {
		w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX100/12MAR/FRA", ".N/"+p+"001", "ENDBSM")
	}
	expectList(t, "before", w.flight("ZRH", false, "LX100/12"), "0220000001 Not Loaded", "0220000002 Not Loaded")
	index.gone = "0220000002"
	expectList(t, "after", w.flight("ZRH", false, "LX100/12"), "0220000001 Not Loaded")
}

// TestRules4BagsForPassenger: bags with that PNR, without case, and a living leg that departs on that day.
func TestRules4BagsForPassenger(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", source("LZRH", "", ".F/LX100/12MAR/FRA", ".O/LH400/13MAR/JFK")...)
	expect(t, "first leg", len(w.passenger("abc123", "12")), 1)
	expect(t, "onward leg", len(w.passenger("ABC123", "13")), 1)
	expect(t, "another day", len(w.passenger("ABC123", "14")), 0)
	expect(t, "another PNR", len(w.passenger("ABC124", "12")), 0)
	w.send("12T07:00", source("LZRH", "DEL", ".F/LX100/12MAR/FRA", ".O/LH400/13MAR/JFK")...)
	expect(t, "cancelled", len(w.passenger("ABC123", "12")), 0)
}

// Newark is one place with New York and with its station ZME, which are not one place.
func TestAThirdCodeDoesNotConnectTheExitsOfTwo(t *testing.T) {
	w := newWorld(t)
	w.send("12T09:00", "BPM", ".V/1LPHL", ".J/S", ".I/AA3/12MAR/ZME", ".N/0220000001001", "ENDBPM")
	w.send("12T10:00", "BSM", ".V/1LJFK", ".F/DL1/12MAR/LAX", ".N/0220000001001", ".P/SMITH", "ENDBSM")
	w.send("12T10:10", "BPM", ".V/1LORD", ".J/S", ".I/UA5/12MAR/EWR", ".N/0220000001001", "ENDBPM")
	expectList(t, "legs", legs(w.one(plate)), "DL1/12 JFK-LAX Not Loaded", "AA3/12 ZME-PHL", "(UA5/12 EWR-ORD)")
}

func TestABSMThatIsNotCurrentAtItsAirportIsNotCurrentAtOneThatIsOnePlaceWithIt(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", source("LZME", "", ".F/UA1/12MAR/LAX")...)
	w.send("12T06:10", source("LEWR", "", ".F/UA2/12MAR/LAX")...)
	w.send("12T06:20", source("LJFK", "", ".F/UA3/12MAR/LAX")...)
	expectList(t, "legs", legs(w.one(plate)), "UA3/12 JFK-LAX Not Loaded", "(UA2/12 EWR-LAX)", "(UA1/12 ZME-LAX)")
}
