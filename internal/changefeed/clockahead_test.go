package changefeed_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/pause"
)

// The clock of an owner was twelve hours ahead for a while. Bags are not told as of that time for ever.
func TestBagsAreNotToldByAClockThatWasAhead(t *testing.T) {
	w := newWorldOf(t, partitions, departing(t, 2))
	r := w.reader(key("*", "*"), changefeed.Filter{})
	r.asker.Fields = bagdoc.Brief
	w.now.Add(12 * 3600) // the owner writes its clock with what it tells
	w.file(w.received, bsm("0724000002", "LX2", "MUELLER", "ABC123"))
	w.settle()
	r.all()
	w.now.Add(-12 * 3600)
	w.send(bsm("0724000001", "LX1", "MUELLER", "ABC123"))
	b, err := w.feed.Next(t.Context(), r.asker, r.cursor, r.limits)
	if err != nil || len(b.Changes) != 1 {
		t.Fatal(b, err)
	}
	if text := string(b.Changes[0].Document); strings.Contains(text, "Delayed") || !strings.Contains(text, "Not Loaded") {
		t.Errorf("hours before its flight departs, the bag is told as %s", text)
	}
}

// The clock of an owner is a little ahead of that of this process. A flight that has departed by the
// owner's clock has departed for the reader too: a departure is not announced and then denied.
func TestABagIsToldByTheLaterOfTheTwoClocks(t *testing.T) {
	w := newWorldOf(t, partitions, departing(t, 1))
	r := w.reader(key("*", "*"), changefeed.Filter{})
	r.asker.Fields = bagdoc.Brief
	w.now.Store(departure.Add(10 * time.Second).Unix())
	w.file(w.received, bsm("0724000001", "LX1", "MUELLER", "ABC123")) // the owner writes its clock with what it tells
	w.settle()
	w.now.Store(departure.Add(-10 * time.Second).Unix())
	b, err := w.feed.Next(t.Context(), r.asker, r.cursor, r.limits)
	if err != nil || len(b.Changes) != 1 {
		t.Fatal(b, err)
	}
	if text := string(b.Changes[0].Document); !strings.Contains(text, "Delayed") {
		t.Errorf("ten seconds after its flight has departed by the clock of the owner, the bag is told as %s", text)
	}
}

// One owner's clock is an hour ahead. That of another, which is right, counts all the same.
func TestAWrongClockHidesNotTheRightOneOfAnotherOwner(t *testing.T) {
	w := newWorldOf(t, partitions, departing(t, 1))
	w.send(bsm("0724000001", "LX1", "MUELLER", "ABC123"), bsm("0724000002", "LX9", "MEIER", "ABC124"))
	e, _, err := w.index.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.feed.Clock = func() time.Time { return departure.Add(-10 * time.Second) }
	published := func(plate bag.Plate, sequence int64, clock time.Time) changes.Published {
		p := kafka.PartitionOf([]byte(plate), partitions)
		return changes.Published{Candidate: changes.Candidate{Plate: plate, Partition: p, Sequence: sequence}, Epoch: e.Begun, Clock: clock}
	}
	told, err := w.feed.OfPublished(t.Context(), changefeed.Asker{Key: key("*", "*"), Fields: bagdoc.Events}, []changes.Published{
		published("0724000001", 100, departure.Add(10*time.Second)), published("0724000002", 101, departure.Add(time.Hour)),
	})
	if err != nil || len(told) != 2 || !strings.Contains(string(told[0].Document), "Delayed") {
		t.Errorf("told %+v (%v)", told, err)
	}
}

// The clock of an owner was ten minutes ahead, and it told a bag as departed. Readers, whose clocks
// were right, were told that it had not. They are told when it does depart.
func TestADepartureThatWasToldTooEarlyIsToldWhenItComes(t *testing.T) {
	w := newWorldOf(t, partitions, departing(t, 1))
	var readers atomic.Int64
	readers.Store(departure.Add(-5 * time.Minute).Unix())
	w.feed.Clock = func() time.Time { return time.Unix(readers.Load(), 0) }
	k := w.keeper("*", "*", changefeed.Filter{})
	const plate = "0724000001"
	w.now.Store(departure.Add(5 * time.Minute).Unix())
	w.file(w.received, bsm(plate, "LX1", "MUELLER", "ABC123"))
	k.demand(plate, "while the clock of the owner is ahead")
	w.now.Store(departure.Add(-4 * time.Minute).Unix())
	_ = pause.For(t.Context(), 2200*time.Millisecond) // the owner looks at its clock once a second
	readers.Store(departure.Add(10 * time.Second).Unix())
	before := w.marked()
	w.now.Store(readers.Load())
	w.eventually("the departure is marked", func() bool { return w.marked() > before })
	k.demand(plate, "after the departure")
}
