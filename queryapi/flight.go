package queryapi

import (
	"context"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// flightQuery holds the parameters of bags for flight.
type flightQuery struct {
	airport  string
	arriving bool
	flight   bag.Flight
}

// parseFlight reads airport, indicator, airline, flight number, date.
func parseFlight(values []string, airports *airport.Library) (q flightQuery, f faults) {
	q.airport = values[0]
	if f.present(q.airport, fault.FlightAirportMissing) && f.check(parser.IsThreeCapitals(q.airport), fault.FlightAirportFormat) {
		f.check(airports.KnownAirport(q.airport), fault.FlightAirportUnknown)
	}
	if f.present(values[1], fault.FlightIndicatorMissing) {
		q.arriving = values[1] == "A" || values[1] == "a"
		f.check(q.arriving || values[1] == "D" || values[1] == "d", fault.FlightIndicatorFormat)
	}
	q.flight.Airline = values[2]
	if f.present(values[2], fault.FlightAirlineMissing) {
		f.check(parser.IsAirline(values[2]), fault.FlightAirlineFormat)
	}
	if f.present(values[3], fault.FlightNumberMissing) {
		var ok bool
		q.flight.Number, ok = parser.FlightNumber(values[3])
		f.check(ok, fault.FlightNumberFormat)
	}
	q.flight.Day = f.day(values[4], fault.FlightDateMissing, fault.FlightDateFormat)
	return q, f
}

// flight answers bags for flight (interface 4.1). Airline and airport of the request must be in
// scope, whether or not there are bags.
func (q Queries) flight(ctx context.Context, c *web.Call) web.Answer {
	query, f := parseFlight(c.Values, q.Airports)
	if f = c.Faults(f); len(f) > 0 {
		return c.Refuse(f...)
	}
	query.flight.Airline = q.Airlines.Code(query.flight.Airline)
	if !c.Key.MayUse(operation.BagsForFlight) || !c.Key.Flight(query.flight.Airline, query.airport) {
		return c.NotAuthorised()
	}
	listed, err := q.Trails(q.sight(c.Key)).OfFlight(ctx, query.airport, query.arriving, query.flight)
	if err != nil {
		return c.Unavailable(err)
	}
	if len(listed) == 0 {
		return c.Refuse(fault.FlightNoBags)
	}
	dst := append(c.Buffer, `{"success":true,"bags":[`...)
	for i := range listed {
		dst = c.Part(bagjson.AppendFlightBag(strictjson.AppendComma(dst), listed[i].Bag, &listed[i].Leg))
	}
	return c.OK(append(dst, `]}`...))
}
