package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/enricher"
	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/flightref"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/internal/web"
	"bagtrail/parser"
	"bagtrail/queryapi"
)

// flightOf800 returns the operations over an index in memory that holds a flight of 800 bags.
func flightOf800(b *testing.B) http.Handler {
	airports := airport.New()
	index, e := memory.New(), enricher.New(airports)
	for i := range 800 {
		var m parser.Message
		text := fmt.Sprintf("BSM\r\n.V/1LZRH\r\n.F/LX14/22NOV/JFK/Y\r\n.N/0724%06d001\r\n.S/Y/%dA/C\r\n.P/1MUELLER/ANNA\r\n.L/ABC%03d\r\nENDBSM\r\n", i, i%60+1, i)
		m.Parse(text, airports)
		if _, err := index.File(b.Context(), []bag.Filing{e.Filing(&m, text, now.Add(-time.Hour))}); err != nil {
			b.Fatal(err)
		}
	}
	reader := trail.New(index, e, trail.Settings{Window: time.Minute, Airports: airports, Now: func() time.Time { return now }})
	queries := queryapi.Queries{
		Trails:   func(sight bag.Sight) queryapi.Trails { return reader.For(sight) },
		Airports: airports, Airlines: airline.New(), Flights: flightref.None(), ChangesRetention: time.Hour,
		Clock: func() time.Time { return now },
	}
	return web.New(web.Settings{Keys: apikey.Development(), Log: zap.NewNop(), Clock: time.Now}, queries.Operations(), nil)
}

// BenchmarkFlightOf800Bags is the page of a flight of 800 bags, compressed. The list is cached.
func BenchmarkFlightOf800Bags(b *testing.B) {
	operations, session := flightOf800(b), newV1(nil)
	c := newConsole(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v1/flights/") {
			session.ServeHTTP(w, r)
			return
		}
		r.Header.Set("api_key", apikey.DevelopmentKey)
		operations.ServeHTTP(w, r)
	}))
	var w *httptest.ResponseRecorder
	b.ReportAllocs()
	for b.Loop() {
		w = get(c, flightPage, "Accept-Encoding", "gzip")
	}
	if text := unzipped(b, w.Body.Bytes()); strings.Count(text, "<tr id=") != 800 {
		b.Fatalf("not all bags are shown: %d %.300s", w.Code, text)
	}
	b.ReportMetric(float64(w.Body.Len()), "B/page")
}
