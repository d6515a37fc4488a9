package trail_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// place files a message at a position in the log.
func (w *world) place(received string, partition int32, offset int64, lines ...string) {
	w.t.Helper()
	text := strings.Join(lines, "\n") + "\n"
	var m parser.Message
	m.Parse(text, w.airports)
	if !m.Accepted() {
		w.t.Fatalf("message refused: %v\n%s", m.Errors, text)
	}
	f := w.enricher.Filing(&m, text, at("2026-03-"+received+":00Z"))
	f.Position = bag.Position{Known: true, Partition: partition, Offset: offset}
	if _, err := w.index.File(context.Background(), []bag.Filing{f}); err != nil {
		w.t.Fatal(err)
	}
}

// off and onBoard are BPMs without a read time at ZRH for a flight of 12 March to JFK.
func off(flight string) []string {
	return bpm(".F/"+flight+"/12MAR/JFK", ".B/OFF/0220000001001")
}

func onBoard(flight string, lines ...string) []string {
	return bpm(append(lines, ".J/R", ".F/"+flight+"/12MAR/JFK", ".N/0220000001001")...)
}

type step struct {
	at    string
	lines []string
}

// sentence is a sentence of the rules, what is sent, and what then is known of the one bag of the plate.
type sentence struct {
	says   string
	sent   []step
	events string   // codes; not looked at if ""
	legs   []string // not looked at if nil
}

func hold(t *testing.T, sentences []sentence) {
	for _, s := range sentences {
		t.Run(s.says, func(t *testing.T) {
			w := newWorld(t)
			for _, m := range s.sent {
				w.send(m.at, m.lines...)
			}
			b := w.one(plate)
			if s.events != "" {
				expect(t, "events", codes(b), s.events)
			}
			if s.legs != nil {
				expectList(t, "legs", legs(b), s.legs...)
			}
		})
	}
}

func TestThePositionBreaksTies(t *testing.T) {
	old, again := source("LZRH", "", ".F/LX602/12MAR/JFK"), source("LZRH", "", ".F/LX604/12MAR/JFK")
	del := source("LZRH", "DEL", ".F/LX602/12MAR/JFK")
	for name, want := range map[string]string{"del first": "EXPECTED CANCELLED EXPECTED", "booking first": "EXPECTED EXPECTED CANCELLED"} {
		w := newWorld(t)
		w.place("12T06:00", 3, 7, old...)
		if name == "del first" {
			w.place("12T06:01", 3, 8, del...)
			w.place("12T06:01", 3, 9, again...)
		} else {
			w.place("12T06:01", 3, 9, del...)
			w.place("12T06:01", 3, 8, again...)
		}
		expect(t, name, codes(w.one(plate)), want)
		expectList(t, name, legs(w.one(plate)), "LX604/12 ZRH-JFK Not Loaded", "(LX602/12 ZRH-JFK)")
	}
	w := newWorld(t)
	w.send("12T06:00", bpm(".J/S", ".F/LX602/12MAR/JFK", ".N/0220000001001")...) // no position: it comes after those with one
	w.place("12T06:00", 9, 900, bpm(".J/G", ".F/LX602/12MAR/JFK", ".N/0220000001001")...)
	expect(t, "without a position", codes(w.one(plate)), "GROUND_TRACKED SORTED")
}

func TestADeleteTakesAwayItsOwnFlightOnly(t *testing.T) {
	hold(t, []sentence{
		{"a DEL of another flight changes no leg", []step{
			{"12T06:00", source("LZRH", "", ".F/LX602/12MAR/JFK")},
			{"12T06:01", source("LZRH", "", ".F/LX604/12MAR/JFK")},
			{"12T06:02", source("LZRH", "DEL", ".F/LX602/12MAR/JFK")},
		}, "EXPECTED EXPECTED CANCELLED", []string{"LX604/12 ZRH-JFK Not Loaded", "(LX602/12 ZRH-JFK)"}},
		{"an older BSM does not come back", []step{
			{"12T06:00", source("LZRH", "", ".F/LX602/12MAR/JFK")},
			{"12T06:01", source("LZRH", "", ".F/LX604/12MAR/JFK")},
			{"12T06:02", source("LZRH", "DEL", ".F/LX604/12MAR/JFK")},
		}, "", []string{"(LX604/12 ZRH-JFK)", "(LX602/12 ZRH-JFK)"}},
		{"a loaded bag stands in the list of its flight until a BPM there says otherwise", []step{
			{"12T06:00", source("LZRH", "", ".F/LX602/12MAR/JFK")},
			{"12T06:01", onBoard("LX602")},
			{"12T06:02", source("LZRH", "DEL", ".F/LX602/12MAR/JFK")},
		}, "", []string{"LX602/12 ZRH-JFK Loaded on Aircraft"}},
		{"a BPM there says otherwise", []step{
			{"12T06:00", source("LZRH", "", ".F/LX602/12MAR/JFK")},
			{"12T06:01", onBoard("LX602")},
			{"12T06:02", source("LZRH", "DEL", ".F/LX602/12MAR/JFK")},
			{"12T06:03", off("LX602")},
		}, "", []string{"(LX602/12 ZRH-JFK)"}},
		{"a DEL counts where the airport never had a BSM and an .O of a current BSM departs there on that flight", []step{
			{"12T06:00", source("LGVA", "", ".F/LX2801/12MAR/ZRH", ".O/LX14/12MAR/JFK")},
			{"12T06:01", source("TZRH", "DEL", ".F/LX14/12MAR/JFK")},
		}, "", []string{"LX2801/12 GVA-ZRH Not Loaded", "(LX14/12 ZRH-JFK)"}},
		{"and not on another flight", []step{
			{"12T06:00", source("LGVA", "", ".F/LX2801/12MAR/ZRH", ".O/LX14/12MAR/JFK")},
			{"12T06:01", source("TZRH", "DEL", ".F/LX16/12MAR/JFK")},
		}, "", []string{"LX2801/12 GVA-ZRH Not Loaded", "LX14/12 ZRH-JFK Not Loaded", "(LX16/12 ZRH-JFK)"}},
		{"current BSMs of arriving flights and of departing ones are apart", []step{
			{"12T06:00", source("TZRH", "", ".F/LX14/12MAR/JFK")},
			{"12T06:01", source("XZRH", "", ".F/LX2801/12MAR/ZRH")},
		}, "", []string{"LX2801/12 -ZRH Not Loaded", "LX14/12 ZRH-JFK Not Loaded"}},
		{"a BSM without a name, of another airline, ends no current BSM that names a passenger", []step{
			{"12T06:00", source("LZRH", "", ".F/LX602/12MAR/JFK")},
			{"12T06:01", []string{"BSM", ".V/1LZRH", ".F/BA711/12MAR/LHR", ".N/0220000001001", "ENDBSM"}},
		}, "EXPECTED EXPECTED", []string{"LX602/12 ZRH-JFK Not Loaded", "(BA711/12 ZRH-LHR)"}},
	})
}

func TestARepetitionIsACopyOnlyWhileNothingElseWasSaid(t *testing.T) {
	booked := step{"12T06:00", source("LZRH", "", ".F/LX602/12MAR/JFK")}
	line := []string{".ZRHXXLX 120601"}
	hold(t, []sentence{
		{"OFF, load, OFF inside ten minutes", []step{booked, {"12T06:01", off("LX602")}, {"12T06:02", onBoard("LX602")}, {"12T06:03", off("LX602")}},
			"EXPECTED OFFLOADED LOADED_ON_AIRCRAFT OFFLOADED", []string{"LX602/12 ZRH-JFK Offloaded"}},
		{"a text that was sent again never puts a bag back on board", []step{booked, {"12T06:01", onBoard("LX602")}, {"12T06:02", off("LX602")}, {"12T06:03", onBoard("LX602")}},
			"EXPECTED LOADED_ON_AIRCRAFT OFFLOADED", []string{"LX602/12 ZRH-JFK Offloaded"}},
		{"behind the window it does", []step{booked, {"12T06:01", onBoard("LX602")}, {"12T06:02", off("LX602")}, {"12T06:12", onBoard("LX602")}},
			"EXPECTED LOADED_ON_AIRCRAFT OFFLOADED LOADED_ON_AIRCRAFT", []string{"LX602/12 ZRH-JFK Loaded on Aircraft"}},
		{"unless it was offloaded before it was loaded, as a late message tells", []step{booked, {"12T06:02", onBoard("LX602")},
			{"12T06:03", bpm(".J/R//A/12MAR/0701L", ".F/LX602/12MAR/JFK", ".B/OFF/0220000001001")}, {"12T06:04", onBoard("LX602")}},
			"EXPECTED OFFLOADED LOADED_ON_AIRCRAFT LOADED_ON_AIRCRAFT", nil},
		{"a passenger is rebooked back", []step{booked, {"12T06:01", source("LZRH", "", ".F/LX604/12MAR/JFK")}, {"12T06:02", booked.lines}},
			"EXPECTED EXPECTED EXPECTED", []string{"LX602/12 ZRH-JFK Not Loaded", "(LX604/12 ZRH-JFK)"}},
		{"a message of another kind does not end the window", []step{booked, {"12T06:01", off("LX602")}, {"12T06:02", booked.lines}},
			"EXPECTED OFFLOADED", nil},
		{"behind the same origin line it is a copy, whenever received", []step{booked,
			{"12T06:01", append(line, off("LX602")...)}, {"12T06:02", onBoard("LX602")}, {"14T06:03", append(line, off("LX602")...)}},
			"EXPECTED OFFLOADED LOADED_ON_AIRCRAFT", []string{"LX602/12 ZRH-JFK Loaded on Aircraft"}},
		{"if more than a minute later", []step{booked,
			{"12T06:01", append(line, off("LX602")...)}, {"12T06:01", onBoard("LX602")}, {"12T06:02", append(line, off("LX602")...)}},
			"EXPECTED OFFLOADED LOADED_ON_AIRCRAFT OFFLOADED", nil},
		{"behind another origin line it is none", []step{booked,
			{"12T06:01", append(line, off("LX602")...)}, {"12T06:02", onBoard("LX602")}, {"14T06:03", append([]string{".ZRHXXLX 140603"}, off("LX602")...)}},
			"EXPECTED OFFLOADED LOADED_ON_AIRCRAFT OFFLOADED", nil},
		{"nor is another text behind the same line", []step{booked, {"12T06:01", append(line, off("LX602")...)}, {"12T06:03", append(line, onBoard("LX602")...)}},
			"EXPECTED OFFLOADED LOADED_ON_AIRCRAFT", nil},
	})
}

func TestArrivalIsNotLoading(t *testing.T) {
	booked := step{"12T06:00", source("LZRH", "", ".F/LX14/12MAR/JFK")}
	arriving := func(lines ...string) []step {
		return []step{booked, {"12T16:00", append(append([]string{"BPM", ".V/1LJFK"}, lines...), "ENDBPM")}}
	}
	still := []string{"LX14/12 ZRH-JFK Not Loaded"}
	const tag = ".N/0220000001001"
	hold(t, []sentence{
		{".J/R with an .F that names the .V airport", arriving(".J/R", ".F/LX14/12MAR/JFK", tag), "EXPECTED ARRIVED", still},
		{"no .J", arriving(".F/LX14/12MAR/JFK", tag), "EXPECTED ARRIVED", still},
		{".U", arriving(".U/AKE1/41", ".F/LX14/12MAR/JFK", tag), "EXPECTED ARRIVED", still},
		{"an .F that names a place of its city", arriving(".J/R", ".F/LX14/12MAR/NYC", tag), "EXPECTED ARRIVED", still},
		{"only an .I", arriving(".J/R", ".I/LX14/12MAR/ZRH", tag), "EXPECTED ARRIVED", still},
		{".O plays no part", arriving(".J/R", ".I/LX14/12MAR/ZRH", ".O/AA1/12MAR/LAX", tag), "EXPECTED ARRIVED", nil},
		{"no flight", arriving(".J/R", tag), "EXPECTED TRACKED", still},
		{"NAL sets no status", arriving(".F/LX14/12MAR/JFK", ".B/NAL/0220000001001"), "EXPECTED NAL", still},
		{"OFF stays", arriving(".F/LX14/12MAR/JFK", ".B/OFF/0220000001001"), "EXPECTED OFFLOADED", []string{"LX14/12 ZRH-JFK Offloaded"}},
		{".X stays", arriving(".J/R", ".X//CLR", ".F/LX14/12MAR/JFK", tag), "EXPECTED SCREENING_PASSED", still},
		{".J/G stays", arriving(".J/G", ".F/LX14/12MAR/JFK", tag), "EXPECTED GROUND_TRACKED", still},
	})
	t.Run("a leg whose flight an ARRIVED event names is not Delayed by departure", func(t *testing.T) {
		w := newWorld(t)
		w.settings.Departed = func(bag.Flight, string, time.Time) bool { return true }
		w.send(booked.at, booked.lines...)
		expectList(t, "departed", legs(w.one(plate)), "LX14/12 ZRH-JFK Delayed")
		w.send("12T16:00", "BPM", ".V/1LJFK", ".J/R", ".F/LX14/12MAR/JFK", tag, "ENDBPM")
		expectList(t, "arrived", legs(w.one(plate)), still...)
	})
}

func TestThroughFlightsAreTwoLegs(t *testing.T) {
	through := step{"12T06:00", source("LGVA", "", ".F/LX204/12MAR/ZRH", ".O/LX204/12MAR/JFK")}
	hold(t, []sentence{
		{"GVA-ZRH-JFK as one LX204 is two legs", []step{through}, "", []string{"LX204/12 GVA-ZRH Not Loaded", "LX204/12 ZRH-JFK Not Loaded"}},
		{"a load counts only out of its own airport", []step{through, {"12T07:00", processed("LGVA", ".J/R", ".F/LX204/12MAR/ZRH")}},
			"", []string{"LX204/12 GVA-ZRH Loaded on Aircraft", "LX204/12 ZRH-JFK Not Loaded"}},
		{"an event where the flight has no leg out counts for all of them", []step{through, {"12T16:00", processed("LJFK", ".F/LX204/12MAR/JFK", ".B/OFF/0220000001001")}},
			"", []string{"LX204/12 GVA-ZRH Offloaded", "LX204/12 ZRH-JFK Offloaded"}},
		{"an arriving flight joins the leg that arrives there", []step{through, {"12T16:00", source("XJFK", "", ".F/LX204/12MAR/JFK")}},
			"", []string{"LX204/12 GVA-ZRH Not Loaded", "LX204/12 ZRH-JFK Not Loaded"}},
		{"else the only leg of that flight", []step{{"12T06:00", source("LGVA", "", ".F/LX204/12MAR/ZRH")}, {"12T16:00", source("XJFK", "", ".F/LX204/12MAR/JFK")}},
			"", []string{"LX204/12 GVA-ZRH Not Loaded"}},
	})
	w := newWorld(t)
	w.send(through.at, through.lines...)
	w.send("12T07:00", processed("LGVA", ".J/R", ".F/LX204/12MAR/ZRH")...)
	expectList(t, "from GVA", w.flight("GVA", false, "LX204/12"), "0220000001 Loaded on Aircraft")
	expectList(t, "from ZRH", w.flight("ZRH", false, "LX204/12"), "0220000001 Not Loaded")
}

func TestABagIsInOnePlace(t *testing.T) {
	hold(t, []sentence{
		{"rebooked and loaded on another flight", []step{
			{"12T05:00", source("LGVA", "", ".F/LX2801/12MAR/ZRH", ".O/LX602/12MAR/JFK")},
			{"12T06:01", onBoard("LX602")},
			{"12T06:02", onBoard("LX604")},
		}, "", []string{"LX2801/12 GVA-ZRH Not Loaded", "LX604/12 ZRH-JFK Loaded on Aircraft", "LX602/12 ZRH-JFK Not Loaded"}},
		{"offloaded from another flight", []step{
			{"12T05:00", source("LGVA", "", ".F/LX2801/12MAR/ZRH", ".O/LX602/12MAR/JFK")},
			{"12T06:01", onBoard("LX602")},
			{"12T06:02", off("LX604")},
		}, "", []string{"LX2801/12 GVA-ZRH Not Loaded", "LX602/12 ZRH-JFK Offloaded", "(LX604/12 ZRH-JFK)"}},
	})
}

func TestAPositioningTakesOnlyWhatIsInTheContainer(t *testing.T) {
	booked := step{"12T05:00", source("LZRH", "", ".F/LX14/12MAR/JFK")}
	filled := step{"12T06:00", bpm(".J/R", ".F/LX14/12MAR/JFK", ".U/AKE1", ".N/0220000001001")}
	aboard := step{"12T08:00", []string{"BPM", ".V/1LZRH", ".J/R", ".F/LX14/12MAR/JFK", ".U/AKE1/41", "ENDBPM"}}
	out := func(lines ...string) []step { return []step{booked, filled, {"12T07:00", bpm(lines...)}, aboard} }
	hold(t, []sentence{
		{"in the container", []step{booked, filled, aboard}, "EXPECTED LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT", []string{"LX14/12 ZRH-JFK Loaded on Aircraft"}},
		{"OFF that names the same device", out(".F/LX14/12MAR/JFK", ".U/AKE1", ".B/OFF/0220000001001"), "EXPECTED LOADED_IN_CONTAINER OFFLOADED", []string{"LX14/12 ZRH-JFK Offloaded"}},
		{"OFF without .U and .F", out(".B/OFF/0220000001001"), "EXPECTED LOADED_IN_CONTAINER OFFLOADED", []string{"LX14/12 ZRH-JFK Offloaded"}},
		{"OND", out(".F/LX14/12MAR/JFK", ".B/OND/0220000001001"), "EXPECTED LOADED_IN_CONTAINER OND", []string{"LX14/12 ZRH-JFK Not Loaded"}},
		{"ONA", out(".F/LX14/12MAR/JFK", ".B/ONA/0220000001001"), "EXPECTED LOADED_IN_CONTAINER ONA", []string{"LX14/12 ZRH-JFK Not Loaded"}},
		{"UNS", out(".F/LX14/12MAR/JFK", ".B/UNS/0220000001001"), "EXPECTED LOADED_IN_CONTAINER UNS", []string{"LX14/12 ZRH-JFK Not Loaded"}},
		{"put into another device", out(".J/R", ".F/LX14/12MAR/JFK", ".U/AKE2", ".N/0220000001001"), "EXPECTED LOADED_IN_CONTAINER LOADED_IN_CONTAINER", nil},
		{"loads on that flight without a device apart", out(".J/R", ".F/LX14/12MAR/JFK", ".N/0220000001001"), "EXPECTED LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT LOADED_ON_AIRCRAFT", nil},
		{"but not loads on another flight", out(".J/R", ".F/LX16/12MAR/JFK", ".N/0220000001001"), "EXPECTED LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT", nil},
	})
	t.Run("a positioning gives no field of a bag", func(t *testing.T) {
		w := newWorld(t)
		w.send(filled.at, filled.lines...)
		w.send("12T08:00", "BPM", ".V/1LZRH", ".J/R", ".F/LX14/12MAR/JFK", ".U/AKE1/41", ".L/ZZZ999", "ENDBPM")
		b := w.one(plate)
		expect(t, "events", codes(b), "LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT")
		expect(t, "PNR", b.PNR, "")
		expect(t, "found by it", b.HasPNR("ZZZ999"), false)
	})
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

func TestNamesThatFitNobody(t *testing.T) {
	smith := named("LX100/12MAR/JFK", "SMITH/JOHN", "ABC123")
	cut := bpm(".F/LX100/12MAR/JFK", ".B/OFF/0220000001001", ".P/SMI")
	t.Run("are about the one bag with a new BSM that names one of their flights", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T06:00", smith...)
		w.send("12T06:30", onBoard("LX100")...)
		w.send("12T07:00", cut...)
		b := w.one(plate)
		expect(t, "events", codes(b), "EXPECTED LOADED_ON_AIRCRAFT OFFLOADED")
		expect(t, "status", b.Legs[0].Status, bag.Offloaded)
	})
	t.Run("of several such bags, BPMs are about each", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T06:00", smith...)
		w.send("12T06:01", named("LX100/12MAR/JFK", "JONES/TOM", "XYZ789")...)
		w.send("12T07:00", cut...)
		bags := w.bags(plate)
		expect(t, "bags", len(bags), 2)
		for _, b := range bags {
			expect(t, b.Surname, codes(b), "EXPECTED OFFLOADED")
		}
	})
	t.Run("without such a bag they are one themselves", func(t *testing.T) {
		w := newWorld(t)
		w.send("12T06:00", named("LX200/12MAR/JFK", "SMITH/JOHN", "ABC123")...)
		w.send("12T07:00", cut...)
		expect(t, "bags", len(w.bags(plate)), 2)
	})
}

func TestABagIsFoundByItsCurrentBSMs(t *testing.T) {
	found := func(w *world, pnr string) int { return len(w.passenger(pnr, "12")) }
	w := newWorld(t)
	w.send("12T06:00", named("LX100/12MAR/JFK", "SMITH/JOHN", "ABC123")...)
	w.send("12T07:00", named("LX100/12MAR/JFK", "SMITH/JOHN", "DEF456")...)
	expect(t, "by its new PNR", found(w, "def456"), 1)
	expect(t, "by its old PNR", found(w, "ABC123"), 0)
	w.send("12T08:00", "BSM", ".V/1TJFK", ".F/AA1/12MAR/LAX", ".N/0220000001001", ".P/SMITH", ".L/QRS111", "ENDBSM")
	expect(t, "by that of another airport", found(w, "QRS111"), 1)
	expect(t, "and by the first", found(w, "DEF456"), 1)

	w = newWorld(t)
	w.send("12T06:00", named("LX100/12MAR/JFK", "O'NEIL/JOHN", "")...)
	w.send("12T07:00", bpm(".J/S", ".F/LX100/12MAR/JFK", ".N/0220000001001", ".L/ABC123", ".P/ONEIL")...)
	expect(t, "where these hold none, by those of all its messages", found(w, "ABC123"), 1)
	expect(t, "surnames compare by their letters alone", w.one(plate).HasSurname("Oneil"), true)
}

func TestAGroupNamesItsOwnOriginal(t *testing.T) {
	const first, second, rush = bag.Plate("0220000001"), bag.Plate("0220000002"), bag.Plate("2220000009")
	w := newWorld(t)
	w.send("12T06:00", checkIn(first, "12")...)
	w.send("12T06:00", checkIn(second, "12")...)
	w.send("13T06:00", "BSM", ".V/1LZRH", ".F/LX200/13MAR/JFK", ".E/RUSH", ".N/"+string(rush)+"001", ".M/"+string(first), ".L/ABC123",
		".N/"+string(rush)+"001", ".E/RUSH", ".M/"+string(second), ".L/ABC123", "ENDBSM")
	expect(t, "originals", original(w.one(rush)), "0220000001 LX100/12, 0220000002 LX100/12")
	for _, p := range []bag.Plate{first, second} {
		expect(t, "status", w.one(p).Legs[0].Status, bag.Delayed)
	}
	for _, b := range w.passenger("ABC123", "12") {
		expect(t, "rushtag of "+string(b.Plate), b.RushTag != nil && b.RushTag.Plate == rush, true)
	}
}

func TestListsCompareAirportsExactly(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", source("LZRH", "", ".F/LX316/12MAR/LGW")...)
	expectList(t, "LGW", w.flight("LGW", true, "LX316/12"), "0220000001 Not Loaded")
	expectList(t, "LHR", w.flight("LHR", true, "LX316/12"))
	w = newWorld(t)
	w.send("12T06:00", source("LZRH", "", ".F/LX316/12MAR/LON")...)
	for _, a := range []string{"LON", "LGW", "LHR"} {
		expectList(t, a, w.flight(a, true, "LX316/12"), "0220000001 Not Loaded")
	}
}

func TestTheSeatIsThatOfTheLatestBSMForTheFlightThatHoldsOne(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", source("LZRH", "", ".F/LX14/12MAR/JFK", ".S/Y/12A/C")...)
	w.send("12T06:10", source("LZRH", "", ".F/LX16/12MAR/JFK", ".S/Y/30F/C")...)
	w.send("12T06:20", source("LZRH", "CHG", ".F/LX14/12MAR/JFK", ".S/Y//B")...)
	expect(t, "seat", w.one(plate).Legs[0].Seat, "12A")
}

func TestReadTimes(t *testing.T) {
	hold(t, []sentence{
		{"does not lie after receipt: such an event happened when it was received", []step{
			{"12T06:00", bpm(".J/S///12MAR/0630Z", ".F/LX14/12MAR/JFK", ".N/0220000001001")},
			{"12T06:10", bpm(".J/G", ".F/LX14/12MAR/JFK", ".N/0220000001001")},
		}, "SORTED GROUND_TRACKED", nil},
		{"without seconds stands at the end of its minute", []step{
			{"12T06:10", bpm(".J/S///12MAR/0600Z", ".F/LX14/12MAR/JFK", ".N/0220000001001")},
			{"12T06:10", bpm(".J/G///12MAR/060030Z", ".F/LX14/12MAR/JFK", ".N/0220000001001")},
		}, "GROUND_TRACKED SORTED", nil},
		{"but not after receipt", []step{
			{"12T06:00", bpm(".J/S///12MAR/0600Z", ".F/LX14/12MAR/JFK", ".N/0220000001001")},
			{"12T06:10", bpm(".J/G///12MAR/060030Z", ".F/LX14/12MAR/JFK", ".N/0220000001001")},
		}, "SORTED GROUND_TRACKED", nil},
	})
}

func TestAHistoryOfABagWithoutFlightsIsFoundByTheDayOfAnyEvent(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", bpm(".J/S", ".N/0220000001001")...)
	w.report("14T12:00", plate)
	b := w.one(plate)
	for day, want := range map[string]bool{"2026-03-12": true, "2026-03-13": false, "2026-03-14": true} {
		d, err := bag.ParseDay(day)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, day, b.Names(d), want)
	}
}
