package changefeed

import (
	"testing"

	"bagtrail/enricher/airline"
	"bagtrail/internal/bag"
)

// A webhook keeps its filter for years. Messages are filed under the code of the pair once it is known.
func TestAFilterIsCurrentOnceThePairOfItsAirlineIsKnown(t *testing.T) {
	kept := Filter{Airline: "SWR", Flight: &Flight{Flight: bag.Flight{Airline: "SWR", Number: "14"}, Airport: "ZRH"}}
	if now := kept.Current(airline.New()); now.Airline != "LX" || now.Flight.Airline != "LX" || now.Flight.Number != "14" {
		t.Errorf("%+v, %+v", now, now.Flight)
	}
	if kept.Flight.Airline != "SWR" {
		t.Error("the filter that is kept has changed")
	}
	if same := (Filter{}).Current(airline.New()); same.Digest() != (Filter{}).Digest() {
		t.Errorf("%+v", same)
	}
}
