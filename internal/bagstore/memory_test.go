package bagstore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/bagstore/codec/invent"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/test/race"
)

// Measures the memory that an event takes, with all indexes and 15 messages a bag, against the raw
// text alone under a key of its own. The dictionary was not made from these messages.
func TestMemoryOfAnEvent(t *testing.T) {
	if race.Enabled {
		t.Skip("measures Redis, from one goroutine")
	}
	const bags = 4000
	ctx := context.Background()
	server := redistest.StartServer(t)
	client := server.Client(t)
	store := open(t, server.URL(""), bagstore.Config{})

	empty := used(t, client)
	feed := invent.NewFeed(20261121, time.Now().Add(-24*time.Hour))
	var all []invent.Bag
	raw, events := 0, 0
	for range bags {
		b := feed.Bag()
		all = append(all, b)
		for _, m := range b.Messages {
			raw += len(m)
			events++
		}
		if _, err := store.Writer().File(ctx, filings(b)); err != nil {
			t.Fatal(err)
		}
	}
	index := float64(used(t, client)-empty) / float64(events)

	if err := client.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	empty = used(t, client)
	for i, b := range all {
		pipeline := client.Pipeline()
		for j, m := range b.Messages {
			pipeline.Set(ctx, fmt.Sprintf("m:%d", i*15+j), m, 0)
		}
		if _, err := pipeline.Exec(ctx); err != nil {
			t.Fatal(err)
		}
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

// filings returns the filings of the messages of an invented bag.
func filings(b invent.Bag) []bag.Filing {
	entry := bag.Entry{Plate: bag.Plate(b.Plate), PNRs: []string{b.PNR}}
	for _, f := range b.Flights {
		entry.Flights = append(entry.Flights, bag.Flight{
			Airline: f.Airline, Number: strings.TrimLeft(f.Number, "0"), Day: bag.DayOf(f.Day),
		})
	}
	var all []bag.Filing
	for i, m := range b.Messages {
		all = append(all, bag.Filing{Raw: m, Received: b.Times[i], Entries: []bag.Entry{entry}})
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
