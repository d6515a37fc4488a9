package changefeed_test

import (
	"strings"
	"testing"
	"time"

	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
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
