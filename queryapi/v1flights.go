package queryapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/flightref"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// flightV1 answers GET /v1/flights/{airport}/{direction}/{airline}/{flight}/{date}.
func (q Queries) flightV1(ctx context.Context, c *web.Call) web.Answer {
	names := []string{"airport", "direction", "airline", "flight", "date"}
	a := newArguments(c, names...).allowOnly(append(names, "limit", "cursor")...)
	query := a.airportQuery(q.Airports)
	query.Flight = a.flight()
	part := a.page(append([]string{"flight"}, c.Values...)...)
	if refusal, refused := a.bagRefusal(c); refused {
		return refusal
	}
	query.Airline = q.Airlines.Code(query.Airline)
	if !c.Key.Flight(query.Airline, query.Airport) {
		return c.NotAuthorised()
	}
	trails := q.Trails(q.sight(c.Key))
	addCursor := q.cursorBefore(ctx, c, changefeed.Filter{Flight: &query})
	listed, err := trails.OfFlight(ctx, query.Airport, query.Arriving, query.Flight)
	if err != nil {
		return c.Unavailable(err)
	}
	shown, next := pageOf(listed, func(l *trail.Listed) bag.Plate { return l.Bag.Plate }, part)
	w := q.writer(ctx, c, "list")
	seen, err := seenBags(ctx, trails, w.Viewer, shown)
	if err != nil {
		return c.Unavailable(err)
	}
	addCursor()
	var totals trail.Totals
	for i := range listed {
		totals.Add(&listed[i], query.Arriving)
	}
	dst := append(c.Buffer, `{"flight":`...)
	dst = q.appendFlight(dst, query, c.Values[2], &totals)
	dst = append(dst, `,"bags":[`...)
	for i := range shown {
		dst = c.Part(w.AppendOnFlight(strictjson.AppendComma(dst), &shown[i], seen[shown[i].Bag.Plate]))
	}
	return c.OK(append(strictjson.AppendMember(append(dst, ']'), "next", next), '}'))
}

// flightsV1 answers GET /v1/flights.
func (q Queries) flightsV1(ctx context.Context, c *web.Call) web.Answer {
	names := []string{"airport", "direction", "date"}
	a := newArguments(c).allowOnly(append(names, "limit", "cursor")...)
	for _, name := range names {
		a.failMissing(name, strings.Join(names, ", "))
	}
	query := a.airportQuery(q.Airports)
	query.Day, _ = a.date()
	part := a.page("flights", query.Airport, strconv.FormatBool(query.Arriving), query.Day.String())
	if refusal, refused := a.bagRefusal(c); refused {
		return refusal
	}
	if !c.Key.Airport(query.Airport) {
		return c.NotAuthorised()
	}
	trails := q.Trails(nil)
	addCursor := q.cursorBefore(ctx, c, changefeed.Filter{Airport: query.Airport})
	flights, err := trails.FlightsAt(ctx, query.Airport, query.Arriving, query.Day)
	if err != nil {
		return c.Unavailable(err)
	}
	flights = slices.DeleteFunc(flights, func(f bag.Flight) bool { return !c.Key.Airline(f.Airline) })
	places := slices.DeleteFunc(q.inOrder(query, flights), func(p flightPlace) bool { return p.position <= part.position })
	dst, shown := append(c.Buffer, `{"flights":[`...), 0
	for len(places) > 0 && shown < part.limit { // some have no bags
		some := places[:min(part.limit-shown, len(places))]
		flights = flights[:0]
		for _, p := range some {
			flights = append(flights, p.flight)
		}
		totals, err := trails.Totals(ctx, query.Airport, query.Arriving, flights)
		if err != nil {
			return c.Unavailable(err)
		}
		for i := range totals {
			if totals[i].Bags == 0 {
				continue
			}
			shown++
			query.Flight = flights[i]
			dst = c.Part(q.appendFlight(strictjson.AppendComma(dst), query, query.Airline, &totals[i]))
		}
		part.position, places = some[len(some)-1].position, places[len(some):]
	}
	addCursor()
	dst = append(dst, ']')
	if len(places) > 0 {
		dst = strictjson.AppendText(dst, "next", part.next(part.position))
	}
	return c.OK(append(dst, '}'))
}

// flightPlace is the place of a flight in the list of an airport. Positions ascend in the list.
type flightPlace struct {
	flight   bag.Flight
	position string
}

// inOrder returns the flights of an airport in the order of the list: by the scheduled time at the
// airport, else the best known one, then by airline and number. Flights without a time come last.
func (q Queries) inOrder(query changefeed.Flight, flights []bag.Flight) []flightPlace {
	places := make([]flightPlace, len(flights))
	for i, f := range flights {
		query.Flight = f
		at := time.Unix(99999999999, 0)
		if reference, known := q.reference(query); known {
			times := reference.Departure
			if query.Arriving {
				times = reference.Arrival
			}
			if at = times.Scheduled; at.IsZero() {
				at, _ = times.Best()
			}
		}
		digits := strings.TrimRight(f.Number, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		places[i] = flightPlace{f, fmt.Sprintf("%011d %-3s %4s%s", max(at.Unix(), 0), f.Airline, digits, f.Number[len(digits):])}
	}
	slices.SortFunc(places, func(a, b flightPlace) int { return strings.Compare(a.position, b.position) })
	return places
}

// reference returns the reference data of a flight at an airport.
func (q Queries) reference(query changefeed.Flight) (*flightref.Reference, bool) {
	if query.Arriving {
		return q.Flights.Lookup(query.Flight, "", query.Airport)
	}
	return q.Flights.Lookup(query.Flight, query.Airport, "")
}

// flight reads airline, flight and date.
func (a *arguments) flight() (f bag.Flight) {
	f.Airline = a.text("airline", parser.IsAirline, airlineForm)
	a.text("flight", func(s string) (ok bool) {
		f.Number, ok = parser.FlightNumber(s)
		return ok
	}, "1 to 4 digits, then an upper case letter or nothing")
	f.Day, _ = a.date()
	return f
}

// airportQuery reads airport and direction.
func (a *arguments) airportQuery(airports *airport.Library) (q changefeed.Flight) {
	q.Airport = a.knownAirport(airports)
	q.Arriving = a.choice("direction", "D", "A") == "A"
	return q
}

// seenBags returns the bags of a list by plate, each as the viewer sees it.
func seenBags(ctx context.Context, trails Trails, viewer *bag.Viewer, listed []trail.Listed) (map[bag.Plate][]trail.Traced, error) {
	plates := make([]bag.Plate, len(listed))
	for i := range listed {
		plates[i] = listed[i].Bag.Plate
	}
	traced, err := trails.TracePlates(ctx, plates)
	if err != nil {
		return nil, err
	}
	seen := make(map[bag.Plate][]trail.Traced, len(listed))
	for _, t := range traced {
		if view := viewer.View(t.Bag); view != nil {
			t.Bag = view
			seen[view.Plate] = append(seen[view.Plate], t)
		}
	}
	return seen, viewer.Err()
}

// appendFlight appends a flight with the totals of its bags. Its airports come from the flight
// reference, else from the question and the legs.
func (q Queries) appendFlight(dst []byte, query changefeed.Flight, carrier string, totals *trail.Totals) []byte {
	from, to := query.Airport, totals.FarEnd
	if query.Arriving {
		from, to = to, from
	}
	reference, known := q.reference(query)
	if known {
		from, to = reference.Origin, reference.Destination
	}
	dst = strictjson.AppendText(append(dst, '{'), "airline", carrier)
	dst = strictjson.AppendText(dst, "flight", query.Number)
	dst = strictjson.AppendText(dst, "date", query.Day.String())
	dst = strictjson.AppendMember(dst, "from", from)
	dst = strictjson.AppendMember(dst, "to", to)
	if known {
		dst = bagdoc.AppendTimes(dst, "departure", reference.Departure)
		dst = bagdoc.AppendTimes(dst, "arrival", reference.Arrival)
	}
	dst = strictjson.AppendNumber(dst, "bags", totals.Bags)
	dst = strictjson.AppendNumber(dst, "rush", totals.Rush)
	dst = append(dst, `,"status":{`...)
	for status := bag.NotLoaded; status <= bag.Delayed; status++ {
		if n := totals.Status[status]; n > 0 {
			dst = strictjson.AppendNumber(dst, status.String(), n)
		}
	}
	return append(strictjson.AppendInstant(append(dst, '}'), "changed", totals.Changed), '}')
}
