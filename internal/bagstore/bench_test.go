package bagstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/bagstore/codec/invent"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/trail"
)

// dayBefore is the time at which each stream begins, so that a bag has the same messages in all of
// them.
var dayBefore = time.Now().Add(-24 * time.Hour)

// stream returns filings about many bags, in the order of a feed.
func stream(bags int) []bag.Filing {
	feed := invent.NewFeed(5, dayBefore)
	all := make([]bag.Filing, 0, 15*bags)
	var some [][]bag.Filing
	for range bags {
		some = append(some, filings(feed.Bag()))
	}
	for i := range 15 {
		for _, f := range some {
			all = append(all, f[i])
		}
	}
	return all
}

// An operation is 500 messages. The reference sends the least possible: HSET of the raw text and
// two ZADD.
func BenchmarkFile(b *testing.B) {
	for name, url := range backends(b) {
		all := stream(2000)
		b.Run(name, func(b *testing.B) {
			w := open(b, url, bagstore.Config{}).Writer()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i * 500 % len(all)
				if _, err := w.File(context.Background(), all[at:at+500]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*500/b.Elapsed().Seconds(), "messages/s")
		})
		if url == "" {
			continue
		}
		b.Run(name+"/bare", func(b *testing.B) {
			a, err := redis.ParseURL(url)
			if err != nil {
				b.Fatal(err)
			}
			client := goredis.NewClient(&goredis.Options{Addr: a.Hosts[0]})
			defer func() {
				if err := client.Close(); err != nil {
					b.Error(err)
				}
			}()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i * 500 % len(all)
				pipeline := client.Pipeline()
				for j, f := range all[at : at+500] {
					e, ctx := f.Entries[0], context.Background()
					pipeline.HSet(ctx, "h:"+string(e.Plate), fmt.Sprint(at+j), f.Raw)
					for _, x := range e.Flights {
						pipeline.ZAdd(ctx, "z:"+x.Airline+x.Number, goredis.Z{Score: float64(f.Received.Unix()), Member: string(e.Plate)})
					}
				}
				if _, err := pipeline.Exec(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*500/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// Reads the trail of one bag with 15 messages, and the trails of all 300 bags of a flight.
func BenchmarkTrails(b *testing.B) {
	for name, url := range backends(b) {
		for _, n := range []int{1, 300} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				s := open(b, url, bagstore.Config{})
				all := stream(n)
				if _, err := s.Writer().File(context.Background(), all); err != nil {
					b.Fatal(err)
				}
				var plates []bag.Plate
				for _, f := range all[:n] {
					plates = append(plates, f.Entries[0].Plate)
				}
				r := s.Reader()
				b.ReportAllocs()
				for b.Loop() {
					now, err := r.Read(context.Background(), trail.Wanted{Trails: plates})
					if err != nil {
						b.Fatal(err)
					}
					for _, held := range now.Trails {
						if all, whole := held.Messages(); !whole || len(all) != 15 {
							b.Fatal(all, err)
						}
					}
				}
			})
		}
	}
}

func backends(b *testing.B) map[string]string {
	return map[string]string{"redis": redistest.StartServer(b).URL(""), "in-process": ""}
}
