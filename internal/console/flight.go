package console

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// flightList is the answer of GET /v1/flights/….
type flightList struct {
	Flight flightDoc   `json:"flight"`
	Bags   []listedDoc `json:"bags"`
	Next   string      `json:"next"`
	Cursor string      `json:"changes_cursor"` // "" if the key may not follow changes
}

// flightPage is the data of the screen of a flight.
type flightPage struct {
	flightDoc
	Airport   string // the airport for which the flight is shown
	Arriving  bool
	At        time.Time // best known time at that airport, or zero
	Scheduled time.Time
	Bar       []share
	Counts    []count
	Groups    [][]bagRow
	Risk      string // class of the page: "", "is-risk" or "is-risk late"
	Board     string // the address of the board of that airport and day
}

// count is a status with the number of its bags.
type count struct {
	status
	N int
}

// share is a part of a bar of statuses, in percent of its width.
type share struct {
	Class    string
	From, To string
}

// flight shows a flight and its bags.
func (v *visit) flight() (view, *problem) {
	at := func(name string) string { return v.r.PathValue(name) }
	named := joined(at("airport"), at("direction"), at("airline"), at("flight"), at("date"))
	shown := view{Title: at("airline") + at("flight") + ", " + day(at("date")), Section: "flights"}
	list, p := v.wholeFlight("/v1/flights/" + named)
	if p != nil {
		return shown, p
	}
	data := v.flightPage(list, at("airport"), at("direction") == "A")
	shown.Airport, shown.Data = data.Airport, data
	route := data.From
	if data.To != "" {
		route += " to " + data.To
	}
	shown.Title = strings.TrimSpace(data.Airline+data.Flight+" "+route) + ", " + day(data.Date)
	filter := url.Values{"fields": {"list"}, "flight": {named}}
	shown.Live = &live{Stream: "/v1/changes?" + filter.Encode(), Cursor: list.Cursor}
	return shown, nil
}

// wholeFlight reads all pages of the list of a flight.
func (v *visit) wholeFlight(target string) (all flightList, p *problem) {
	query := url.Values{"limit": {"1000"}}
	for {
		var part flightList
		if p := v.ask(target+"?"+query.Encode(), nil, &part); p != nil {
			return all, p
		}
		if all.Bags = append(all.Bags, part.Bags...); !query.Has("cursor") {
			all.Flight, all.Cursor = part.Flight, part.Cursor
		}
		if part.Next == "" {
			return all, nil
		}
		query.Set("cursor", part.Next)
	}
}

// flightPage makes the data of the screen of a flight.
func (v *visit) flightPage(list flightList, airport string, arriving bool) flightPage {
	f := flightPage{flightDoc: list.Flight, Airport: airport, Arriving: arriving}
	times, direction := list.Flight.Departure, "D"
	if arriving {
		times, direction = list.Flight.Arrival, "A"
	}
	f.Board = boardAddress(airport, direction, v.boardDay(list.Flight, airport, arriving))
	f.At, f.Scheduled = times.Best(), times.Scheduled
	f.Bar = bar(f.flightDoc.Status)
	f.Counts = counts(f.flightDoc.Status)
	f.Risk = v.risk(f.flightDoc)
	f.Groups = slices.Collect(slices.Chunk(bagRows(list.Bags, v.rows(), f.Risk, v.now), rowsOfGroup))
	return f
}

// risk returns the class of a flight with bags that are not loaded, by the minutes until its
// departure.
func (v *visit) risk(f flightDoc) string {
	at := f.Departure.Best()
	if at.IsZero() || !f.Departure.Actual.IsZero() || at.Before(v.now) || f.Missing() == 0 {
		return ""
	}
	switch minutes, l := at.Sub(v.now).Minutes(), limitsOf(v.r); {
	case minutes <= float64(l.Late):
		return "is-risk late"
	case minutes <= float64(l.Risk):
		return "is-risk"
	}
	return ""
}

// barOrder is the order of the statuses in a bar, which fills as loading proceeds.
var barOrder = []string{onAircraft, inContainer, notLoaded, offloaded, delayed}

// leastShare is the smallest width, in percent, at which a part of a bar can be seen.
const leastShare = 1.4

// bar divides a bar by the numbers of bags of each status. Each part is wide enough to be seen.
func bar(numbers map[string]int) (shares []share) {
	widths, sum := make([]float64, len(barOrder)), 0.0
	total := 0
	for _, n := range numbers {
		total += n
	}
	for i, name := range barOrder {
		if n := numbers[name]; n > 0 {
			widths[i] = max(leastShare, 100*float64(n)/float64(total))
			sum += widths[i]
		}
	}
	from := 0.0
	for i, name := range barOrder {
		if widths[i] > 0 {
			width := 100 * widths[i] / sum
			shares = append(shares, share{"f-" + statusOf(name).Class, fmt.Sprintf("%.2f%%", from), fmt.Sprintf("%.2f%%", width)})
			from += width
		}
	}
	return shares
}

// counts returns all statuses with their numbers of bags, in the order of status.Order.
func counts(numbers map[string]int) []count {
	var all []count
	for name, s := range statuses {
		all = append(all, count{s, numbers[name]})
	}
	slices.SortFunc(all, func(a, b count) int { return a.Order - b.Order })
	return all
}
