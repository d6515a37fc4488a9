package flightref

import (
	"context"
	"fmt"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/internal/bag"
	"bagtrail/internal/watch"
)

// Store holds the references in force. It is safe for concurrent use.
type Store struct {
	references *watch.Kept[set]
	samePlace  func(a, b string) bool
}

// set is the references of one version of the file, by flight and in the order of the file. It never changes.
type set map[bag.Flight][]*Reference

// None returns a store that knows no flight.
func None() *Store { return &Store{references: watch.Fixed(&set{})} }

// Open reads the flight reference file. samePlace reports whether two codes are one place: a message may name LON and the
// file LHR. A flight is found by the code of airlines, and so is what is looked up. The error joins every fault of the file.
func Open(path string, samePlace func(a, b string) bool, airlines *airline.Library) (*Store, error) {
	references, err := watch.Keep(path, func(text []byte, _ *set) (*set, error) { return newSet(text, airlines) })
	if err != nil {
		return nil, fmt.Errorf("flight reference file: %w", err)
	}
	return &Store{references, samePlace}, nil
}

// Lookup returns what is known of a flight between two airports. Leading zeros of the number do not count. An airport
// that is "" stands for any where only one leg of the flight fits; the same airports go before others of their places.
func (s *Store) Lookup(f bag.Flight, origin, destination string) (*Reference, bool) {
	references := s.flight(f)
	for _, r := range references {
		if r.Origin == origin && r.Destination == destination {
			return r, true
		}
	}
	var found *Reference
	for _, r := range references {
		if !s.fits(origin, r.Origin) || !s.fits(destination, r.Destination) {
			continue
		}
		if found != nil {
			return nil, false
		}
		found = r
	}
	return found, found != nil
}

// Departed reports whether the flight is known to have left that airport; "" is any airport where the flight has only
// one leg. See Reference.Departed.
func (s *Store) Departed(f bag.Flight, from string, now time.Time) bool {
	references := s.flight(f)
	if from == "" && len(references) != 1 {
		return false
	}
	for _, r := range references {
		if s.fits(from, r.Origin) && r.Departed(now) {
			return true
		}
	}
	return false
}

// Watch takes over changes of the file until ctx ends, as watch.Kept does. A file with any fault leaves the references as
// they are.
func (s *Store) Watch(ctx context.Context, ticks <-chan time.Time, report func(error)) {
	s.references.Watch(ctx, ticks, report)
}

func newSet(text []byte, airlines *airline.Library) (*set, error) {
	references, err := Parse(text, airlines)
	if err != nil {
		return nil, err
	}
	next := make(set, len(references))
	for _, r := range references {
		next[r.Flight] = append(next[r.Flight], r)
	}
	return &next, nil
}

func (s *Store) flight(f bag.Flight) []*Reference {
	f.Number = number(f.Number)
	return (*s.references.Value())[f]
}

// fits reports whether the airport that was asked for is that of a reference.
func (s *Store) fits(asked, airport string) bool {
	return asked == "" || asked == airport || s.samePlace(asked, airport)
}
