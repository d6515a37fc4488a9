package trail_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
)

// counting counts the round trips to an index.
type counting struct {
	trail.Index
	reads int
}

func (c *counting) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	c.reads++
	return c.Index.Read(ctx, w)
}

func TestEveryBagOfARushChainKnowsTheWholeChain(t *testing.T) {
	const first, second, third = bag.Plate("0220000001"), bag.Plate("2220000002"), bag.Plate("2220000003")
	w := newWorld(t)
	w.send("12T06:00", checkIn(first, "12")...)
	w.send("13T06:00", rushTag(second, "13", ".M/"+string(first))...)
	w.send("14T06:00", "BSM", ".V/1LZRH", ".F/BA300/14MAR/JFK", ".N/"+string(third)+"001", ".E/RUSH", ".M/"+string(second), "ENDBSM")
	reader := trail.New(w.index, w.enricher, w.settings)
	for _, tc := range []struct {
		sight  bag.Sight
		plate  bag.Plate
		chain  []bag.Plate
		tag    bool // the bag has a rush bag
		status bag.Status
	}{
		{nil, first, []bag.Plate{first, second, third}, true, bag.Delayed},
		{nil, second, []bag.Plate{first, second, third}, true, bag.Delayed},
		{nil, third, []bag.Plate{first, second, third}, false, bag.NotLoaded},
		{covering{"LX", ""}, first, []bag.Plate{first, second}, true, bag.Delayed},
		{covering{"LX", ""}, second, []bag.Plate{first, second}, false, bag.Delayed},
		{covering{"BA", ""}, third, []bag.Plate{third}, false, bag.NotLoaded},
	} {
		traced, err := reader.For(tc.sight).TracePlates(t.Context(), []bag.Plate{tc.plate, tc.plate})
		if err != nil || len(traced) != 1 {
			t.Fatalf("%v: %v, %v", tc.plate, traced, err)
		}
		got := traced[0]
		if !slices.Equal(got.Chain, tc.chain) || (got.Bag.RushTag != nil) != tc.tag || got.Bag.Legs[0].Status != tc.status {
			t.Errorf("%v sees of %s the chain %s, %s; want %s, %s", tc.sight, tc.plate, got.Chain, got.Bag.Legs[0].Status, tc.chain, tc.status)
		}
		if left := tc.status == bag.Delayed; (got.LeftBy != nil) != left || left && got.Bag.Legs[0].SetBy != got.LeftBy.FirstReflight() {
			t.Errorf("%v: %s is left behind by %v", tc.sight, tc.plate, got.LeftBy)
		}
	}
}

func TestBagsOfAChainThatAreTracedTogetherHaveEachOriginalOnce(t *testing.T) {
	const first, second, third = bag.Plate("0220000001"), bag.Plate("2220000002"), bag.Plate("2220000003")
	w := newWorld(t)
	w.send("12T06:00", checkIn(first, "12")...)
	w.send("13T06:00", rushTag(second, "13", ".M/"+string(first))...)
	w.send("14T06:00", rushTag(third, "14", ".M/"+string(second))...)
	traced, err := w.reader().TracePlates(t.Context(), []bag.Plate{third, second, first})
	if err != nil || len(traced) != 3 {
		t.Fatalf("%v, %v", traced, err)
	}
	for i, want := range []string{"none", "0220000001 LX100/12", "2220000002 LX200/13"} {
		expect(t, string(traced[i].Bag.Plate), original(traced[i].Bag), want)
	}
}

// One group of a message makes both rush bags of an original, and one of them is a rush bag of
// another original too. The event that left the original behind does not depend on what is read
// with it.
func TestOfTwoRushBagsOfOneGroupTheLowerPlateLeftTheOriginalBehind(t *testing.T) {
	const other, first, lower = bag.Plate("0220000001"), bag.Plate("0220000002"), bag.Plate("2220000008")
	w := newWorld(t)
	w.send("12T06:00", checkIn(other, "12")...)
	w.send("12T06:01", checkIn(first, "12")...)
	w.send("13T06:00", "BSM", ".V/1LZRH", ".F/LX200/13MAR/JFK", ".N/2220000008002", ".P/SMITH", ".M/"+string(first),
		".N/2220000009001", ".P/SMITH", ".M/"+string(other), "ENDBSM")
	for _, plates := range [][]bag.Plate{{first}, {other, first}} {
		traced, err := w.reader().TracePlates(t.Context(), plates)
		if err != nil || len(traced) != len(plates) {
			t.Fatalf("%v, %v", traced, err)
		}
		if by := traced[len(traced)-1].LeftBy; by == nil || by.Plate != lower {
			t.Errorf("of %s, %s is left behind by %v", plates, first, by)
		}
	}
}

// Each of the two rush bags names the other as its original.
func TestAChainHoldsNoPlateTwice(t *testing.T) {
	const one, other = bag.Plate("2220000002"), bag.Plate("2220000003")
	w := newWorld(t)
	w.send("12T06:00", rushTag(one, "12", ".M/"+string(other))...)
	w.send("12T06:01", rushTag(other, "12", ".M/"+string(one))...)
	for _, plates := range [][]bag.Plate{{one, other}, {other, one}} {
		traced, err := w.reader().TracePlates(t.Context(), plates[:1])
		if err != nil || len(traced) != 1 {
			t.Fatalf("%v, %v", traced, err)
		}
		got := traced[0]
		if want := []bag.Plate{plates[1], plates[0]}; !slices.Equal(got.Chain, want) || got.Bag.RushTag == nil || got.Bag.RushTag.Plate != plates[1] {
			t.Errorf("%s: chain %s, rush tag %v; want %s", plates[0], got.Chain, got.Bag.RushTag, want)
		}
	}
}

func TestAChainGoesThroughTheFirstOriginalThatIsKnown(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", checkIn(plate, "12")...)
	w.send("13T06:00", "BSM", ".V/1LZRH", ".F/LX200/13MAR/JFK", ".N/2220000009001", ".L/ABC123", ".M/0220000008", ".N/2220000009001", ".L/ABC123", ".M/"+string(plate), "ENDBSM")
	traced, err := w.reader().TracePlates(t.Context(), []bag.Plate{"2220000009"})
	if err != nil || len(traced) != 1 || !slices.Equal(traced[0].Chain, []bag.Plate{plate, "2220000009"}) {
		t.Fatalf("%+v, %v", traced, err)
	}
}

// The rush bag names no plate, and the second of the PNRs that find the bag.
func TestARushBagIsFoundUnderEachPNROfItsOriginal(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0220000001001", ".P/SMITH/JOHN", ".L/ABC123", "ENDBSM")
	w.send("12T06:01", "BSM", ".V/1TLHR", ".F/BA177/12MAR/JFK", ".N/0220000001001", ".P/SMITH/JOHN", ".L/XYZ789", "ENDBSM")
	w.send("13T06:00", rushTag("0220000009", "13", ".P/SMITH", ".L/XYZ789")...)
	traced, err := w.reader().TracePassenger(t.Context(), "ABC123", inMarch(12))
	if err != nil || len(traced) != 1 || traced[0].LeftBy == nil || traced[0].LeftBy.Plate != "0220000009" {
		t.Errorf("%+v, %v", traced, err)
	}
}

func TestManyPlatesAreTracedInFewRoundTrips(t *testing.T) {
	w := newWorld(t)
	var plates []bag.Plate
	for i := range 100 {
		plate := bag.Plate(fmt.Sprintf("02200%05d", i))
		plates = append(plates, plate)
		w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/"+string(plate)+"001", ".P/SMITH/JOHN", fmt.Sprintf(".L/ABC%03d", i), "ENDBSM")
	}
	// A rush bag names the plate of each of the first fifty, and none of the next fifty.
	for i, plate := range plates {
		original := ".M/" + string(plate)
		if i >= 50 {
			original = ".R/NONE"
		}
		rush := "2" + plate[1:]
		plates = append(plates, rush)
		w.send("13T06:00", "BSM", ".V/1LZRH", ".F/LX102/13MAR/JFK", ".N/"+string(rush)+"001", ".E/RUSH", ".P/SMITH/JOHN", fmt.Sprintf(".L/ABC%03d", i), original, "ENDBSM")
	}
	index := &counting{Index: w.index}
	reader := trail.New(index, w.enricher, w.settings)
	traced, err := reader.TracePlates(t.Context(), plates)
	if err != nil || len(traced) != len(plates) {
		t.Fatalf("%d bags, %v", len(traced), err)
	}
	for _, b := range traced {
		if !b.Bag.Rush && b.LeftBy == nil || len(b.Chain) != 2 {
			t.Errorf("%s: left by %v, chain %v", b.Bag.Plate, b.LeftBy, b.Chain)
		}
	}
	if index.reads > 8 {
		t.Errorf("%d round trips", index.reads)
	}
	if bags, err := reader.Folded(t.Context(), plates); err != nil || len(bags) != len(plates) {
		t.Errorf("%d bags, %v", len(bags), err)
	}
}

func TestALegThatItsFlightLeftWithoutIsDelayedByTheClock(t *testing.T) {
	w := newWorld(t)
	w.settings.Departed = func(f bag.Flight, _, _ string, _ time.Time) bool { return f.Number == "100" }
	w.send("12T06:00", checkIn("0220000001", "12")...)
	traced, err := trail.New(w.index, w.enricher, w.settings).TracePassenger(t.Context(), "abc123", inMarch(12))
	if err != nil || len(traced) != 1 {
		t.Fatalf("%v, %v", traced, err)
	}
	if leg := traced[0].Bag.Legs[0]; leg.Status != bag.Delayed || !leg.LeftWithoutBag || leg.SetBy != nil {
		t.Errorf("%+v", leg)
	}
	w.send("13T06:00", rushTag("2220000009", "13", ".M/0220000001")...)
	traced, err = trail.New(w.index, w.enricher, w.settings).TracePassenger(t.Context(), "ABC123", inMarch(12))
	if err != nil || len(traced) != 1 {
		t.Fatalf("%v, %v", traced, err)
	}
	if leg := traced[0].Bag.Legs[0]; leg.Status != bag.Delayed || leg.LeftWithoutBag || leg.SetBy != traced[0].LeftBy.FirstReflight() {
		t.Errorf("re-flighted since: %+v", leg)
	}
	if traced, err := trail.New(w.index, w.enricher, w.settings).TracePassenger(t.Context(), "ABC123", inMarch(13)); err != nil || len(traced) != 0 {
		t.Errorf("%v, %v", traced, err)
	}
}

// inMarch returns a day of March 2026.
func inMarch(day int) bag.Day { return bag.DayIn(2026, time.March, day) }

// Which plates were re-flighted is read together with the messages, and under which PNRs with the
// positionings of the containers.
func TestPlatesAreTracedInTwoRoundTrips(t *testing.T) {
	w := newWorld(t)
	var plates []bag.Plate
	for i := range 50 {
		plates = append(plates, bag.Plate(fmt.Sprintf("0724100%03d", i)))
		w.send("12T07:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0700L", ".F/LX14/12MAR/JFK", ".N/"+string(plates[i])+"001", ".U/AKE1", ".L/TOUR99", "ENDBPM")
	}
	w.send("12T08:00", rushTag("2220000002", "13", ".M/"+string(plates[0]))...)
	index := &counting{Index: w.index}
	reader := trail.New(index, w.enricher, w.settings)
	for _, when := range []string{"anew", "again"} {
		index.reads = 0
		traced, err := reader.TracePlates(t.Context(), plates[1:])
		if err != nil || len(traced) != 49 || index.reads != 2 {
			t.Errorf("%s: %d bags in %d round trips, %v; want 49 in 2", when, len(traced), index.reads, err)
		}
	}
	traced, err := reader.TracePlates(t.Context(), plates[:1])
	if err != nil || len(traced) != 1 || !slices.Equal(traced[0].Chain, []bag.Plate{plates[0], "2220000002"}) {
		t.Errorf("the plate that was re-flighted: %+v, %v", traced, err)
	}
}
