package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// statusDoc is the answer of GET /v1/status.
type statusDoc struct {
	Rate         float64           `json:"messages_per_second"`
	LagRecords   *int              `json:"lag_records"`
	LagSeconds   *float64          `json:"lag_seconds"`
	ChangesDelay *float64          `json:"changes_delay_seconds"`
	Parts        map[string]string `json:"parts"`
}

// feedDoc is a feed of GET /v1/feeds.
type feedDoc struct {
	Airport  string    `json:"airport"`
	Door     string    `json:"door"`
	State    string    `json:"state"`
	Last     time.Time `json:"last_received"`
	UsualGap float64   `json:"usual_gap"`
	feedCounts
	Hours []struct {
		Hour time.Time `json:"hour"`
		feedCounts
	} `json:"hours"`
}

type feedCounts struct {
	Accepted  int `json:"accepted"`
	Duplicate int `json:"duplicate"`
	Rejected  int `json:"rejected"`
	Delay     *struct {
		P50 float64 `json:"p50"`
		P95 float64 `json:"p95"`
	} `json:"delay"`
	Code string `json:"most_frequent_code"`
}

func (c feedCounts) total() int { return c.Accepted + c.Duplicate + c.Rejected }

// feedsPage is the data of the screen of feeds.
type feedsPage struct {
	Status  statusDoc
	Feeds   []feedRow // in the order of feedLook.Order, then those with the most messages first
	Silent  []feedRow // those of Feeds that are silent, by airport
	Refused bool      // the key may not see feeds
}

// feedRow is a feed in the table.
type feedRow struct {
	feedDoc
	feedLook
	Words   string // what the filter finds
	Spark   string // points of the line of the last 24 hours, in a box of 100 by 30
	Now     int    // messages of this hour
	Total   int    // messages of 24 hours
	Percent string // rejected
}

// feedLook is how feeds in one state are shown.
type feedLook struct {
	Order int    // the feeds that need attention come first
	Class string // of the row
	Icon  string
}

// feedLooks holds the looks by state.
var feedLooks = map[string]feedLook{"silent": {0, "is-risk late", "del"}, "new": {1, "", "not"}, "flowing": {2, "", "air"}}

// feeds shows the state of the service, and how much each feed sends.
func (v *visit) feeds() (view, *problem) {
	shown := view{Title: "Feeds", Section: "feeds", Airport: v.airport(), Live: &live{}}
	var data feedsPage
	if p := v.ask("/v1/status", nil, &data.Status); p != nil {
		return shown, p
	}
	query := url.Values{"limit": {"1000"}}
	for {
		var list struct {
			Feeds []feedDoc `json:"feeds"`
			Next  string    `json:"next"`
		}
		p := v.ask("/v1/feeds?"+query.Encode(), nil, &list)
		if data.Refused = p != nil && p.Status == http.StatusForbidden; p != nil && !data.Refused {
			return shown, p
		}
		for _, f := range list.Feeds {
			r := v.feedRow(f)
			data.Feeds = append(data.Feeds, r)
			if r.State == "silent" {
				data.Silent = append(data.Silent, r)
			}
		}
		if list.Next == "" {
			break
		}
		query.Set("cursor", list.Next)
	}
	slices.SortStableFunc(data.Feeds, func(a, b feedRow) int { return cmp.Or(a.Order-b.Order, b.Total-a.Total) })
	shown.Data = data
	return shown, nil
}

// feedRow returns the row of a feed at the time of the visit.
func (v *visit) feedRow(f feedDoc) feedRow {
	r := feedRow{
		feedDoc: f, feedLook: feedLooks[f.State], Total: f.total(),
		Words: strings.ToLower(f.Airport + " " + f.Door + " " + f.State), Percent: "0 %",
	}
	if r.Total > 0 && f.Rejected > 0 {
		r.Percent = fmt.Sprintf("%.1f %%", 100*float64(f.Rejected)/float64(r.Total))
	}
	const shown = 24
	var counts [shown]int
	most := 1
	for _, h := range f.Hours {
		if ago := int(v.now.Truncate(time.Hour).Sub(h.Hour).Hours()); ago >= 0 && ago < shown {
			counts[shown-1-ago] = h.total()
			most = max(most, h.total())
		}
	}
	var points []string
	for i, n := range counts {
		points = append(points, fmt.Sprintf("%.1f,%.1f", float64(i)*100/(shown-1), 28-26*float64(n)/float64(most)))
	}
	r.Spark, r.Now = strings.Join(points, " "), counts[shown-1]
	return r
}

// seconds shows a number of seconds: "400 ms", "21.0 s" or "3 min".
func seconds(s float64) string {
	switch {
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 100:
		return fmt.Sprintf("%.1f s", s)
	}
	return span(time.Duration(s) * time.Second)
}
