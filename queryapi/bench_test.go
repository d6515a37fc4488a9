package queryapi_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
	"bagtrail/parser"
)

// discardWriter is a ResponseWriter that keeps nothing.
type discardWriter struct{ header http.Header }

func (d *discardWriter) Header() http.Header            { return d.header }
func (d *discardWriter) Write(text []byte) (int, error) { return len(text), nil }
func (d *discardWriter) WriteHeader(int)                {}

func benchmark(b *testing.B, trails *answers, target string) {
	s := site(trails)
	r := httptest.NewRequest("GET", target, nil)
	r.Header.Set("api_key", "demo")
	w := &discardWriter{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		s.ServeHTTP(w, r)
	}
}

// BenchmarkHistory answers with a bag of 15 events. Finding the bag is not measured.
func BenchmarkHistory(b *testing.B) {
	m := &bag.Message{
		Head:    parser.Head{Kind: parser.BPM, Version: parser.Version{Airport: "ZRH"}, Processing: parser.Processing{ReadLocation: "ZRHS1", SentLocation: "ZRHT2"}},
		Details: parser.Details{PNR: "ABC123", PassengerStatus: "C"}, Happened: time.Date(2026, 3, 14, 8, 0, 0, 0, time.UTC),
		Outbound: bag.Segment{Flight: bag.Flight{Airline: "LX", Number: "100", Day: 20526}, Carrier: "LX", Airport: "JFK"},
	}
	one := &bag.Bag{Plate: "0724100001", Surname: "MUELLER", GivenName: "ANNA", PNR: "ABC123", Legs: []bag.Leg{{Flight: m.Outbound.Flight, From: "ZRH", To: "JFK", Living: true}}}
	for range 15 {
		one.Events = append(one.Events, bag.Event{Code: "SORTED", Description: "Bag Sorted", Message: m})
	}
	benchmark(b, &answers{plate: []*bag.Bag{one}}, historyPath)
}

// BenchmarkBagsForFlight answers with a flight of 300 bags. Finding the bags is not measured.
func BenchmarkBagsForFlight(b *testing.B) {
	one := &bag.Bag{Plate: "0724100001", Surname: "MUELLER", GivenName: "ANNA", PNR: "ABC123"}
	leg := bag.Leg{Flight: bag.Flight{Airline: "LX", Number: "100", Day: 20526}, From: "ZRH", To: "JFK", Living: true, Status: bag.InContainer, Seat: "12A"}
	trails := &answers{}
	for range 300 {
		trails.flight = append(trails.flight, trail.Listed{Bag: one, Leg: leg})
	}
	benchmark(b, trails, flightPath)
}
