package bagstore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/simulate"
	"bagtrail/parser"
	"bagtrail/test/race"
)

// Measures the memory that an event takes, with all indexes and 15 messages a bag, against the raw
// text alone under a key of its own. The dictionary was not made from these messages.
func TestMemoryOfAnEvent(t *testing.T) {
	race.SkipOneGoroutine(t)
	ctx := context.Background()
	server := redistest.StartServer(t)
	client := server.Client(t)
	store := open(t, server.URL(""), bagstore.Config{})

	empty, all := used(t, client), feed(20261121, 4000)
	if _, err := store.Writer().File(ctx, all); err != nil {
		t.Fatal(err)
	}
	events := len(all)
	index := float64(used(t, client)-empty) / float64(events)

	if err := client.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	empty = used(t, client)
	raw, pipeline := 0, client.Pipeline()
	for i, f := range all {
		raw += len(f.Raw)
		pipeline.Set(ctx, fmt.Sprintf("m:%d", i), f.Raw, 0)
	}
	if _, err := pipeline.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	plain := float64(used(t, client)-empty) / float64(events)

	t.Logf("%d events of %d bytes: %.0f bytes an event, raw text alone %.0f: %.2f", events, raw/events, index, plain, index/plain)
	if index > 320 || index > 0.65*plain {
		t.Errorf("an event takes %.0f bytes, more than 320 or 0.65 of %.0f", index, plain)
	}
}

func used(t *testing.T, client *goredis.Client) int {
	t.Helper()
	info, err := client.Info(context.Background(), "memory").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(info, "used_memory:")
	var n int
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// feed returns the filings of the messages of so many simulated bags, in the order of a feed.
func feed(seed uint64, bags int) []bag.Filing {
	options := simulate.Options{Seed: seed, Bags: bags, Faults: simulate.DefaultFaults()}
	options.Start = options.StartBefore(time.Now())
	airports := airport.New()
	enricher := enricher.New(airports)
	var all []bag.Filing
	var m parser.Message
	for sent := range simulate.Generate(options, nil) {
		if m.Parse(sent.Text, airports); m.Accepted() {
			all = append(all, enricher.Filing(&m, sent.Text, sent.Received))
		}
	}
	return all
}

// open returns a store of the Redis at a URL, or of a new one inside this process if the URL is "".
func open(t testing.TB, url string, c bagstore.Config) *bagstore.Store {
	t.Helper()
	if c.Retention == 0 {
		c.Retention = 180 * 24 * time.Hour
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	client, err := redis.Open(redis.Config{URL: url, Now: c.Now, Tick: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	store, err := bagstore.Open(client, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		store.Close()
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}
