package changes_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/trail"
	"bagtrail/parser"
)

// onFlights is a bag of which each message names a PNR, a flight and an airport of its own.
func onFlights(messages int) []trail.Traced {
	b := &bag.Bag{Plate: plate}
	for i := range messages {
		m := &bag.Message{Details: parser.Details{PNR: fmt.Sprintf("a%05d", i)}}
		m.Airport, m.Outbound = fmt.Sprint(i), bag.Segment{Flight: bag.Flight{Airline: "LX", Number: fmt.Sprint(i), Day: lx14.Day}}
		b.Events = append(b.Events, bag.Event{Message: m})
	}
	return []trail.Traced{{Bag: b}}
}

// What filters use is found in a time that grows with the messages, not with the square of them.
func TestManyPNRsAndFlightsOfAPlateTakeLittleMoreTimeThanFew(t *testing.T) {
	const few, times, limit = 2000, 10, 40
	took := func(n int) time.Duration {
		bags, least := onFlights(n), time.Hour
		for range 3 {
			began := time.Now()
			airlines, airports, pnrs, flights := changes.Summarise(bags)
			least = min(least, time.Since(began))
			if !slices.Equal(airlines, []string{"LX"}) || len(airports) != n || len(pnrs) != n || len(flights) != n || pnrs[1] != "A00001" {
				t.Fatalf("airlines %v, %d airports, %d PNRs, %d flights", airlines, len(airports), len(pnrs), len(flights))
			}
		}
		return least
	}
	var ratio float64
	for range 5 { // a pause of the machine is no fault of the owner
		if ratio = float64(took(times*few)) / float64(took(few)); ratio < limit {
			return
		}
	}
	t.Errorf("%d times as many PNRs, flights and airports take %.0f times as long", times, ratio)
}

func TestASummaryRepeatsNothingAndIsNoNull(t *testing.T) {
	for _, bags := range [][]trail.Traced{nil, {{Bag: &bag.Bag{Events: []bag.Event{{Message: new(bag.Message)}}}}}} {
		airlines, airports, pnrs, flights := changes.Summarise(bags)
		for _, list := range [][]string{airlines, airports, pnrs, flights} {
			if list == nil || len(list) > 0 {
				t.Errorf("%q of %d bags, want a list without elements", list, len(bags))
			}
		}
	}
	all := &bag.Message{
		Inbound: bag.Segment{Airport: "IN"}, Outbound: bag.Segment{Airport: "OUT"},
		Onward: []bag.Segment{{Flight: bag.Flight{Airline: "BA", Number: "9", Day: lx14.Day}, Airport: "ON"}},
	}
	all.Airport = "AT"
	airlines, airports, _, flights := changes.Summarise([]trail.Traced{{Bag: &bag.Bag{Events: []bag.Event{{Message: all}}, Legs: []bag.Leg{{From: "FROM"}}}}})
	if got, want := fmt.Sprint(airlines, airports, flights), "[BA] [AT FROM IN ON OUT] [BA/9/2026-03-14]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	twice := onFlights(1)
	airlines, airports, pnrs, flights := changes.Summarise(append(twice, twice...))
	if got, want := fmt.Sprint(airlines, airports, pnrs, flights), "[LX] [0] [A00000] [LX/0/2026-03-14]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
