package enricher_test

import (
	"strings"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/parser"
)

const byICAO = `BPM
.V/1LZRH
.F/SWR14/22NOV/JFK
.I/BAW712/22NOV/LHR
.O/QQQ1/22NOV/LAX
.U/AKE1//////DLH400/22NOV/FRA
.N/0724123456001
ENDBPM`

func TestFlightsAreComparedByTheIATACodeAndShownByTheCodeAsSent(t *testing.T) {
	m := read(t, byICAO, "2026-11-22T12:00:00Z")
	if len(m.Onward) != 1 || m.Connection == nil {
		t.Fatalf("%+v", m)
	}
	for _, c := range []struct {
		what             string
		segment          bag.Segment
		airline, carrier string
	}{
		{".F", m.Outbound, "LX", "SWR"}, {".I", m.Inbound, "BA", "BAW"}, {".O, which is in no list", m.Onward[0], "QQQ", "QQQ"},
		{".U", *m.Connection, "LH", "DLH"},
	} {
		if c.segment.Airline != c.airline || c.segment.Carrier != c.carrier {
			t.Errorf("%s: compared by %s, shown as %s", c.what, c.segment.Airline, c.segment.Carrier)
		}
	}
	if same := read(t, strings.Replace(byICAO, "SWR14", "LX14", 1), "2026-11-22T12:00:00Z"); same.Outbound.Flight != m.Outbound.Flight {
		t.Errorf("%+v is another flight than %+v", same.Outbound, m.Outbound)
	}
}

func TestAMessageIsFiledUnderTheIATACodeOfItsFlights(t *testing.T) {
	e := enricher.New(airport.New(), airline.Pair{IATA: "Q1", ICAO: "QQQ"})
	var m parser.Message
	m.Parse(byICAO, airport.New())
	received := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	filing := e.Filing(&m, byICAO, received)
	if len(filing.Entries) != 1 {
		t.Fatalf("%+v", filing)
	}
	var airlines []string
	for _, f := range filing.Entries[0].Flights {
		airlines = append(airlines, f.Airline)
	}
	if got := strings.Join(airlines, " "); got != "BA LX Q1" {
		t.Errorf("filed under flights of %s", got)
	}
	if got := filing.Entries[0].Stowage[0].Flight.Airline; got != "LX" {
		t.Errorf("the container is on a flight of %s", got)
	}
}
