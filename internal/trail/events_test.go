package trail_test

import (
	"testing"

	"bagtrail/internal/bag"
)

const plate = bag.Plate("0220000001")

// bsm is a source message of the plate at ZRH for LX100 to JFK, with lines behind the tag.
func bsm(lines ...string) []string {
	return append(append([]string{"BSM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/0220000001001"}, lines...), "ENDBSM")
}

func bpm(lines ...string) []string {
	return append(append([]string{"BPM", ".V/1LZRH"}, lines...), "ENDBPM")
}

// TestRules2EventTable has messages for rows of the event table of rules §2, in its order, and for the
// order of the rows: the first that matches wins. It knows only the rows that stand here.
func TestRules2EventTable(t *testing.T) {
	const flight, tag = ".F/LX100/12MAR/JFK", ".N/0220000001001"
	for _, row := range []struct {
		name        string
		message     []string
		code        string
		description string
		sets        bag.Status
	}{
		{"BSM + DEL", []string{"BSM", "DEL", ".V/1LZRH", flight, tag, "ENDBSM"}, "CANCELLED", "Bag Cancelled", bag.NoStatus},
		{"DEL before RUSH", []string{"BSM", "DEL", ".V/1LZRH", flight, tag, ".E/RUSH", "ENDBSM"}, "CANCELLED", "Bag Cancelled", bag.NoStatus},
		{"BSM with .E/RUSH", bsm(".E/RUSH"), "REFLIGHTED", "Bag Re-flighted", bag.NoStatus},
		{"BSM with .E/RUSH as the second .E", bsm(".E/PRIO", ".E/RUSH"), "REFLIGHTED", "Bag Re-flighted", bag.NoStatus},
		{"BSM", bsm(), "EXPECTED", "Bag Expected", bag.NoStatus},
		{"BSM ADD", []string{"BSM", "ADD", ".V/1LZRH", flight, tag, "ENDBSM"}, "EXPECTED", "Bag Expected", bag.NoStatus},
		{"BSM CHG without predecessor", []string{"BSM", "CHG", ".V/1LZRH", flight, tag, "ENDBSM"}, "EXPECTED", "Bag Expected", bag.NoStatus},
		{"BSM CHG with status B without predecessor", []string{"BSM", "CHG", ".V/1LZRH", flight, tag, ".S/Y/1A/B", "ENDBSM"}, "PAX_BOARDED", "Passenger Boarded", bag.NoStatus},
		{"BSM with status B that is no CHG", bsm(".S/Y/1A/B"), "EXPECTED", "Bag Expected", bag.NoStatus},
		{".B/OFF", bpm(flight, ".B/OFF/0220000001001"), "OFFLOADED", "Bag Offloaded", bag.Offloaded},
		{".B/OND", bpm(flight, ".B/OND/0220000001001"), "OND", "Bag on Hand, Not Authorised to Load", bag.NotLoaded},
		{".B/ONA", bpm(flight, ".B/ONA/0220000001001"), "ONA", "Bag on Hand, Authorised to Load", bag.NotLoaded},
		{".B/UNS", bpm(flight, ".B/UNS/0220000001001"), "UNS", "Bag Unseen", bag.NotLoaded},
		{".B/NAL", bpm(flight, ".B/NAL/0220000001001"), "NAL", "Bag Loaded, Not Authorised to Load", bag.OnAircraft},
		{".B/NAL with a device", bpm(flight, ".U/AKE12345LX", ".B/NAL/0220000001001"), "NAL", "Bag Loaded, Not Authorised to Load", bag.InContainer},
		{".B/NAL with device and compartment", bpm(flight, ".U/AKE12345LX/41L", ".B/NAL/0220000001001"), "NAL", "Bag Loaded, Not Authorised to Load", bag.OnAircraft},
		{".B counts before .N", bpm(flight, tag, ".B/OFF/0220000001001"), "OFFLOADED", "Bag Offloaded", bag.Offloaded},
		{".B counts before .U", bpm(flight, ".U/AKE12345LX", ".B/OFF/0220000001001"), "OFFLOADED", "Bag Offloaded", bag.Offloaded},
		{".U 2", bpm(".J/S", flight, ".U//41L", tag), "LOADED_ON_AIRCRAFT", "Bag Loaded on Aircraft", bag.OnAircraft},
		{".U 1 and 2", bpm(flight, ".U/AKE12345LX/41L", tag), "LOADED_ON_AIRCRAFT", "Bag Loaded on Aircraft", bag.OnAircraft},
		{".U 1", bpm(".J/R", flight, ".U/AKE12345LX", tag), "LOADED_IN_CONTAINER", "Bag Loaded in Container", bag.InContainer},
		{".U 1, and 2 the airport", bpm(".J/R", flight, ".U/AKE12345LX/ZRH", tag), "LOADED_IN_CONTAINER", "Bag Loaded in Container", bag.InContainer},
		{".U 2 the airport, with .J/S", bpm(".J/S", flight, ".U//ZRH", tag), "SORTED", "Bag Sorted", bag.NoStatus},
		{".X REJ", bpm(".J/S", flight, tag, ".X/SEL/REJ"), "SCREENING_FAILED", "Bag Screening Failed", bag.NoStatus},
		{".X REF", bpm(".J/S", flight, tag, ".X/SEL/REF"), "SCREENING_FAILED", "Bag Screening Failed", bag.NoStatus},
		{".X CLR and REJ", bpm(flight, tag, ".X//CLR", ".X//REJ"), "SCREENING_FAILED", "Bag Screening Failed", bag.NoStatus},
		{".X CLR", bpm(".J/S", flight, tag, ".X//CLR"), "SCREENING_PASSED", "Bag Screening Passed", bag.NoStatus},
		{".X UCL and CLR", bpm(flight, tag, ".X//UCL", ".X//CLR"), "SCREENING_PASSED", "Bag Screening Passed", bag.NoStatus},
		{".X UCL", bpm(flight, tag, ".X/SEL/UCL"), "SCREENED", "Bag Screened", bag.NoStatus},
		{".X of free text", bpm(flight, tag, ".X/XRAY"), "SCREENED", "Bag Screened", bag.NoStatus},
		{".U before .X", bpm(flight, ".U/AKE12345LX", tag, ".X//REJ"), "LOADED_IN_CONTAINER", "Bag Loaded in Container", bag.InContainer},
		{".J/S", bpm(".J/S", flight, tag), "SORTED", "Bag Sorted", bag.NoStatus},
		{".J/G", bpm(".J/G", flight, tag), "GROUND_TRACKED", "Bag Ground Tracked", bag.NoStatus},
		{".J/H", bpm(".J/H", flight, tag), "HAND_SCANNED", "Bag Hand Scanned", bag.NoStatus},
		{".J/R", bpm(".J/R", flight, tag), "LOADED_ON_AIRCRAFT", "Bag Loaded on Aircraft", bag.OnAircraft},
		{"no .J", bpm(flight, tag), "LOADED_ON_AIRCRAFT", "Bag Loaded on Aircraft", bag.OnAircraft},
		{"any other .J", bpm(".J/Z", flight, tag), "TRACKED", "Bag Tracked", bag.NoStatus},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.send("12T06:00", row.message...)
			b := w.one(plate)
			if len(b.Events) != 1 {
				t.Fatalf("%d events, want 1", len(b.Events))
			}
			e := b.Events[0]
			expect(t, "code", e.Code, row.code)
			expect(t, "description", e.Description, row.description)
			expect(t, "sets", e.Sets, row.sets)
		})
	}
}

// TestRules2RushPlate: a plate with leading digit 2 is a rush bag without .E/RUSH.
func TestRules2RushPlate(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/2220000001001", "ENDBSM")
	b := w.one("2220000001")
	expect(t, "codes", codes(b), "REFLIGHTED")
	expect(t, "rush", b.Rush, true)
}

// TestRules2Changed: a CHG is judged by its predecessor.
func TestRules2Changed(t *testing.T) {
	change := func(flight string, lines ...string) []string {
		return append(append([]string{"BSM", "CHG", ".V/1LZRH", ".F/" + flight, ".N/0220000001001"}, lines...), "ENDBSM")
	}
	for _, row := range []struct {
		name   string
		first  []string
		second []string
		want   string
	}{
		{"another flight", bsm(), change("LX101/12MAR/JFK"), "EXPECTED REROUTED"},
		{"another date", bsm(), change("LX100/13MAR/JFK"), "EXPECTED REROUTED"},
		{"another flight before status B", bsm(), change("LX101/12MAR/JFK", ".S/Y/1A/B"), "EXPECTED REROUTED"},
		{"the same flight, padded", bsm(), change("LX0100/12MAR/JFK"), "EXPECTED EXPECTED"},
		{"boarded after none", bsm(), change("LX100/12MAR/JFK", ".S/Y/1A/B"), "EXPECTED PAX_BOARDED"},
		{"boarded after checked in", bsm(".S/Y/1A/C"), change("LX100/12MAR/JFK", ".S/Y/1A/B"), "EXPECTED PAX_BOARDED"},
		{"boarded after boarded", bsm(".S/Y/1A/B"), change("LX100/12MAR/JFK", ".S/Y/1B/B"), "EXPECTED EXPECTED"},
		{"checked in after boarded", bsm(".S/Y/1A/B"), change("LX100/12MAR/JFK", ".S/Y/1A/C"), "EXPECTED EXPECTED"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.send("12T06:00", row.first...)
			w.send("12T07:00", row.second...)
			expect(t, "codes", codes(w.one(plate)), row.want)
		})
	}
	t.Run("a DEL is a predecessor", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T06:00", bsm()...)
		w.send("12T06:30", "BSM", "DEL", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/0220000001001", "ENDBSM")
		w.send("12T07:00", change("LX101/12MAR/JFK")...)
		expect(t, "codes", codes(w.one(plate)), "EXPECTED CANCELLED REROUTED")
	})
	t.Run("with a passenger status of its own", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T06:00", bsm(".S/Y/1A/B")...)
		w.send("12T06:30", "BSM", "DEL", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/0220000001001", "ENDBSM")
		w.send("12T07:00", change("LX100/12MAR/JFK", ".S/Y/1A/B")...)
		expect(t, "codes", codes(w.one(plate)), "EXPECTED CANCELLED PAX_BOARDED")
	})
	t.Run("the onward flight of another airport stands for it", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T06:00", "BSM", ".V/1LGVA", ".F/LX2801/12MAR/ZRH", ".O/LX100/12MAR/JFK", ".N/0220000001001", "ENDBSM")
		w.send("12T07:00", change("LX101/12MAR/JFK")...)
		expect(t, "codes", codes(w.one(plate)), "EXPECTED REROUTED")
	})
	t.Run("an onward flight that comes later does not", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T08:00", "BSM", ".V/1LGVA", ".F/LX2801/12MAR/ZRH", ".O/LX100/12MAR/JFK", ".N/0220000001001", "ENDBSM")
		w.send("12T07:00", change("LX101/12MAR/JFK")...)
		expect(t, "codes", codes(w.one(plate)), "EXPECTED EXPECTED")
	})
}

// TestRules2ContainerPositioning: a BPM with a stowage device and no tags gives its event to every bag in
// that device.
func TestRules2ContainerPositioning(t *testing.T) {
	fill := bpm(".J/R", ".F/LX100/12MAR/JFK", ".U/AKE12345LX", ".N/0220000001001")
	position := func(device string) []string { return bpm(".J/R", ".F/LX100/12MAR/JFK", ".U/"+device) }
	for _, row := range []struct {
		name   string
		send   func(w *world)
		events string
		status string
	}{
		{"filled after", func(w *world) {
			w.send("12T09:00", fill...)
			w.send("12T08:00", position("AKE12345LX/41L")...)
		}, "EXPECTED LOADED_IN_CONTAINER", "Loaded in Container"},
		{"without compartment", func(w *world) {
			w.send("12T07:00", fill...)
			w.send("12T08:00", position("AKE12345LX")...)
		}, "EXPECTED LOADED_IN_CONTAINER LOADED_IN_CONTAINER", "Loaded in Container"},
		{"loaded on another flight before it was loaded on this one twice", func(w *world) {
			w.send("12T06:30", fill...)
			w.send("12T07:00", bpm(".J/R", ".F/LX102/12MAR/JFK", ".N/0220000001001")...)
			w.send("12T07:10", bpm(".J/R", ".F/LX100/12MAR/JFK", ".N/0220000001001")...)
			w.send("12T07:30", bpm(".J/R", ".F/LX100/12MAR/JFK", ".N/0220000001001")...)
			w.send("12T08:00", position("AKE12345LX")...)
		}, "EXPECTED LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT LOADED_ON_AIRCRAFT LOADED_ON_AIRCRAFT", "Loaded on Aircraft"},
		{"a copy of it", func(w *world) {
			w.send("12T07:00", fill...)
			w.send("12T08:00", position("AKE12345LX/41L")...)
			w.send("12T08:05", position("AKE12345LX/41L")...)
		}, "EXPECTED LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT", "Loaded on Aircraft"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.send("12T06:00", bsm()...)
			row.send(w)
			expect(t, "events", codes(w.one(plate)), row.events)
			expectList(t, "flight", w.flight("ZRH", false, "LX100/12"), "0220000001 "+row.status)
		})
	}
}

// TestRules2Order: events are ordered by (happened, received, content); a BPM happened at its read time
// unless that is after its receipt.
func TestRules2Order(t *testing.T) {
	sorted := func(date, time string) []string {
		return bpm(".J/S///"+date+"/"+time, ".F/LX100/12MAR/JFK", ".N/0220000001001")
	}
	for _, row := range []struct {
		name     string
		bpm      []string
		happened string
		events   string
	}{
		{"read before the BSM came", sorted("12MAR", "0659L"), "2026-03-12T05:59:00Z", "SORTED EXPECTED"},
		{"with seconds, UTC", sorted("12MAR", "055901Z"), "2026-03-12T05:59:01Z", "SORTED EXPECTED"},
		{"read after", sorted("12MAR", "0701L"), "2026-03-12T06:01:00Z", "EXPECTED SORTED"},
		{"at its receipt", sorted("12MAR", "080000Z"), "2026-03-12T08:00:00Z", "EXPECTED SORTED"},
		{"after its receipt", sorted("12MAR", "080001Z"), "2026-03-12T08:00:00Z", "EXPECTED SORTED"},
		{"without a date", sorted("", "0559Z"), "2026-03-12T08:00:00Z", "EXPECTED SORTED"},
		{"without a time", sorted("11MAR", ""), "2026-03-12T08:00:00Z", "EXPECTED SORTED"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.send("12T06:00", bsm()...)
			w.send("12T08:00", row.bpm...)
			b := w.one(plate)
			expect(t, "events", codes(b), row.events)
			for _, e := range b.Events {
				if e.Code == "SORTED" {
					expect(t, "happened", e.Message.Happened, at(row.happened))
				}
			}
		})
	}
	t.Run("a BSM happened when it was received", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T08:00", bsm(".J/S///12MAR/0600Z")...)
		expect(t, "happened", w.one(plate).Events[0].Message.Happened, at("2026-03-12T08:00:00Z"))
	})
	t.Run("equal times go by content", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T08:00", bpm(".J/S", ".F/LX100/12MAR/JFK", ".N/0220000001001")...)
		w.send("12T08:00", bpm(".J/G", ".F/LX100/12MAR/JFK", ".N/0220000001001")...)
		w.send("12T08:00", bsm()...)
		expect(t, "events", codes(w.one(plate)), "GROUND_TRACKED SORTED EXPECTED")
	})
}

// TestFlightsOfOneAirlineAreOneFlight: the IATA and the ICAO code of an airline name the same flights.
func TestFlightsOfOneAirlineAreOneFlight(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/SWR100/12MAR/JFK", ".N/0220000001001", "ENDBSM")
	w.send("12T07:00", bpm(".J/R", ".F/LX100/12MAR/JFK", ".U/AKE12345LX/41L", ".N/0220000001001")...)
	expectList(t, "flight", w.flight("ZRH", false, "LX100/12"), "0220000001 Loaded on Aircraft")
	b := w.one(plate)
	expect(t, "legs", len(b.Legs), 1)
	expect(t, "carrier of the BSM", b.Events[0].Message.Outbound.Carrier, "SWR")
	expect(t, "carrier of the BPM", b.Events[1].Message.Outbound.Carrier, "LX")
}

// A positioning of two containers repeats what was said of the one, not of the other.
func TestCopiesOfAPositioningAreJudgedForEachContainer(t *testing.T) {
	w := newWorld(t)
	both := []string{"BPM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".U/AKE1/41", ".F/LX16/12MAR/JFK", ".U/AKE2/42", "ENDBPM"}
	w.send("12T06:00", bpm(".F/LX14/12MAR/JFK", ".U/AKE1", ".N/0220000001001")...)
	w.send("12T06:01", bpm(".F/LX16/12MAR/JFK", ".U/AKE2", ".N/0220000001001")...)
	w.send("12T06:02", both...)
	w.send("12T06:03", "BPM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".U/AKE1/43", "ENDBPM")
	w.send("12T06:04", both...)
	expect(t, "events", codes(w.one(plate)), "LOADED_IN_CONTAINER LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT")
}

// A positioning whose flight arrives positions nothing. It does not come between a positioning and its
// repetition.
func TestAPositioningOfAnArrivingFlightIsIgnored(t *testing.T) {
	w := newWorld(t)
	position := func(airport string) []string {
		return []string{"BPM", ".V/1LZRH", ".F/LX14/12MAR/" + airport, ".U/AKE1/41", "ENDBPM"}
	}
	w.send("12T06:00", bpm(".F/LX14/12MAR/JFK", ".U/AKE1", ".N/0220000001001")...)
	w.send("12T06:01", position("JFK")...)
	w.send("12T06:02", position("ZRH")...)
	w.send("12T06:03", position("JFK")...)
	expect(t, "events", codes(w.one(plate)), "LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT")
}

// A text without a year is about another flight half a year later, also behind the same origin line.
func TestACopyOfAPositioningIsOfTheSameFlight(t *testing.T) {
	const filled = "BPM\n.V/1LZRH\n.J/R\n.F/LX14/12MAR/JFK\n.U/AKE1\n.N/0220000001001\nENDBPM"
	const aboard = ".ZRHXXLX 120800\nBPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.U/AKE1/41\nENDBPM"
	w := newWorld(t)
	for _, day := range []string{"2026-03-12", "2026-10-12"} {
		w.sendText(at(day+"T06:00:00Z"), filled)
		w.sendText(at(day+"T08:00:00Z"), aboard)
	}
	bags := w.bags(plate)
	expect(t, "bags", len(bags), 2)
	for _, b := range bags {
		expect(t, "events", codes(b), "LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT")
	}
}
