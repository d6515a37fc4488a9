package changefeed_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/flightref"
	"bagtrail/test/service"
)

var departures = flag.Int("departures", 2000, "how many bags depart at once in the benchmark")

const bagsOfFlight = 100

// BenchmarkDepartures prints how long the change of another bag takes while many bags depart at
// once: from the moment at which its message comes until its reader is woken.
func BenchmarkDepartures(b *testing.B) {
	flights := departing(b, *departures/bagsOfFlight)
	for b.Loop() {
		w := newWorldOf(b, 12, flights)
		messages := make([]string, *departures)
		for i := range messages {
			messages[i] = bsm(fmt.Sprintf("0724%06d", i), fmt.Sprint("LX", 1+i/bagsOfFlight), "MUELLER", "ABC123")
		}
		for some := range slices.Chunk(messages, 1000) {
			w.file(w.received, some...)
			w.settle()
		}
		all := w.reader(key("*", "*"), changefeed.Filter{Airline: "LX"})
		other := w.feed.Follow(changefeed.Asker{Key: key("*", "*"), Filter: changefeed.Filter{Airline: "BA"}})
		w.received = departure.Add(time.Minute)
		w.now.Store(w.received.Unix())
		var took []time.Duration
		pace := time.NewTicker(20 * time.Millisecond)
		for told := 0; told < *departures; {
			<-pace.C
			w.received = w.received.Add(time.Millisecond)
			came := time.Now()
			w.file(w.received, bsm(fmt.Sprintf("0125%06d", len(took)), "BA200", "SMITH", "DEF456"))
			select {
			case <-other.Changed():
			case <-time.After(patience):
				b.Fatal("another bag is not told")
			}
			took = append(took, time.Since(came))
			other.Take()
			for _, c := range all.all() {
				if told++; c.Bags[0].Legs[0].Status != "Delayed" {
					b.Fatalf("told %+v, want a bag that its flight has left", c)
				}
			}
		}
		other.Leave()
		pace.Stop()
		slices.Sort(took)
		for name, at := range map[string]int{"ms-p50": len(took) / 2, "ms-p99": len(took) * 99 / 100, "ms-most": len(took) - 1} {
			b.ReportMetric(float64(took[at].Microseconds())/1000, name)
		}
	}
}

var departure = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// departing returns a flight reference with flights LX1, LX2 and so on, which depart at the same time.
func departing(b testing.TB, flights int) *flightref.Store {
	var text strings.Builder
	text.WriteString("flights:\n")
	for i := range flights {
		fmt.Fprintf(&text, "  - {airline: LX, flight: %d, origin: ZRH, destination: JFK, date: 2026-03-14, departure: {scheduled: %s}, arrival: {scheduled: 2026-03-14T20:00:00Z}}\n",
			i+1, departure.Format(time.RFC3339))
	}
	store, err := flightref.Open(service.WriteFile(b, "flights.yaml", text.String()), func(a, b string) bool { return a == b }, airline.New())
	if err != nil {
		b.Fatal(err)
	}
	return store
}
