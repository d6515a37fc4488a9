package changefeed

import (
	"testing"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
)

// A process compares each change with the filter of each of its streams, so that costs no memory.
func TestAChangeIsComparedWithAFilterWithoutMemory(t *testing.T) {
	airports := airport.New()
	flight := bag.Flight{Airline: "LX", Number: "14", Day: bag.DayIn(2026, time.March, 12)}
	other := flight
	other.Day++
	r := &changes.Record{
		Entry: changes.Entry{Plate: "0724100001", Airlines: []string{"LX"}, Airports: []string{"JFK", "ZRH"}},
		PNRs:  []string{"ABC123"}, Flights: []string{changes.FlightName(flight)},
	}
	for name, row := range map[string]struct {
		filter Filter
		want   bool
	}{
		"all":             {Filter{}, true},
		"airline":         {Filter{Airline: "LX"}, true},
		"other airline":   {Filter{Airline: "BA"}, false},
		"airport":         {Filter{Airport: "ZRH"}, true},
		"other airport":   {Filter{Airport: "LHR"}, false},
		"flight":          {Filter{Flight: &Flight{Flight: flight, Airport: "ZRH"}}, true},
		"flight next day": {Filter{Flight: &Flight{Flight: other, Airport: "ZRH"}}, false},
		"plate":           {Filter{Plates: []bag.Plate{"0724100000", "0724100001"}}, true},
		"other plate":     {Filter{Plates: []bag.Plate{"0724100000"}}, false},
		"PNR":             {Filter{PNR: "ABC123"}, true},
		"other PNR":       {Filter{PNR: "XYZ789"}, false},
	} {
		mayMatch := row.filter.mayMatch(airports)
		if got := mayMatch(r); got != row.want {
			t.Errorf("%s: %t, want %t", name, got, row.want)
		}
		if n := testing.AllocsPerRun(100, func() { mayMatch(r) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
