package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/simulate"
	"bagtrail/internal/trail"
)

// counted is an index that counts its calls, each of which is one round trip.
type counted struct {
	trail.Index
	calls atomic.Int64
}

func (c *counted) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	c.calls.Add(1)
	return c.Index.Read(ctx, w)
}

// newTrails returns a reader over an index.
func newTrails(index trail.Index) *trail.Reader {
	airports := airport.New()
	return trail.New(index, enricher.New(airports), trail.Settings{Window: 10 * time.Minute, Airports: airports, Now: time.Now})
}

// tripsRow is the part of line 5 that does not depend on load: the round trips for the largest and the smallest flight.
func tripsRow(ctx context.Context, r *redisServer, largest, smallest simulate.Leg) (row, error) {
	store, err := openIndex(r.url())
	if err != nil {
		return row{}, err
	}
	defer store.Close()
	index := &counted{Index: store.Reader()}
	var trips, bags [2]int
	for i, leg := range []simulate.Leg{largest, smallest} {
		index.calls.Store(0)
		listed, err := newTrails(index).OfFlight(ctx, leg.From, false, flightOf(leg))
		if err != nil {
			return row{}, err
		}
		trips[i], bags[i] = int(index.calls.Load()), len(listed)
	}
	return row{"5", fmt.Sprintf("  round trips for flights of %d and of %d bags", bags[0], bags[1]), fmt.Sprintf("%d and %d", trips[0], trips[1]),
		"–", "–", "≤ 3", verdictOf(max(trips[0], trips[1]) <= 3)}, nil
}

// flightOf is the flight of a leg as the domain names it.
func flightOf(leg simulate.Leg) bag.Flight {
	airline, number := leg.Designator()
	day, err := bag.ParseDay(leg.Date)
	if err != nil {
		panic(err) // the simulator writes no other
	}
	return bag.Flight{Airline: airline, Number: number, Day: day}
}
