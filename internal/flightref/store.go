package flightref

import (
	"context"
	"reflect"
	"slices"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/internal/bag"
	"bagtrail/internal/watch"
)

// Store holds the references of the current file. It is safe for concurrent use.
type Store struct {
	references *watch.Value[set]
	samePlace  func(a, b string) bool
}

// set holds the references of one version of the file, by flight and in the order of the file. It
// never changes.
type set map[bag.Flight][]*Reference

// None returns an empty store.
func None() *Store { return &Store{references: watch.Constant(&set{})} }

// Open reads the flight reference file. samePlace reports whether two airport codes are one place:
// a message may name LON and the file LHR. Callers must look up flights by the code that
// airlines.Code returns for their airline. The error joins the faults of the file.
func Open(path string, samePlace func(a, b string) bool, airlines *airline.Library) (*Store, error) {
	references, err := watch.NewValue(path, func(text []byte, _ *set) (*set, error) { return newSet(text, airlines) })
	if err != nil {
		return nil, err
	}
	return &Store{references, samePlace}, nil
}

// Lookup returns the reference of a flight between two airports. An airport "" matches every
// airport. If no leg has exactly these airports, Lookup returns the only leg that matches them; if
// several match, it returns false.
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

// Departure returns the reference by which a flight departs from the airport from, wherever it
// goes. If several legs of the flight depart there, it is the leg that departs first; a leg with an
// actual time departs before one without. If from is "" and the flight has several legs, it is the
// only leg that arrives at the airport to.
func (s *Store) Departure(f bag.Flight, from, to string) (*Reference, bool) {
	references := s.flight(f)
	if from == "" && len(references) > 1 {
		return s.Lookup(f, "", to)
	}
	var first *Reference
	for _, r := range references {
		if s.fits(from, r.Origin) && (first == nil || r.departsBefore(first)) {
			first = r
		}
	}
	return first, first != nil
}

// Departed reports whether the flight has departed according to the reference that Departure
// returns: its actual departure is known, or its best known departure is not after now.
func (s *Store) Departed(f bag.Flight, from, to string, now time.Time) bool {
	r, known := s.Departure(f, from, to)
	if !known {
		return false
	}
	at, basis := r.Departure.Best()
	return basis == Actual || !at.After(now)
}

// Between returns the flights with a leg whose best known departure is after one time, and not
// after another.
func (s *Store) Between(after, until time.Time) []bag.Flight {
	var flights []bag.Flight
	for f, references := range *s.references.Load() {
		if slices.ContainsFunc(references, func(r *Reference) bool {
			at, _ := r.Departure.Best()
			return at.After(after) && !at.After(until)
		}) {
			flights = append(flights, f)
		}
	}
	return flights
}

// Watch reads the file again when it changes, until ctx ends; see watch.Value. If the file has a
// fault, the references stay as they are. report gets the flights whose references changed.
func (s *Store) Watch(ctx context.Context, ticks <-chan time.Time, report func(changed []bag.Flight, err error)) {
	before := *s.references.Load()
	s.references.Watch(ctx, ticks, func(err error) {
		now := *s.references.Load()
		report(before.changed(now), err)
		before = now
	})
}

// changed returns the flights whose references differ in another set.
func (s set) changed(other set) []bag.Flight {
	var flights []bag.Flight
	for f, references := range s {
		if !reflect.DeepEqual(references, other[f]) {
			flights = append(flights, f)
		}
	}
	for f := range other {
		if s[f] == nil {
			flights = append(flights, f)
		}
	}
	return flights
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

func (s *Store) flight(f bag.Flight) []*Reference { return (*s.references.Load())[f] }

// fits reports whether the airport of a lookup, which may be "", matches that of a reference.
func (s *Store) fits(wanted, airport string) bool {
	return wanted == "" || wanted == airport || s.samePlace(wanted, airport)
}
