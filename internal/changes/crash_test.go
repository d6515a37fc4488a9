package changes_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
)

// The tests of this file stop an owner at each point of the table in docs/adr/0016.

// stops is an index that does something before or after an owner tells entries. An error ends the
// owner there.
type stops struct {
	changes.Index
	before func(ctx context.Context, e changes.Epoch, partition int, t changes.IndexWrite) error
	after  func() error
}

func (s stops) Tell(ctx context.Context, e changes.Epoch, partition int, t changes.IndexWrite) (more bool, err error) {
	if s.before != nil && len(t.Entries) > 0 {
		if err := s.before(ctx, e, partition, t); err != nil {
			return false, err
		}
	}
	more, err = s.Index.Tell(ctx, e, partition, t)
	if s.after != nil && err == nil && len(t.Entries) > 0 {
		err = s.after()
	}
	return more, err
}

func killed() error { return errKilled }

// refuse lets the broker refuse what is produced to a topic, but for the first requests.
func (w *world) refuse(topic string, but int) *kfake.FaultHandle {
	w.t.Helper()
	var last kmsg.Request // the broker asks more than once about a request
	return w.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: kerr.TopicAuthorizationFailed, Count: -1,
		When: func(r kmsg.Request) bool {
			if r != last {
				last = r
				but--
			}
			return but < 0
		},
	})
}

// platesIn returns n plates of a partition.
func platesIn(partition, n int) (plates []bag.Plate) {
	for i := 0; len(plates) < n; i++ {
		if p := bag.Plate(fmt.Sprintf("02200%05d", i)); kafka.PartitionOf([]byte(p), partitions) == partition {
			plates = append(plates, p)
		}
	}
	return plates
}

// Three plates are in one batch. The last is that of a rush bag, whose original follows.
func TestAnOwnerThatIsKilledIsFollowedByOneThatTells(t *testing.T) {
	const at = 1
	inIndex := func(s stops) func(*world, *changes.Config) {
		return func(_ *world, c *changes.Config) {
			s.Index = c.Index
			c.Index = s
		}
	}
	for _, tc := range []struct {
		after     string
		kill      func(*world, *changes.Config)
		told      int // plates that a delta query tells then
		published int // plates that are on the topic then
	}{
		{"marked", func(_ *world, c *changes.Config) {
			c.Bags = altered{Bags: c.Bags, before: func(int) error { return errKilled }}
		}, 0, 0},
		{"folded", inIndex(stops{before: func(context.Context, changes.Epoch, int, changes.IndexWrite) error { return errKilled }}), 0, 0},
		{"half of the index", func(w *world, c *changes.Config) {
			c.Index = stops{Index: c.Index, before: func(ctx context.Context, e changes.Epoch, partition int, t changes.IndexWrite) error {
				half := changes.IndexWrite{After: changes.AfterAny, Told: -1, Floor: -1, Entries: t.Entries[:2]}
				if _, err := w.index.Tell(ctx, e, partition, half); err != nil {
					return fmt.Errorf("half of the entries: %w", err)
				}
				return errKilled
			}}
		}, 0, 0},
		{"indexed", inIndex(stops{after: killed}), 3, 0},
		{"half of the topic", func(w *world, _ *changes.Config) { w.t.Cleanup(w.refuse(w.changes, 1).Remove) }, 3, 1},
		{"published, not what follows", func(w *world, _ *changes.Config) { w.t.Cleanup(w.refuse(w.marks, 0).Remove) }, 3, 3},
		{"all, not committed", func(*world, *changes.Config) {}, 3, 3},
	} {
		t.Run(tc.after, func(t *testing.T) {
			w := newWorld(t)
			plates, want := platesIn(at, 4), make(map[bag.Plate]string)
			for i, p := range plates {
				want[p] = fmt.Sprint(i)
				if tc.published == 1 {
					want[p] += strings.Repeat("X", 300<<10) // so large that a request takes one
				}
				w.bags.set(p, want[p])
			}
			w.bags.originals[plates[2]] = plates[3:]
			w.mark(changes.Mark{Plate: plates[0]}, changes.Mark{Plate: plates[1]}, changes.Mark{Plate: plates[2]})
			if done := w.killedOwner(at, tc.kill); done != (tc.after == "all, not committed") {
				t.Errorf("the owner says %t to whether all of it is done", done)
			}
			got, cursor := w.follow(beginning(w.currentEpoch()), everything, 10)
			if now := w.told(); len(got) != tc.told || len(now) != tc.published {
				t.Errorf("when it is killed: told of %d, published %d, want %d and %d", len(got), len(now), tc.told, tc.published)
			}

			next := w.owner(at, 0) // nothing was committed
			next.mustRun()
			next.mustRun() // what follows
			w.wantTold(want)
			more, _ := w.follow(cursor, everything, 10)
			if got = slices.Compact(slices.Sorted(slices.Values(append(got, more...)))); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
				t.Errorf("a delta query tells %v, then %v", got, more)
			}
			if tc.told == 3 && len(more) != 1 {
				t.Errorf("behind the cursor of the first query %v are told, want the original alone", more)
			}
			ids := make(map[bag.Plate]string)
			for _, r := range w.published() { // what comes twice is the same change
				if before, twice := ids[r.Plate]; twice && before != r.ID && r.Plate != plates[3] {
					t.Errorf("%s is published as %s and %s", r.Plate, before, r.ID)
				}
				ids[r.Plate] = r.ID
			}
		})
	}
}

// killedOwner lets an owner handle the marks of a partition until it is killed. It returns whether the
// owner has done all that the marks say, so that its consumer commits behind them.
func (w *world) killedOwner(at int, kill func(*world, *changes.Config)) (done bool) {
	w.t.Helper()
	w.t.Run("killed", func(t *testing.T) { // with its own end, so that the broker refuses nothing later
		whole := w.t
		w.t = t
		defer func() { w.t = whole }()
		o := w.owner(at, 0, func(c *changes.Config) { kill(w, c) })
		err := o.run()
		o.handler.Release()
		done = err == nil
		if refused := err != nil && strings.Contains(err.Error(), "Topic Authorization Failed"); err != nil && !refused && !errors.Is(err, errKilled) {
			t.Fatalf("error %v, want that it is killed", err)
		}
	})
	return done
}

// An owner stands still, another one takes over and tells something newer, and the first goes on.
func TestAnOwnerThatStoodStillBringsNoOldState(t *testing.T) {
	for name, standStill := range map[string]func(c *changes.Config, other func() error){
		"before it folds": func(c *changes.Config, other func() error) {
			c.Bags = altered{Bags: c.Bags, before: func(int) error { return other() }}
		},
		"before it writes the index": func(c *changes.Config, other func() error) {
			c.Index = stops{Index: c.Index, before: func(context.Context, changes.Epoch, int, changes.IndexWrite) error { return other() }}
		},
		"before it publishes": func(c *changes.Config, other func() error) { c.Index = stops{Index: c.Index, after: other} },
		"before it commits":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			at := w.partitionOf(plate)
			w.bags.set(plate, "ONE")
			done := false
			other := func() error {
				if done {
					return nil
				}
				done = true
				w.set(plate, "TWO")
				return w.owner(at, 0).run()
			}
			slow := w.owner(at, 0, func(c *changes.Config) {
				if standStill != nil {
					standStill(c, other)
				}
			})
			slow.mustRun()
			if standStill == nil {
				if err := other(); err != nil {
					t.Fatal(err)
				}
			}
			for _, when := range []string{"then", "after it has gone on with what the other one has told"} {
				w.wantTold(map[bag.Plate]string{plate: "TWO"})
				if got, _ := w.follow(beginning(w.currentEpoch()), everything, 10); !slices.Equal(got, []bag.Plate{plate}) {
					t.Errorf("%s: a delta query tells %v", when, got)
				}
				if p, _ := w.progress(at); p.Told != 1 || w.sequence() != 1 {
					t.Errorf("%s: told %d, sequence %v, want 1: they only rise", when, p.Told, w.sequence())
				}
				slow.mustRun()
			}
		})
	}
}

// Redis takes over without its last second after an owner has looked at it: what was told and the
// entries go back together.
func TestAnOwnerGoesBackIfRedisLosesItsLastSecondWhileItFolds(t *testing.T) {
	const at = 0
	w := newWorld(t)
	plates := platesIn(at, 3)
	w.set(plates[0], "ONE")
	lost := false
	o := w.owner(at, 0, func(c *changes.Config) {
		c.Index = stops{Index: c.Index, before: func(_ context.Context, _ changes.Epoch, _ int, tell changes.IndexWrite) error {
			if !lost && tell.Told == 2 {
				lost = true
				w.lose(at, 0, plates[1])
			}
			return nil
		}}
	})
	o.mustRun()
	w.set(plates[1], "ONE")
	o.mustRun()
	w.set(plates[2], "ONE")
	published := len(w.published())
	if err := o.run(); err == nil || !lost {
		t.Fatalf("error %v, want that the loss is noticed", err)
	}
	if n := len(w.published()); n != published {
		t.Errorf("%d changes are published although what was told is lost", n-published)
	}
	o.mustRun()
	o.mustRun() // what is marked again
	if got, _ := w.follow(beginning(w.currentEpoch()), everything, 10); len(got) != 3 {
		t.Errorf("told %v, want three plates", got)
	}
	w.wantTold(map[bag.Plate]string{plates[0]: "ONE", plates[1]: "ONE", plates[2]: "ONE"})
}

// Redis loses everything after an owner has looked at it: what is folded lacks messages. The first
// batch of a partition has nothing told before it.
func TestNothingIsToldIfRedisLosesEverythingWhileAnOwnerFolds(t *testing.T) {
	for _, before := range []int{0, 1} {
		w := newWorld(t)
		at := w.partitionOf(plate)
		loses := false
		o := w.owner(at, 0, func(c *changes.Config) {
			c.Bags = altered{Bags: c.Bags, before: func(int) error {
				if loses {
					loses = false
					w.forget(at)
					w.delete(w.redis.Prefix() + "d:epoch")
				}
				return nil
			}}
		})
		for i := range before {
			w.set(plate, fmt.Sprint(i))
			o.mustRun()
		}
		w.eventuallyTold(at, int64(before)-1)
		epoch := w.currentEpoch()
		w.set(plate, "NEW")
		loses = true
		if err := o.run(); err == nil {
			t.Fatalf("after %d batches: no error", before)
		}
		if n := len(w.published()); n != before {
			t.Errorf("after %d batches: %d changes are published", before, n)
		}
		if before > 0 {
			if err := o.run(); !errors.Is(err, changes.ErrNoEpoch) {
				t.Errorf("error %v, want that the owner stands still", err)
			}
			if err := w.stage().Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		o.mustRun()
		w.wantTold(map[bag.Plate]string{plate: "NEW"})
		if now := w.currentEpoch(); before > 0 && now != epoch {
			t.Errorf("epoch %+v, want %+v: cursors go on", now, epoch)
		}
	}
}

// values returns the values of the marks of a key, in their order.
func (w *world) values(key string) (values []string) {
	w.t.Helper()
	spans, err := w.kafka.Spans(w.t.Context(), w.marks, kafka.Start{})
	if err != nil {
		w.t.Fatal(err)
	}
	at := kafka.PartitionOf([]byte(key), partitions)
	err = w.kafka.ReadSpans(w.t.Context(), w.marks, spans[at:at+1], func(_ context.Context, _ int, records []kafka.Record, _ int64) error {
		for _, r := range records {
			if string(r.Key) == key {
				values = append(values, string(r.Value))
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return values
}

// A reader may have folded what was there in between.
func TestWhatTheDoorFilesAgainIsToldForCertain(t *testing.T) {
	w := newWorld(t)
	filing := bag.Filing{Entries: []bag.Entry{{Plate: plate}}, Stowage: []bag.Container{{Flight: lx14, Device: "AKE1"}}}
	for _, c := range []struct {
		env     ingestor.Envelope
		verdict ingestor.Verdict
		refiled bool
	}{
		{verdict: ingestor.Accepted},
		{verdict: ingestor.Duplicate},
		{env: ingestor.Envelope{Relayed: true}, verdict: ingestor.Duplicate}, // the door that appended it has filed it
		{env: ingestor.Envelope{Relayed: true}, verdict: ingestor.Accepted},  // it has not, or the index has lost it
		{env: ingestor.Envelope{Again: true}, verdict: ingestor.Duplicate},
		{verdict: ingestor.Duplicate, refiled: true},
	} {
		b := &ingestor.Batch{Envelopes: []ingestor.Envelope{c.env}, Outcomes: []ingestor.Outcome{{Verdict: c.verdict, Filing: filing}}, Refiled: c.refiled}
		if err := w.marker.Mark(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	container := changes.Mark{Container: filing.Stowage[0]}
	mixed := &ingestor.Batch{Envelopes: []ingestor.Envelope{{}, {Again: true}, {}}, Outcomes: slices.Repeat([]ingestor.Outcome{{Verdict: ingestor.Accepted, Filing: filing}}, 3)}
	if err := w.marker.Mark(t.Context(), mixed); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{string(plate), container.Key()} {
		if got := w.values(key); !slices.Equal(got, []string{"ordinary", "ordinary", "ordinary", "certain", "certain", "certain", "certain"}) {
			t.Errorf("%s: marks %q, want one of each batch", key, got)
		}
	}
}

// filer is an index of messages.
type filer struct {
	held  map[bag.Plate]bool
	kills bag.Plate // whoever has filed it is killed
	first func()    // is called once before anything is filed; may be nil
}

func (f *filer) File(_ context.Context, filings []bag.Filing) ([]bool, error) {
	if do := f.first; do != nil {
		f.first = nil
		do()
	}
	fresh := make([]bool, len(filings))
	for i := range filings {
		p := filings[i].Entries[0].Plate
		fresh[i], f.held[p] = !f.held[p], true
		if p == f.kills {
			return nil, errKilled
		}
	}
	return fresh, nil
}

// replay begins a replay into an index.
func (w *world) replay(index *filer) *changes.Replay {
	w.t.Helper()
	r, err := changes.NewReplay(w.t.Context(), ingestor.Config{Index: index, Clock: ingestor.NewClock(func() time.Time { return w.now })}, w.marker, w.index)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// logged returns the batch that holds the message about a plate.
func logged(p bag.Plate) *ingestor.Batch {
	filing := bag.Filing{Entries: []bag.Entry{{Plate: p}}}
	return &ingestor.Batch{
		Envelopes: []ingestor.Envelope{{Origin: "bim.raw/0/" + string(p)}},
		Outcomes:  []ingestor.Outcome{{Verdict: ingestor.Accepted, Filing: filing}},
	}
}

// A replay is killed after it has filed a batch and before it has marked it. The next one finds the
// message in the index, and cannot know since when.
func TestAReplayMarksWhatOneThatWasKilledHadFiled(t *testing.T) {
	w := newWorld(t)
	const old, lost, last bag.Plate = "0220000001", "0220000002", "0220000003"
	index := &filer{held: map[bag.Plate]bool{old: true}, kills: lost}
	replay := func() error {
		t.Helper()
		r := w.replay(index)
		for _, p := range []bag.Plate{old, lost, last} {
			if err := r.Apply(t.Context(), logged(p)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := replay(); !errors.Is(err, errKilled) {
		t.Fatalf("error %v, want that it is killed", err)
	}
	if n := w.marked(); n != 0 {
		t.Errorf("%d marks of the replay that was killed, want none", n)
	}
	owners, want := w.owners(), make(map[bag.Plate]string)
	wantTold := func() {
		t.Helper()
		w.runAll(owners)
		w.wantTold(want)
		got, _ := w.follow(beginning(w.currentEpoch()), everything, 10)
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("a delta query tells %v, want %v", got, want)
		}
	}
	wantTold()
	index.kills = ""
	if err := replay(); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[bag.Plate][]string{old: nil, lost: {"certain"}, last: {"certain"}} {
		if got := w.values(string(p)); !slices.Equal(got, want) {
			t.Errorf("%s: marks %q, want %q", p, got, want)
		}
	}
	for _, p := range []bag.Plate{lost, last} {
		want[p] = "ONE"
		w.bags.set(p, "ONE")
	}
	wantTold()
}

// While a replay files a message, another one marks what it has noted. Then it is killed before it
// marks the message itself.
func TestAReplayKeepsTheNotesOfOneThatStillRuns(t *testing.T) {
	w := newWorld(t)
	index := &filer{held: make(map[bag.Plate]bool), kills: plate}
	index.first = func() { w.replay(index) }
	if err := w.replay(index).Apply(t.Context(), logged(plate)); !errors.Is(err, errKilled) {
		t.Fatalf("error %v, want that it is killed", err)
	}
	w.replay(index)
	if got := w.values(string(plate)); !slices.Equal(got, []string{"certain", "certain"}) {
		t.Errorf("marks %q, want one before the message was filed, and one after", got)
	}
}

// Two replays run. One is killed before it marks a message, and the other finds that message.
func TestAReplayKeepsTheNotesOfOneThatHasTheSameBatch(t *testing.T) {
	w := newWorld(t)
	index := &filer{held: make(map[bag.Plate]bool), kills: plate}
	first, second := w.replay(index), w.replay(index)
	if err := first.Apply(t.Context(), logged(plate)); !errors.Is(err, errKilled) {
		t.Fatalf("error %v, want that it is killed", err)
	}
	index.kills = ""
	if err := second.Apply(t.Context(), logged(plate)); err != nil {
		t.Fatal(err)
	}
	w.replay(index)
	if got := w.values(string(plate)); !slices.Equal(got, []string{"certain"}) {
		t.Errorf("marks %q", got)
	}
}

// It is killed while it files several batches at once.
func TestAReplayNotesEachOfItsBatches(t *testing.T) {
	w := newWorld(t)
	plates := platesIn(0, 2)
	index := &filer{held: make(map[bag.Plate]bool)}
	r := w.replay(index)
	for _, p := range plates {
		index.kills = p
		if err := r.Apply(t.Context(), logged(p)); !errors.Is(err, errKilled) {
			t.Fatalf("error %v, want that it is killed", err)
		}
	}
	w.replay(index)
	for _, p := range plates {
		if got := w.values(string(p)); !slices.Equal(got, []string{"certain"}) {
			t.Errorf("%s: marks %q", p, got)
		}
	}
}

func TestWhatAReplayOfLongAgoNotedIsMarkedOnce(t *testing.T) {
	w := newWorld(t)
	const recent bag.Plate = "0220000002"
	for p, began := range map[bag.Plate]string{plate: "2026-03-13T11:59:59Z", recent: "2026-03-13T12:00:00Z"} {
		if err := w.index.Note(t.Context(), began+" RUN bim.raw/0/1", []string{string(p), string(p[:9]) + "9"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		w.replay(new(filer))
	}
	for p, want := range map[bag.Plate][]string{plate: {"certain"}, recent: {"certain", "certain"}} {
		for _, p := range []bag.Plate{p, p[:9] + "9"} {
			if got := w.values(string(p)); !slices.Equal(got, want) {
				t.Errorf("%s: marks %q, want %q", p, got, want)
			}
		}
	}
	if noted, err := w.index.Noted(t.Context()); err != nil || len(noted) != 1 {
		t.Errorf("noted %v (%v)", noted, err)
	}
}

// losesReply lets the reply of Redis to the next telling be lost once *lose is set: it is written, and
// the owner tries again.
func losesReply(lose *bool) func(*changes.Config) {
	return func(c *changes.Config) {
		c.Index = stops{Index: c.Index, after: func() error {
			if *lose {
				*lose = false
				return errors.New("i/o timeout: the reply is lost")
			}
			return nil
		}}
	}
}

// Between two attempts a reader has read, and another message of the plate was filed.
func TestAMessageThatIsFiledBetweenTwoAttemptsIsTold(t *testing.T) {
	w := newWorld(t)
	at := kafka.PartitionOf([]byte(plate), partitions)
	var lose bool
	o := w.ready(at, 0, losesReply(&lose))
	cursor := beginning(w.currentEpoch())

	w.set(plate, "ONE")
	lose = true
	if o.run() == nil {
		t.Fatal("no error")
	}
	got, cursor := w.follow(cursor, everything, 10) // a delta query is answered: it folds ONE
	if !slices.Equal(got, []bag.Plate{plate}) {
		t.Fatalf("told %v", got)
	}
	seen := w.bags.states[plate]

	w.bags.set(plate, "TWO") // a second message is filed; its mark is written a moment later
	o.mustRun()              // the second attempt
	w.mark(changes.Mark{Plate: plate})
	o.mustRun()

	if got, _ = w.follow(cursor, everything, 10); len(got) > 0 {
		seen = w.bags.states[plate]
	}
	if seen != "TWO" {
		t.Errorf("whoever follows the cursor has been told %s, and nothing follows; want TWO", seen)
	}
}

// toldOneAndTriedTwo returns the owner of the plate, and its partition. It has told ONE of the plate.
// Then it has written TWO to the index, and the reply was lost.
func (w *world) toldOneAndTriedTwo() (o *owner, at int) {
	w.t.Helper()
	at = kafka.PartitionOf([]byte(plate), partitions)
	var lose bool
	o = w.ready(at, 0, losesReply(&lose))
	w.set(plate, "ONE")
	o.mustRun()
	w.set(plate, "TWO")
	lose = true
	if o.run() == nil {
		w.t.Fatal("no error")
	}
	return o, at
}

// Between two attempts the state of a plate goes back to what was told before both.
func TestAStateThatGoesBackBetweenTwoAttemptsIsTold(t *testing.T) {
	w := newWorld(t)
	o, _ := w.toldOneAndTriedTwo()
	_, cursor := w.follow(beginning(w.currentEpoch()), everything, 10) // folds TWO
	w.bags.set(plate, "ONE")
	o.mustRun()
	w.mark(changes.Mark{Plate: plate})
	o.mustRun()
	if got, _ := w.follow(cursor, everything, 10); !slices.Equal(got, []bag.Plate{plate}) {
		t.Errorf("behind the cursor %v is told, want that the plate is as before", got)
	}
}

// Redis takes over without what the first attempt has written, and a reader has read.
func TestAStateThatGoesBackBetweenTwoAttemptsIsToldThoughRedisHasLostTheFirst(t *testing.T) {
	w := newWorld(t)
	o, at := w.toldOneAndTriedTwo()
	w.lose(at, 0)
	w.bags.set(plate, "ONE")
	o.mustRun()
	if n := len(w.published()); n != 2 {
		t.Errorf("%d changes, want 2: a reader may have TWO", n)
	}
}

// The changes are published, and the mark that follows is refused once.
func TestAMessageThatIsFiledBetweenTwoAttemptsIsPublished(t *testing.T) {
	w := newWorld(t)
	const at = 1
	plates := platesIn(at, 2)
	w.bags.originals[plates[0]] = plates[1:]
	o := w.ready(at, 0)
	w.set(plates[0], "ONE")
	refused := w.refuse(w.marks, 0) // the mark that follows
	if o.run() == nil {
		t.Fatal("no error")
	}
	refused.Remove()
	w.bags.set(plates[0], "TWO")
	o.mustRun()
	w.mark(changes.Mark{Plate: plates[0]})
	o.mustRun()
	w.wantLast(plates[0], "TWO")
}

// An owner that stood still goes on with a mark that the next owner has not told yet.
func TestWhatTwoOwnersTellOfAPlateHidesNoLaterChange(t *testing.T) {
	w := newWorld(t)
	at := kafka.PartitionOf([]byte(plate), partitions)
	slow := w.ready(at, 0)
	next := w.owner(at, 0)
	next.mustLook() // it has taken over
	w.set(plate, "ONE")
	slow.mustRun()
	_, cursor := w.follow(beginning(w.currentEpoch()), everything, 10) // folds ONE
	w.bags.set(plate, "TWO")
	next.mustRun()
	w.mark(changes.Mark{Plate: plate})
	next.mustRun()
	w.wantLast(plate, "TWO")
	if got, _ := w.follow(cursor, everything, 10); len(got) == 0 {
		t.Error("behind the cursor nothing is told")
	}
}
