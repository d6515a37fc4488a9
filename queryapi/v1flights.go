package queryapi

import (
	"context"
	"strconv"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
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
	dst := append(c.Buffer, `{"flight":`...)
	dst = q.appendFlight(dst, query, c.Values[2], listed)
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

// flightQuery reads the path of a flight.
func (a *arguments) flightQuery(airports Airports) (q flightQuery) {
	q.airport = a.knownAirport("airport", airports)
	q.arriving = a.choice("direction", "D", "A") == "A"
	q.flight.Airline = a.text("airline", isAirline, airlineForm)
	a.text("flight", func(s string) (ok bool) {
		q.flight.Number, ok = flightNumber(s)
		return ok
	}, "1 to 4 digits, then an upper case letter or nothing")
	q.flight.Day, _ = a.date()
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

// appendFlight appends a flight with the totals of its bags. The airport at its other end comes
// from the flight reference.
func (q Queries) appendFlight(dst []byte, query flightQuery, carrier string, listed []trail.Listed) []byte {
	from, to := query.airport, ""
	if query.arriving {
		from, to = to, from
	}
	reference, known := q.Flights.Lookup(query.flight, from, to)
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
	rush := 0
	var counts [bag.Delayed + 1]int
	for i := range listed {
		counts[listed[i].Leg.Status]++
		if listed[i].Bag.Rush {
			rush++
		}
	}
	dst = append(dst, `,"bags":`...)
	dst = strconv.AppendInt(dst, int64(len(listed)), 10)
	dst = append(dst, `,"rush":`...)
	dst = strconv.AppendInt(dst, int64(rush), 10)
	dst = append(dst, `,"status":{`...)
	for status, first := bag.NotLoaded, true; status <= bag.Delayed; status++ {
		if counts[status] == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = strictjson.AppendString(dst, status.String())
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(counts[status]), 10)
	}
	return append(dst, '}', '}')
}
