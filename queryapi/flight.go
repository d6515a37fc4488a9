package queryapi

import (
	"context"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// parseFlight reads airport, indicator, airline, flight number, date.
func parseFlight(values []string, airports *airport.Library) (q changefeed.Flight, f faults) {
	q.Airport = values[0]
	if f.check(q.Airport != "", fault.FlightAirportMissing) && f.check(parser.IsThreeCapitals(q.Airport), fault.FlightAirportFormat) {
		f.check(airports.KnownLocation(q.Airport), fault.FlightAirportUnknown)
	}
	if f.check(values[1] != "", fault.FlightIndicatorMissing) {
		q.Arriving = values[1] == "A" || values[1] == "a"
		f.check(q.Arriving || values[1] == "D" || values[1] == "d", fault.FlightIndicatorFormat)
	}
	q.Airline = values[2]
	if f.check(values[2] != "", fault.FlightAirlineMissing) {
		f.check(parser.IsAirline(values[2]), fault.FlightAirlineFormat)
	}
	if f.check(values[3] != "", fault.FlightNumberMissing) {
		var ok bool
		q.Number, ok = parser.FlightNumber(values[3])
		f.check(ok, fault.FlightNumberFormat)
	}
	q.Day = f.day(values[4], fault.FlightDateMissing, fault.FlightDateFormat)
	return q, f
}

// flight answers bags for flight (interface 4.1). Airline and airport of the request must be in
// scope, whether or not there are bags.
func (q Queries) flight(ctx context.Context, c *web.Call) web.Answer {
	query, f := parseFlight(c.Values, q.Airports)
	if f = c.Faults(f); len(f) > 0 {
		return c.Refuse(f...)
	}
	query.Airline = q.Airlines.Code(query.Airline)
	if !c.MayUse() || !c.Key.Flight(query.Airline, query.Airport) {
		return c.NotAuthorised()
	}
	listed, err := q.Trails(q.sight(c.Key)).OfFlight(ctx, query.Airport, query.Arriving, query.Flight)
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
