package changefeed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/pause"
	"bagtrail/test/race"
)

// bsm returns a BSM at Zurich for a flight such as LX100.
func bsm(plate, flight, passenger, pnr string) string {
	return "BSM .V/1LZRH .F/" + flight + "/14MAR/JFK .N/" + plate + "001 .P/" + passenger + " .L/" + pnr + " ENDBSM"
}

// sorting returns a BPM that says that a plate was sorted at Zurich.
func sorting(plate, flight string) string {
	return "BPM .V/1LZRH .J/S .F/" + flight + "/14MAR/JFK .N/" + plate + "001 ENDBPM"
}

func day(t *testing.T) bag.Day {
	t.Helper()
	d, err := bag.ParseDay("2026-03-14")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// flight returns a flight of 14 March from Zurich.
func flight(t *testing.T, airline, number string) *changefeed.Flight {
	t.Helper()
	return &changefeed.Flight{Flight: bag.Flight{Airline: airline, Number: number, Day: day(t)}, Airport: "ZRH"}
}

func TestAReaderIsToldWhatTheFilterSelectsAndTheKeyCovers(t *testing.T) {
	w := newWorld(t)
	all := key("*", "*")
	arriving := flight(t, "LX", "100")
	arriving.Airport, arriving.Arriving = "JFK", true
	readers := map[string]*reader{
		"everything":      w.reader(all, changefeed.Filter{}),
		"airline LX":      w.reader(all, changefeed.Filter{Airline: "LX"}),
		"airport ZRH":     w.reader(all, changefeed.Filter{Airport: "ZRH"}),
		"airport LHR":     w.reader(all, changefeed.Filter{Airport: "LHR"}),
		"flight":          w.reader(all, changefeed.Filter{Flight: flight(t, "LX", "100")}),
		"arriving flight": w.reader(all, changefeed.Filter{Flight: arriving}),
		"plate":           w.reader(all, changefeed.Filter{Plates: []bag.Plate{"0724100002"}}),
		"PNR":             w.reader(all, changefeed.Filter{PNR: "ABC123", Date: day(t)}),
		"PNR, other day":  w.reader(all, changefeed.Filter{PNR: "ABC123", Date: day(t) + 1}),
		"PNR and airline": w.reader(all, changefeed.Filter{PNR: "ABC123", Date: day(t), Airline: "BA"}),
		"key of LX":       w.reader(key("LX", "*"), changefeed.Filter{}),
		"key of JFK":      w.reader(key("*", "JFK"), changefeed.Filter{}),
		"key of LHR":      w.reader(key("*", "LHR"), changefeed.Filter{}),
		"key of BA, LX":   w.reader(key("BA", "*"), changefeed.Filter{Airline: "LX"}),
		"key of BA, PNR":  w.reader(key("BA", "*"), changefeed.Filter{PNR: "ABC123", Date: day(t)}),
		"key of nothing":  w.reader(key("", "*"), changefeed.Filter{}),
	}
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"), bsm("0724100002", "BA200", "SMITH", "DEF456"))
	const lx, ba = "0724100001 ABC123:1", "0724100002 DEF456:1"
	want := map[string][]string{
		"everything": {lx, ba}, "airline LX": {lx}, "airport ZRH": {lx, ba}, "flight": {lx}, "arriving flight": {lx}, "plate": {ba},
		"PNR": {lx}, "key of LX": {lx}, "key of JFK": {lx, ba},
	}
	for name, r := range readers {
		r.want(name, want[name]...)
		r.want(name + ", again")
	}
}

func TestABagThatLeavesAFilterIsTold(t *testing.T) {
	w := newWorld(t)
	r := w.reader(key("*", "*"), changefeed.Filter{Flight: flight(t, "LX", "100")})
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	r.want("before", "0724100001 ABC123:1")
	w.send(bsm("0724100001", "LX200", "MUELLER", "ABC123"))
	list := r.all()
	if len(list) != 1 || list[0].Bags[0].Legs[0].Flight != "200" {
		t.Errorf("told %+v", list)
	}
}

// A later message names another original of a rush bag.
func TestABagThatIsNoOriginalAnyMoreIsTold(t *testing.T) {
	w := newWorld(t)
	rush := func(original string) string {
		return "BSM .V/1LZRH .F/LX200/15MAR/JFK .N/2724100003001 .M/" + original + " ENDBSM"
	}
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"), bsm("0724100002", "LX100", "MEIER", "DEF456"))
	w.send(rush("0724100001"))
	w.eventually("the original is marked", func() bool { return w.marked() == 4 })
	w.settle()
	r := w.reader(key("*", "*"), changefeed.Filter{Plates: []bag.Plate{"0724100001", "0724100002"}})
	w.send(rush("0724100002"))
	w.eventually("both originals are marked", func() bool { return w.marked() == 7 })
	w.settle()
	r.want("after the other message", "0724100001 ABC123:1", "0724100002 DEF456:1")
}

func TestAKeyWhoseRightsChangeGetsAReset(t *testing.T) {
	w := newWorld(t)
	r := w.reader(key("LX", "*"), changefeed.Filter{})
	for _, k := range []*apikey.Key{key("LX BA", "*"), key("BA", "*"), key("*", "*"), key("LX", "ZRH"), key("", "*")} {
		_, err := w.feed.Next(t.Context(), changefeed.Asker{Key: k, Fields: bagdoc.Events}, r.cursor, r.limits)
		if reset := new(changes.ResetError); !errors.As(err, &reset) || reset.Reason != "what the key may see was changed" {
			t.Errorf("%v %v: %v", k.Airlines, k.Airports, err)
		}
	}
	for _, change := range [][2]*apikey.Key{
		{key("*", "ZRH"), key("*", "GVA")}, {key("*", "ZRH"), key("*", "ZRH GVA")}, {key("*", ""), key("*", "*")}, {key("", "*"), key("*", "*")},
	} {
		before := w.reader(change[0], changefeed.Filter{})
		_, err := w.feed.Next(t.Context(), changefeed.Asker{Key: change[1], Fields: bagdoc.Events}, before.cursor, before.limits)
		if reset := new(changes.ResetError); !errors.As(err, &reset) || reset.Reason != "what the key may see was changed" {
			t.Errorf("%v %v, then %v %v: %v", change[0].Airlines, change[0].Airports, change[1].Airlines, change[1].Airports, err)
		}
	}
	if _, err := w.feed.Next(t.Context(), changefeed.Asker{Key: key("LX", "*"), Filter: changefeed.Filter{Airline: "LX"}}, r.cursor, r.limits); !errors.Is(err, changes.ErrFilter) {
		t.Errorf("another filter: %v", err)
	}
}

func TestAKeyThatLosesItsScopeIsToldOnlyWhatItStillSees(t *testing.T) {
	w := newWorld(t)
	r := w.reader(key("LX BA", "*"), changefeed.Filter{})
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"), bsm("0724100002", "BA200", "SMITH", "DEF456"))
	r.want("both airlines", "0724100001 ABC123:1", "0724100002 DEF456:1")
	r.asker.Key = key("BA", "*")
	w.send(bsm("0724100003", "LX100", "JONES", "GHI789"))
	reset := new(changes.ResetError)
	if b, err := w.feed.Next(t.Context(), r.asker, r.cursor, r.limits); !errors.As(err, &reset) || len(b.Changes) > 0 {
		t.Fatalf("%d changes, error %v, want a reset", len(b.Changes), err)
	}
	now := w.reader(r.asker.Key, changefeed.Filter{})
	hour := w.reader(r.asker.Key, changefeed.Filter{})
	var err error
	if hour.cursor, err = w.feed.Since(t.Context(), r.asker, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.send(sorting("0724100001", "LX100"), sorting("0724100002", "BA200"))
	now.want("from now on", "0724100002 DEF456:2")
	hour.want("since an hour ago", "0724100002 DEF456:2")
	for _, f := range []changefeed.Filter{{Plates: []bag.Plate{"0724100001"}}, {Airline: "LX"}, {PNR: "ABC123", Date: day(t)}} {
		asked := w.reader(r.asker.Key, f)
		w.send(strings.Replace(sorting("0724100001", "LX100"), ".J/S", ".J/T", 1))
		asked.want("what the key does not see any more")
	}
}

func TestEachOf500BagsInAContainerIsToldWhereItStands(t *testing.T) {
	w := newWorld(t)
	var filled, before, after []string
	for i := range 500 {
		plate := fmt.Sprintf("07241%05d", i)
		filled = append(filled, "BPM .V/1LZRH .J/R .F/LX100/14MAR/JFK .U/AKE12345LX .N/"+plate+"001 ENDBPM")
		before, after = append(before, plate+" :1"), append(after, plate+" :2")
	}
	readers := map[string]*reader{
		"everything": w.reader(key("*", "*"), changefeed.Filter{}),
		"the flight": w.reader(key("LX", "ZRH"), changefeed.Filter{Flight: flight(t, "LX", "100")}),
	}
	w.file(w.received, filled...)
	w.settle()
	for name, r := range readers {
		r.want(name+", filled", before...)
	}
	w.send("BPM .V/1LZRH .J/R .F/LX100/14MAR/JFK .U/AKE12345LX/41L ENDBPM")
	w.eventually("the bags are marked, behind the container", func() bool { return w.marked() == 500+1+500 })
	w.settle()
	for name, r := range readers {
		r.want(name+", on board", after...)
	}
}

func TestALateMessageThatWithdrawsAnEventIsTold(t *testing.T) {
	w := newWorld(t)
	r := w.reader(key("LX", "*"), changefeed.Filter{})
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"), sorting("0724100001", "LX100"))
	before := r.all()
	w.file(w.received.Add(-5e9), sorting("0724100001", "LX100")) // now the other one is a copy of it
	w.settle()
	after := r.all()
	if len(before) == 0 || len(after) != 1 {
		t.Fatalf("told %+v, then %+v", before, after)
	}
	a, b := before[len(before)-1].Bags[0].Events, after[0].Bags[0].Events
	if len(a) != 2 || len(b) != 2 || a[1].ID == b[1].ID || a[0].ID != b[0].ID {
		t.Errorf("told %+v, then %+v", a, b)
	}
}

func TestTwoBagsThatBecomeOneAndTwoAgainAreTold(t *testing.T) {
	w := newWorld(t)
	const plate = "0724100001"
	readers := []*reader{
		w.reader(key("*", "*"), changefeed.Filter{PNR: "XYZ789", Date: day(t)}),
		w.reader(key("*", "*"), changefeed.Filter{PNR: "XYZ789", Date: day(t), Flight: flight(t, "LX", "200")}),
		w.reader(key("LX", "ZRH"), changefeed.Filter{}),
	}
	want := func(when string, want ...string) {
		t.Helper()
		for i, r := range readers {
			var got string
			for _, c := range r.all() {
				got = c.summary()
			}
			if got != want[i] {
				t.Errorf("%s, reader %d: told %q, want %q", when, i, got, want[i])
			}
		}
	}
	w.send(strings.Replace(bsm(plate, "LX100", "JONES", "XYZ789"), "BSM", "BSM CHG", 1), bsm(plate, "LX200", "SMITH", "ABC123"))
	two := plate + " ABC123:1 XYZ789:1"
	want("two", two, two, two)
	w.send(bsm(plate, "LX100", "SMITH", "ABC123"))
	one := plate + " ABC123:3"
	want("one", one, one, one)
	w.send(bsm(plate, "LX100", "JONES", "XYZ789"))
	again := plate + " ABC123:2 XYZ789:2"
	want("two again", again, again, again)
}

func TestOfABagWithManyEventsTheNewestAreTold(t *testing.T) {
	w := newWorld(t)
	r := w.reader(key("*", "*"), changefeed.Filter{Plates: []bag.Plate{"0724100001"}})
	messages := []string{bsm("0724100001", "LX100", "MUELLER", "ABC123")}
	scans := race.Less(9999, 999)
	for i := range scans {
		messages = append(messages, fmt.Sprintf("BPM .V/1LZRH .J/S///14MAR/%02d%02d%02dZ/B%d .F/LX100/14MAR/JFK .N/0724100001001 ENDBPM", i/3600, i/60%60, i%60, i))
	}
	w.file(w.received, messages...) // the BSM comes after the scans
	w.settle()
	list := r.all()
	if len(list) != 1 || len(list[0].Bags) != 1 || len(list[0].Bags[0].Events) != 100 {
		t.Fatalf("told %+v, want a bag with 100 events", list)
	}
	b := list[0].Bags[0]
	if first, last := b.Events[0], b.Events[99]; first.ReadLocation != fmt.Sprintf("B%d", scans-99) || last.Code != "EXPECTED" || b.EventsLeftOut != scans-99 {
		t.Errorf("%d events are left out before %+v, the last one is %+v", b.EventsLeftOut, first, last)
	}
}

func TestADelayedBagReportIsTold(t *testing.T) {
	w := newWorld(t)
	r := w.reader(key("*", "*"), changefeed.Filter{})
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	r.want("before", "0724100001 ABC123:1")
	report := ingestor.Envelope{
		Raw:    `{"record_reference":"ZRHLX00001","station":"ZRH","bags":["0724100001"]}`,
		Report: true, Received: w.received.Add(time.Hour),
	}
	if outcomes, err := w.acceptor.AcceptBatch(t.Context(), []ingestor.Envelope{report}); err != nil || outcomes[0].Verdict != ingestor.Accepted {
		t.Fatalf("%+v (%v)", outcomes, err)
	}
	w.settle()
	r.want("after the report", "0724100001 ABC123:2")
}

func TestPagesTellEachPlateOnceAndStayWithinTheirBytes(t *testing.T) {
	w := newWorld(t)
	var messages, want []string
	for i := range 300 {
		plate := fmt.Sprintf("07241%05d", i)
		messages = append(messages, bsm(plate, "LX100", "MUELLER", "ABC123"))
		want = append(want, plate+" ABC123:1")
	}
	var readers []*reader
	for _, limits := range []changefeed.Limits{{Changes: 1000, Bytes: 4 << 20}, {Changes: 7, Bytes: 4 << 20}, {Changes: 1000, Bytes: 3000}, {Changes: 1, Bytes: 1}} {
		r := w.reader(key("LX", "*"), changefeed.Filter{})
		r.limits = limits
		readers = append(readers, r)
	}
	w.file(w.received, messages...)
	w.settle()
	for _, r := range readers {
		bytes, most := 0, 0
		first, err := r.feed.Next(t.Context(), r.asker, r.cursor, r.limits)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range first.Changes {
			bytes += len(c.Document)
			most = max(most, len(c.Document))
		}
		if len(first.Changes) > r.limits.Changes || bytes > max(r.limits.Bytes, most) || !first.More && len(first.Changes) < len(want) {
			t.Errorf("%+v: %d changes of %d bytes, more %v", r.limits, len(first.Changes), bytes, first.More)
		}
		r.want(fmt.Sprint(r.limits), want...)
	}
}

// Redis loses everything while bags are folded, so what is folded lacks their messages.
func TestWhatIsFoldedWhileRedisLosesEverythingIsNotTold(t *testing.T) {
	w := newWorld(t)
	asker := changefeed.Asker{Key: key("*", "*")}
	begin, err := w.feed.Now(t.Context(), asker)
	if err != nil {
		t.Fatal(err)
	}
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	limits := changefeed.Limits{Changes: 100, Bytes: 1 << 20}
	if b, err := w.feed.Next(t.Context(), asker, begin, limits); err != nil || len(b.Changes) != 1 {
		t.Fatalf("%d changes (%v)", len(b.Changes), err)
	}
	clock := w.feed.Clock
	w.feed.Clock = func() time.Time { // which is asked between the index of changes and the bags
		if err := w.redis.WriteClient().Del(t.Context(), w.redis.Prefix()+"d:epoch").Err(); err != nil {
			t.Error(err)
		}
		return clock()
	}
	if b, err := w.feed.Next(t.Context(), asker, begin, limits); !errors.Is(err, changes.ErrBeingBuilt) {
		t.Errorf("%d changes (%v), want %v", len(b.Changes), err, changes.ErrBeingBuilt)
	}
}

// stuck is an index that answers nothing.
type stuck struct {
	changes.ReadIndex
	asked chan struct{}
}

func (s stuck) State(ctx context.Context) (changes.Epoch, []changes.Progress, error) {
	s.asked <- struct{}{}
	<-ctx.Done()
	return changes.Epoch{}, nil, ctx.Err()
}

func TestARecentCursorIsWaitedForNoLongerThanTheCallerWaits(t *testing.T) {
	index := stuck{asked: make(chan struct{}, 2)}
	feed := changefeed.New(changefeed.Config{Changes: &changes.Reader{Index: index}})
	asker := changefeed.Asker{Key: key("*", "*")}
	patient, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	first := make(chan error, 1)
	go func() {
		_, err := feed.Recent(patient, asker)
		first <- err
	}()
	<-index.asked
	hasty, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	if _, err := feed.Recent(hasty, asker); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if patient.Err() != nil {
		t.Error("it waited as long as the caller before it")
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller before: error %v", err)
	}
}

// slow is an index that takes its time.
type slow struct{ changes.ReadIndex }

func (s slow) Between(
	ctx context.Context, e changes.Epoch, scopes []changes.Scope, after, told []int64, limit int,
) ([][]changes.Candidate, []int64, error) {
	if err := pause.For(ctx, 100*time.Millisecond); err != nil {
		return nil, nil, err
	}
	return s.ReadIndex.Between(ctx, e, scopes, after, told, limit)
}

func TestABatchOfOneChangeEndsInTimeThoughTheFilterSelectsNone(t *testing.T) {
	w := newWorld(t)
	r := w.reader(key("*", "*"), changefeed.Filter{Airline: "LX", Airport: "GVA"})
	r.limits.Changes = 1
	var messages []string
	for i := range 40 {
		messages = append(messages, bsm(fmt.Sprintf("07241%05d", i), "LX100", "MUELLER", "ABC123"))
	}
	w.file(w.received, messages...)
	w.settle()
	w.feed.Changes.Index = slow{w.index}
	b, err := r.feed.Next(t.Context(), r.asker, r.cursor, r.limits)
	if err != nil || len(b.Changes) != 0 || !b.More || b.Cursor.String() == r.cursor.String() {
		t.Errorf("%d changes, more %v, cursor %v behind %v (%v)", len(b.Changes), b.More, b.Cursor, r.cursor, err)
	}
}

// A webhook keeps its filter for years. Messages are filed under the code of the pair once it is
// known.
func TestAFilterIsCurrentOnceThePairOfItsAirlineIsKnown(t *testing.T) {
	kept := changefeed.Filter{Airline: "SWR", Flight: &changefeed.Flight{Flight: bag.Flight{Airline: "SWR", Number: "14"}, Airport: "ZRH"}}
	if now := kept.Current(airline.New()); now.Airline != "LX" || now.Flight.Airline != "LX" || now.Flight.Number != "14" {
		t.Errorf("%+v, %+v", now, now.Flight)
	}
	if kept.Flight.Airline != "SWR" {
		t.Error("the filter that is kept has changed")
	}
	if same := (changefeed.Filter{}).Current(airline.New()); same.Digest() != (changefeed.Filter{}).Digest() {
		t.Errorf("%+v", same)
	}
}

// counted is an index that counts its readers, and fails at first.
type counted struct {
	changes.ReadIndex
	reads int
}

func (c *counted) State(ctx context.Context) (changes.Epoch, []changes.Progress, error) {
	if c.reads++; c.reads == 1 {
		return changes.Epoch{}, nil, errors.New("away")
	}
	return c.ReadIndex.State(ctx)
}

func TestARecentCursorIsThatOfTheAskerAndReadOnceASecond(t *testing.T) {
	w := newWorld(t)
	index := &counted{ReadIndex: w.index}
	w.feed.Changes.Index = index
	recent := func(a changefeed.Asker) string {
		t.Helper()
		c, err := w.feed.Recent(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		return c.String()
	}
	askers := []changefeed.Asker{
		{Key: key("*", "*")}, {Key: key("LX", "*")}, {Key: key("*", "ZRH")}, {Key: key("*", "*"), Filter: changefeed.Filter{Airline: "LX"}},
	}
	if _, err := w.feed.Recent(t.Context(), askers[0]); err == nil {
		t.Error("no error")
	}
	began := time.Now()
	for _, a := range askers {
		if got, err := w.feed.Now(t.Context(), a); err != nil || recent(a) != got.String() {
			t.Errorf("%+v: another cursor than now (%v)", a, err)
		}
	}
	if most := 2 + len(askers); index.reads > most && time.Since(began) < time.Second {
		t.Errorf("%d reads, want %d", index.reads, most)
	}
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	now, err := w.feed.Now(t.Context(), askers[0])
	if err != nil {
		t.Fatal(err)
	}
	w.eventually("the cursor is read again", func() bool { return recent(askers[0]) == now.String() })
}

// The key file is loaded again, with its codes in another order.
func TestRightsDoNotDependOnTheOrderOfCodes(t *testing.T) {
	w := newWorld(t)
	cursor := func(airlines, airports string) string {
		return w.reader(key(airlines, airports), changefeed.Filter{}).cursor.String()
	}
	if cursor("LX BA", "ZRH JFK") != cursor("BA LX", "JFK ZRH") {
		t.Error("another cursor")
	}
	for _, other := range []string{cursor("LX", "ZRH JFK"), cursor("LX BA", "ZRH"), cursor("*", "ZRH JFK"), cursor("LX BA", "*")} {
		if other == cursor("LX BA", "ZRH JFK") {
			t.Error("a cursor of a key with other rights")
		}
	}
}

func TestABatchFoldsTwoThousandPlatesAtMost(t *testing.T) {
	w := newWorld(t)
	r := w.reader(key("*", "*"), changefeed.Filter{Airline: "LX", Airport: "GVA"})
	var messages []string
	for i := range 2001 {
		messages = append(messages, bsm(fmt.Sprintf("07241%05d", i), "LX100", "MUELLER", "ABC123"))
	}
	w.file(w.received, messages...)
	w.settle()
	if b, err := r.feed.Next(t.Context(), r.asker, r.cursor, r.limits); err != nil || len(b.Changes) != 0 || !b.More {
		t.Errorf("%d changes, more %v (%v)", len(b.Changes), b.More, err)
	}
	r.want("in the end")
}

// A filter looks at every leg that a message gives, and at where the bag was seen.
func TestAFilterSelectsByEachLegAndEachEvent(t *testing.T) {
	w := newWorld(t)
	lx100 := func(at string, arriving bool) changefeed.Filter {
		f := flight(t, "LX", "100")
		f.Airport, f.Arriving = at, arriving
		return changefeed.Filter{Flight: f}
	}
	tests := []struct {
		filter changefeed.Filter
		want   []string // the last digits of plates
	}{
		{lx100("ZRH", false), []string{"1"}},
		{lx100("GVA", false), []string{"2", "3"}},
		{lx100("ZRH", true), []string{"3"}},
		{lx100("JFK", true), []string{"1", "2"}},
		{changefeed.Filter{Airport: "GVA"}, []string{"2", "3", "4", "6"}},
		{changefeed.Filter{Airport: "JFK", Airline: "LX"}, []string{"1", "2", "3", "4", "6"}},
		{changefeed.Filter{Airport: "LHR"}, []string{"5"}},
	}
	readers := make([]*reader, len(tests))
	for i, test := range tests {
		readers[i] = w.reader(key("*", "*"), test.filter)
	}
	w.send(
		bsm("0724100001", "LX100", "A", "AAAAA1"),
		"BSM .V/1LGVA .F/LX100/14MAR/JFK .N/0724100002001 .P/B .L/AAAAA2 ENDBSM",
		"BSM .V/1LGVA .F/LX100/14MAR/ZRH .O/LX200/14MAR/JFK .N/0724100003001 .P/C .L/AAAAA3 ENDBSM",
		bsm("0724100004", "LX200", "D", "AAAAA4"),
		"BPM .V/1LGVA .J/S .F/LX200/14MAR/JFK .N/0724100004001 ENDBPM",
		"BSM .V/1LZRH .F/LX300/14MAR/LON .N/0724100005001 .P/E .L/AAAAA5 ENDBSM", // to one of the airports of London
		bsm("0724100006", "LX200", "F", "AAAAA6"),
		"BPM .V/1TGVA .J/S .N/0724100006001 ENDBPM",
	)
	for i, r := range readers {
		var got []string
		for _, c := range r.all() {
			got = append(got, c.Plate[9:])
		}
		if slices.Sort(got); !slices.Equal(got, tests[i].want) {
			t.Errorf("%d: %v are told, want %v", i, got, tests[i].want)
		}
	}
}
