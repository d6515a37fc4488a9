package feeds_test

import (
	"testing"
	"time"

	"bagtrail/internal/feeds"
)

// The clock of a process was ten days ahead when a message came. Its feed is silent before these ten
// days are over.
func TestAFeedIsSilentThoughAClockWasAhead(t *testing.T) {
	w := newWorld(t)
	today := w.now
	for week := range 3 {
		w.send("ZRH", today.Add(-7*24*time.Hour*time.Duration(week+1)), 3600, time.Second)
	}
	w.send("ZRH", today, 1, 0)
	w.now = today.Add(10 * 24 * time.Hour)
	w.send("ZRH", w.now, 1, 0)
	w.now = today
	if err := w.store.Forget(t.Context(), w.now); err != nil {
		t.Fatal(err)
	}
	w.now = today.Add(30 * time.Minute)
	if found := w.read(0); len(found) != 1 || found[0].State != feeds.Silent {
		t.Errorf("after 30 minutes without a message: %+v", found)
	}
}
