package trail_test

import (
	"context"
	"fmt"
	"testing"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
)

// counted is an index that counts its calls, each of which is a round trip.
type counted struct {
	trail.Index
	calls int
}

func (c *counted) Passenger(ctx context.Context, pnr string) ([]bag.Plate, error) {
	c.calls++
	return c.Index.Passenger(ctx, pnr)
}

func (c *counted) Trails(ctx context.Context, plates []bag.Plate, known func(int, uint64) bool) ([]trail.Held, error) {
	c.calls++
	return c.Index.Trails(ctx, plates, known)
}

func (c *counted) Rush(ctx context.Context, plates []bag.Plate) ([][]bag.Plate, error) {
	c.calls++
	return c.Index.Rush(ctx, plates)
}

func (c *counted) Stowage(ctx context.Context, flights []bag.Flight) ([]trail.Held, error) {
	c.calls++
	return c.Index.Stowage(ctx, flights)
}

// The bags of a group are found in as many round trips as those of one passenger, rush bags included.
func TestPassengerTakesFewRoundTripsHoweverManyBags(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001200", ".P/TOUR", ".L/TOUR99", "ENDBSM")
	for i := range 50 {
		w.send(fmt.Sprintf("13T06:%02d", i), "BSM", ".V/1LZRH", ".F/LX14/13MAR/JFK", fmt.Sprintf(".N/2724200%03d001", i), fmt.Sprintf(".M/0724100%03d", i+1), ".P/TOUR", ".L/TOUR99", "ENDBSM")
	}
	index := &counted{Index: w.index}
	day, err := bag.ParseDay("2026-03-12")
	if err != nil {
		t.Fatal(err)
	}
	bags, err := trail.New(index, w.enricher, w.settings).OfPassenger(t.Context(), "TOUR99", day)
	if err != nil || len(bags) != 200 {
		t.Fatalf("%d bags, %v", len(bags), err)
	}
	for i, b := range bags {
		if (b.RushTag != nil) != (i < 50) {
			t.Errorf("%s: rush tag %v", b.Plate, b.RushTag)
		}
	}
	if index.calls > 5 {
		t.Errorf("%d round trips", index.calls)
	}
}
