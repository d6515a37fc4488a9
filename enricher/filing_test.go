package enricher_test

import (
	"slices"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// The entries of a group share their lists. The second .F, which has a fault, gives the first bag an
// entry without flights.
func TestMergingTheEntriesOfABagChangesNoOtherBag(t *testing.T) {
	library := airport.New()
	var m parser.Message
	text := "BSM\n.V/1LZRH\n.F/LX1/22NOV/JFK\n.O/LX1/22NOV/JFK\n.N/0724123456002\n.P/A\n.F/LX\n.N/0724123456001\n.P/B\nENDBSM"
	m.Parse(text, library)
	filing := enricher.New(library).Filing(&m, text, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	flight := bag.Flight{Airline: "LX", Number: "1", Day: bag.DayIn(2026, time.November, 22)}
	want := []bag.End{{Flight: flight, Airport: "ZRH"}, {Flight: flight, Airport: "JFK", Arriving: true}, {Flight: flight, Airport: "JFK"}}
	if len(filing.Entries) != 2 {
		t.Fatalf("entries %+v", filing.Entries)
	}
	for _, e := range filing.Entries {
		if !slices.Equal(e.Ends, want) {
			t.Errorf("%s: ends %v, want %v", e.Plate, e.Ends, want)
		}
	}
}
