package bag

import (
	"iter"
	"slices"

	"bagtrail/internal/smallmap"
)

// The messages of a bag may name thousands of places, so places are not compared pairwise. They are
// looked up by city: two codes are one place if they share a city, and each code counts as one of
// its own cities.

// cities yields the cities of a code, itself included.
func cities(of Places, code string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(code) {
			return
		}
		for _, city := range of.Cities(code) {
			if !yield(city) {
				return
			}
		}
	}
}

// placeSet is a set of location codes. No two of them are one place.
type placeSet struct {
	places Places
	cities smallmap.Set[string]
}

// add adds a code and returns true. If a code in the set is one place with it, add returns false.
func (s *placeSet) add(code string) bool {
	for city := range cities(s.places, code) {
		if s.cities.Has(city) {
			return false
		}
	}
	for city := range cities(s.places, code) {
		s.cities.Add(city)
	}
	return true
}

// byPlace finds numbers by their places.
type byPlace struct {
	places Places
	byCity smallmap.Map[direction, []int]
	near   smallmap.Map[direction, []int] // the results of at, cached
}

// add adds a number at a place. Numbers must ascend, and none may be added after a call of at.
func (p *byPlace) add(d direction, number int) {
	for city := range cities(p.places, d.airport) {
		at := direction{city, d.arriving}
		p.byCity.Set(at, append(p.byCity.Value(at), number))
	}
}

// at returns the numbers at places that are one place with this one, ascending.
func (p *byPlace) at(d direction) []int {
	if near, known := p.near.Get(d); known {
		return near
	}
	var near []int
	for city := range cities(p.places, d.airport) {
		near = append(near, p.byCity.Value(direction{city, d.arriving})...)
	}
	slices.Sort(near)
	near = slices.Compact(near)
	p.near.Set(d, near)
	return near
}

// departures finds the first departure of a flight from a place. It is also used for arrivals.
type departures struct {
	places Places
	first  smallmap.Map[flightAt, int]
}

// flightAt is a flight at an airport or a city; "" if that is unknown.
type flightAt struct {
	flight Flight
	at     string
}

// add adds a departure of a flight from a place, with a number. Numbers must ascend.
func (d *departures) add(f Flight, from string, number int) {
	for city := range cities(d.places, from) {
		if at := (flightAt{f, city}); !d.first.Has(at) {
			d.first.Set(at, number)
		}
	}
}

// find returns the number of the first departure of a flight from a place. It returns false if there
// is none.
func (d *departures) find(f Flight, from string) (number int, found bool) {
	for city := range cities(d.places, from) {
		if n, have := d.first.Get(flightAt{f, city}); have && (!found || n < number) {
			number, found = n, true
		}
	}
	return number, found
}
