package trail_test

import (
	"strings"
	"testing"
	"time"

	"bagtrail/internal/bag"
)

// named is a BSM at ZRH with passenger and PNR; flight is "LX100/12MAR/JFK".
func named(flight, passenger, pnr string) []string {
	lines := []string{"BSM", ".V/1LZRH", ".F/" + flight, ".N/0220000001001"}
	if passenger != "" {
		lines = append(lines, ".P/"+passenger)
	}
	if pnr != "" {
		lines = append(lines, ".L/"+pnr)
	}
	return append(lines, "ENDBSM")
}

// TestRules3Journeys: messages whose days overlap or lie at most three days apart, directly or through
// others, are of one journey.
func TestRules3Journeys(t *testing.T) {
	for _, row := range []struct {
		name string
		days []string
		bags int
	}{
		{"the same day", []string{"12", "12"}, 1},
		{"three days apart", []string{"12", "15"}, 1},
		{"four days apart", []string{"12", "16"}, 2},
		{"through another", []string{"12", "18", "15"}, 1},
		{"two gaps", []string{"01", "06", "11"}, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			for _, day := range row.days {
				w.send("08T06:00", named("LX100/"+day+"MAR/JFK", "SMITH/JOHN", "ABC123")...)
			}
			expect(t, "bags", len(w.bags(plate)), row.bags)
		})
	}
	t.Run("a message covers the days from its first to its last flight date", func(t *testing.T) {
		w := newWorld(t)
		w.send("08T06:00", "BSM", ".V/1LZRH", ".F/LX100/08MAR/JFK", ".O/AA1/12MAR/LAX", ".N/0220000001001", ".L/ABC123", "ENDBSM")
		w.send("08T06:00", named("LX102/10MAR/JFK", "", "ABC123")...)
		w.send("08T06:00", named("LX102/15MAR/JFK", "", "ABC123")...)
		expect(t, "bags", len(w.bags(plate)), 1)
	})
	t.Run("a message without flights covers the local day on which it happened", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T06:00", named("LX100/12MAR/JFK", "SMITH/JOHN", "ABC123")...)
		w.send("15T22:59", bpm(".J/S", ".N/0220000001001")...) // 15 March in Zurich
		expect(t, "bags", len(w.bags(plate)), 1)
		w.send("15T23:00", bpm(".J/G", ".N/0220000001001")...) // 16 March in Zurich, but near the one of the 15th
		expect(t, "bags", len(w.bags(plate)), 1)
		w = newWorld(t)
		w.send("12T06:00", named("LX100/12MAR/JFK", "SMITH/JOHN", "ABC123")...)
		w.send("15T23:00", bpm(".J/G", ".N/0220000001001")...)
		expect(t, "bags", len(w.bags(plate)), 2)
	})
}

// TestRules3Passengers: inside a journey, messages that share a PNR or a surname, directly or through
// others, are of one passenger.
func TestRules3Passengers(t *testing.T) {
	for _, row := range []struct {
		name     string
		messages [][2]string // passenger, PNR
		bags     int
	}{
		{"the same passenger", [][2]string{{"SMITH/JOHN", "ABC123"}, {"SMITH/JOHN", "ABC123"}}, 1},
		{"a corrected name", [][2]string{{"SMITH/JOHN", "ABC123"}, {"SMYTH/JOHN", "ABC123"}}, 1},
		{"a split booking", [][2]string{{"SMITH/JOHN", "ABC123"}, {"SMITH/JOHN", "XYZ789"}}, 1},
		{"two passengers", [][2]string{{"SMITH/JOHN", "ABC123"}, {"JONES/TOM", "XYZ789"}}, 2},
		{"through another", [][2]string{{"SMITH/JOHN", "ABC123"}, {"JONES/TOM", "XYZ789"}, {"JONES/TOM", "ABC123"}}, 1},
		{"without case, blanks, hyphens", [][2]string{{"VAN DER-BERG/JO", "ABC123"}, {"vanderberg/JO", "XYZ789"}}, 1},
		{"a count before the surname", [][2]string{{"2SMITH/JOHN", "ABC123"}, {"1SMITH/JOHN", "XYZ789"}}, 1},
		{"a PNR without case", [][2]string{{"SMITH/JOHN", "ABC123"}, {"JONES/TOM", "abc123"}}, 1},
		{"a surname without letters", [][2]string{{"-/JOHN", "ABC123"}, {"-/TOM", "XYZ789"}}, 2},
		{"PNR alone and surname alone", [][2]string{{"SMITH/JOHN", ""}, {"", "ABC123"}}, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			for _, m := range row.messages {
				w.send("12T06:00", named("LX100/12MAR/JFK", m[0], m[1])...)
			}
			expect(t, "bags", len(w.bags(plate)), row.bags)
		})
	}
}

// TestRules3NeitherPNRNorSurname: such a message belongs to each bag of the journey whose messages with a
// PNR or a surname name one of its flights; where there is none, to every bag; where the journey has no
// bag, they are one.
func TestRules3NeitherPNRNorSurname(t *testing.T) {
	two := func(t *testing.T) *world {
		w := newWorld(t)
		w.send("12T06:00", named("LX100/12MAR/JFK", "SMITH/JOHN", "ABC123")...)
		w.send("12T06:00", named("LX200/12MAR/MUC", "JONES/TOM", "XYZ789")...)
		return w
	}
	sorted := func(flight string) []string {
		if flight == "" {
			return bpm(".J/S", ".N/0220000001001")
		}
		return bpm(".J/S", ".F/"+flight, ".N/0220000001001")
	}
	for _, row := range []struct {
		name         string
		flight       string
		smith, jones string
	}{
		{"one of the flights", "LX0100/12MAR/JFK", "EXPECTED SORTED", "EXPECTED"},
		{"the flight of the other", "LX200/12MAR/MUC", "EXPECTED", "EXPECTED SORTED"},
		{"another date of the flight", "LX100/13MAR/JFK", "EXPECTED SORTED", "EXPECTED SORTED"},
		{"another suffix", "LX100A/12MAR/JFK", "EXPECTED SORTED", "EXPECTED SORTED"},
		{"a flight that no bag names", "LX300/12MAR/MUC", "EXPECTED SORTED", "EXPECTED SORTED"},
		{"no flight", "", "EXPECTED SORTED", "EXPECTED SORTED"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := two(t)
			w.send("12T07:00", sorted(row.flight)...)
			bags := w.bags(plate)
			if len(bags) != 2 {
				t.Fatalf("%d bags, want 2", len(bags))
			}
			expect(t, "Smith", codes(bags[0]), row.smith)
			expect(t, "Jones", codes(bags[1]), row.jones)
		})
	}
	t.Run("a flight that only a message of one bag without a name names", func(t *testing.T) {
		w := two(t)
		w.send("12T07:00", "BSM", ".V/1TJFK", ".I/LX100/12MAR/ZRH", ".F/AA5/12MAR/BOS", ".N/0220000001001", "ENDBSM")
		w.send("12T08:00", "BPM", ".V/1LJFK", ".F/AA5/12MAR/BOS", ".U/AKE1/31", ".N/0220000001001", "ENDBPM")
		bags := w.bags(plate)
		if len(bags) != 2 {
			t.Fatalf("%d bags, want 2", len(bags))
		}
		expect(t, "Smith", codes(bags[0]), "EXPECTED EXPECTED LOADED_ON_AIRCRAFT")
		expect(t, "Jones", codes(bags[1]), "EXPECTED LOADED_ON_AIRCRAFT")
	})
	t.Run("no bag", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T07:00", sorted("LX100/12MAR/JFK")...)
		w.send("12T08:00", sorted("LX300/12MAR/MUC")...)
		b := w.one(plate)
		expect(t, "events", codes(b), "SORTED SORTED")
		expect(t, "unknown", b.Unknown, true)
	})
}

// TestRules3Unknown: a bag is unknown while no BSM belongs to it.
func TestRules3Unknown(t *testing.T) {
	w := newWorld(t)
	w.send("12T07:00", bpm(".F/LX100/12MAR/JFK", ".N/0220000001001", ".P/SMITH/JOHN")...)
	expect(t, "unknown before the BSM", w.one(plate).Unknown, true)
	w.send("12T09:00", named("LX100/12MAR/JFK", "SMITH/JOHN", "ABC123")...)
	expect(t, "unknown after it", w.one(plate).Unknown, false)
}

// TestRules3TwoPassengersInOneMessage: a plate in two groups of a message is two bags where they hold two passengers.
func TestRules3TwoPassengersInOneMessage(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/0220000001001", ".P/SMITH/JOHN", ".L/ABC123",
		".N/0220000001001", ".P/JONES/TOM", ".L/XYZ789", "ENDBSM")
	bags := w.bags(plate)
	expect(t, "bags", len(bags), 2)
	expectList(t, "flight", w.flight("ZRH", false, "LX100/12"), "0220000001 Not Loaded", "0220000001 Not Loaded")
}

// TestRules3Duplicates has the cases of the paragraph on duplicates.
func TestRules3Duplicates(t *testing.T) {
	first := named("LX100/12MAR/JFK", "SMITH/JOHN", "ABC123")
	del := append([]string{"BSM", "DEL"}, first[1:]...)
	read := bpm(".J/S///12MAR/0700L", ".F/LX100/12MAR/JFK", ".N/0220000001001")
	load, off := bpm(".J/R", ".F/LX100/12MAR/JFK", ".N/0220000001001"), bpm(".F/LX100/12MAR/JFK", ".B/OFF/0220000001001")
	unread := bpm(".J/S", ".F/LX100/12MAR/JFK", ".N/0220000001001")
	type sent struct {
		at      string
		message []string
	}
	for _, row := range []struct {
		name   string
		sent   []sent
		events string
	}{
		{"a BSM within the window", []sent{{"12T06:00", first}, {"12T06:10", first}}, "EXPECTED"},
		{"a BSM behind the window", []sent{{"12T06:00", first}, {"12T06:11", first}}, "EXPECTED EXPECTED"},
		{"the window runs from the one kept last", []sent{{"12T06:00", first}, {"12T06:06", first}, {"12T06:12", first}}, "EXPECTED EXPECTED"},
		{"a third within the window of the second kept", []sent{{"12T06:00", first}, {"12T06:06", first}, {"12T06:12", first}, {"12T06:18", first}}, "EXPECTED EXPECTED"},
		{"a BPM with a read time, days later", []sent{{"12T06:00", read}, {"14T06:00", read}}, "SORTED"},
		{"a BPM without a read time within the window", []sent{{"12T06:00", unread}, {"12T06:10", unread}}, "SORTED"},
		{"a BPM without a read time behind it", []sent{{"12T06:00", unread}, {"12T06:11", unread}}, "SORTED SORTED"},
		{"a load again after the bag was offloaded, within the window of a copy", []sent{{"12T06:00", load}, {"12T06:08", load}, {"12T06:09", off}, {"12T06:15", load}}, "LOADED_ON_AIRCRAFT OFFLOADED"},
		{"a load sent twice after the bag was offloaded", []sent{{"12T06:00", load}, {"12T06:01", off}, {"12T06:02", load}, {"12T06:03", load}}, "LOADED_ON_AIRCRAFT OFFLOADED"},
		{"a load again after the bag was offloaded and seen", []sent{{"12T06:00", load}, {"12T06:01", off}, {"12T06:02", unread}, {"12T06:03", load}}, "LOADED_ON_AIRCRAFT OFFLOADED SORTED"},
		{"a DEL ends the window", []sent{{"12T06:00", first}, {"12T06:01", del}, {"12T06:02", first}}, "EXPECTED CANCELLED EXPECTED"},
		{"a BSM ends the window of DELs", []sent{{"12T06:00", del}, {"12T06:01", first}, {"12T06:02", del}}, "CANCELLED EXPECTED CANCELLED"},
		{"a DEL within the window of a DEL", []sent{{"12T06:00", first}, {"12T06:01", del}, {"12T06:02", del}}, "EXPECTED CANCELLED"},
		{"at equal times the text decides", []sent{{"12T06:00", first}, {"12T06:02", first}, {"12T06:02", del}}, "EXPECTED CANCELLED"},
		{"a DEL behind the first at its time ends the window", []sent{{"12T06:00", del}, {"12T06:00", first}, {"12T06:02", first}}, "EXPECTED CANCELLED EXPECTED"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			for _, s := range row.sent {
				w.send(s.at, s.message...)
			}
			expect(t, "events", codes(w.one(plate)), row.events)
		})
	}
	t.Run("line ends, blanks and control characters make no other text", func(t *testing.T) {
		w := newWorld(t)
		w.sendText(at("2026-03-12T06:00:00Z"), strings.Join(first, "\n"))
		w.sendText(at("2026-03-12T06:01:00Z"), "QU ZRHXHXH\r\n\x01"+strings.Join(first, "  \r\n\r\n  ")+"\x03\r\n")
		b := w.one(plate)
		expect(t, "events", codes(b), "EXPECTED")
		expect(t, "the earliest copy is the event", b.Events[0].Message.Received, at("2026-03-12T06:00:00Z"))
	})
	t.Run("a copy behind another origin line is an earlier one too", func(t *testing.T) {
		w := newWorld(t)
		text := strings.Join(first, "\n") + "\n"
		w.sendText(at("2026-03-12T06:00:00Z"), "QU ZRHXHXH\n.ZRHRMLX 120600\n"+text)
		w.sendText(at("2026-03-12T06:05:00Z"), "QU ZRHXHXH\n.ZRHRMLX 120605\n"+text)
		w.sendText(at("2026-03-12T07:00:00Z"), "QU ZRHXHXH\n.ZRHRMLX 120605\n"+text)
		expect(t, "events", codes(w.one(plate)), "EXPECTED")
	})
	t.Run("the window is configurable", func(t *testing.T) {
		w := newWorld(t)
		w.settings.Window = 5 * time.Minute
		w.send("12T06:00", first...)
		w.send("12T06:06", first...)
		expect(t, "events", codes(w.one(plate)), "EXPECTED EXPECTED")
	})
	t.Run("judged for each tag", func(t *testing.T) {
		both := []string{"BSM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/0220000001002", "ENDBSM"}
		w := newWorld(t)
		w.send("12T06:00", both...)
		w.send("12T06:01", "BSM", "DEL", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/0220000001001", "ENDBSM")
		w.send("12T06:02", both...)
		expect(t, "the tag that was deleted", codes(w.one(plate)), "EXPECTED CANCELLED EXPECTED")
		expect(t, "the other", codes(w.one("0220000002")), "EXPECTED")
	})
	t.Run("a BSM after a DEL creates the bag again", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T06:00", first...)
		w.send("12T06:01", del...)
		expect(t, "cancelled", w.one(plate).Cancelled, true)
		w.send("12T06:02", first...)
		expect(t, "cancelled", w.one(plate).Cancelled, false)
		expectList(t, "flight", w.flight("ZRH", false, "LX100/12"), "0220000001 Not Loaded")
	})
}

// TestRules2BagFields: each field from the latest BSM that holds it, else the latest BPM.
func TestRules2BagFields(t *testing.T) {
	w := newWorld(t)
	w.send("12T05:00", bpm(".F/LX100/12MAR/JFK", ".N/0220000001001", ".P/OTHER/BEN", ".W/K/9/99", ".L/ABC123")...)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/0220000001001", ".P/2SMITH/JOHNMR", ".L/ABC123", ".W/K/2/38", "ENDBSM")
	w.send("12T07:00", "BSM", "CHG", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/0220000001001", ".L/ABC123", ".W/P/3", "ENDBSM")
	w.send("12T08:00", bpm(".F/LX100/12MAR/JFK", ".N/0220000001001", ".P/LATER/TIM", ".L/ABC123", ".W/K/8/88")...)
	b := w.one(plate)
	expect(t, "surname", b.Surname, "SMITH")
	expect(t, "given name", b.GivenName, "JOHN")
	expect(t, "PNR", b.PNR, "ABC123")
	expect(t, "pieces", b.Pieces, 3)
	expect(t, "weight", b.Weight, 38)
	expect(t, "unit", b.WeightUnit, "P")

	w = newWorld(t)
	w.send("12T05:00", bpm(".F/LX100/12MAR/JFK", ".N/0220000001001", ".P/FIRST/BEN", ".L/ABC123")...)
	w.send("12T06:00", bpm(".F/LX100/12MAR/JFK", ".N/0220000001001", ".P/SECOND/TOM", ".L/ABC123")...)
	expect(t, "without a BSM the latest BPM", w.one(plate).Surname, "SECOND")
	expect(t, "no weight", w.one(plate).Weight, -1)
}

// TestRules2Groups: what a group inherits decides the flights of a bag.
func TestRules2Groups(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".O/AA1/12MAR/LAX",
		".N/0220000001001", ".P/SMITH/JOHN",
		".N/0220000002001", ".P/JONES/TOM", ".O/DL2/12MAR/BOS",
		".F/LX102/12MAR/ORD", ".N/0220000003001", ".P/BLACK/JO", "ENDBSM")
	expectList(t, "first group", legs(w.one("0220000001")), "LX100/12 ZRH-JFK Not Loaded", "AA1/12 JFK-LAX Not Loaded")
	expectList(t, "second group", legs(w.one("0220000002")), "LX100/12 ZRH-JFK Not Loaded", "DL2/12 JFK-BOS Not Loaded")
	expectList(t, "third group", legs(w.one("0220000003")), "LX102/12 ZRH-ORD Not Loaded")
}

// TestRules2TagRange: a range is one event a tag.
func TestRules2TagRange(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/0220000001003", ".N/0220000002003", "ENDBSM")
	for _, p := range []bag.Plate{"0220000001", "0220000002", "0220000003", "0220000004"} {
		expect(t, string(p), codes(w.one(p)), "EXPECTED")
	}
	expect(t, "behind the range", len(w.bags("0220000005")), 0)
}
