package rejectstore_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/rejectstore"
)

var benchRejects = flag.Int("rejects", 10_000, "number of rejects that are listed and counted; a multiple of 500")

const benchBatch = 500

// BenchmarkManyRejects times lists and summaries of the rejects of two weeks: 40 codes, 100 airports,
// two doors, one in ten dismissed. It needs a Redis server. make rejects runs it with a million.
func BenchmarkManyRejects(b *testing.B) {
	now := time.Now()
	client := redistest.Open(b, redistest.StartServer(b).URL(""))
	s := rejectstore.New(client, 14*24*time.Hour, func() time.Time { return now })
	code := func(i int) string { return fmt.Sprintf("SVCPRB%03d", i%40) }
	airport := func(i int) string { return fmt.Sprintf("A%02d", i/7%100) }
	step := 13 * 24 * time.Hour / time.Duration(*benchRejects)
	for i := 0; i < *benchRejects; i += benchBatch {
		batch := make([]ingestor.Rejection, 0, benchBatch)
		for j := i; j < i+benchBatch; j++ {
			batch = append(batch, rejection(fmt.Sprint(j), now.Add(-time.Duration(j)*step), []string{"http", "kafka"}[j/3%2], airport(j), "", code(j)))
		}
		if err := s.Reject(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		for j := i; j < i+benchBatch; j += 10 {
			if _, _, err := s.Decide(b.Context(), rejectstore.ID(fmt.Sprint(j)), "", rejectstore.Dismissed, rejectstore.Step{At: now}); err != nil {
				b.Fatal(err)
			}
		}
	}
	if memory, err := client.ReadClient().InfoMap(b.Context(), "memory").Result(); err == nil {
		b.Logf("%d rejects take %s bytes in Redis", *benchRejects, memory["Memory"]["used_memory"])
	}
	open := rejectstore.Filter{State: rejectstore.Open}
	narrow := rejectstore.Filter{
		State: rejectstore.Open, Code: code(7), Places: []string{airport(7)}, Door: "kafka", Since: now.Add(-9 * 24 * time.Hour), Until: now.Add(-24 * time.Hour),
	}
	limited := rejectstore.Filter{State: rejectstore.Open, Places: []string{"A01", "A02", "A03", "A04", "A05", "A06", "A07", "A08", "A09", "@desk"}}
	for _, tc := range []struct {
		name   string
		filter rejectstore.Filter
	}{{"open", open}, {"state, code, airport, door and time", narrow}, {"nine airports", limited}} {
		b.Run("list of "+tc.name, func(b *testing.B) {
			report(b, func() error {
				found, err := s.List(b.Context(), tc.filter, rejectstore.Position{}, 101)
				if err != nil {
					return err
				}
				ids := make([]string, len(found))
				for i, p := range found {
					ids[i] = p.ID
				}
				_, err = s.Get(b.Context(), false, ids...)
				return err
			})
		})
		b.Run("summary of "+tc.name, func(b *testing.B) {
			report(b, func() error {
				_, err := s.Summarize(b.Context(), tc.filter)
				return err
			})
		})
	}
}

// report reports the median and the slowest of many runs.
func report(b *testing.B, run func() error) {
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := run(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}
