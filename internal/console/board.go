package console

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"bagtrail/parser"
)

// boardPage is the data of the screen of the flights of an airport and day.
type boardPage struct {
	Airport   string
	Unknown   string // the text in place of a known airport, or ""
	Direction string // D or A
	Date      time.Time
	Today     bool
	Bags      int
	Flights   []boardRow // all flights
	Rows      []boardRow // the flights that the request asks for, see visit.rows
	Urgent    []boardRow // the flights at risk, the first to depart first
	AtRisk    int        // how many bags of Urgent are missing
	Ahead     int        // how many flights have not departed, or not landed
	WithRush  int
	WithDelay int
}

// boardRow is a flight on the board. It is flat, and most of its fields are shown as they are,
// since templates are slow.
type boardRow struct {
	Key      string // the name of the flight in the script, see visit.rows
	Class    string
	Words    string // in lower case, for the filter
	Link     string
	Flight   string
	Other    string    // the airport at the other end
	City     string    // of Other, or ""
	At       time.Time // best known time, or zero
	Clock    string    // local time of At, with the day if it is not that of the board
	Before   string    // scheduled time, if it differs from At
	In       string    // time until At; "" if At is past or not known
	Gone     string    // departed or landed, or ""
	Next     bool      // the first that is not gone
	Bar      []share
	Label    string // of the bar
	Bags     int
	Aircraft int
	Boxed    int
	Not      int
	Off      int
	Missing  int // Not and Off
	Delayed  int
	Rush     int
}

// board shows the flights of an airport and day.
func (v *visit) board() (view, *problem) {
	shown := view{Title: "Flights", Section: "flights"}
	asked := v.r.URL.Query()
	airport := strings.ToUpper(strings.TrimSpace(asked.Get("airport")))
	date, err := time.Parse(time.DateOnly, asked.Get("date"))
	direction := cmp.Or(asked.Get("direction"), "D")
	if airport != "" && !v.airports.KnownLocation(airport) {
		shown.Data = boardPage{Unknown: "That"} // the page does not show any text that an address may hold
		if parser.IsThreeCapitals(airport) {
			shown.Data = boardPage{Unknown: airport}
		}
		return shown, nil
	}
	if airport == "" && !v.session.may("flights") { // the login leads here
		shown.Redirect = sections(v.session)[0].Path
		return shown, nil
	}
	if airport == "" || err != nil {
		if airport = cmp.Or(airport, v.airport()); airport == "" {
			shown.Data = boardPage{}
			return shown, nil
		}
		shown.Redirect = boardAddress(airport, direction, v.today(airport))
		return shown, nil
	}
	cursor := v.cursor(url.Values{"airport": {airport}})
	flights, p := v.flightsOf(airport, direction, date)
	if p != nil {
		return shown, p
	}
	data := v.boardPage(flights, airport, direction, date)
	shown.Airport, shown.Data = airport, data
	what := "departures"
	if data.Arriving() {
		what = "arrivals"
	}
	shown.Title = fmt.Sprintf("%s %s, %s", airport, what, day(date))
	shown.Live = &live{Stream: "/v1/changes?fields=list&airport=" + airport, Cursor: cursor, Airport: airport, Direction: direction, Date: date.Format(time.DateOnly)}
	return shown, nil
}

// flightsOf reads the flights of a board, in the order of their scheduled times.
func (v *visit) flightsOf(airport, direction string, date time.Time) (flights []flightDoc, p *problem) {
	first, last := 0, 0
	if direction == "A" {
		first, last = -latestArrival, -earliestArrival
	}
	for later := first; later <= last; later++ {
		query := url.Values{"airport": {airport}, "direction": {direction}, "date": {date.AddDate(0, 0, later).Format(time.DateOnly)}, "limit": {"1000"}}
		for more := true; more; more = query.Get("cursor") != "" {
			var part struct {
				Flights []flightDoc `json:"flights"`
				Next    string      `json:"next"`
			}
			if p := v.ask("/v1/flights?"+query.Encode(), nil, &part); p != nil {
				return nil, p
			}
			flights = append(flights, part.Flights...)
			query.Set("cursor", part.Next)
		}
	}
	if direction == "A" { // those of each day are in order
		flights = slices.DeleteFunc(flights, func(f flightDoc) bool { return !v.boardDay(f, airport, true).Equal(date) })
		planned := func(f flightDoc) time.Time {
			return cmp.Or(f.Arrival.Scheduled, f.Arrival.Best(), date.AddDate(1, 0, 0)) // those without a time come last
		}
		slices.SortStableFunc(flights, func(a, b flightDoc) int { return planned(a).Compare(planned(b)) })
	}
	return flights, nil
}

// An arrival is on a board of these days, counted from the local date of its departure. Flights over
// the date line land up to two days later, or on the day before.
const (
	earliestArrival = -1
	latestArrival   = 2
)

// boardDay returns the day on whose board a flight is: the date of its departure, or for an arrival
// the date on which it is known to land.
func (v *visit) boardDay(f flightDoc, airport string, arriving bool) time.Time {
	day, _ := time.Parse(time.DateOnly, f.Date) // of /v1
	at := f.Arrival.Best()
	if !arriving || at.IsZero() {
		return day
	}
	later, landed := earliestArrival, at.In(v.airports.TimeZone(airport)).Format(time.DateOnly)
	for later < latestArrival && day.AddDate(0, 0, later).Format(time.DateOnly) < landed {
		later++
	}
	return day.AddDate(0, 0, later)
}

// boardAddress returns the address of a board.
func boardAddress(airport, direction string, date time.Time) string {
	return Path + "flights?" + url.Values{"airport": {airport}, "direction": {direction}, "date": {date.Format(time.DateOnly)}}.Encode()
}

// Address returns the address of the board in a direction, some days later.
func (b boardPage) Address(direction string, days int) string {
	return boardAddress(b.Airport, direction, b.Date.AddDate(0, 0, days))
}

// Arriving reports whether the board shows arrivals.
func (b boardPage) Arriving() bool { return b.Direction == "A" }

// boardPage makes the data of the board from flights, which come in the order of their times.
func (v *visit) boardPage(flights []flightDoc, airport, direction string, date time.Time) boardPage {
	b := boardPage{Airport: airport, Direction: direction, Date: date, Today: v.today(airport).Format(time.DateOnly) == date.Format(time.DateOnly)}
	wanted := v.rows()
	for _, f := range flights {
		r := v.boardRow(f, airport, b.Arriving())
		if r.Gone == "" {
			r.Next = b.Ahead == 0 && len(b.Flights) > 0 && !r.At.IsZero()
			b.Ahead++
		}
		b.Bags += r.Bags
		if r.Rush > 0 {
			b.WithRush++
		}
		if r.Delayed > 0 {
			b.WithDelay++
		}
		if r.Class != "" && r.Gone == "" {
			b.Urgent = append(b.Urgent, r)
			b.AtRisk += r.Missing
		}
		b.Flights = append(b.Flights, r)
		if wanted(r.Key) {
			b.Rows = append(b.Rows, r)
		}
	}
	slices.SortStableFunc(b.Urgent, func(x, y boardRow) int { return x.At.Compare(y.At) })
	return b
}

// boardRow returns the row of a flight.
func (v *visit) boardRow(f flightDoc, airport string, arriving bool) boardRow {
	r := boardRow{
		Key: f.Airline + "-" + f.Flight + "-" + f.Date, Flight: f.Airline + f.Flight, Other: f.To,
		Link: path("flights", airport, "D", f.Airline, f.Flight, f.Date), Bar: bar(f.Status), Label: barLabel(f.Status), Bags: f.Bags, Rush: f.Rush,
		Aircraft: f.Status[onAircraft], Boxed: f.Status[inContainer], Not: f.Status[notLoaded], Off: f.Status[offloaded], Delayed: f.Status[delayed],
		Missing: f.Missing(),
	}
	times, gone := f.Departure, "departed"
	if arriving {
		times, gone, r.Other = f.Arrival, "landed", f.From
		r.Link = path("flights", airport, "A", f.Airline, f.Flight, f.Date)
	} else {
		r.Class = v.risk(f)
	}
	r.City = v.city(r.Other)
	r.Words = strings.ToLower(r.Flight + " " + r.Other + " " + r.City)
	if r.At = times.Best(); r.At.IsZero() {
		return r
	}
	day := v.boardDay(f, airport, arriving).Format(time.DateOnly)
	local := func(t time.Time) string { return v.clockOn(t, airport, day) }
	r.Clock = local(r.At)
	if s := times.Scheduled; !s.IsZero() && local(s) != r.Clock {
		r.Before = local(s)
	}
	if !times.Actual.IsZero() || r.At.Before(v.now) {
		r.Gone = gone
	} else {
		r.In = span(r.At.Sub(v.now))
	}
	return r
}

// barLabel says in words what a bar shows.
func barLabel(numbers map[string]int) string {
	var all []string
	for _, name := range barOrder {
		if n := numbers[name]; n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, strings.ToLower(statusOf(name).Word)))
		}
	}
	return strings.Join(all, ", ")
}

// cursor returns the cursor from which to follow changes. A list that is read afterwards shows all
// changes before the cursor. It returns "" if this key may not follow changes.
func (v *visit) cursor(filter url.Values) string {
	var from struct {
		Cursor string `json:"cursor"`
	}
	filter.Set("fields", "list")
	if p := v.ask("/v1/changes?"+filter.Encode(), nil, &from); p != nil {
		return ""
	}
	return from.Cursor
}
