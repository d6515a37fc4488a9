package apikey

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/operation"
	"bagtrail/parser"
)

// MayUse reports whether the key has a right. Every key has operation.AnyKey.
func (k *Key) MayUse(right operation.Right) bool {
	return right == operation.AnyKey || k.Operations.Has(string(right))
}

// Limited reports whether there are airlines or airports that the key does not cover.
func (k *Key) Limited() bool { return !k.Airlines.All || !k.Airports.All }

// Airline reports whether the key covers the airline, by its IATA or its ICAO code.
func (k *Key) Airline(code string) bool {
	wanted := k.library.Code(code)
	return k.Airlines.All || code != "" &&
		slices.ContainsFunc(k.Airlines.Codes, func(covered string) bool { return k.library.Code(covered) == wanted })
}

// AirlineCodes returns the airlines that the key lists, by the codes that airline.Library.Code
// returns. It is empty if the key covers all airlines, and also if it covers none.
func (k *Key) AirlineCodes() []string {
	codes := make([]string, len(k.Airlines.Codes))
	for i, code := range k.Airlines.Codes {
		codes[i] = k.library.Code(code)
	}
	return codes
}

// Rights returns a hash of the airlines and airports that the key covers. Different rights have the
// same hash with a probability of one in four billion.
func (k *Key) Rights() uint32 {
	list := func(codes []string) string { return strings.Join(slices.Sorted(slices.Values(codes)), ",") }
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%t\x00%s\x00%t\x00%s\x00", k.Airlines.All, list(k.AirlineCodes()), k.Airports.All, list(k.Airports.Codes))
	return h.Sum32()
}

// Airport reports whether the key covers the airport.
func (k *Key) Airport(code string) bool { return k.Airports.Has(code) }

// Flight reports whether the key may ask for the bags of an airline at an airport: both must be in
// scope.
func (k *Key) Flight(airline, airport string) bool { return k.Airline(airline) && k.Airport(airport) }

// Sight decides which legs, stations and texts are in the scope of a key (rules §4). It implements
// bag.Sight.
type Sight struct {
	key      *Key
	airports *airport.Library
}

// Sight returns the sight of the key.
func (k *Key) Sight(airports *airport.Library) Sight { return Sight{k, airports} }

// SightIfLimited returns the sight of the key, or nil if the key is not limited.
func (k *Key) SightIfLimited(airports *airport.Library) bag.Sight {
	if !k.Limited() {
		return nil
	}
	return k.Sight(airports)
}

// at reports whether an end of a leg is in scope: the key covers the code end itself or, if end is
// a metropolitan code, one of its airports.
func (s Sight) at(end string) bool {
	return s.key.Airport(end) || end != "" &&
		slices.ContainsFunc(s.key.Airports.Codes, func(airport string) bool { return s.airports.Listed(end, airport) })
}

// Leg reports whether a leg is in scope: the key covers its airline and one of its airports.
func (s Sight) Leg(leg bag.Leg) bool {
	return s.key.Airline(leg.Airline) && (s.at(leg.From) || s.at(leg.To))
}

// Station reports whether a message without a flight is in scope: the key covers its airport and
// every airline.
func (s Sight) Station(airport string) bool { return s.key.Airlines.All && s.key.Airport(airport) }

// Text reports whether the text of a message is in scope: its airport and every flight of its
// groups are in scope. The bags of a group without a flight may belong to any airline, so for such
// a group the key must cover every airline. A message without groups is not in scope.
func (s Sight) Text(m *parser.Message) bool {
	station := m.Version.Airport
	if !s.key.Airport(station) {
		return false
	}
	for i := range m.Groups {
		g := &m.Groups[i]
		hasFlight := false
		outside := func(f parser.Flight, from, to string) bool {
			hasFlight = hasFlight || f.Present()
			return f.Present() && !s.Leg(bag.Leg{Flight: bag.Flight{Airline: f.Airline}, From: from, To: to})
		}
		from, to := station, g.Outbound.Airport
		if m.Arriving(g, s.airports.SamePlace) {
			from, to = "", station
		}
		if outside(g.Inbound, g.Inbound.Airport, station) || outside(g.Outbound, from, to) {
			return false
		}
		from = to
		for _, onward := range g.Onward {
			if outside(onward, from, onward.Airport) {
				return false
			}
			from = onward.Airport
		}
		if !hasFlight && !s.key.Airlines.All {
			return false
		}
	}
	return len(m.Groups) > 0
}

// Message reports whether a message may be processed for the key: the .V airport and in each group
// the .F airline must be in scope. A group without .F needs every airline.
func (k *Key) Message(m *parser.Message) bool {
	if !k.Airport(m.Version.Airport) {
		return false
	}
	if len(m.Groups) == 0 {
		return k.Airlines.All
	}
	return !slices.ContainsFunc(m.Groups, func(g parser.Group) bool { return !k.Airline(g.Outbound.Airline) })
}
