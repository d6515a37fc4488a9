package simulate_test

import (
	"slices"
	"testing"
	"time"

	"bagtrail/internal/simulate"
)

func TestFlightsAreThoseOfTheMessages(t *testing.T) {
	opt := simulate.Options{Seed: 3, Start: start, Bags: 300, Interval: time.Minute}
	flights := simulate.Flights(opt.Seed, start, start.Add(7*24*time.Hour))
	byDeparture := func(a, b simulate.Flight) int { return a.Departs.Compare(b.Departs) }
	if !slices.IsSortedFunc(flights, byDeparture) || flights[0].Departs.Before(start) {
		t.Errorf("they begin at %v", flights[0].Departs)
	}
	known := make(map[string]bool)
	for _, f := range flights {
		if !f.Arrives.After(f.Departs) {
			t.Errorf("%+v", f)
		}
		known[f.Airline+f.Number+f.Date.Format(" 2006-01-02 ")+f.From+f.To] = true
	}
	feed := simulate.Generate(opt, func(b simulate.Bag) {
		for _, l := range b.Legs {
			if !known[l.Flight+" "+l.Date+" "+l.From+l.To] {
				t.Errorf("no flight for %+v", l)
			}
		}
	})
	for range feed { // the bags are told of on the way
	}
}
