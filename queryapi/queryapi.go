// Package queryapi answers the queries of the interface: bags of a flight, history of a bag, bags of a passenger.
//
// It reads parameters, applies the scope of the caller's key (rules §4), and writes the answer; what a bag is and where it is
// comes from package trail. It guarantees that nothing out of scope is shown, and that an answer is whole or 503.
package queryapi

import (
	"context"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/fault"
	"bagtrail/internal/flightref"
	"bagtrail/internal/operation"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// Trails answers the three questions for somebody; *trail.Reader does. A call MUST return when ctx ends. Its answer is whole, or an
// error. Bags come in the order of lists. They are whole, but lead only to originals and rush bags whose founders the asker sees.
type Trails interface {
	// OfFlight returns the bags with a living leg on the flight that departs from the airport, or arrives there, with those
	// fields that the asker sees.
	OfFlight(ctx context.Context, airport string, arriving bool, f bag.Flight) ([]trail.Listed, error)
	// OfPlate returns the bags of a plate.
	OfPlate(ctx context.Context, plate bag.Plate) ([]*bag.Bag, error)
	// History returns the same without asking which bags were re-flighted.
	History(ctx context.Context, plate bag.Plate) ([]*bag.Bag, error)
	// Folded returns the bags of plates, in the order of lists, without what joins them with other plates.
	Folded(ctx context.Context, plates []bag.Plate) ([]*bag.Bag, error)
	// TracePlates returns the bags of plates, in the order of lists, with what joins them with other plates.
	TracePlates(ctx context.Context, plates []bag.Plate) ([]trail.Traced, error)
	// TracePassenger returns the bags that OfPassenger returns, in the same way.
	TracePassenger(ctx context.Context, pnr string, day bag.Day) ([]trail.Traced, error)
	// OfPassenger returns the bags with a PNR, without regard to case, and a living leg that departs on the day.
	OfPassenger(ctx context.Context, pnr string, day bag.Day) ([]*bag.Bag, error)
}

// Airports is the airport library; *airport.Library is one.
type Airports interface {
	parser.Reference
	bagjson.Places
	apikey.Places
}

// Flights is the flight reference; *flightref.Store is one.
type Flights interface {
	// Lookup returns what is known of a leg; an airport may be "" where it is not known.
	Lookup(f bag.Flight, origin, destination string) (*flightref.Reference, bool)
}

// Queries answers the queries.
type Queries struct {
	Trails   func(bag.Sight) Trails // for who sees that; nil is everything
	Airports Airports
	Airlines *airline.Library // nil knows no two codes of one airline
	Flights  Flights
}

// limit is how long a query may take. It lies below the second within which a caller is told that the service is unavailable.
const limit = 900 * time.Millisecond

// listLimit is how long the list of a flight may take, which has as many bags as messages say: some 10,000 a second. That the
// index is away shows with the first thing that is read, within a second as well.
const listLimit = 5 * time.Second

// Operations returns the operations that ask for something.
func (q Queries) Operations() []web.Operation {
	return []web.Operation{
		{
			Operation: operation.ByID("bagsforflight"), Limit: listLimit, Serve: q.flight,
			Refusals: web.Refusals{
				KeyMissing: fault.FlightKeyMissing, KeyUnknown: fault.FlightKeyUnknown,
				NotAuthorised: fault.FlightNotAuthorised, Unavailable: fault.FlightUnavailable,
			},
		},
		{
			Operation: operation.ByID("history"), Limit: limit, Serve: q.history,
			Refusals: web.Refusals{
				KeyMissing: fault.HistoryKeyMissing, KeyUnknown: fault.HistoryKeyUnknown, NoCustomer: fault.HistoryNoCustomer,
				NotAuthorised: fault.HistoryNotAuthorised, Unavailable: fault.Unavailable,
			},
		},
		{
			Operation: operation.ByID("bagsforpassenger"), Limit: limit, Serve: q.passenger,
			Refusals: web.Refusals{
				KeyMissing: fault.PassengerKeyMissing, KeyUnknown: fault.PassengerKeyUnknown,
				NotAuthorised: fault.PassengerNotAuthorised, Unavailable: fault.Unavailable,
			},
		},
		{Operation: operation.ByID("listBagsOfPlate"), Limit: limit, Serve: q.plateV1},
		{Operation: operation.ByID("findBags"), Limit: limit, Serve: q.bagsV1},
		{Operation: operation.ByID("searchBags"), Limit: limit, Serve: q.searchV1},
		{Operation: operation.ByID("getFlight"), Limit: listLimit, Serve: q.flightV1},
		{Operation: operation.ByID("getAirport"), Limit: limit, Serve: q.airportV1},
	}
}
