package announce_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/announce"
	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/parser"
	"bagtrail/test/journey"
)

const (
	bsm = "BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK/Y\n.N/0724123456002\n.P/MUELLER\n.L/ABC123\nENDBSM\n"
	chg = "BSM\nCHG\n.V/1LZRH\n.F/LX16/12MAR/JFK/Y\n.N/0724123456001\n.P/MUELLER\n.L/ABC123\nENDBSM\n"
	in  = "BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.U/AKE12345LX\n.N/0724123456001\nENDBPM\n"
	uld = "BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.U/AKE12345LX/12\nENDBPM\n"
)

var morning = time.Date(2026, 3, 12, 9, 0, 0, 0, time.UTC)

// desk files messages and announces their events.
type desk struct {
	t       *testing.T
	library *airport.Library
	filer   *enricher.Enricher
	index   *memory.Index
	announce.Announcer
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, library: airport.New(), index: memory.New()}
	d.filer = enricher.New(d.library)
	d.Announcer = announce.Announcer{
		Index: d.index, Enricher: d.filer, Places: d.library,
		Rules: bag.Rules{Window: 10 * time.Minute, SamePlace: d.library.SamePlace},
	}
	return d
}

// file files a message that was received that many minutes after the start.
func (d *desk) file(minutes int, raw string) bag.Filing {
	d.t.Helper()
	var m parser.Message
	m.Parse(raw, d.library)
	if !m.Accepted() {
		d.t.Fatalf("%q: %v", raw, m.Errors)
	}
	filing := d.filer.Filing(&m, raw, morning.Add(time.Duration(minutes)*time.Minute))
	if _, err := d.index.File(d.t.Context(), []bag.Filing{filing}); err != nil {
		d.t.Fatal(err)
	}
	return filing
}

func (d *desk) events(filings ...bag.Filing) []announce.Event {
	d.t.Helper()
	events, err := d.Events(d.t.Context(), filings)
	if err != nil {
		d.t.Fatal(err)
	}
	return events
}

// summary returns plate and code of each event.
func summary(t *testing.T, events []announce.Event) []string {
	t.Helper()
	var all []string
	for _, e := range events {
		if !json.Valid(e.Document) {
			t.Errorf("no JSON: %s", e.Document)
		}
		all = append(all, string(e.Plate)+" "+e.Code)
	}
	return all
}

func TestAnEventIsACloudEvent(t *testing.T) {
	d := newDesk(t)
	events := d.events(d.file(0, chg))
	if len(events) != 1 || events[0].Plate != "0724123456" || len(events[0].ID) != 32 {
		t.Fatalf("%+v", events)
	}
	want := `{"specversion":"1.0","source":"/bagtrail","id":"` + events[0].ID + `","type":"bagtrail.event.EXPECTED","subject":"0724123456",` +
		`"time":"2026-03-12T09:00:00Z","datacontenttype":"application/json","data":{"bagtag":"0724123456","event":{"airport":"ZRH",` +
		`"event_code":"EXPECTED","event_desc":"Bag Expected","local_date_time":"2026-03-12T10:00:00+01:00","utc_date_time":"2026-03-12T09:00:00Z",` +
		`"flight_info":{"outbound":{"date":"2026-03-12","dest_airport":"JFK","flight":"16","airline":"LX"}},"pnr":"ABC123",`
	if got := string(events[0].Document); !strings.HasPrefix(got, want) || !json.Valid([]byte(got)) {
		t.Errorf("got  %s\nwant %s…", got, want)
	}
}

func TestEveryPlateHasItsEventAsTheIndexKnowsItNow(t *testing.T) {
	d := newDesk(t)
	first := d.file(0, bsm)
	second := d.file(30, chg)
	want := []string{"0724123456 EXPECTED", "0724123457 EXPECTED", "0724123456 REROUTED"}
	if got := summary(t, d.events(first, second)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestACopyAnnouncesNothingAndARepetitionTheSame(t *testing.T) {
	d := newDesk(t)
	first := d.file(0, bsm)
	once := d.events(first)
	if again := d.events(first); again[0].ID != once[0].ID || again[0].ID == again[1].ID {
		t.Errorf("ids of a repetition: %s and %s, %s", once[0].ID, again[0].ID, again[1].ID)
	}
	if copies := d.events(d.file(5, bsm)); len(copies) > 0 {
		t.Errorf("a copy: %q", summary(t, copies))
	}
	if later := d.events(d.file(60, bsm)); len(later) != 2 || later[0].ID == once[0].ID {
		t.Errorf("the same text an hour later is another event: %q", summary(t, later))
	}
}

func TestAnEventHasAnIDOfItsPositionUnlessItWasRead(t *testing.T) {
	read := strings.Replace(in, ".U/", ".J/R///12MAR/0900Z\n.U/", 1)
	at := func(raw string, position bag.Position) string {
		d := newDesk(t)
		f := d.file(1, raw)
		d.index = memory.New()
		d.Index = d.index
		f.Position = position
		if _, err := d.index.File(t.Context(), []bag.Filing{f}); err != nil {
			t.Fatal(err)
		}
		events := d.events(f)
		if len(events) != 1 || d.events(f)[0].ID != events[0].ID {
			t.Fatalf("%d events, or another id when they are made again", len(events))
		}
		return events[0].ID
	}
	one, other := bag.Position{Known: true, Offset: 1}, bag.Position{Known: true, Offset: 2}
	if at(chg, one) == at(chg, other) || at(chg, one) == at(chg, bag.Position{}) {
		t.Error("the position of a BSM plays no part")
	}
	if at(read, one) != at(read, other) || at(read, one) != at(read, bag.Position{}) {
		t.Error("the position of a BPM with a read time plays a part")
	}
}

func TestACopyWithAReadTimeIsTheSameEvent(t *testing.T) {
	d := newDesk(t)
	read := "BPM\n.V/1LZRH\n.J/S///12MAR/100000Z\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBPM\n"
	d.Index = brokenIndex{errors.New("nobody asks")}
	first, later := d.events(d.file(60, read)), d.events(d.file(600, strings.ReplaceAll(read, "\n", "\r\n")))
	if len(first) != 1 || len(later) != 1 || first[0].ID != later[0].ID || first[0].Code != "SORTED" || string(first[0].Data()) != string(later[0].Data()) {
		t.Errorf("%+v\n%+v", first, later)
	}
	if strings.Contains(string(first[0].Data()), "unknown_bag_flag") {
		t.Errorf("whether the bag is unknown is not known here: %s", first[0].Data())
	}
	if other := d.events(d.file(60, strings.Replace(read, "100000", "100001", 1))); other[0].ID == first[0].ID {
		t.Error("another read time is another event")
	}
}

func TestAnEventOfAnUnknownBagSaysSo(t *testing.T) {
	d := newDesk(t)
	if got := d.events(d.file(0, in)); len(got) != 1 || !strings.Contains(string(got[0].Data()), `"unknown_bag_flag":"Y"`) {
		t.Errorf("%+v", got)
	}
}

func TestAContainerIsAnnouncedForTheBagsInIt(t *testing.T) {
	d := newDesk(t)
	d.file(0, bsm)
	d.file(10, in)
	if got := summary(t, d.events(d.file(20, uld))); !slices.Equal(got, []string{"0724123456 LOADED_ON_AIRCRAFT"}) {
		t.Errorf("got %q", got)
	}
}

func TestAContainerIsFoundByItsNameWithoutControlCharacters(t *testing.T) {
	d := newDesk(t)
	d.file(0, bsm)
	d.file(10, strings.Replace(in, "AKE12345LX", "AKE1\x002345LX", 1))
	if got := summary(t, d.events(d.file(20, uld))); !slices.Equal(got, []string{"0724123456 LOADED_ON_AIRCRAFT"}) {
		t.Errorf("got %q", got)
	}
}

// The expected bags are found by folding every bag of a flight.
func TestNoBagInAContainerIsOverlooked(t *testing.T) {
	awkward := journey.Awkward()
	positionings, found := 0, 0
	for world := range uint64(6) {
		d := newDesk(t)
		var filings []bag.Filing
		for _, m := range journey.Make(world, journey.Crowded(awkward[int(world)%len(awkward)], 25)) {
			var parsed parser.Message
			if parsed.Parse(m.Text, d.library); m.Report || !parsed.Accepted() {
				continue
			}
			filings = append(filings, d.filer.Filing(&parsed, m.Text, m.Received))
		}
		if _, err := d.index.File(t.Context(), filings); err != nil {
			t.Fatal(err)
		}
		for _, f := range filings {
			if len(f.Stowage) == 0 {
				continue
			}
			positionings++
			var want, got []string
			seen := make(map[bag.Flight]bool)
			for _, c := range f.Stowage {
				if !seen[c.Flight] {
					seen[c.Flight] = true
					want = append(want, d.positioned(f, filings, c.Flight)...)
				}
			}
			for _, e := range d.events(f) {
				got = append(got, string(e.Plate)+" "+e.Code+" "+moment(t, e))
			}
			found += len(want)
			if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
				t.Errorf("seed %d: %q\n got %q\nwant %q", world, f.Raw, got, want)
			}
		}
	}
	if t.Logf("%d positionings, %d events", positionings, found); found < 50 {
		t.Error("the worlds hold too few bags in containers to say anything")
	}
}

// moment returns the time of an event by its document.
func moment(t *testing.T, e announce.Event) string {
	t.Helper()
	var document struct{ Time string }
	if err := json.Unmarshal(e.Document, &document); err != nil {
		t.Fatal(err)
	}
	return document.Time
}

// held returns the stored messages of a plate or a container.
func (d *desk) held(h trail.Held) []bag.Stored {
	messages, _ := h.Messages()
	return messages
}

// positioned returns plate, code and time of each event that a positioning makes on a flight.
func (d *desk) positioned(f bag.Filing, all []bag.Filing, flight bag.Flight) []string {
	var positionings []*bag.Message
	seen := make(map[bag.Container]bool)
	for _, p := range all {
		for _, c := range p.Stowage {
			if c.Flight == flight && !seen[c] {
				seen[c] = true
				now, err := d.index.Read(d.t.Context(), trail.Wanted{Stowage: []bag.Container{c}})
				if err != nil {
					d.t.Fatal(err)
				}
				positionings = append(positionings, d.filer.Stowage(c, d.held(now.Stowage[0]))...)
			}
		}
	}
	now, err := d.index.Read(d.t.Context(), trail.Wanted{Flights: []bag.Flight{flight}})
	if err != nil {
		d.t.Fatal(err)
	}
	plates := now.Flights[0]
	now, err = d.index.Read(d.t.Context(), trail.Wanted{Trails: plates})
	if err != nil {
		d.t.Fatal(err)
	}
	var made []string
	for i, plate := range plates {
		var groups []int32
		bags, err := d.Rules.Fold(context.Background(), plate, d.filer.Messages(plate, d.held(now.Trails[i])), positionings)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, b := range bags {
			for _, e := range b.Events {
				if m := e.Message; m.Raw == f.Raw && m.Received.Equal(f.Received) && !slices.Contains(groups, m.Group) {
					groups = append(groups, m.Group)
					made = append(made, string(plate)+" "+e.Code+" "+m.Happened.Format(time.RFC3339Nano))
				}
			}
		}
	}
	return made
}

func TestManyPlatesAreReadInParts(t *testing.T) {
	d := newDesk(t)
	many := "BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724100001999\nENDBPM\n"
	if got := d.events(d.file(0, many)); len(got) != 999 || got[998].Plate != "0724100999" {
		t.Errorf("%d events", len(got))
	}
}

func TestAnIndexThatCannotBeReadIsAnError(t *testing.T) {
	d := newDesk(t)
	filings := []bag.Filing{d.file(0, bsm)}
	positioning := []bag.Filing{d.file(1, uld)}
	away := errors.New("away")
	d.Index = brokenIndex{away}
	for _, f := range [][]bag.Filing{filings, positioning} {
		if events, err := d.Events(t.Context(), f); !errors.Is(err, away) || events != nil {
			t.Errorf("%v %v", events, err)
		}
	}
}

type brokenIndex struct{ err error }

func (b brokenIndex) Read(context.Context, trail.Wanted) (trail.Found, error) {
	return trail.Found{}, b.err
}

// A code that an airport has of its own is part of the message's text.
func TestTheCodeOfAnEventOutlastsItsMessage(t *testing.T) {
	d := newDesk(t)
	d.library = airport.New(airport.Extra{Statuses: map[string][]string{"ZRH": {"LCK"}}})
	f := d.file(0, "BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.B/LCK/0724123456001\nENDBPM\n") // no read time: the index is asked
	events := d.events(f)
	d.events(d.file(1, bsm), d.file(2, chg))
	if len(events) != 1 || events[0].Code != "LCK" || !strings.Contains(string(events[0].Document), `"bagtrail.event.LCK"`) {
		t.Errorf("%+v", events)
	}
}

func TestAnEventAllocatesLittle(t *testing.T) {
	d := newDesk(t)
	var filings []bag.Filing
	for i := range 100 {
		filings = append(filings, d.file(i, "BPM\n.V/1LZRH\n.J/S///12MAR/100000Z\n.F/LX14/12MAR/JFK\n.N/0724123456001\n.P/MUELLER/ANNAMRS\n.L/ABC123\nENDBPM\n"))
	}
	events := 0
	allocations := testing.AllocsPerRun(20, func() { events = len(d.events(filings...)) })
	if each := allocations / 100; events != 100 || each > 10 { // under the race detector pools forget some values
		t.Errorf("%d events, %.1f allocations each", events, each)
	}
}

// countingIndex is an index that counts the messages that are read.
type countingIndex struct {
	*memory.Index
	all, most int
}

func (w *countingIndex) Read(ctx context.Context, wanted trail.Wanted) (trail.Found, error) {
	found, err := w.Index.Read(ctx, wanted)
	n := 0
	for _, held := range found.Trails {
		messages, _ := held.Messages()
		n += len(messages)
	}
	w.all, w.most = w.all+n, max(w.most, n)
	return found, err
}

// Every bag of a message has its event, although the index is read only up to the limit.
func TestAMessageOnManyLargeBagsReadsLittle(t *testing.T) {
	d := newDesk(t)
	text := strings.Replace(bsm, "0724123456002", "0724000000400", 1)
	text = strings.Replace(text, "ENDBSM", ".R/"+strings.Repeat("X", 10_000)+"\nENDBSM", 1)
	var last bag.Filing
	for i := range 10 {
		last = d.file(60*i, text)
	}
	index := &countingIndex{Index: d.index}
	d.Index = index
	events := d.events(last)
	plates := make(map[bag.Plate]bool)
	for _, e := range events {
		plates[e.Plate] = true
	}
	if len(events) != 400 || len(plates) != 400 {
		t.Errorf("%d events of %d plates", len(events), len(plates))
	}
	if index.all == 0 || index.all*len(text) > 4<<20 || index.most != index.all {
		t.Errorf("%d messages of %d bytes are read, %d at once", index.all, len(text), index.most)
	}

	index.all, index.most = 0, 0 // many messages on one bag each, with more stored messages than any bag has
	var filings []bag.Filing
	for i := range 30 {
		for j := range 150 {
			f := d.file(i*150+j, strings.Replace(chg, "0724123456001", fmt.Sprintf("07250000%02d001", i), 1))
			if j == 0 {
				filings = append(filings, f)
			}
		}
	}
	if events := d.events(filings...); len(events) != 30 || index.all != 30*150 || index.most > 150 {
		t.Errorf("%d events, %d messages are read, %d at once", len(events), index.all, index.most)
	}
}

func TestTellPassesEventsOnInParts(t *testing.T) {
	d := newDesk(t)
	f := d.file(0, strings.Replace(bsm, "0724123456002", "0724000000999", 1))
	var all []announce.Event
	if err := d.Tell(t.Context(), []bag.Filing{f}, func(some []announce.Event) error {
		if len(some) > 500 {
			t.Errorf("%d events at once", len(some))
		}
		all = append(all, some...)
		return nil
	}); err != nil || len(all) != 999 {
		t.Errorf("%d events, %v", len(all), err)
	}
	full := errors.New("the topic is full")
	told := 0
	if err := d.Tell(t.Context(), []bag.Filing{f}, func([]announce.Event) error { told++; return full }); !errors.Is(err, full) || told != 1 {
		t.Errorf("%v, after it was told %d times", err, told)
	}
}
