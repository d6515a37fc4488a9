package bagstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/pause"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
)

// lifetimes is a bagstore.Interpreter: the first word of a message says how much longer it is kept.
type lifetimes map[string]time.Duration

func (l lifetimes) Lifetimes(_ bag.Plate, messages []bag.Stored) []time.Time {
	ends := make([]time.Time, len(messages))
	for i, m := range messages {
		word, _, _ := strings.Cut(m.Raw, " ")
		ends[i] = time.Now().Add(l[word])
	}
	return ends
}

// Entry returns so many keys that those of a page are more than a batch.
func (lifetimes) Entry(plate bag.Plate, _ bag.Stored) bag.Entry {
	pnrs := []string{"A" + string(plate), "B" + string(plate), "C" + string(plate)}
	return bag.Entry{Plate: plate, PNRs: pnrs, Flights: []bag.Flight{{Airline: "LX", Number: "1"}}, Surnames: []string{"MUELLER"}}
}

// A full Redis refuses to note the sweep, and to extend what is kept for longer than its retention.
func TestASweepRemovesWhatHasEndedFromAFullRedis(t *testing.T) {
	const keep = 180 * time.Second // a sweep is due every second
	server := redistest.StartServer(t)
	client, s := server.Client(t), open(t, server.URL(""), bagstore.Config{Retention: keep})
	var filings []bag.Filing
	for i := range 250 { // more than two pages
		plate := bag.Plate(fmt.Sprintf("0220%06d", i))
		for raw, age := range map[string]time.Duration{"dead": 2 * keep, "extended": keep - time.Second, "living": 0} {
			filings = append(filings, bag.Filing{Raw: raw + " " + string(plate), Received: time.Now().Add(-age), Entries: []bag.Entry{{Plate: plate}}})
		}
	}
	if _, err := s.Writer().File(t.Context(), filings); err != nil {
		t.Fatal(err)
	}
	if err := client.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	s.Sweeper(lifetimes{"dead": -time.Second, "extended": keep, "living": time.Minute}, atOnce, func(swept bagstore.SweepCounts, err error) {
		if !redis.Full(err) || !errors.Is(err, redis.ErrUnavailable) || swept.Messages != 250 || swept.Extended != 250 {
			t.Errorf("swept %+v, %v", swept, err)
		}
		stop()
	}).Run(ctx)
	for i := range 250 {
		if n, err := client.HLen(t.Context(), fmt.Sprintf("b:0220%06d", i)).Result(); n != 2 || err != nil {
			t.Fatalf("plate %d has %d messages, %v", i, n, err)
		}
	}
}

func TestTheFirstSweepWaitsForAnIntervalWithoutOne(t *testing.T) {
	t.Parallel()
	s := open(t, redistest.StartServer(t).URL(""), bagstore.Config{Retention: 720 * time.Second}) // a sweep is due every four seconds
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	s.Sweeper(lifetimes{}, atOnce, func(_ bagstore.SweepCounts, err error) {
		if err == nil { // else the test has ended
			t.Error("a process has swept at once")
		}
	}).Run(ctx)
}

func TestSweepsStayHeldThoughRedisIsFull(t *testing.T) {
	server := redistest.StartServer(t)
	client, s := server.Client(t), open(t, server.URL(""), bagstore.Config{Retention: 180 * time.Second})
	if err := s.HoldSweeps(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if err := pause.For(t.Context(), 3*time.Second); err != nil { // a sweep is due every second
		t.Fatal(err)
	}
	if value, err := client.Get(t.Context(), "sweep").Result(); value != "held" || err != nil {
		t.Errorf("sweeps are %q, %v", value, err)
	}
}
