// Package queryapi answers the queries of the interface: bags of a flight, history of a bag, bags
// of a passenger. It also has delayed bags, and the operations of /v1 for bags, flights, airports,
// changes, feeds, rejects and webhooks.
//
// It reads parameters, applies the scope of the caller's key (rules §4), and writes the answer;
// package trail finds the bags. It guarantees that an answer shows nothing out of scope, and that
// it is either complete or 503.
package queryapi

import (
	"context"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
)

// Trails finds bags for one asker. *trail.Reader implements it, and says what each method returns.
// A call MUST return when ctx ends. It returns either the complete result or an error. Bags come in
// the order of lists. They are complete, but are linked only to those originals and rush bags whose
// founders the asker sees (see bag.Viewer.SeesFounder).
type Trails interface {
	OfFlight(ctx context.Context, airport string, arriving bool, f bag.Flight) ([]trail.Listed, error)
	FlightsAt(ctx context.Context, airport string, arriving bool, day bag.Day) ([]bag.Flight, error)
	Totals(ctx context.Context, airport string, arriving bool, flights []bag.Flight) ([]trail.Totals, error)
	PlatesNamed(ctx context.Context, flights []bag.Flight, surname string) ([]bag.Plate, error)
	PlatesEnding(ctx context.Context, flights []bag.Flight, digits string) ([]bag.Plate, error)
	OfPlates(ctx context.Context, plates []bag.Plate) ([]*bag.Bag, error)
	History(ctx context.Context, plate bag.Plate) ([]*bag.Bag, error)
	TracePlates(ctx context.Context, plates []bag.Plate) ([]trail.Traced, error)
	TracePassenger(ctx context.Context, pnr string, day bag.Day) ([]trail.Traced, error)
	OfPassenger(ctx context.Context, pnr string, day bag.Day) ([]*bag.Bag, error)
}

// Queries answers the queries.
type Queries struct {
	Trails   func(bag.Sight) Trails // limited to that sight; nil is unlimited
	Airports *airport.Library
	Airlines *airline.Library // IATA and ICAO codes of airlines; nil compares codes as they are
	Flights  bagdoc.References
	Changes  *changefeed.Feed // nil if there are no changes
	// ChangesRetention is how long changes are kept, and how far back since may lie.
	ChangesRetention time.Duration
	// NoChanges says why there are no changes.
	NoChanges string
	Feeds     Feeds
	Clock     func() time.Time // for feeds and times of changes
}

// queryLimit is the timeout of a query. It is below one second, since a caller must learn within a
// second that the service is unavailable.
const queryLimit = 900 * time.Millisecond

// listLimit is the timeout of the list of a flight. Nothing bounds the number of its bags; about
// 10,000 are read per second. If the index is unavailable, its first read fails within a second.
const listLimit = 5 * time.Second

// totalsLimit is the timeout of the list of the flights of an airport, which reads all of their
// bags if this process has not read them before. Lists that were read in that time are cached, even
// if the request fails.
const totalsLimit = 20 * time.Second

// Operations returns all operations that read.
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
			Operation: operation.ByID("history"), Limit: queryLimit, Serve: q.history,
			Refusals: web.Refusals{
				KeyMissing: fault.HistoryKeyMissing, KeyUnknown: fault.HistoryKeyUnknown, NoCustomer: fault.HistoryNoCustomer,
				NotAuthorised: fault.HistoryNotAuthorised, Unavailable: fault.Unavailable,
			},
		},
		{
			Operation: operation.ByID("bagsforpassenger"), Limit: queryLimit, Serve: q.passenger,
			Refusals: web.Refusals{
				KeyMissing: fault.PassengerKeyMissing, KeyUnknown: fault.PassengerKeyUnknown,
				NotAuthorised: fault.PassengerNotAuthorised, Unavailable: fault.Unavailable,
			},
		},
		{Operation: operation.ByID("listBagsOfPlate"), Limit: queryLimit, Serve: q.plateV1},
		{Operation: operation.ByID("findBags"), Limit: queryLimit, Serve: q.bagsV1},
		{Operation: operation.ByID("searchBags"), Limit: queryLimit, Serve: q.bagsV1},
		{Operation: operation.ByID("listFlights"), Limit: totalsLimit, Serve: q.flightsV1},
		{Operation: operation.ByID("getFlight"), Limit: listLimit, Serve: q.flightV1},
		{Operation: operation.ByID("getAirport"), Limit: queryLimit, Serve: q.airportV1},
		{Operation: operation.ByID("getChanges"), Serve: q.changesV1}, // it may wait
		{Operation: operation.ByID("listFeeds"), Limit: listLimit, Serve: q.feedsV1},
	}
}
