// Package memory implements trail.Index with maps, for tests. It never removes anything.
package memory

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
)

// Index holds filed messages. Create it with New. It is safe for concurrent use.
type Index struct {
	seed     maphash.Seed
	mu       sync.Mutex
	trails   map[bag.Plate][]bag.Stored
	stowage  map[bag.Container][]bag.Stored
	flights  map[bag.Flight][]bag.Plate
	airports map[bag.AirportDay][]bag.Flight
	named    map[bag.Named][]bag.Plate
	contents map[bag.Container][]bag.Plate
	pnrs     map[string][]bag.Plate
	rush     map[bag.Plate][]bag.Plate
	rushPNRs map[string][]bag.Plate
}

// New returns an empty index.
func New() *Index { return &Index{seed: maphash.MakeSeed()} }

// File files messages. fresh reports for each whether it was not there before.
func (x *Index) File(_ context.Context, filings []bag.Filing) (fresh []bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fresh = make([]bool, len(filings))
	for i, f := range filings {
		stored := bag.Stored{Report: f.Report, Raw: f.Raw, Received: f.Received, Position: f.Position}
		for _, e := range f.Entries {
			fresh[i] = put(&x.trails, e.Plate, stored) || fresh[i]
			for _, flight := range e.Flights {
				put(&x.flights, flight, e.Plate)
				for _, surname := range e.Surnames {
					put(&x.named, bag.Named{Flight: flight, Surname: surname}, e.Plate)
				}
			}
			for _, end := range e.Ends {
				put(&x.airports, end.AirportDay(), end.Flight)
			}
			for _, c := range e.Stowage {
				put(&x.contents, c, e.Plate)
			}
			for _, pnr := range e.PNRs {
				put(&x.pnrs, pnr, e.Plate)
				if e.Rush {
					put(&x.rushPNRs, pnr, e.Plate)
				}
			}
			for _, original := range e.Originals {
				put(&x.rush, original, e.Plate)
			}
		}
		for _, end := range f.Ends {
			put(&x.airports, end.AirportDay(), end.Flight)
		}
		for _, c := range f.Stowage {
			fresh[i] = put(&x.stowage, c, stored) || fresh[i]
		}
	}
	return fresh, nil
}

func put[K, V comparable](lists *map[K][]V, key K, value V) bool {
	if slices.Contains((*lists)[key], value) {
		return false
	}
	if *lists == nil {
		*lists = make(map[K][]V)
	}
	(*lists)[key] = append((*lists)[key], value)
	return true
}

// Read implements trail.Index.
func (x *Index) Read(_ context.Context, w trail.Wanted) (trail.Found, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return trail.Found{
		Flights:         sorted(x.flights, w.Flights),
		Airports:        copies(x.airports, w.Airports),
		Named:           sorted(x.named, w.Named),
		PNRs:            sorted(x.pnrs, w.PNRs),
		Originals:       sorted(x.rush, w.Originals),
		RushPNRs:        sorted(x.rushPNRs, w.RushPNRs),
		Contents:        sorted(x.contents, w.Contents),
		PlateMessages:   x.held(copies(x.trails, w.PlateMessages)),
		Stowage:         x.held(copies(x.stowage, w.Stowage)),
		PlateVersions:   versions(x.held(copies(x.trails, w.PlateVersions))),
		StowageVersions: versions(x.held(copies(x.stowage, w.StowageVersions))),
	}, nil
}

func versions(all []trail.Held) []uint64 {
	out := make([]uint64, len(all))
	for i := range all {
		out[i] = all[i].Version
	}
	return out
}

// Lengths implements trail.Index.
func (x *Index) Lengths(_ context.Context, plates []bag.Plate) ([]int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := make([]int, len(plates))
	for i, plate := range plates {
		all[i] = len(x.trails[plate])
	}
	return all, nil
}

// held returns the lists with their versions, which do not depend on the order of the messages.
func (x *Index) held(lists [][]bag.Stored) []trail.Held {
	out := make([]trail.Held, len(lists))
	for i, messages := range lists {
		out[i] = trail.Held{Version: 1, Messages: func() ([]bag.Stored, bool) { return messages, true }}
		for _, m := range messages {
			out[i].Version += maphash.Comparable(x.seed, m)
		}
		out[i].Version = max(out[i].Version, 1)
	}
	return out
}

func copies[K, V comparable](lists map[K][]V, keys []K) [][]V {
	found := make([][]V, len(keys))
	for i, k := range keys {
		found[i] = slices.Clone(lists[k])
	}
	return found
}

func sorted[K comparable](lists map[K][]bag.Plate, keys []K) [][]bag.Plate {
	found := copies(lists, keys)
	for _, plates := range found {
		slices.Sort(plates)
	}
	return found
}
