package trail_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/parser"
)

// fifteen files a bag of fifteen messages under each of n plates and returns the plates.
func fifteen(b testing.TB, airports *airport.Library, n int) (*memory.Index, []bag.Plate) {
	index, e := memory.New(), enricher.New(airports)
	var plates []bag.Plate
	for i := range n {
		plate := bag.Plate(fmt.Sprintf("0220%06d", i))
		plates = append(plates, plate)
		tag := ".N/" + string(plate) + "001"
		for step := range 15 {
			lines := []string{"BPM", ".V/1LZRH", fmt.Sprintf(".J/%c/AGENT/SCAN%02d/12MAR/06%02dL/BELT%02d/CHUTE%02d", "SGHR"[step%4], step, step, step, step),
				".F/LX100/12MAR/FRA/Y", tag, ".S/Y/12A/C/012//N/A", "ENDBPM"}
			if step == 0 {
				lines = []string{"BSM", ".V/1LZRH", ".F/LX100/12MAR/FRA/Y", ".O/LH400/12MAR/JFK/Y", tag, ".S/Y/12A/C/012//N/A", ".W/K/2/38",
					".P/1SMITH/JOHNMR", fmt.Sprintf(".L/ABC%03d", i%1000), "ENDBSM"}
			}
			text := strings.Join(lines, "\r\n")
			var m parser.Message
			m.Parse(text, airports)
			received := at("2026-03-12T06:00:00Z").Add(time.Duration(step) * time.Minute)
			if _, err := index.File(context.Background(), []bag.Filing{e.Filing(&m, text, received)}); err != nil {
				b.Fatal(err)
			}
		}
	}
	return index, plates
}

// BenchmarkOfPlates is the history of a bag of fifteen events, from stored texts to the folded bag: anew, again, and anew
// for a history.
func BenchmarkOfPlates(b *testing.B) {
	airports := airport.New()
	index, plates := fifteen(b, airports, 2000) // more than are remembered
	r := trail.New(index, enricher.New(airports), trail.Settings{Window: time.Minute, Airports: airports, Now: time.Now})
	ask := func(plates []bag.Plate) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := r.OfPlates(b.Context(), plates[i%len(plates):][:1]); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("anew", ask(plates))
	b.Run("again", ask(plates[:100]))
	b.Run("shown", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := r.History(b.Context(), plates[i%len(plates)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOfFlight is the list of a flight of three hundred bags of fifteen messages each: anew, as nobody has asked before,
// and again, as nothing has changed since.
func BenchmarkOfFlight(b *testing.B) {
	airports := airport.New()
	index, _ := fifteen(b, airports, 300)
	open := func() *trail.Reader {
		return trail.New(index, enricher.New(airports), trail.Settings{Window: time.Minute, Airports: airports, Now: time.Now})
	}
	day, _ := bag.ParseDay("2026-03-12")
	ask := func(b *testing.B, r *trail.Reader) {
		listed, err := r.OfFlight(b.Context(), "ZRH", false, bag.Flight{Airline: "LX", Number: "100", Day: day})
		if err != nil || len(listed) != 300 {
			b.Fatal(len(listed), err)
		}
	}
	b.Run("anew", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			r := open()
			b.StartTimer()
			ask(b, r)
		}
	})
	b.Run("again", func(b *testing.B) {
		r := open()
		b.ReportAllocs()
		for b.Loop() {
			ask(b, r)
		}
	})
}

// BenchmarkFiling is what the index is told of an ordinary message.
func BenchmarkFiling(b *testing.B) {
	airports := airport.New()
	e := enricher.New(airports)
	text := "BPM\n.V/1LZRH\n.J/S/AGENT/SCAN/12MAR/0600L/BELT1/CHUTE2\n.F/LX100/12MAR/FRA/Y\n.N/0220000001001\n.L/ABC123\nENDBPM\n"
	var m parser.Message
	m.Parse(text, airports)
	received := at("2026-03-12T06:00:00Z")
	b.ReportAllocs()
	for b.Loop() {
		e.Filing(&m, text, received)
	}
}
