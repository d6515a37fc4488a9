package trail_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
)

// checkIn is an original bag of Smith from ZRH on a day of March.
func checkIn(tag bag.Plate, day string) []string {
	return []string{"BSM", ".V/1LZRH", ".F/LX100/" + day + "MAR/JFK", ".N/" + string(tag) + "001", ".P/SMITH/JOHN", ".L/ABC123", "ENDBSM"}
}

// rushTag is a rush bag from ZRH on a day of March.
func rushTag(tag bag.Plate, day string, lines ...string) []string {
	return append(append([]string{"BSM", ".V/1LZRH", ".F/LX200/" + day + "MAR/JFK", ".N/" + string(tag) + "001", ".E/RUSH"}, lines...), "ENDBSM")
}

func original(b *bag.Bag) string {
	all := []string{}
	for _, r := range b.Reflighted {
		if r.Flight.IsZero() {
			all = append(all, string(r.Plate))
			continue
		}
		all = append(all, fmt.Sprintf("%s %s%s/%s", r.Plate, r.Flight.Airline, r.Flight.Number, r.Flight.Day.String()[8:]))
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// TestRules3RushOriginal: the bag that a rush bag re-flights.
func TestRules3RushOriginal(t *testing.T) {
	const first, second, rush = bag.Plate("0220000001"), bag.Plate("0220000002"), bag.Plate("2220000009")
	for _, row := range []struct {
		name string
		send func(w *world)
		want string
	}{
		{"the plate in .M", func(w *world) {
			w.send("12T06:00", checkIn(first, "12")...)
			w.send("13T06:00", rushTag(rush, "13", ".M/0220000001", ".R/0220000002")...)
		}, "0220000001 LX100/12"},
		{"else the first ten-digit word in .R", func(w *world) {
			w.send("12T06:00", checkIn(first, "12")...)
			w.send("13T06:00", rushTag(rush, "13", ".M/2220000009", ".R/ORIG 123 0220000001/0220000002")...)
		}, "0220000001 LX100/12"},
		{"eleven digits are no plate", func(w *world) {
			w.send("12T06:00", checkIn(first, "12")...)
			w.send("13T06:00", rushTag(rush, "13", ".R/02200000011")...)
		}, "none"},
		{"a plate that nobody knows", func(w *world) {
			w.send("13T06:00", rushTag(rush, "13", ".M/0220000001")...)
		}, "0220000001"},
		{"a bag without living legs", func(w *world) {
			w.send("12T06:00", checkIn(first, "12")...)
			w.send("12T07:00", append([]string{"BSM", "DEL"}, checkIn(first, "12")[1:]...)...)
			w.send("13T06:00", rushTag(rush, "13", ".M/0220000001")...)
		}, "0220000001 LX100/12"},
		{"of several bags the latest not after it", func(w *world) {
			w.send("04T06:00", checkIn(first, "04")...)
			w.send("04T06:00", checkIn(first, "10")...)
			w.send("04T06:00", checkIn(first, "14")...)
			w.send("13T06:00", rushTag(rush, "13", ".M/0220000001")...)
		}, "0220000001 LX100/10"},
		{"of several of one day the one that came first, although another PNR is lower", func(w *world) {
			w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0220000001001", ".P/MUELLER", ".L/XYZ789", "ENDBSM")
			w.send("12T07:00", checkIn(first, "12")...)
			w.send("13T06:00", rushTag(rush, "13", ".M/0220000001")...)
		}, "0220000001 LX318/12"},
		{"fourteen days before", func(w *world) {
			w.send("04T06:00", checkIn(first, "04")...)
			w.send("13T06:00", rushTag(rush, "18", ".M/0220000001")...)
		}, "0220000001 LX100/04"},
		{"fifteen days before", func(w *world) {
			w.send("04T06:00", checkIn(first, "04")...)
			w.send("13T06:00", rushTag(rush, "19", ".M/0220000001")...)
		}, "0220000001"},
		{"without a plate, the one bag of PNR and surname", func(w *world) {
			w.send("12T06:00", checkIn(first, "12")...)
			w.send("13T06:00", rushTag(rush, "13", ".P/SMITH/JOHN", ".L/abc123")...)
		}, "0220000001 LX100/12"},
		{"of several none", func(w *world) {
			w.send("12T06:00", checkIn(first, "12")...)
			w.send("12T06:00", checkIn(second, "12")...)
			w.send("13T06:00", rushTag(rush, "13", ".P/SMITH/JOHN", ".L/ABC123")...)
		}, "none"},
		{"but not cancelled ones", func(w *world) {
			w.send("12T06:00", checkIn(first, "12")...)
			w.send("12T06:00", checkIn(second, "12")...)
			del := checkIn(second, "12")
			w.send("12T07:00", append([]string{"BSM", "DEL"}, del[1:]...)...)
			w.send("13T06:00", rushTag(rush, "13", ".P/SMITH/JOHN", ".L/ABC123")...)
		}, "0220000001 LX100/12"},
		{"nor another surname", func(w *world) {
			w.send("12T06:00", checkIn(first, "12")...)
			w.send("13T06:00", rushTag(rush, "13", ".P/JONES/JOHN", ".L/ABC123")...)
		}, "none"},
		{"on the same day", func(w *world) {
			w.send("12T06:00", checkIn(first, "13")...)
			w.send("13T06:00", rushTag(rush, "13", ".P/SMITH/JOHN", ".L/ABC123")...)
		}, "0220000001 LX100/13"},
		{"but not after it", func(w *world) {
			w.send("12T06:00", checkIn(first, "14")...)
			w.send("13T06:00", rushTag(rush, "13", ".P/SMITH/JOHN", ".L/ABC123")...)
		}, "none"},
		{"fourteen days before without a plate", func(w *world) {
			w.send("04T06:00", checkIn(first, "04")...)
			w.send("13T06:00", rushTag(rush, "18", ".P/SMITH/JOHN", ".L/ABC123")...)
		}, "0220000001 LX100/04"},
		{"fifteen days before without a plate", func(w *world) {
			w.send("04T06:00", checkIn(first, "04")...)
			w.send("13T06:00", rushTag(rush, "19", ".P/SMITH/JOHN", ".L/ABC123")...)
		}, "none"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			row.send(w)
			b := w.one(rush)
			expect(t, "rush", b.Rush, true)
			expect(t, "original", original(b), row.want)
		})
	}
}

func TestTheOriginalsOfAMessageStandInTheOrderOfItsGroups(t *testing.T) {
	const rush = bag.Plate("2220000009")
	w := newWorld(t)
	w.send("13T06:00", rushTag(rush, "13")...)
	w.send("13T07:00", "BSM", ".V/1LZRH", ".F/LX102/13MAR/JFK", ".N/2220000009001", ".L/ABC123", ".M/0220000001", ".N/2220000009001", ".L/ABC123", ".M/0220000002", "ENDBSM")
	expect(t, "originals", fmt.Sprint(w.one(rush).Originals), "[0220000001 0220000002]")
}

// TestRules3ReflightedLeg: the flight is the original's last living leg that is not Loaded on Aircraft.
func TestRules3ReflightedLeg(t *testing.T) {
	const first, rush = bag.Plate("0220000001"), bag.Plate("2220000009")
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX100/12MAR/FRA", ".O/LH400/12MAR/JFK", ".N/0220000001001", "ENDBSM")
	w.send("13T06:00", rushTag(rush, "13", ".M/0220000001")...)
	expect(t, "the last leg", original(w.one(rush)), "0220000001 LH400/12")
	w.send("12T08:00", "BPM", ".V/1TFRA", ".J/R", ".F/LH400/12MAR/JFK", ".N/0220000001001", "ENDBPM")
	expect(t, "the last one not on the aircraft", original(w.one(rush)), "0220000001 LX100/12")
	w.send("12T07:00", "BPM", ".V/1LZRH", ".J/R", ".F/LX100/12MAR/FRA", ".N/0220000001001", "ENDBPM")
	expect(t, "all on the aircraft", original(w.one(rush)), "0220000001 LH400/12")
}

// TestRules3RushTag: the last plate of the chain of rush bags, each plate once.
func TestRules3RushTag(t *testing.T) {
	const first, rush1, rush2 = bag.Plate("0220000001"), bag.Plate("2220000008"), bag.Plate("2220000009")
	tag := func(w *world) string {
		w.t.Helper()
		bags := w.passenger("ABC123", "12")
		if len(bags) != 1 {
			w.t.Fatalf("%d bags, want 1", len(bags))
		}
		if bags[0].RushTag == nil {
			return "none"
		}
		return string(bags[0].RushTag.Plate)
	}
	w := newWorld(t)
	w.send("12T06:00", checkIn(first, "12")...)
	expect(t, "before", tag(w), "none")
	w.send("13T06:00", rushTag(rush1, "12", ".M/0220000001")...)
	expect(t, "one", tag(w), "2220000008")
	w.send("14T06:00", rushTag(rush2, "12", ".R/2220000008")...)
	expect(t, "two", tag(w), "2220000009")
	w.send("15T06:00", "BSM", "CHG", ".V/1LZRH", ".F/LX200/12MAR/JFK", ".N/0220000001001", ".E/RUSH", ".M/2220000009", ".P/SMITH/JOHN", ".L/ABC123", "ENDBSM")
	expect(t, "the original of the circle", original(w.one(first)), "2220000009 LX200/12")
	expect(t, "a circle ends", tag(w), "2220000009")

	w = newWorld(t)
	w.send("12T06:00", checkIn(first, "12")...)
	w.send("13T06:00", rushTag(rush1, "13", ".P/SMITH/JOHN", ".L/ABC123")...)
	expect(t, "by passenger", tag(w), "2220000008")
}

// Each bag of a chain follows it to its end. Four times as many bags take four times as many
// allocations, not sixteen times.
func TestAStepOfALongRushChainAllocatesNothing(t *testing.T) {
	allocations := func(bags int) float64 {
		w := newWorld(t)
		last := bag.Plate("0220000001")
		w.send("12T06:00", checkIn(last, "12")...)
		for i := range bags {
			rush := bag.Plate(fmt.Sprint(2220000000 + i))
			w.send("12T07:00", rushTag(rush, "12", ".M/"+string(last), ".L/ABC123")...)
			last = rush
		}
		reader := w.reader()
		return testing.AllocsPerRun(1, func() {
			found, err := reader.OfPassenger(t.Context(), "ABC123", bag.DayIn(2026, time.March, 12))
			if err != nil || len(found) != 1+bags || found[0].RushTag.Plate != last {
				t.Fatalf("%d bags, %v", len(found), err)
			}
		})
	}
	if few, many := allocations(100), allocations(400); many > 8*few {
		t.Errorf("%.0f allocations for 100 bags, %.0f for 400", few, many)
	}
}

// TestRules4MishandledBag: a report goes to the bag with the latest first flight date not after it, at
// most fourteen days before; to each where several share it.
func TestRules4MishandledBag(t *testing.T) {
	w := newWorld(t)
	w.send("01T06:00", named("LX100/01MAR/JFK", "SMITH/JOHN", "ABC123")...)
	w.send("01T06:00", named("LX100/08MAR/JFK", "SMITH/JOHN", "ABC123")...)
	w.send("01T06:00", named("LX100/08MAR/JFK", "JONES/TOM", "XYZ789")...)
	w.report("12T06:00", plate)
	var got []string
	for _, b := range w.bags(plate) {
		got = append(got, b.Surname+"/"+b.FirstDay.String()[8:]+" "+codes(b))
	}
	expectList(t, "bags", got, "SMITH/01 EXPECTED", "SMITH/08 EXPECTED MISHANDLED", "JONES/08 EXPECTED MISHANDLED")

	w = newWorld(t)
	w.send("01T06:00", named("LX100/01MAR/JFK", "SMITH/JOHN", "ABC123")...)
	w.report("15T12:00", plate)
	expect(t, "fourteen days", codes(w.one(plate)), "EXPECTED MISHANDLED")
	w = newWorld(t)
	w.send("01T06:00", named("LX100/01MAR/JFK", "SMITH/JOHN", "ABC123")...)
	w.report("16T12:00", plate)
	expect(t, "fifteen days", codes(w.one(plate)), "EXPECTED")
}

// TestRules5Lifetimes: every message of a bag lives until the retention after its last event has passed.
func TestRules5Lifetimes(t *testing.T) {
	w := newWorld(t)
	w.settings.Retention = 24 * time.Hour
	w.send("12T06:00", bsm()...)
	w.send("12T06:05", bsm()...)                                                                // a copy
	w.send("13T07:00", bpm(".J/S//A/13MAR/0730L", ".F/LX100/12MAR/JFK", ".N/0220000001001")...) // read at 06:30 UTC
	w.send("13T09:00", bpm(".J/S//A/13MAR/0730L", ".F/LX100/12MAR/JFK", ".N/0220000001001")...) // a copy
	w.send("03T07:00", named("LX100/03MAR/JFK", "SMITH/JOHN", "ABC123")...)
	now, err := w.index.Read(t.Context(), trail.Wanted{PlateMessages: []bag.Plate{plate}})
	if err != nil {
		t.Fatal(err)
	}
	messages, _ := now.PlateMessages[0].Messages()
	for i, until := range w.reader().Lifetimes(plate, messages) {
		switch received := messages[i].Received; {
		case received.Equal(at("2026-03-03T07:00:00Z")):
			expect(t, "the bag of another journey", until, at("2026-03-04T07:00:00Z"))
		case received.Equal(at("2026-03-12T06:05:00Z")):
			expect(t, "a copy", until, at("2026-03-14T07:00:00Z"))
		case received.Equal(at("2026-03-13T09:00:00Z")):
			expect(t, "a copy that is later than the events", until, at("2026-03-14T09:00:00Z"))
		default:
			expect(t, "until", until, at("2026-03-14T07:00:00Z"))
		}
	}
}

func TestAMessageOfTwoBagsIsKeptAsLongAsTheOneThatEndsLater(t *testing.T) {
	w := newWorld(t)
	w.settings.Retention = 24 * time.Hour
	w.send("12T06:00", named("LX100/12MAR/JFK", "ADAM/ANNA", "AAA111")...)
	w.send("12T06:01", named("LX102/12MAR/JFK", "BERG/BEAT", "BBB222")...)
	w.send("12T06:02", bpm(".J/S", ".F/LX104/12MAR/JFK", ".N/0220000001001")...)
	w.send("14T06:00", bpm(".J/G", ".F/LX100/12MAR/JFK", ".N/0220000001001", ".L/AAA111")...)
	now, err := w.index.Read(t.Context(), trail.Wanted{PlateMessages: []bag.Plate{plate}})
	if err != nil {
		t.Fatal(err)
	}
	messages, _ := now.PlateMessages[0].Messages()
	for i, until := range w.reader().Lifetimes(plate, messages) {
		want := at("2026-03-15T06:00:00Z")
		if strings.Contains(messages[i].Raw, "BBB222") {
			want = at("2026-03-13T06:02:00Z")
		}
		expect(t, messages[i].Raw, until, want)
	}
}

// freshTexts is an index that gives texts of their own to each question, as a store does.
type freshTexts struct{ trail.Index }

func (x freshTexts) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	found, err := x.Index.Read(ctx, w)
	for i := range found.PlateMessages {
		held := found.PlateMessages[i].Messages
		found.PlateMessages[i].Messages = func() ([]bag.Stored, bool) {
			messages, whole := held()
			messages = slices.Clone(messages)
			for i := range messages {
				messages[i].Raw = strings.Clone(messages[i].Raw)
			}
			return messages, whole
		}
	}
	return found, err
}

// The cache keeps a bag without the text of the rush message that named its plate, which may be long.
func TestACachedBagKeepsNoTextOfItsRushBag(t *testing.T) {
	const bags = 600
	w := newWorld(t)
	remarks := slices.Repeat([]string{".R/" + strings.Repeat("X", 50)}, 1100)
	for i := range bags {
		original := fmt.Sprintf("0220%06d", i)
		w.send("12T06:00", checkIn(bag.Plate(original), "12")...)
		w.send("13T06:00", rushTag(bag.Plate("2"+original[1:]), "13", append([]string{".M/" + original}, remarks...)...)...)
	}
	reader := trail.New(freshTexts{w.index}, w.enricher, w.settings)
	before := heap()
	for i := range bags {
		if found, err := reader.OfPlates(t.Context(), []bag.Plate{bag.Plate(fmt.Sprintf("2220%06d", i))}); err != nil || len(found) != 1 {
			t.Fatal(len(found), err)
		}
		if i%50 > 0 {
			continue
		}
		for asked := range i + 1 { // what is asked for again and again stays in the cache; the rush bags do not
			if found, err := reader.History(t.Context(), bag.Plate(fmt.Sprintf("0220%06d", asked))); err != nil || len(found) != 1 {
				t.Fatal(len(found), err)
			}
		}
	}
	if kept := heap() - before; kept > 24<<20 {
		t.Errorf("%d KiB are kept for %d bags", kept>>10, bags)
	}
	runtime.KeepAlive(reader)
}

// heap returns the bytes that are in use after a collection.
func heap() int {
	runtime.GC()
	runtime.GC() // empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
