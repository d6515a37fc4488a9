package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/simulate"
)

// The day of line 16 at one airport.
const (
	dayFlights     = 400
	bagsAFlight    = 125
	messagesABag   = 15
	airportTarget  = 300 * time.Millisecond
	airportRepeats = 9
	rareBag        = 7
	rareName       = "ZUMSTEIN"
)

// airportLine is line 16: the flights of a day of an airport with their totals, the first time and again, and the search
// for a bag by surname and by the end of its plate on that day.
func airportLine(ctx context.Context, b *bench) ([]row, error) {
	r, err := b.needRedis(ctx)
	if err != nil {
		return nil, err
	}
	flights := b.size(dayFlights)
	if err := fileAll(ctx, r, airportDay(flights)); err != nil {
		return nil, err
	}
	store, err := openIndex(r.url())
	if err != nil {
		return nil, err
	}
	defer store.Close()
	trails := newTrails(store.Reader())
	board := func() error {
		at, err := trails.FlightsAt(ctx, "ZRH", false, bag.DayOf(feedStart))
		if err != nil {
			return err
		}
		totals, err := trails.Totals(ctx, "ZRH", false, at)
		bags := 0
		for i := range totals {
			bags += totals[i].Bags
		}
		if err == nil && bags != flights*bagsAFlight {
			err = fmt.Errorf("%d bags, want %d", bags, flights*bagsAFlight)
		}
		return err
	}
	first, err := took(board)
	if err != nil {
		return nil, err
	}
	spent := b.processorTime()
	again, err := repeated(board)
	if err != nil {
		return nil, err
	}
	spent = (b.processorTime() - spent) / airportRepeats
	find := func(plates func(at []bag.Flight) ([]bag.Plate, error)) (time.Duration, error) {
		return repeated(func() error {
			at, err := trails.FlightsAt(ctx, "ZRH", false, bag.DayOf(feedStart))
			if err != nil {
				return err
			}
			found, err := plates(at)
			if err == nil && len(found) != 1 {
				err = fmt.Errorf("%d plates found", len(found))
			}
			return err
		})
	}
	named, err := find(func(at []bag.Flight) ([]bag.Plate, error) { return trails.PlatesNamed(ctx, at, rareName) })
	if err != nil {
		return nil, err
	}
	ending, err := find(func(at []bag.Flight) ([]bag.Plate, error) { return trails.PlatesEnding(ctx, at, plateOf(rareBag)[4:]) })
	if err != nil {
		return nil, err
	}
	milliseconds := func(d time.Duration) string { return fmt.Sprintf("%.0f ms", d.Seconds()*1000) }
	what := fmt.Sprintf("flights of an airport and day, %s bags of %d messages", thousands(float64(flights*bagsAFlight)), messagesABag)
	return []row{
		{"16", what + ", the first time", milliseconds(first), "–", "–", "reported", reported},
		{"16", "  again", milliseconds(again) + ", CPU " + milliseconds(spent), "–", "–", "≤ 300 ms", verdictOf(again <= airportTarget)},
		{"16", "  the plate of a surname among them", milliseconds(named), "–", "–", "reported", reported},
		{"16", "  the plate with six last digits among them", milliseconds(ending), "–", "–", "reported", reported},
	}, nil
}

// airportDay is a day of flights from ZRH. Half of the bags are loaded, and one has a name of its own.
func airportDay(flights int) []simulate.Message {
	var all []simulate.Message
	for i := range flights * bagsAFlight {
		flight := fmt.Sprintf("LX%d", 1000+i/bagsAFlight)
		all = append(all, bsm(i, flight, plateOf(i)))
		for n := 1; n < messagesABag; n++ {
			more := ""
			if n == messagesABag-1 && i%2 == 0 {
				more = ".U/AKE12345LX/41\r\n"
			}
			all = append(all, bpm(i+n, flight, plateOf(i), more))
		}
	}
	for n := range messagesABag {
		m := &all[rareBag*messagesABag+n]
		m.Text = strings.ReplaceAll(m.Text, "BRUNNER", rareName)
	}
	return all
}

// took returns how long do takes.
func took(do func() error) (time.Duration, error) {
	began := time.Now()
	err := do()
	return time.Since(began), err
}

// repeated returns the median of how long do takes.
func repeated(do func() error) (time.Duration, error) {
	var all []time.Duration
	for range airportRepeats {
		d, err := took(do)
		if err != nil {
			return 0, err
		}
		all = append(all, d)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
