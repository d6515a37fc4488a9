package changes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
)

// someOwned is the index of changes of a test that has no owner of some partitions: those have told
// nothing.
type someOwned struct{ changes.ReadIndex }

func (s someOwned) State(ctx context.Context) (changes.Epoch, []changes.Progress, error) {
	e, progress, err := s.ReadIndex.State(ctx)
	for i := range progress {
		progress[i].Floor = max(0, progress[i].Floor)
	}
	return e, progress, err
}

// follow returns the plates that follow a cursor, in pages of a limit, and the cursor behind them.
func (w *world) follow(c changes.Cursor, q changes.Question, limit int) (plates []bag.Plate, end changes.Cursor) {
	w.t.Helper()
	reader := &changes.Reader{Index: someOwned{w.index}, Kafka: w.kafka, Marks: w.marks}
	for range 1000 {
		page, err := reader.Next(w.t.Context(), c, q, limit)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, candidate := range page.Candidates {
			plates = append(plates, candidate.Plate)
		}
		if c = page.End; !page.More {
			return plates, c
		}
	}
	w.t.Fatal("the pages never end")
	return nil, c
}

// nowCursor returns the cursor behind everything that is told.
func (w *world) nowCursor(q changes.Question) changes.Cursor {
	w.t.Helper()
	c, err := (&changes.Reader{Index: w.index, Kafka: w.kafka, Marks: w.marks}).Now(w.t.Context(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// owners are the owners of all partitions.
func (w *world) owners(change ...func(*changes.Config)) []*owner {
	w.t.Helper()
	all := make([]*owner, partitions)
	for i := range all {
		all[i] = w.ready(i, 0, change...)
	}
	return all
}

// runAll lets owners handle what is marked.
func (w *world) runAll(owners []*owner) {
	w.t.Helper()
	for _, o := range owners {
		o.mustRun()
	}
}

var everything = changes.Question{Scopes: []changes.Scope{changes.All}}

func TestAReaderWhoFollowsACursorIsToldEachPlateThatChanged(t *testing.T) {
	w := newWorld(t)
	owners := w.owners()
	for _, limit := range []int{1, 2, 7, 1000} {
		for _, q := range []changes.Question{
			everything, {Scopes: []changes.Scope{changes.OfAirline("LX")}},
			{Scopes: []changes.Scope{changes.OfAirport("ZRH"), changes.OfAirport("JFK")}},
		} {
			c := w.nowCursor(q)
			want := make(map[bag.Plate]bool)
			for i := range 20 {
				p := bag.Plate(fmt.Sprintf("02200000%02d", i))
				w.set(p, fmt.Sprintf("%d %v", limit, q.Scopes))
				want[p] = true
			}
			w.runAll(owners)
			got, end := w.follow(c, q, limit)
			for _, p := range got {
				if !want[p] {
					t.Errorf("pages of %d, %v: %s is told twice, or has not changed", limit, q.Scopes, p)
				}
				delete(want, p)
			}
			if len(want) > 0 {
				t.Errorf("pages of %d, %v: %d plates are missed", limit, q.Scopes, len(want))
			}
			if again, _ := w.follow(end, q, limit); len(again) > 0 {
				t.Errorf("%v behind the end", again)
			}
		}
	}
}

func TestAReaderOfPlatesIsToldOfThemOnly(t *testing.T) {
	w := newWorld(t)
	owners := w.owners()
	q := changes.Question{Plates: func(context.Context) ([]bag.Plate, error) {
		return []bag.Plate{plate, "0220000077", "0220000078"}, nil
	}}
	c := w.nowCursor(q)
	for _, p := range []bag.Plate{plate, "0220000001", "0220000077"} {
		w.set(p, "ONE")
	}
	w.runAll(owners)
	got, _ := w.follow(c, q, 10)
	if len(got) != 2 || got[0] == got[1] || got[0] == "0220000001" || got[1] == "0220000001" {
		t.Errorf("told %v", got)
	}
}

// beforehand does something before what is told is read.
type beforehand struct {
	changes.ReadIndex
	do func()
}

func (m beforehand) State(ctx context.Context) (changes.Epoch, []changes.Progress, error) {
	m.do()
	return m.ReadIndex.State(ctx)
}

// A page of one plate ends in the middle of a partition.
func TestAReaderOfPlatesIsToldThemInTheOrderOfTheirChanges(t *testing.T) {
	w := newWorld(t)
	plates := platesIn(0, 3)
	o := w.owners()[0]
	q := changes.Question{Plates: func(context.Context) ([]bag.Plate, error) { return []bag.Plate{plates[2], plates[0], plates[1]}, nil }}
	c := w.nowCursor(q)
	for _, p := range plates {
		w.set(p, "ONE")
	}
	o.mustRun()
	if got, _ := w.follow(c, q, 1); !slices.Equal(got, plates) {
		t.Errorf("told %v, want %v", got, plates)
	}
}

// Between two reads another plate is told, and then one of the plates.
func TestAReaderOfPlatesIsToldOnlyUpToWhereThePageEnds(t *testing.T) {
	w := newWorld(t)
	plates := platesIn(0, 2)
	o := w.owners()[0]
	q := changes.Question{Plates: func(context.Context) ([]bag.Plate, error) { return plates, nil }}
	c := w.nowCursor(q)
	w.set(plates[0], "ONE")
	o.mustRun()
	reader := &changes.Reader{Kafka: w.kafka, Marks: w.marks, Index: &acrossALoss{w.index, func() {
		w.set(plates[1], "ONE")
		o.mustRun()
	}, func() {}}}
	page, err := reader.Next(t.Context(), c, q, 10)
	if err != nil || len(page.Candidates) != 1 || page.Candidates[0].Plate != plates[0] || page.End.Sequences[0] != 0 {
		t.Errorf("%+v (%v), want the first plate alone", page, err)
	}
}

// Redis has lost its last second, or nothing has changed.
func TestACursorNeverGoesBackAndAsksForNothingIfNothingIsTold(t *testing.T) {
	w := newWorld(t)
	w.owners()
	q := changes.Question{Plates: func(context.Context) ([]bag.Plate, error) {
		t.Error("the plates are read")
		return nil, nil
	}}
	reader := &changes.Reader{Index: w.index, Kafka: w.kafka, Marks: w.marks}
	c := w.nowCursor(q)
	for _, ahead := range []int64{-1, 7} {
		c.Sequences[1] = ahead
		page, err := reader.Next(t.Context(), c, q, 10)
		if err != nil || page.More || !slices.Equal(page.End.Sequences, c.Sequences) {
			t.Errorf("%+v (%v), want the end at %v", page, err, c.Sequences)
		}
	}
}

func TestAnIndexThatCannotBeReadIsNotEmpty(t *testing.T) {
	w := newWorld(t)
	_, at, e := w.toldOne(plate)
	for p := range partitions {
		w.ready(p, 0)
	}
	key := w.key(e, at, "all")
	w.delete(key)
	if err := w.redis.WriteClient().Set(t.Context(), key, "no set", 0).Err(); err != nil {
		t.Fatal(err)
	}
	reader := &changes.Reader{Index: w.index, Kafka: w.kafka, Marks: w.marks}
	for _, q := range []changes.Question{everything, {Plates: func(context.Context) ([]bag.Plate, error) { return []bag.Plate{plate}, nil }}} {
		if page, err := reader.Next(t.Context(), beginning(e), q, 10); err == nil {
			t.Errorf("%+v", page)
		}
	}
}

func TestAPlateThatIsFiledAndToldWhileAReaderAsksIsNotMissed(t *testing.T) {
	w := newWorld(t)
	owners := w.owners()
	var filed []bag.Plate // under the flight that the reader asks for
	q := changes.Question{Plates: func(context.Context) ([]bag.Plate, error) { return filed, nil }}
	c := w.nowCursor(q)
	reader := &changes.Reader{Kafka: w.kafka, Marks: w.marks, Index: beforehand{w.index, func() {
		filed = []bag.Plate{plate}
		w.set(plate, "ONE")
		w.runAll(owners)
	}}}
	page, err := reader.Next(t.Context(), c, q, 10)
	if err != nil || len(page.Candidates) != 1 {
		t.Errorf("told %v (%v)", page.Candidates, err)
	}
}

func TestACursorThatCannotBeFollowedSaysWhy(t *testing.T) {
	w := newWorld(t)
	w.owners()
	reader := &changes.Reader{Index: w.index, Kafka: w.kafka, Marks: w.marks}
	q := changes.Question{Scopes: []changes.Scope{changes.All}, Filter: 1, Rights: 2}
	c := w.nowCursor(q)
	for name, change := range map[string]func(*changes.Cursor, *changes.Question){
		"numbering": func(c *changes.Cursor, _ *changes.Question) { c.Epoch-- },
		"anew":      func(c *changes.Cursor, _ *changes.Question) { c.Sequences = append(c.Sequences, 0) },
		"the key":   func(_ *changes.Cursor, q *changes.Question) { q.Rights++ },
	} {
		c, q := c, q
		change(&c, &q)
		_, err := reader.Next(t.Context(), c, q, 10)
		var reset *changes.ResetError
		if !errors.As(err, &reset) || !strings.Contains(reset.Reason, name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	other := q
	other.Filter++
	if _, err := reader.Next(t.Context(), c, other, 10); !errors.Is(err, changes.ErrFilter) {
		t.Errorf("another filter: error %v", err)
	}
	e := w.currentEpoch()
	if _, err := w.index.Tell(t.Context(), e, 1, changes.IndexWrite{After: -1, Floor: 5, Told: 9}); err != nil {
		t.Fatal(err)
	}
	var reset *changes.ResetError
	if _, err := reader.Next(t.Context(), c, q, 10); !errors.As(err, &reset) || !strings.Contains(reset.Reason, "older") {
		t.Errorf("older than the floor: error %v", err)
	}
}

func TestACursorIsShortAndReadsBack(t *testing.T) {
	c := changes.Cursor{Epoch: 1773480000, Filter: 1 << 31, Rights: 7}
	text := ""
	for _, sequence := range []int64{-1, 4_000_000_000_000} {
		c.Sequences = slices.Repeat([]int64{sequence}, 47) // docs/operations.md says how many partitions there may be
		if text = c.String(); len(text) > 400 {
			t.Errorf("%d characters", len(text))
		}
		if got, err := changes.ParseCursor(text); err != nil || got.String() != text || !slices.Equal(got.Sequences, c.Sequences) || got.Filter != c.Filter {
			t.Errorf("%+v (%v)", got, err)
		}
	}
	const most, last = 1 << 40, 1 << 52
	if c, err := changes.ParseCursor(changes.Cursor{Epoch: most, Sequences: []int64{last}}.String()); err != nil || c.Epoch != most || c.Sequences[0] != last {
		t.Errorf("%+v (%v)", c, err)
	}
	for _, wrong := range []string{
		"", "A", "!", text + "=", text[:8], "////////////////////////",
		changes.Cursor{Epoch: most + 1}.String(), changes.Cursor{Sequences: []int64{last + 1}}.String(),
	} {
		if _, err := changes.ParseCursor(wrong); err == nil {
			t.Errorf("%q is read", wrong)
		}
	}
}

func TestEntriesBelowTheFloorAreRemoved(t *testing.T) {
	w := newWorld(t)
	_, at, e := w.toldOne(plate)
	w.raiseFloor(at, 1)
	entry := changes.Entry{Plate: "0220000001", Sequence: 1, Airlines: []string{"LX"}}
	if _, err := w.index.Tell(t.Context(), e, at, changes.IndexWrite{After: 0, Told: 1, Floor: -1, Entries: []changes.Entry{entry}}); err != nil {
		t.Fatal(err)
	}
	for rest, want := range map[string]int64{"all": 1, "a:LX": 1, "p:ZRH": 1} {
		if n, err := w.redis.ReadClient().ZCard(t.Context(), w.key(e, at, rest)).Result(); err != nil || n != want {
			t.Errorf("%s holds %d, want %d (%v)", rest, n, want, err)
		}
	}
	if n, err := w.redis.ReadClient().ZScore(t.Context(), w.key(e, at, "all"), string(plate)).Result(); err == nil {
		t.Errorf("the old entry is still there: %v", n)
	}
	if ttl, err := w.redis.ReadClient().TTL(t.Context(), w.key(e, at, "all")).Result(); err != nil || ttl.Hours() < 95 || ttl.Hours() > 97 {
		t.Errorf("expires in %v (%v)", ttl, err)
	}
}

// fill writes n plates to a partition of the index, whose sequences begin at 0.
func (w *world) fill(e changes.Epoch, partition, n int) {
	w.t.Helper()
	entries := make([]changes.Entry, n)
	for i := range entries {
		plate := bag.Plate(fmt.Sprintf("%04d%06d", partition, i))
		entries[i] = changes.Entry{Plate: plate, Sequence: int64(i), Airlines: []string{"LX"}}
	}
	w.tell(e, partition, int64(n-1), entries...)
}

// tell writes entries to the index, and that everything up to a sequence is told.
func (w *world) tell(e changes.Epoch, partition int, told int64, entries ...changes.Entry) {
	w.t.Helper()
	t := changes.IndexWrite{After: changes.AfterAny, Floor: 0, Told: told, Entries: entries}
	if _, err := w.index.Tell(w.t.Context(), e, partition, t); err != nil {
		w.t.Fatal(err)
	}
}

// epoch begins an epoch without owners.
func (w *world) epoch() changes.Epoch {
	w.t.Helper()
	e, err := w.index.Begin(w.t.Context(), changes.Epoch{}, changes.Epoch{Begun: w.now.Unix(), Partitions: partitions})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// beginning is a cursor before everything.
func beginning(e changes.Epoch) changes.Cursor {
	return changes.Cursor{Epoch: e.Begun, Sequences: []int64{-1, -1, -1}}
}

func TestAPageReadsAboutAsManyPlatesAsItTells(t *testing.T) {
	const limit = 90
	for name, in := range map[string][partitions]int{
		"even": {500, 500, 500}, "uneven": {10, 1000, 40}, "one partition": {0, 700, 0}, "few": {1, 0, 2},
	} {
		w := newWorld(t)
		e := w.epoch()
		all := 0
		for p, n := range in {
			w.fill(e, p, n)
			all += n
		}
		_, progress, err := w.index.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		told := []int64{progress[0].Told, progress[1].Told, progress[2].Told}
		found, upTo, err := w.index.Between(t.Context(), e, everything.Scopes, []int64{-1, -1, -1}, told, limit)
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for p := range found {
			if read += len(found[p]); upTo[p] < told[p] && upTo[p] != found[p][len(found[p])-1].Sequence {
				t.Errorf("%s: partition %d up to %d", name, p, upTo[p])
			}
		}
		if read > limit+partitions || read < min(all, limit/partitions) {
			t.Errorf("%s: %d plates are read for %d", name, read, limit)
		}
		if found, _, err = w.index.Between(t.Context(), e, everything.Scopes, []int64{-1, -1, -1}, told, 1); err != nil || len(slices.Concat(found...)) > 1+partitions {
			t.Errorf("%s: %d plates are read for one (%v)", name, len(slices.Concat(found...)), err)
		}
		got, _ := w.follow(beginning(e), everything, limit)
		slices.Sort(got)
		if n := len(slices.Compact(slices.Clone(got))); n != all || len(got) != all {
			t.Errorf("%s: %d plates are told, %d of them different, want %d", name, len(got), n, all)
		}
	}
}

// A plate that left a scope stands there with an old sequence, so that a page of that scope holds
// fewer plates than were read. Others behind them must not be passed.
func TestPlatesThatLeftAScopeHideNoOthers(t *testing.T) {
	w := newWorld(t)
	e := w.epoch()
	w.fill(e, 0, 20)
	for i := range 10 { // the first ten changed again, without LX
		plate := bag.Plate(fmt.Sprintf("%04d%06d", 0, i))
		w.tell(e, 0, int64(20+i), changes.Entry{Plate: plate, Sequence: int64(20 + i), Airlines: []string{"BA"}})
	}
	w.fill(e, 1, 0)
	w.fill(e, 2, 0)
	ba, lx := changes.OfAirline("BA"), changes.OfAirline("LX")
	for _, scopes := range [][]changes.Scope{{ba, lx}, {lx, ba}} {
		for _, limit := range []int{1, 3, 5, 9, 100} {
			got, _ := w.follow(beginning(e), changes.Question{Scopes: scopes}, limit)
			slices.Sort(got)
			if n := len(slices.Compact(slices.Clone(got))); n != 20 || limit == 100 && len(got) != 20 {
				t.Errorf("pages of %d: %d plates are told, %d of them different, want 20", limit, len(got), n)
			}
		}
	}
}

// Partition 0 changes as fast as the reader reads.
func TestSmallPagesTellOfEachPartition(t *testing.T) {
	for _, limit := range []int{1, 2} {
		w := newWorld(t)
		e := w.epoch()
		for p := range partitions {
			w.fill(e, p, 2)
		}
		reader := &changes.Reader{Index: w.index, Kafka: w.kafka, Marks: w.marks}
		c, told := beginning(e), make(map[int]bool)
		for i := range 10 {
			before := c.String()
			page, err := reader.Next(t.Context(), c, everything, limit)
			if err != nil || len(page.Candidates) != limit || c.String() != before {
				t.Fatalf("%+v behind %s, now %s (%v)", page, before, c, err)
			}
			for _, candidate := range page.Candidates {
				told[candidate.Partition] = true
			}
			c = page.End
			for n := range 2 {
				sequence := int64(2 + 2*i + n)
				w.tell(e, 0, sequence, changes.Entry{Plate: bag.Plate(fmt.Sprintf("%010d", n)), Sequence: sequence})
			}
		}
		if len(told) != partitions {
			t.Errorf("pages of %d: only partitions %v are told", limit, told)
		}
	}
}

// between is an index of which the floor is raised after its state is read.
type between struct {
	changes.ReadIndex
	do func()
}

func (b between) Between(ctx context.Context, e changes.Epoch, scopes []changes.Scope, after, told []int64, limit int) ([][]changes.Candidate, []int64, error) {
	b.do()
	return b.ReadIndex.Between(ctx, e, scopes, after, told, limit)
}

// A cursor that was given before the index was lost is not followed while a partition has no index:
// who reads nothing there would think that nothing was told.
func TestNoCursorIsFollowedBeforeEachPartitionHasItsIndexAgain(t *testing.T) {
	w := newWorld(t)
	owners := w.owners()
	cursor := w.nowCursor(everything)
	w.set(plate, "ONE")
	at := w.partitionOf(plate)
	owners[at].mustRun()
	owners[at].handler.Release()
	w.forget(at)
	reader := &changes.Reader{Index: w.index, Kafka: w.kafka, Marks: w.marks}
	if page, err := reader.Next(t.Context(), cursor, everything, 10); !errors.Is(err, changes.ErrBeingBuilt) {
		t.Errorf("%d plates and error %v, want %v", len(page.Candidates), err, changes.ErrBeingBuilt)
	}
	w.owner(at, owners[at].offset)
	w.eventuallyTold(at, owners[at].offset-1)
	if page, err := reader.Next(t.Context(), cursor, everything, 10); err != nil || len(page.Candidates) != 1 {
		t.Errorf("%d plates and error %v, want one plate", len(page.Candidates), err)
	}
}

func TestACursorBelowAFloorThatIsRaisedMeanwhileIsReset(t *testing.T) {
	w := newWorld(t)
	const at = 1
	plates := platesIn(at, 3)
	o := w.ready(at, 0)
	for _, p := range plates {
		w.set(p, "ONE")
	}
	o.mustRun()
	reader := &changes.Reader{Kafka: w.kafka, Marks: w.marks, Index: between{someOwned{w.index}, func() {
		w.raiseFloor(at, 2)
		w.set(plates[2], "TWO")
		o.mustRun()
	}}}
	page, err := reader.Next(t.Context(), beginning(w.currentEpoch()), everything, 100)
	var reset *changes.ResetError
	if !errors.As(err, &reset) {
		t.Errorf("%d of 3 plates and error %v, want that the cursor is reset", len(page.Candidates), err)
	}
}
