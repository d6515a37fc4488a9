package changefeed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/redis"
	"bagtrail/internal/trail"
	"bagtrail/internal/watch"
)

// change returns the change that an event tells.
func (l *listener) change(e event) told {
	l.t.Helper()
	var t told
	if e.name != changefeed.EventChange {
		l.t.Fatalf("event %s %s", e.name, e.data)
	}
	l.unmarshal(e.data, &t)
	return t
}

func TestAStreamTellsWhatChangesAsItHappens(t *testing.T) {
	w := newWorld(t)
	all, lx := w.reader(key("*", "*"), changefeed.Filter{}), w.reader(key("LX", "*"), changefeed.Filter{})
	before := *lx
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123")) // before the streams are open
	streams := map[*listener]bool{}
	for _, r := range []*reader{all, lx} {
		l := r.listen(1000)
		streams[l] = r == all
		if e := l.next(); e.name != changefeed.EventHeartbeat || string(e.data) != `{"cursor":"`+r.cursor.String()+`"}` || e.id != r.cursor.String() {
			t.Errorf("first event %s %s %s", e.name, e.id, e.data)
		}
		if c := l.change(l.next()); c.summary() != "0724100001 ABC123:1" {
			t.Errorf("told %+v", c)
		}
	}
	w.send(bsm("0724100002", "BA200", "SMITH", "DEF456"), bsm("0724100003", "LX100", "MEIER", "GHI789"))
	for l, all := range streams {
		last := l.next()
		got, want := []string{l.change(last).summary()}, []string{"0724100003 GHI789:1"}
		if all { // two bags, in any order
			got, want = append(got, l.change(l.next()).summary()), append(want, "0724100002 DEF456:1")
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("told %q, want %q", got, want)
		}
		if more := l.beat(); len(more) != 0 {
			t.Errorf("told again: %s", more[0].data)
		}
		if all {
			continue
		}
		var err error
		if before.cursor, err = changes.ParseCursor(last.id); err != nil {
			t.Fatal(err)
		}
		before.want("behind the id of the last event")
	}
}

// On a stream the position of a plate never goes down, also if an owner that stood still publishes
// its batches again.
func TestPositionsOnAStreamNeverGoDownIfAnOwnerRepeatsABatch(t *testing.T) {
	w := newWorld(t)
	l := w.reader(key("*", "*"), changefeed.Filter{}).stream()
	for i := range 4 {
		for _, plate := range []string{"0724100001", "0724100002", "0724100003"} {
			w.send(bsm(plate, fmt.Sprint("LX10", i), "MUELLER", "ABC123"))
		}
		w.publishAgain()
		w.publishAgain()
	}
	w.send(bsm("0724100004", "LX100", "MUELLER", "ABC123"))
	last, over := map[string]int64{}, map[string]bool{}
	for len(over) < 4 {
		c := l.change(l.next())
		if before, told := last[c.Plate]; told && c.Sequence <= before {
			t.Errorf("%s: %d after %d", c.Plate, c.Sequence, before)
		}
		last[c.Plate] = c.Sequence
		if c.Plate == "0724100004" || c.Bags[0].Legs[0].Flight == "103" { // the last message of the plate
			over[c.Plate] = true
		}
	}
	more := l.beat()
	if len(last) != 4 || len(more) != 0 {
		t.Errorf("told %v, then %v", last, more)
	}
}

// publishAgain publishes all changes once more, in their order.
func (w *world) publishAgain() {
	w.t.Helper()
	spans, err := w.kafka.Bounds(w.t.Context(), "bag.changes")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range spans {
		var records []kafka.Record
		for in := w.kafka.Reader("bag.changes", s.Partition, s.From); s.From < s.To; {
			batch, err := in.Fetch(w.t.Context(), time.Second)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, r := range batch.Records {
				records = append(records, kafka.Record{Key: r.Key, Value: r.Value, Headers: r.Headers})
			}
			s.From = batch.Next
		}
		if err := w.kafka.Produce(w.t.Context(), "bag.changes", records); len(records) > 0 && err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestAStreamWhoseKeyChangesGoesOnFromNow(t *testing.T) {
	w := newWorld(t)
	l := w.reader(key("LX", "*"), changefeed.Filter{}).stream()
	l.key.Store(key("BA", "*"))
	events := l.beat()
	if len(events) != 1 || events[0].name != changefeed.EventReset ||
		string(events[0].data) != `{"reason":"what the key may see was changed","cursor":"`+events[0].id+`"}` {
		t.Fatalf("events %v", events)
	}
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"), bsm("0724100002", "BA200", "SMITH", "DEF456"))
	if c := l.change(l.next()); c.summary() != "0724100002 DEF456:1" {
		t.Errorf("told %+v", c)
	}
	l.key.Store(nil)
	l.beats <- time.Time{}
	ends(t, l.ended)
}

// The key is also checked between two heartbeats.
func TestAStreamEndsWithinFiveSecondsOfTheRevocationOfItsKey(t *testing.T) {
	if within := 2*watch.Interval + changefeed.RenewEvery; within >= 5*time.Second {
		t.Errorf("the stream of a revoked key ends within %v", within)
	}
	w := newWorld(t)
	l := w.reader(key("LX", "*"), changefeed.Filter{}).stream()
	l.key.Store(nil)
	l.checks <- time.Time{}
	ends(t, l.ended)
}

func TestAStreamWhoseKeyChangesBetweenHeartbeatsIsReset(t *testing.T) {
	w := newWorld(t)
	w.tail()
	l := w.reader(key("LX", "*"), changefeed.Filter{}).stream()
	l.key.Store(key("BA", "*"))
	l.checks <- time.Time{}
	w.send(bsm("0724100002", "BA200", "SMITH", "DEF456"))
	if e := l.next(); e.name != changefeed.EventReset {
		t.Errorf("event %v", e)
	}
}

// It takes nothing from the beginning, or from the first change on.
func TestAStreamThatLagsCatchesUpFromTheIndex(t *testing.T) {
	for _, told := range []bool{false, true} {
		w := newWorld(t)
		w.tail()
		r := w.reader(key("*", "*"), changefeed.Filter{})
		l := r.listen(0) // it takes nothing until it is asked
		want := 700
		if told {
			l.next() // the heartbeat
			w.send(bsm("0724200000", "LX100", "MUELLER", "ABC123"))
			want++
		}
		var messages []string
		for i := range 700 {
			messages = append(messages, bsm(fmt.Sprintf("07241%05d", i), "LX100", "MUELLER", "ABC123"))
		}
		published, idle, n := w.feed.Follow(r.asker), w.feed.Follow(r.asker), 0
		w.file(w.received, messages...)
		w.settle()
		w.eventually("all are published", func() bool {
			more, missed := published.Take()
			n += len(more)
			return missed || n >= len(messages)
		})
		if _, missed := idle.Take(); !missed {
			t.Error("a stream that takes nothing collects all")
		}
		published.Leave()
		idle.Leave()
		seen := map[string]bool{}
		for len(seen) < want {
			if e := l.next(); e.name == changefeed.EventChange {
				seen[l.change(e).Plate] = true
			}
		}
	}
}

// unbuilt is the index of changes while its owners write it again: the epoch is there, and the
// partitions have nothing yet.
type unbuilt struct {
	changes.ReadIndex
	built atomic.Bool
}

func (u *unbuilt) State(ctx context.Context) (changes.Epoch, []changes.Progress, error) {
	e, progress, err := u.ReadIndex.State(ctx)
	if !u.built.Load() {
		for i := range progress {
			progress[i] = changes.Progress{Told: -1, Floor: -1}
		}
	}
	return e, progress, err
}

// platesOfOnePartition returns n plates that have one partition.
func platesOfOnePartition(n int) (plates []string) {
	for i := 0; len(plates) < n; i++ {
		if plate := fmt.Sprintf("0724%06d", i); kafka.PartitionOf([]byte(plate), partitions) == 0 {
			plates = append(plates, plate)
		}
	}
	return plates
}

// Redis has lost the index, and a stream has not yet told everything that was in it. What is
// published before the index is whole again must not make the stream pass over the rest.
func TestAStreamThatLagsMissesNothingWhileTheIndexIsBuilt(t *testing.T) {
	w := newWorld(t)
	r := w.reader(key("*", "*"), changefeed.Filter{})
	plates := platesOfOnePartition(8)
	for _, plate := range plates[:3] {
		w.send(bsm(plate, "LX100", "MUELLER", "ABC123"))
	}
	index := &unbuilt{ReadIndex: w.index}
	w.feed.Changes.Index = index
	l := r.stream()
	var got []string
	beat := func() {
		for _, e := range l.beat() {
			got = append(got, l.change(e).Plate)
		}
	}
	for _, plate := range plates[3:] {
		published := w.feed.Follow(r.asker)
		w.send(bsm(plate, "LX100", "MUELLER", "ABC123"))
		<-published.Changed()
		published.Leave()
		beat()
	}
	index.built.Store(true)
	beat()
	if !slices.Equal(got, plates) {
		t.Errorf("told %v, want %v", got, plates)
	}
}

func TestAStreamEndsWithItsListener(t *testing.T) {
	w := newWorld(t)
	l := w.reader(key("*", "*"), changefeed.Filter{}).stream()
	l.gone.Store(true)
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	ends(t, l.ended)
}

// A filter that the record of a change cannot match wakes nobody; every other change does.
func TestAStreamIsToldWhatItsFilterSelects(t *testing.T) {
	w := newWorld(t)
	w.tail()
	filters := map[string]changefeed.Filter{
		"LX":     {Airline: "LX"},
		"JFK":    {Airport: "JFK"},
		"flight": {Flight: flight(t, "LX", "100")},
		"plate":  {Plates: []bag.Plate{"0724100001"}},
		"PNR":    {PNR: "ABC123", Date: day(t)},
	}
	streams := map[string]*listener{}
	for name, f := range filters {
		streams[name] = w.reader(key("*", "JFK"), f).stream()
	}
	w.send(bsm("0724100002", "BA200", "SMITH", "DEF456"), bsm("0724100001", "LX100", "MUELLER", "abc123"))
	for name, l := range streams {
		want := "0724100001 abc123:1"
		got := []string{l.change(l.next()).summary()}
		if name == "JFK" {
			want += ", 0724100002 DEF456:1"
			got = append(got, l.change(l.next()).summary())
		}
		if sorted(got) != want {
			t.Errorf("%s: told %s", name, got)
		}
		if more := l.beat(); len(more) != 0 {
			t.Errorf("%s: told more: %v", name, more)
		}
	}
}

func TestWhoFollowsAFlightIsNotWokenByOthersOfItsAirline(t *testing.T) {
	w := newWorld(t)
	follower := w.feed.Follow(changefeed.Asker{Key: key("*", "*"), Filter: changefeed.Filter{Flight: flight(t, "LX", "100")}})
	defer follower.Leave()
	follower.Take()
	var published []changes.Published
	told := func() bool {
		more, missed := follower.Take()
		published = append(published, more...)
		return missed || len(more) > 0
	}
	plates := platesOfOnePartition(3) // so they come in the order in which they are sent
	w.eventually("the topic is read", func() bool {
		w.send(bsm(plates[0], "LX100", "MUELLER", "ABC123"), sorting(plates[0], "LX100"))
		return told()
	})
	w.send(bsm(plates[1], "LX200", "MUELLER", "ABC123"))
	w.send(bsm(plates[2], "LX100", "MUELLER", "ABC123"))
	w.eventually("the flight is told", func() bool {
		told()
		return slices.ContainsFunc(published, func(p changes.Published) bool { return p.Plate == bag.Plate(plates[2]) })
	})
	if slices.ContainsFunc(published, func(p changes.Published) bool { return p.Plate == bag.Plate(plates[1]) }) {
		t.Errorf("told of another flight: %+v", published)
	}
}

func TestABagThatLeavesAFlightIsToldByAStream(t *testing.T) {
	w := newWorld(t)
	w.tail()
	l := w.reader(key("*", "*"), changefeed.Filter{Flight: flight(t, "LX", "100")}).stream()
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	l.change(l.next())
	w.send(bsm("0724100001", "LX200", "MUELLER", "ABC123"))
	if c := l.change(l.next()); c.Bags[0].Legs[0].Flight != "200" {
		t.Errorf("told %+v", c)
	}
}

// Streams that tell one change share what is folded for it, as far as they see the same.
func TestStreamsOfSeveralKeysAreToldWhatEachKeySees(t *testing.T) {
	w := newWorld(t)
	w.tail()
	var readers []*reader
	var streams []*listener
	for _, k := range []*apikey.Key{key("*", "*"), key("*", "*"), key("LX", "*"), key("BA", "*"), key("LX", "JFK"), key("AF", "*")} {
		for _, fields := range []bagdoc.Fields{bagdoc.Events, bagdoc.List} {
			r := w.reader(k, changefeed.Filter{})
			r.asker.Fields = fields
			l := r.stream()
			readers, streams = append(readers, r), append(streams, l)
		}
	}
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	w.send(bsm("0724100001", "BA200", "SMITH", "DEF456"), sorting("0724100001", "BA200"))
	for i, l := range streams {
		asked, err := w.feed.Next(t.Context(), readers[i].asker, readers[i].cursor, readers[i].limits)
		if err != nil {
			t.Fatal(err)
		}
		last := ""
		for _, e := range l.beat() {
			last = string(e.data)
		}
		want := ""
		for _, c := range asked.Changes {
			want = string(c.Document)
		}
		if last != want {
			t.Errorf("%+v, fields %d\nstream %s\nanswer %s", readers[i].asker.Key, readers[i].asker.Fields, last, want)
		}
	}
}

// lagging is a listener whose key is revoked.
type lagging struct {
	changes, beats int
}

func (l *lagging) Send(event, _ string, _ []byte) error {
	if event == changefeed.EventChange {
		l.changes++
	} else {
		l.beats++
	}
	return nil
}
func (*lagging) Flush()                                            {}
func (l *lagging) Renew(context.Context) (*apikey.Key, bool)       { return nil, false }
func (*lagging) Ask(ctx context.Context) (context.Context, func()) { return ctx, func() {} }
func (*lagging) Hold(int) bool                                     { return true }

func TestAStreamThatCatchesUpEndsWithItsKey(t *testing.T) {
	w := newWorld(t)
	r := w.reader(key("*", "*"), changefeed.Filter{})
	for i := range 10 {
		var texts []string
		for j := range 100 {
			texts = append(texts, bsm(fmt.Sprintf("0724%06d", 100*i+j), "LX100", "MUELLER", "ABC123"))
		}
		w.send(texts...)
	}
	beats := make(chan time.Time, 1)
	beats <- time.Time{}
	l := new(lagging)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r.feed.Stream(ctx, r.asker, r.cursor, l, beats, nil)
	if l.changes > 500 {
		t.Errorf("%d changes, %d heartbeats", l.changes, l.beats)
	}
}

// Two streams whose keys see everything share what is folded, and each has a filter of its own. The
// record of a change does not say on which day a PNR flies.
func TestAStreamWithAFilterHidesNothingFromOthers(t *testing.T) {
	w := newWorld(t)
	w.tail()
	other := day(t) + 1
	filtered, all := w.reader(key("*", "*"), changefeed.Filter{PNR: "ABC123", Date: other}).stream(), w.reader(key("*", "*"), changefeed.Filter{}).stream()
	for i := range 20 {
		plate := fmt.Sprintf("07241%05d", i)
		w.send(bsm(plate, "LX100", "MUELLER", "ABC123"))
		if c := all.change(all.next()); c.Plate != plate {
			t.Fatalf("told %+v, want %s", c, plate)
		}
	}
	if told := filtered.beat(); len(told) != 0 {
		t.Errorf("told %d changes of another day", len(told))
	}
}

// Airline and airport of the key are those of two different bags of the plate.
func TestAStreamIsNotToldAPlateOfWhichItsKeySeesNoBag(t *testing.T) {
	w := newWorld(t)
	w.tail()
	r := w.reader(key("LX", "LHR"), changefeed.Filter{})
	l := r.stream()
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"), "BSM .V/1LCDG .F/BA200/14MAR/LHR .N/0724100001001 .P/SMITH .L/DEF456 ENDBSM")
	r.want("delta query")
	w.send(bsm("0724100002", "LX100", "MUELLER", "ABC123"), "BSM .V/1LZRH .F/LX300/14MAR/LHR .N/0724100003001 .P/JONES .L/XYZ789 ENDBSM")
	if c := l.change(l.next()); c.summary() != "0724100003 XYZ789:1" {
		t.Errorf("told %+v", c)
	}
}

// A cursor that stays behind becomes too old.
func TestAHeartbeatHasTheCursorOfNowThoughNothingIsTold(t *testing.T) {
	w := newWorld(t)
	l := w.reader(key("*", "*"), changefeed.Filter{Airline: "BA"}).stream()
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	l.beats <- time.Time{}
	now := w.reader(key("*", "*"), changefeed.Filter{Airline: "BA"}).cursor.String()
	if e := l.next(); e.name != changefeed.EventHeartbeat || e.id != now {
		t.Errorf("event %s %s, want a heartbeat with %s", e.name, e.id, now)
	}
}

// The owners have begun to number anew when the next change is published.
func TestAStreamIsResetByTheFirstChangeOfANewEpoch(t *testing.T) {
	w := newWorld(t)
	w.tail()
	l := w.reader(key("*", "*"), changefeed.Filter{}).stream()
	before, err := w.index.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after := changes.Epoch{Begun: before.Begun + 1000, Partitions: partitions}
	if _, err := w.index.Begin(t.Context(), before, after); err != nil {
		t.Fatal(err)
	}
	w.settle()
	const plate = "0724100001"
	first := fmt.Appendf(nil, `{"data":{"plate":%q,"epoch":%d,"sequence":0,"airlines":[],"airports":[]}}`, plate, after.Begun)
	if err := w.kafka.Produce(t.Context(), "bag.changes", []kafka.Record{{Key: []byte(plate), Value: first}}); err != nil {
		t.Fatal(err)
	}
	if e := l.next(); e.name != changefeed.EventReset {
		t.Errorf("event %s %s", e.name, e.data)
	}
}

// failing is an index of messages that fails for a while.
type failing struct {
	trail.Index
	fails atomic.Bool
	hits  atomic.Int64
}

func (f *failing) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	if f.fails.Load() {
		f.hits.Add(1)
		return trail.Found{}, redis.Unavailable("read", errors.New("away"))
	}
	return f.Index.Read(ctx, w)
}

func TestAStreamThatCouldNotReadAPublishedChangeTellsItWithTheNext(t *testing.T) {
	w := newWorld(t)
	w.tail()
	index, ok := w.door.Index.(trail.Index)
	if !ok {
		t.Fatal("no index")
	}
	f := &failing{Index: index}
	w.readFrom(f)
	w.feed.Patient = w.feed.Trails
	l := w.reader(key("*", "*"), changefeed.Filter{}).stream()
	f.fails.Store(true)
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	w.eventually("the change is read", func() bool { return f.hits.Load() > 0 })
	f.fails.Store(false)
	w.send(bsm("0724100002", "LX100", "MEIER", "GHI789"))
	got := []string{l.change(l.next()).summary(), l.change(l.next()).summary()}
	if told, want := sorted(got), "0724100001 ABC123:1, 0724100002 GHI789:1"; told != want {
		t.Errorf("told %s, want %s", told, want)
	}
}

// A positioning of a container is no message of a bag: what it names beside the container selects
// nothing, for a stream as for a delta query.
func TestAPositioningAloneSelectsNoFlightAndNoPNR(t *testing.T) {
	w := newWorld(t)
	arriving := *flight(t, "BA", "78")
	arriving.Arriving = true
	none := []changefeed.Filter{{Flight: &arriving}, {PNR: "ZZZ999", Date: day(t)}}
	var streams []*listener
	var readers []*reader
	for _, f := range none {
		readers = append(readers, w.reader(key("*", "*"), f))
		streams = append(streams, w.reader(key("*", "*"), f).stream())
	}
	flights := w.reader(key("*", "*"), changefeed.Filter{Flight: flight(t, "LX", "100")}).stream()
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	flights.change(flights.next())
	w.send("BPM .V/1LZRH .J/R .F/LX100/14MAR/JFK .U/AKE12345LX .N/0724100001001 ENDBPM")
	flights.change(flights.next())
	w.send("BPM .V/1LZRH .J/R .I/BA78/14MAR/LHR .F/LX100/14MAR/JFK .U/AKE12345LX/41L .L/ZZZ999 ENDBPM")
	if c := flights.change(flights.next()); len(c.Bags[0].Events) != 3 {
		t.Fatalf("the positioning is no event: %+v", c)
	}
	for i := range none {
		readers[i].want(fmt.Sprintf("delta query %d", i))
		if told := streams[i].beat(); len(told) != 0 {
			t.Errorf("the stream of filter %d is told %d changes", i, len(told))
		}
	}
}

func TestAStreamHoldsWhatItsListenerDoesNotTake(t *testing.T) {
	w := newWorld(t)
	w.tail()
	r := w.reader(key("*", "*"), changefeed.Filter{})
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	l := r.listen(0)
	l.next() // the heartbeat
	for i, source := range []string{"the index", "the topic"} {
		w.eventually("a change is sent", func() bool { return l.sends.Load() == int64(i+2) })
		if held := l.held.Load(); held < 100 {
			t.Errorf("%d bytes are held for a change from %s", held, source)
		}
		l.next()
		w.eventually("nothing is held after it", func() bool { return l.held.Load() == 0 })
		if i == 0 {
			w.send(bsm("0724100002", "LX100", "MEIER", "GHI789"))
		}
	}
}

func TestAStreamWithoutMemoryWaitsAndMissesNothing(t *testing.T) {
	w := newWorld(t)
	w.tail()
	r := w.reader(key("*", "*"), changefeed.Filter{})
	l := r.stream()
	l.full.Store(4)
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"), bsm("0724100002", "LX100", "MEIER", "GHI789"))
	var got []string
	for range 2 {
		got = append(got, l.change(l.next()).summary())
	}
	if told, want := sorted(got), "0724100001 ABC123:1, 0724100002 GHI789:1"; told != want {
		t.Errorf("told %s, want %s", told, want)
	}
	if more := l.beat(); len(more) > 0 {
		t.Errorf("told again: %s", more[0].data)
	}
	if left := l.full.Load(); left >= 0 {
		t.Errorf("told although %d looks for memory were to fail", left)
	}
}

func TestAStreamThatFindsNoMemoryEnds(t *testing.T) {
	w := newWorld(t)
	r := w.reader(key("*", "*"), changefeed.Filter{})
	l := r.stream()
	l.full.Store(1 << 30)
	w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
	w.eventually("there is no memory", func() bool { return l.full.Load() < 1<<30 })
	select {
	case l.checks <- time.Time{}:
	case <-l.ended:
		t.Error("it ends without a look at its key")
	}
	ends(t, l.ended)
	r.want("after the cursor with which the reader comes back", "0724100001 ABC123:1")
}
