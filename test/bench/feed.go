package main

import (
	"slices"
	"time"

	"bagtrail/internal/simulate"
)

// feedStart is when the simulated journeys begin.
var feedStart = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// feedSeed is not the seed of anything from which the service was made.
const feedSeed = 42

// feed returns all messages of so many bags, and the truth about them.
func feed(bags int) ([]simulate.Message, []simulate.Bag, error) {
	var truth []simulate.Bag
	stream, err := simulate.Generate(simulate.Options{Seed: feedSeed, Start: feedStart, Bags: bags, Faults: simulate.DefaultFaults()},
		func(b simulate.Bag) { truth = append(truth, b) })
	if err != nil {
		return nil, nil, err
	}
	all := slices.Collect(stream) // completes truth
	return all, truth, nil
}
