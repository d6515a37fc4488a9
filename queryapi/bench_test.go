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

// discard is a ResponseWriter that keeps nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header            { return d.header }
func (d *discard) Write(text []byte) (int, error) { return len(text), nil }
func (d *discard) WriteHeader(int)                {}

func benchmark(b *testing.B, trails *answers, target string) {
	s := site(trails)
	r := httptest.NewRequest("GET", target, nil)
	r.Header.Set("api_key", "demo")
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		s.ServeHTTP(w, r)
	}
}

// A bag with 15 events, without what it takes to find it.
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

// A flight of 300 bags, without what it takes to find them.
func BenchmarkBagsForFlight(b *testing.B) {
	one := &bag.Bag{Plate: "0724100001", Surname: "MUELLER", GivenName: "ANNA", PNR: "ABC123"}
	leg := bag.Leg{Flight: bag.Flight{Airline: "LX", Number: "100", Day: 20526}, From: "ZRH", To: "JFK", Living: true, Status: bag.InContainer, Seat: "12A"}
	trails := &answers{}
	for range 300 {
		trails.flight = append(trails.flight, trail.Listed{Bag: one, Leg: leg})
	}
	benchmark(b, trails, flightPath)
}
