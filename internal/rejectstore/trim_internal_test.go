package rejectstore

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/redis/redistest"
)

func TestShare(t *testing.T) {
	for _, test := range []struct {
		amounts []int64
		total   int64
		want    int64
	}{
		{nil, 10, math.MaxInt64},
		{[]int64{4, 6}, 10, math.MaxInt64},
		{[]int64{11}, 10, 10},
		{[]int64{1, 10}, 10, 9},
		{[]int64{100, 2, 100, 3}, 25, 10},
		{[]int64{6, 6, 6}, 10, 3},
		{[]int64{9, 1, 1}, 0, 0},
	} {
		amounts, kept := map[string]int64{}, int64(0)
		for i, n := range test.amounts {
			amounts[fmt.Sprint(i)] = n
		}
		got := share(amounts, test.total)
		for _, n := range amounts {
			kept += min(n, got)
		}
		if got != test.want || got < math.MaxInt64 && kept > test.total {
			t.Errorf("%v: %d, which keeps %d of %d; want %d", test.amounts, got, kept, test.total, test.want)
		}
	}
}

// A source of faults, be it a key or an airport on Kafka, pushes out its own rejects alone.
func TestASourceWithTooManyRejectsLosesItsOwn(t *testing.T) {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for name, limit := range map[string]bounds{"count": {rejects: 10, bytes: math.MaxInt64}, "size": {rejects: math.MaxInt64, bytes: 10_000}} {
		t.Run(name, func(t *testing.T) {
			s := New(redistest.Open(t, ""), time.Hour, func() time.Time { return noon })
			s.bounds = limit
			var list []ingestor.Rejection
			add := func(door, sender, airport string, n int) {
				for i := range n {
					list = append(list, ingestor.Rejection{Airport: airport, Envelope: ingestor.Envelope{
						Raw: strings.Repeat("x", 998), Origin: fmt.Sprint(door, sender, airport, i),
						Received: noon.Add(time.Duration(i) * time.Millisecond), Door: door, Sender: sender,
					}})
				}
			}
			add("http", "flood", "ZRH", 300)
			add("kafka", "", "GVA", 250)
			add("http", "app", "ZRH", 2)
			add("kafka", "", "ZRH", 1)
			add("files", "", "", 1)
			if err := s.Reject(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			for _, want := range []int{300 - 3 + 250 - 3, 0} {
				if n, err := s.Trim(t.Context()); n != want || err != nil {
					t.Fatalf("%d removed, want %d; %v", n, want, err)
				}
			}
			kept := map[string]int{}
			for _, r := range list {
				found, err := s.Get(t.Context(), false, ID(r.Origin))
				if err != nil {
					t.Fatal(err)
				}
				if len(found) > 0 {
					kept[r.Origin] = len(r.Raw)
				}
			}
			for _, origin := range []string{
				"httpfloodZRH297", "httpfloodZRH298", "httpfloodZRH299", "kafkaGVA247", "kafkaGVA248", "kafkaGVA249",
				"httpappZRH0", "httpappZRH1", "kafkaZRH0", "files0",
			} {
				if kept[origin] == 0 {
					t.Errorf("%s is not kept, but %v", origin, kept)
				}
			}
			if count, err := s.Count(t.Context(), Filter{State: Open}); count != 10 || len(kept) != 10 || err != nil {
				t.Errorf("%d are counted, and %d are there; %v", count, len(kept), err)
			}
		})
	}
}
