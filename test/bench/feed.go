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
func feed(bags int) ([]simulate.Message, []simulate.Bag) {
	var truth []simulate.Bag
	stream := simulate.Generate(simulate.Options{Seed: feedSeed, Start: feedStart, Bags: bags, Faults: simulate.DefaultFaults()},
		func(b simulate.Bag) { truth = append(truth, b) })
	all := slices.Collect(stream) // completes truth
	return all, truth
}
