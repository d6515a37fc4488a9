package queryapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/flightref"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
)

// flightV1 answers GET /v1/flights/{airport}/{direction}/{airline}/{flight}/{date}.
func (q Queries) flightV1(ctx context.Context, c *web.Call) web.Answer {
	names := []string{"airport", "direction", "airline", "flight", "date"}
	a := newArguments(c, names...)
	a.allowOnly(append(names, "limit", "cursor")...)
	query := a.flightQuery(q.Airports)
	part := a.page(append([]string{"flight"}, c.Values...)...)
	if refusal, refused := a.bagRefusal(c); refused {
		return refusal
	}
	query.flight.Airline = q.Airlines.Code(query.flight.Airline)
	if !c.Key.Flight(query.flight.Airline, query.airport) {
		return c.NotAuthorised()
	}
	trails := q.Trails(q.sight(c.Key))
	q.tellCursor(ctx, c, changefeed.Filter{
		Flight: &changefeed.Flight{Flight: query.flight, Airport: query.airport, Arriving: query.arriving},
	})
	listed, err := trails.OfFlight(ctx, query.airport, query.arriving, query.flight)
	if err != nil {
		return c.Unavailable(err)
	}
	shown, next := pageOf(listed, part)
	w := q.writer(ctx, c, "list")
	seen, err := seenBags(ctx, trails, w.Viewer, shown)
	if err != nil {
		return c.Unavailable(err)
	}
	var totals trail.Totals
	for i := range listed {
		totals.Add(&listed[i], query.arriving)
	}
	dst := append(c.Buffer, `{"flight":`...)
	dst = q.appendFlight(dst, query, c.Values[2], &totals)
	dst = append(dst, `,"bags":[`...)
	for i := range shown {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.AppendOnFlight(dst, &shown[i], seen[shown[i].Bag.Plate])
		if dst, err = c.Part(dst); err != nil {
			return c.Unavailable(err)
		}
	}
	dst = append(dst, ']')
	if next != "" {
		dst = append(dst, `,"next":`...)
		dst = strictjson.AppendString(dst, next)
	}
	return c.OK(append(dst, '}'))
}

// flightsV1 answers GET /v1/flights.
func (q Queries) flightsV1(ctx context.Context, c *web.Call) web.Answer {
	names := []string{"airport", "direction", "date"}
	a := newArguments(c)
	a.allowOnly(append(names, "limit", "cursor")...)
	for _, name := range names {
		a.failMissing(name, strings.Join(names, ", "))
	}
	query := a.airportQuery(q.Airports)
	query.flight.Day, _ = a.date()
	part := a.page("flights", query.airport, strconv.FormatBool(query.arriving), query.flight.Day.String())
	if refusal, refused := a.bagRefusal(c); refused {
		return refusal
	}
	if !c.Key.Airport(query.airport) {
		return c.NotAuthorised()
	}
	trails := q.Trails(nil)
	q.tellCursor(ctx, c, changefeed.Filter{Airport: query.airport})
	flights, err := trails.FlightsAt(ctx, query.airport, query.arriving, query.flight.Day)
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
		totals, err := trails.Totals(ctx, query.airport, query.arriving, flights)
		if err != nil {
			return c.Unavailable(err)
		}
		for i := range totals {
			if totals[i].Bags == 0 {
				continue
			}
			if shown > 0 {
				dst = append(dst, ',')
			}
			shown++
			query.flight = flights[i]
			dst = q.appendFlight(dst, query, query.flight.Airline, &totals[i])
			if dst, err = c.Part(dst); err != nil {
				return c.Unavailable(err)
			}
		}
		part.position, places = some[len(some)-1].position, places[len(some):]
	}
	dst = append(dst, ']')
	if len(places) > 0 {
		dst = append(dst, `,"next":`...)
		dst = strictjson.AppendString(dst, part.next(part.position))
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
func (q Queries) inOrder(query flightQuery, flights []bag.Flight) []flightPlace {
	places := make([]flightPlace, len(flights))
	for i, f := range flights {
		query.flight = f
		at := time.Unix(99999999999, 0)
		if reference, known := q.reference(query); known {
			times := reference.Departure
			if query.arriving {
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
func (q Queries) reference(query flightQuery) (*flightref.Reference, bool) {
	if query.arriving {
		return q.Flights.Lookup(query.flight, "", query.airport)
	}
	return q.Flights.Lookup(query.flight, query.airport, "")
}

// flightQuery reads the path of a flight.
func (a *arguments) flightQuery(airports Airports) flightQuery {
	q := a.airportQuery(airports)
	q.flight = a.flight()
	return q
}

// flight reads airline, flight and date.
func (a *arguments) flight() (f bag.Flight) {
	f.Airline = a.text("airline", isAirline, airlineForm)
	a.text("flight", func(s string) (ok bool) {
		f.Number, ok = flightNumber(s)
		return ok
	}, "1 to 4 digits, then an upper case letter or nothing")
	f.Day, _ = a.date()
	return f
}

// airportQuery reads airport and direction.
func (a *arguments) airportQuery(airports Airports) (q flightQuery) {
	q.airport = a.knownAirport("airport", airports)
	q.arriving = a.choice("direction", "D", "A") == "A"
	return q
}

// pageOf returns the bags of a page, and the cursor of the next page, or "" if it is the last.
func pageOf(listed []trail.Listed, part page) (shown []trail.Listed, next string) {
	var last bagPosition
	for i := range listed {
		if last.step(listed[i].Bag.Plate); !last.after(part.position) {
			continue
		}
		if len(shown) == part.limit {
			return shown, part.next(last.before())
		}
		shown = append(shown, listed[i])
	}
	return shown, ""
}

// seenBags returns the viewer's views of the bags of a list, by plate.
func seenBags(ctx context.Context, trails Trails, viewer *bag.Viewer, listed []trail.Listed) (map[bag.Plate][]*bag.Bag, error) {
	var plates []bag.Plate
	for i := range listed {
		plates = append(plates, listed[i].Bag.Plate)
	}
	bags, err := trails.Folded(ctx, plates)
	if err != nil {
		return nil, err
	}
	seen := make(map[bag.Plate][]*bag.Bag, len(plates))
	for _, b := range views(bags, viewer) {
		seen[b.Plate] = append(seen[b.Plate], b)
	}
	return seen, viewer.Err()
}

// appendFlight appends a flight with the totals of its bags. Its airports come from the flight
// reference, else from the question and the legs.
func (q Queries) appendFlight(dst []byte, query flightQuery, carrier string, totals *trail.Totals) []byte {
	from, to := query.airport, totals.FarEnd
	if query.arriving {
		from, to = to, from
	}
	reference, known := q.reference(query)
	if known {
		from, to = reference.Origin, reference.Destination
	}
	dst = append(dst, `{"airline":`...)
	dst = strictjson.AppendString(dst, carrier)
	dst = append(dst, `,"flight":`...)
	dst = strictjson.AppendString(dst, query.flight.Number)
	dst = append(dst, `,"date":"`...)
	dst = append(query.flight.Day.Append(dst), '"')
	for _, end := range [...]struct{ name, airport string }{{"from", from}, {"to", to}} {
		if end.airport != "" {
			dst = append(append(append(dst, `,"`...), end.name...), `":`...)
			dst = strictjson.AppendString(dst, end.airport)
		}
	}
	if known {
		dst = bagdoc.AppendTimes(dst, "departure", reference.Departure)
		dst = bagdoc.AppendTimes(dst, "arrival", reference.Arrival)
	}
	dst = append(dst, `,"bags":`...)
	dst = strconv.AppendInt(dst, int64(totals.Bags), 10)
	dst = append(dst, `,"rush":`...)
	dst = strconv.AppendInt(dst, int64(totals.Rush), 10)
	dst = append(dst, `,"status":{`...)
	for status, first := bag.NotLoaded, true; status <= bag.Delayed; status++ {
		if totals.Status[status] == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = strictjson.AppendString(dst, status.String())
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(totals.Status[status]), 10)
	}
	return append(bagdoc.AppendTime(append(dst, '}'), "changed", totals.Changed), '}')
}
