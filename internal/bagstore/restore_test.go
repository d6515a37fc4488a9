package bagstore_test

import (
	"slices"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/redis/redistest"
)

// A master of a cluster has lost the entries of a message that another master holds. Filed again, the
// message is fresh for a restoring writer, once.
func TestARestoringWriterSaysWhichMessagesLackedAnEntry(t *testing.T) {
	client := redistest.Open(t, "")
	s, err := bagstore.Open(client, bagstore.Config{Retention: 24 * time.Hour, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	now := time.Now().Truncate(time.Millisecond).UTC()
	flight := bag.Flight{Airline: "LX", Number: "100", Day: bag.DayOf(now)}
	rush := bag.Filing{Raw: "BSM of a rush bag", Received: now, Entries: []bag.Entry{{
		Plate: "2220000002", Flights: []bag.Flight{flight}, Ends: []bag.End{{Flight: flight, Airport: "ZRH"}}, PNRs: []string{"ABC123"},
		Surnames: []string{"MUELLER"}, Stowage: []bag.Container{{Flight: flight, Device: "AKE1"}}, Rush: true, Originals: []bag.Plate{"0220000001"},
	}}}
	other := bag.Filing{Raw: "BSM of another bag", Received: now, Entries: []bag.Entry{{Plate: "0220000003", PNRs: []string{"XYZ789"}}}}
	file := func(w *bagstore.Writer, want ...bool) {
		t.Helper()
		fresh, err := w.File(t.Context(), []bag.Filing{rush, other})
		if err != nil || !slices.Equal(fresh, want) {
			t.Errorf("fresh %v (%v), want %v", fresh, err, want)
		}
	}
	file(s.Writer(), true, true)
	keys, err := client.ReadClient().Keys(t.Context(), client.Prefix()+"*").Result()
	if err != nil {
		t.Fatal(err)
	}
	entries := 0
	for _, key := range keys {
		kind, err := client.ReadClient().Type(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		members, _ := client.ReadClient().ZRange(t.Context(), key, 0, -1).Result()
		if kind == "hash" || slices.Contains(members, "0220000003") {
			continue
		}
		entries++
		if err := client.WriteClient().Del(t.Context(), key).Err(); err != nil {
			t.Fatal(err)
		}
		again, err := bagstore.Open(client, bagstore.Config{Retention: 24 * time.Hour, Now: time.Now}) // a process that knows nothing
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(again.Close)
		file(again.RestoringWriter(), true, false)
		file(again.RestoringWriter(), false, false)
	}
	if entries != 7 {
		t.Errorf("%d kinds of entries, want those of flight, airport, names, PNR, rush PNR, original and container", entries)
	}
	if err := client.WriteClient().Del(t.Context(), keys...).Err(); err != nil {
		t.Fatal(err)
	}
	file(s.RestoringWriter(), true, true)
}
