package apikey

import (
	"slices"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// MayUse reports whether the key covers the operation.
func (k *Key) MayUse(operation Operation) bool { return k.Operations.Has(string(operation)) }

// Limited reports whether there are airlines or airports that the key does not cover.
func (k *Key) Limited() bool { return !k.Airlines.All || !k.Airports.All }

// Airline reports whether the key covers the airline, by its IATA or its ICAO code.
func (k *Key) Airline(code string) bool {
	wanted := k.airlines.Code(code)
	return k.Airlines.All || code != "" &&
		slices.ContainsFunc(k.Airlines.Codes, func(covered string) bool { return k.airlines.Code(covered) == wanted })
}

// Airport reports whether the key covers the airport.
func (k *Key) Airport(code string) bool { return k.Airports.Has(code) }

// Flight reports whether the key may ask for the bags of an airline at an airport: both must be in scope.
func (k *Key) Flight(airline, airport string) bool { return k.Airline(airline) && k.Airport(airport) }

// Leg reports whether a leg is in scope: its airline and one of its airports are.
func (k *Key) Leg(leg bag.Leg) bool {
	return k.Airline(leg.Airline) && (k.Airport(leg.From) || k.Airport(leg.To))
}

// Bag reports whether a bag is in scope: one of its legs is, living or not. A bag without legs is where the airport of
// one of its events is and the key covers every airline.
func (k *Key) Bag(b *bag.Bag) bool {
	if len(b.Legs) > 0 {
		return slices.ContainsFunc(b.Legs, k.Leg)
	}
	return k.Airlines.All && (k.Airports.All ||
		slices.ContainsFunc(b.Events, func(e bag.Event) bool { return k.Airport(e.Message.Airport) }))
}

// Message reports whether a message may be processed for the key: the .V airport and in each group the .F airline must
// be in scope. A group without .F needs every airline.
func (k *Key) Message(m *parser.Message) bool {
	if !k.Airport(m.Version.Airport) {
		return false
	}
	if len(m.Groups) == 0 {
		return k.Airlines.All
	}
	return !slices.ContainsFunc(m.Groups, func(g parser.Group) bool { return !k.Airline(g.Outbound.Airline) })
}
