package console

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"bagtrail/internal/fault"
)

// searchPage is the data of the screen of search.
type searchPage struct {
	query
	Asked      bool
	Week       bool
	SearchedAt string // the airport to which the search was limited, or ""
	Hits       []hit
	FlightLink string // address of the flight that was named, or ""
	Missing    string // what the query lacks, such as "an airport", or ""
}

// NotFound returns the plates that were searched for without a hit.
func (d searchPage) NotFound() []string {
	return slices.DeleteFunc(slices.Clone(d.Plates), func(plate string) bool {
		return slices.ContainsFunc(d.Hits, func(h hit) bool { return h.Plate == plate })
	})
}

// hit is a bag that was found.
type hit struct {
	bagDoc
	Leg  *legDoc
	Seen *eventDoc
}

// same reports whether a bag is that of the hit. Bags of one plate differ in passenger or flights.
func (h hit) same(b bagDoc) bool {
	return h.Plate == b.Plate && h.Passenger == b.Passenger && slices.EqualFunc(h.Legs, b.Legs, func(x, y legDoc) bool {
		return x.Airline == y.Airline && x.Flight == y.Flight && x.Date == y.Date
	})
}

func (v *visit) askSearch() (view, *problem) {
	return view{Title: "Search", Section: "search", Airport: v.airport(), Data: searchPage{}}, nil
}

// search answers a query. The form posts the query, and search posts requests to /v1, so that no
// address holds a name.
func (v *visit) search() (view, *problem) {
	if p := v.form(); p != nil {
		return view{Title: "Search", Section: "search"}, p
	}
	text, week := v.r.PostForm.Get("q"), v.r.PostForm.Get("days") == "7"
	var data searchPage
	shown := view{Title: "Search", Section: "search", Query: text}
	for _, q := range readings(text, v.airports, v.now) {
		data = searchPage{query: q, Asked: strings.TrimSpace(text) != "", Week: week}
		shown.Airport = cmp.Or(q.Airport, v.airport())
		if len(q.Plates) == 1 {
			shown.Redirect = path("bags", q.Plates[0])
			return shown, nil
		}
		if p := v.findAny(&data, shown.Airport); p != nil {
			return shown, p
		}
		if len(data.Hits) > 0 {
			break
		}
	}
	q, airport := data.query, shown.Airport
	flies := false
	if q.Flight != "" && airport != "" {
		data.FlightLink, flies = v.flightThere(airport, q)
	}
	slices.SortStableFunc(data.Hits, func(a, b hit) int { return b.Changed.Compare(a.Changed) })
	switch {
	case len(data.Hits) == 1 && len(q.Plates) == 0:
		shown.Redirect = path("bags", data.Hits[0].Plate)
	case len(data.Hits) == 0 && data.FlightLink != "" && len(q.Names) == 0 && q.End == "" && (q.PNR == "" || q.PNR == q.Airline+q.Flight && (flies || len(q.Airline) == 2)):
		shown.Redirect = data.FlightLink
	}
	shown.Data = data
	return shown, nil
}

// flightThere returns the address of a flight at an airport: of its arrival if bags arrive there
// and none departs, otherwise of its departure. If no day is named, it is the flight of today, or
// one that left on another day and arrives today. flies reports whether the flight has bags there.
func (v *visit) flightThere(airport string, q query) (address string, flies bool) {
	day := cmp.Or(q.Day, v.today(airport))
	date := day.Format(time.DateOnly)
	tries := [][2]string{{"D", date}}
	for ago := latestArrival; q.Day.IsZero() && ago >= earliestArrival; ago-- {
		if ago != 0 {
			tries = append(tries, [2]string{"A", day.AddDate(0, 0, -ago).Format(time.DateOnly)})
		}
	}
	for _, try := range append(tries, [2]string{"A", date}) {
		var list flightList
		target := joined("flights", airport, try[0], q.Airline, q.Flight, try[1])
		p := v.ask("/v1/"+target+"?limit=1", nil, &list)
		if p == nil && list.Flight.Bags > 0 && (try[1] == date || v.boardDay(list.Flight, airport, true).Format(time.DateOnly) == date) {
			return Path + target, true
		}
	}
	return path("flights", airport, "D", q.Airline, q.Flight, date), false
}

// findAny finds the bags that a query asks for. It tries one surname after the other, until one
// finds bags. airport is the airport to search at if the search needs one.
func (v *visit) findAny(data *searchPage, airport string) *problem {
	names := data.Names
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		searches, lacks := v.searches(data.query, name, airport, data.Week)
		data.Missing = lacks
		for _, search := range searches {
			data.SearchedAt, _ = search["airport"].(string)
			if p := v.find(search, &data.Hits); p != nil {
				return p
			}
		}
		if len(data.Hits) > 0 {
			data.use(name)
			break
		}
	}
	return nil
}

// searches returns the request bodies of the searches of /v1 for a query with a surname, which may
// be "": one for all plates, otherwise one for each day. If the query is not enough for a search,
// lacks says what is missing.
func (v *visit) searches(q query, surname, airport string, week bool) (all []map[string]any, lacks string) {
	base := map[string]any{"fields": "list", "limit": 200}
	switch {
	case len(q.Plates) > 0:
		base["plate"] = q.Plates
		return []map[string]any{base}, ""
	case q.PNR != "":
		base["pnr"] = q.PNR
	case q.End != "" && airport != "":
		base["plate_end"], base["airport"] = q.End, airport
	case surname != "" && q.Flight != "":
		base["last_name"], base["airline"], base["flight"] = surname, q.Airline, q.Flight
	case surname != "" && airport != "":
		base["last_name"], base["airport"] = surname, airport
	case q.Flight != "" && airport == "", q.End != "", surname != "":
		return nil, "an airport"
	default:
		return nil, ""
	}
	days := 1
	if q.Day.IsZero() { // from tomorrow on, since a night flight may depart then
		days = 3
		if week {
			days = 8
		}
	}
	for ago := range days {
		search := maps.Clone(base)
		search["date"] = cmp.Or(q.Day, v.today(airport).AddDate(0, 0, 1-ago)).Format(time.DateOnly)
		all = append(all, search)
	}
	return all, ""
}

// find appends the bags that a search of /v1 finds, without those that an earlier search found.
// body is the request body of the search; find sets its cursor.
func (v *visit) find(body map[string]any, hits *[]hit) *problem {
	earlier := *hits
	for {
		var found struct {
			Bags []bagDoc `json:"bags"`
			Next string   `json:"next"`
		}
		p := v.ask("/v1/bags/search", body, &found)
		if p != nil && p.Status == http.StatusForbidden && p.Detail == fault.ForbiddenV1.Remedy && v.session.may("bags") {
			return nil // the bags of that day are out of scope; bags of other days may be in scope
		}
		if p != nil {
			return p
		}
		for _, b := range found.Bags {
			if slices.ContainsFunc(earlier, func(h hit) bool { return h.same(b) }) {
				continue
			}
			h := hit{bagDoc: b, Leg: current(b.Legs, v.now)}
			if n := len(b.Events); n > 0 {
				h.Seen = &b.Events[n-1]
			}
			*hits = append(*hits, h)
		}
		if found.Next == "" {
			return nil
		}
		body["cursor"] = found.Next
	}
}
