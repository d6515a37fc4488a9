package trail_test

import (
	"fmt"
	"testing"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
)

// The bags of a group are found in as many round trips as those of one passenger, rush bags included.
func TestPassengerTakesFewRoundTripsHoweverManyBags(t *testing.T) {
	for _, pnr := range []string{".L/TOUR99", ".L"} { // with or without which the rush bags are filed under it
		passengerTakesFewRoundTrips(t, pnr)
	}
}

func passengerTakesFewRoundTrips(t *testing.T, pnr string) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001200", ".P/TOUR", ".L/TOUR99", "ENDBSM")
	for i := range 50 {
		w.send(fmt.Sprintf("13T06:%02d", i), "BSM", ".V/1LZRH", ".F/LX14/13MAR/JFK", fmt.Sprintf(".N/2724200%03d001", i), fmt.Sprintf(".M/0724100%03d", i+1), ".P/TOUR", pnr, "ENDBSM")
	}
	index := &counting{Index: w.index}
	bags, err := trail.New(index, w.enricher, w.settings).OfPassenger(t.Context(), "TOUR99", inMarch(12))
	if err != nil || len(bags) != 200 {
		t.Fatalf("%d bags, %v", len(bags), err)
	}
	for i, b := range bags {
		if (b.RushTag != nil) != (i < 50) {
			t.Errorf("%s: rush tag %v", b.Plate, b.RushTag)
		}
	}
	if index.reads > 5 {
		t.Errorf("%d round trips", index.reads)
	}
}

// The bags of a report on a group are found in a few round trips, however many plates it names: with their rush bags, with their
// originals, and with the messages about one passenger read once.
func TestPlatesOfAGroupTakeFewRoundTrips(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001200", ".P/TOUR", ".L/TOUR99", "ENDBSM")
	w.send("12T07:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0700L", ".F/LX14/12MAR/JFK", ".N/0724100001200", ".U/AKE1", "ENDBPM")
	var plates []bag.Plate
	for i := range 50 {
		original, rush := fmt.Sprintf("0724100%03d", i+1), fmt.Sprintf("2724200%03d", i)
		w.send(fmt.Sprintf("13T06:%02d", i), "BSM", ".V/1LZRH", ".F/LX14/13MAR/JFK", ".N/"+rush+"001", ".M/"+original, ".P/TOUR", ".L/TOUR99", "ENDBSM")
		plates = append(plates, bag.Plate(original), bag.Plate(rush))
	}
	for i := range 50 { // other passengers
		w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", fmt.Sprintf(".N/0724300%03d001", i), ".P/SOLO", fmt.Sprintf(".L/SOLO%02d", i), "ENDBSM")
		plates = append(plates, bag.Plate(fmt.Sprintf("0724300%03d", i)))
	}
	index := &counting{Index: w.index}
	bags, err := trail.New(index, w.enricher, w.settings).OfPlates(t.Context(), plates)
	if err != nil || len(bags) != len(plates) {
		t.Fatalf("%d bags, %v", len(bags), err)
	}
	for _, b := range bags {
		if first := b.Plate < "0724200000"; (b.RushTag != nil) != first || first && b.Legs[0].Status != bag.Delayed {
			t.Errorf("%s: rush tag %v, legs %+v", b.Plate, b.RushTag, b.Legs)
		}
		if b.Rush && (len(b.Reflighted) != 1 || b.Reflighted[0].Bag == nil) {
			t.Errorf("%s re-flights %+v", b.Plate, b.Reflighted)
		}
	}
	if index.reads > 6 {
		t.Errorf("%d round trips", index.reads)
	}
}

// A flight that is asked for again takes one round trip, and at most three where something has changed since; its bags, their flights,
// and the containers on them are then those of today.
func TestFlightIsReadAgainWhereItChanged(t *testing.T) {
	w := newWorld(t)
	for i := range 50 {
		w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".O/AA100/12MAR/BOS", fmt.Sprintf(".N/0724100%03d001", i), ".P/TOUR", ".L/TOUR99", "ENDBSM")
		w.send("12T07:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0700L", ".F/LX14/12MAR/JFK", fmt.Sprintf(".N/0724100%03d001", i), ".U/AKE1", "ENDBPM")
	}
	index := &counting{Index: w.index}
	reader := trail.New(index, w.enricher, w.settings)
	ask := func(trips int, status bag.Status, changed int) {
		t.Helper()
		index.reads = 0
		listed, err := reader.OfFlight(t.Context(), "JFK", false, bag.Flight{Airline: "AA", Number: "100", Day: inMarch(12)})
		if err != nil {
			t.Fatal(err)
		}
		departing, err := reader.OfFlight(t.Context(), "ZRH", false, bag.Flight{Airline: "LX", Number: "14", Day: inMarch(12)})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, l := range departing {
			if l.Leg.Status == status {
				n++
			}
		}
		if len(listed) != 50 || len(departing) != 50 || n != changed {
			t.Errorf("%d and %d bags, %d of them %s, want 50, 50, %d", len(listed), len(departing), n, status, changed)
		}
		if index.reads != trips {
			t.Errorf("%d round trips for two flights, want %d", index.reads, trips)
		}
	}
	ask(3+3, bag.InContainer, 50)
	ask(1+1, bag.InContainer, 50)
	w.send("12T08:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0800L", ".F/LX14/12MAR/JFK", ".N/0724100007001", ".U/AKE2/41", "ENDBPM")
	ask(3+3, bag.OnAircraft, 1)
	w.send("12T08:30", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0830L", ".F/LX14/12MAR/JFK", ".U/AKE1/42", "ENDBPM") // all others
	ask(3+3, bag.OnAircraft, 50)
	ask(1+1, bag.OnAircraft, 50)
}

// The history of a bag in a container takes two round trips. Then it is cached: it takes one, and two if a message or a container
// positioning has changed it.
func TestHistoryIsReadAgainWhereItChanged(t *testing.T) {
	w := newWorld(t)
	w.send("12T07:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0700L", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".U/AKE1", "ENDBPM")
	index := &counting{Index: w.index}
	reader := trail.New(index, w.enricher, w.settings)
	ask := func(trips, events int) {
		t.Helper()
		index.reads = 0
		bags, err := reader.History(t.Context(), "0724100001")
		if err != nil {
			t.Fatal(err)
		}
		if len(bags) != 1 || len(bags[0].Events) != events || index.reads != trips {
			t.Errorf("%d bags, %d events, %d round trips, want 1, %d, %d", len(bags), len(bags[0].Events), index.reads, events, trips)
		}
	}
	ask(2, 1)
	ask(1, 1)
	w.send("12T07:30", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0730L", ".F/LX14/12MAR/JFK", ".U/AKE1/42", "ENDBPM")
	ask(2, 2)
	w.send("12T08:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0800L", ".F/LX14/12MAR/JFK", ".N/0724100001001", "ENDBPM")
	ask(2, 3)
	ask(1, 3)
}

func TestABagThatWasInSeveralContainersTakesTwoRoundTrips(t *testing.T) {
	w := newWorld(t)
	w.send("12T07:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0700L", ".F/LX318/12MAR/LHR", ".N/0724100001001", ".U/AKE1", "ENDBPM")
	w.send("12T12:00", "BPM", ".V/1LLHR", ".J/R//A/12MAR/1200L", ".F/BA177/12MAR/JFK", ".N/0724100001001", ".U/AKE2", "ENDBPM")
	index := &counting{Index: w.index}
	bags, err := trail.New(index, w.enricher, w.settings).History(t.Context(), "0724100001")
	if err != nil || len(bags) != 1 || index.reads != 2 {
		t.Errorf("%d bags in %d round trips, %v", len(bags), index.reads, err)
	}
}

// What is remembered of its bags does not make the list of a flight take more round trips.
func TestFlightTakesThreeRoundTripsWhateverIsRemembered(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".P/TOUR", ".L/TOUR99", "ENDBSM")
	index := &counting{Index: w.index}
	reader := trail.New(index, w.enricher, w.settings)
	if _, err := reader.OfPlates(t.Context(), []bag.Plate{"0724100001"}); err != nil {
		t.Fatal(err)
	}
	w.send("12T07:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0700L", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".U/AKE1", "ENDBPM")
	w.send("12T07:30", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0730L", ".F/LX14/12MAR/JFK", ".U/AKE1/42", "ENDBPM")
	index.reads = 0
	listed, err := reader.OfFlight(t.Context(), "ZRH", false, bag.Flight{Airline: "LX", Number: "14", Day: inMarch(12)})
	if err != nil || len(listed) != 1 || listed[0].Leg.Status != bag.OnAircraft || index.reads != 3 {
		t.Errorf("%+v, %v, in %d round trips", listed, err, index.reads)
	}
}

// The bags of a passenger take three round trips, two if they are cached, and three again if one of them has changed.
func TestPassengerIsReadAgainWhereABagChanged(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001002", ".P/TOUR", ".L/TOUR99", "ENDBSM")
	w.send("12T07:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0700L", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".U/AKE1", "ENDBPM")
	index := &counting{Index: w.index}
	reader := trail.New(index, w.enricher, w.settings)
	ask := func(trips, bags, events int) {
		t.Helper()
		index.reads = 0
		found, err := reader.OfPassenger(t.Context(), "tour99", inMarch(12))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != bags || len(found[0].Events) != events || index.reads != trips {
			t.Errorf("%d bags, %d events of the first, %d round trips, want %d, %d, %d", len(found), len(found[0].Events), index.reads, bags, events, trips)
		}
	}
	ask(3, 2, 2)
	ask(2, 2, 2)
	w.send("12T07:30", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0730L", ".F/LX14/12MAR/JFK", ".U/AKE1/42", "ENDBPM")
	ask(3, 2, 3)
	w.send("12T08:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0800L", ".F/LX14/12MAR/JFK", ".N/0724100001001", "ENDBPM")
	ask(3, 2, 4)
	w.send("12T08:30", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100009001", ".P/TOUR", ".L/TOUR99", "ENDBSM")
	ask(2, 3, 4)
	w.send("13T08:30", "BSM", ".V/1LZRH", ".F/LX14/13MAR/JFK", ".N/2724100009001", ".E/RUSH", ".M/0724100001", ".P/TOUR", ".L/TOUR99", "ENDBSM")
	ask(2, 3, 4)
	if found, err := reader.OfPassenger(t.Context(), "TOUR99", inMarch(12)); err != nil || found[0].RushTag == nil || found[0].RushTag.Plate != "2724100009" {
		t.Errorf("%+v, %v", found[0], err)
	}
}

// The list of a flight takes as many round trips for many passengers with rush bags as for one.
func TestAFlightWithManyRushBagsTakesFewRoundTrips(t *testing.T) {
	trips := func(passengers int) int {
		w := newWorld(t)
		for i := range passengers {
			name := []string{fmt.Sprintf(".P/TOUR%c", 'A'+i), fmt.Sprintf(".L/TOUR%02d", i), "ENDBSM"}
			w.send("12T06:00", append([]string{"BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", fmt.Sprintf(".N/07241000%02d001", i)}, name...)...)
			w.send("13T06:00", append([]string{"BSM", ".V/1LZRH", ".F/LX14/13MAR/JFK", fmt.Sprintf(".N/27242000%02d001", i), ".E/RUSH"}, name...)...)
		}
		index := &counting{Index: w.index}
		listed, err := trail.New(index, w.enricher, w.settings).OfFlight(t.Context(), "ZRH", false, bag.Flight{Airline: "LX", Number: "14", Day: inMarch(12)})
		if err != nil || len(listed) != passengers {
			t.Fatalf("%d bags, %v", len(listed), err)
		}
		for _, l := range listed {
			if l.Leg.Status != bag.Delayed {
				t.Errorf("%s is %s", l.Bag.Plate, l.Leg.Status)
			}
		}
		return index.reads
	}
	if one, many := trips(1), trips(20); many > one {
		t.Errorf("%d round trips for 20 passengers, %d for one", many, one)
	}
}

// The list of a flight takes at most seven round trips, however long the chains of its rush bags are.
func TestAFlightWithRushChainsTakesSevenRoundTrips(t *testing.T) {
	const passengers, chain = 20, 6
	w := newWorld(t)
	for i := range passengers {
		plate := func(link int) string { return fmt.Sprintf("%d724%d00%03d", min(2*link, 2), link, i) }
		name := []string{fmt.Sprintf(".P/TOUR%c", 'A'+i), fmt.Sprintf(".L/TOUR%02d", i), "ENDBSM"}
		w.send("12T06:00", append([]string{"BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/" + plate(0) + "001"}, name...)...)
		for link := 1; link < chain; link++ {
			lines := []string{"BSM", ".V/1LZRH", fmt.Sprintf(".F/LX14/%d", 12+link) + "MAR/JFK", ".N/" + plate(link) + "001", ".E/RUSH"}
			if i%2 == 0 {
				w.send(fmt.Sprintf("%dT06:00", 12+link), append(lines, ".M/"+plate(link-1), "ENDBSM")...)
			} else {
				w.send(fmt.Sprintf("%dT06:00", 12+link), append(lines, name...)...)
			}
			container := fmt.Sprintf(".U/AKE%d", link*passengers+i)
			w.send(fmt.Sprintf("%dT07:00", 12+link), "BPM", ".V/1LZRH", ".J/R", lines[2], ".N/"+plate(link)+"001", container, "ENDBPM")
		}
	}
	index := &counting{Index: w.index}
	reader := trail.New(index, w.enricher, w.settings)
	for _, most := range []int{7, 5} { // the second time the list is cached
		index.reads = 0
		listed, err := reader.OfFlight(t.Context(), "ZRH", false, bag.Flight{Airline: "LX", Number: "14", Day: inMarch(12)})
		if err != nil || len(listed) != passengers {
			t.Fatalf("%d bags, %v", len(listed), err)
		}
		for _, l := range listed {
			if l.Leg.Status != bag.Delayed {
				t.Errorf("%s is %s", l.Bag.Plate, l.Leg.Status)
			}
		}
		if index.reads > most {
			t.Errorf("%d round trips, want at most %d", index.reads, most)
		}
	}
}
