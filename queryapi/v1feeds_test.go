package queryapi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/enricher/airport"
	"bagtrail/internal/feeds"
	"bagtrail/internal/flightref"
	"bagtrail/internal/web"
	"bagtrail/queryapi"
)

// feedTable holds names of feeds, and what was asked of them.
type feedTable struct {
	names []feeds.Name
	hours int
	err   error
}

func (f *feedTable) Names(context.Context) ([]feeds.Name, error) {
	return append([]feeds.Name(nil), f.names...), f.err
}

func (f *feedTable) Read(_ context.Context, names []feeds.Name, hours int, now time.Time) (found []feeds.Feed, err error) {
	f.hours = hours
	for _, n := range names {
		h := feeds.Hour{Start: now.Truncate(time.Hour), Counts: feeds.Counts{Accepted: 3, Rejected: 1, Codes: map[string]int64{"SVCPRB022": 1}}}
		h.Delays[0], h.Delays[20] = 1, 1
		found = append(found, feeds.Feed{Name: n, First: now, Last: now, Gap: 90 * time.Second, State: feeds.Silent, Hours: []feeds.Hour{h, h}})
	}
	return found, nil
}

func feedSite(table *feedTable) *web.Site {
	noon := func() time.Time { return time.Date(2026, 3, 14, 12, 30, 0, 0, time.UTC) }
	queries := queryapi.Queries{Airports: airport.New(), Flights: flightref.None(), Feeds: table, Clock: noon}
	return web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, queries.Operations(), nil)
}

var someFeeds = []feeds.Name{{Door: "kafka"}, {Airport: "JFK", Door: "http"}, {Airport: "JFK", Door: "kafka"}, {Airport: "LHR", Door: "kafka"}}

// feedsOf returns the feeds of an answer: airport and door of each.
func feedsOf(answer string) string {
	var all []string
	for _, part := range strings.Split(answer, `"state"`) {
		if _, at, found := strings.Cut(part, `{"airport":"`); found {
			all = append(all, at[:3])
		} else if strings.Contains(part, `{"door":"`) {
			all = append(all, "-")
		}
	}
	return strings.Join(all, " ")
}

func TestAFeedIsToldWithItsHours(t *testing.T) {
	table := &feedTable{names: someFeeds[1:2]}
	const counts = `"accepted":%d,"duplicate":0,"rejected":%d,"delay":{"p50":1.0,"p95":994.0},"most_frequent_code":"SVCPRB022"`
	hour := `{"hour":"2026-03-14T12:00:00.000Z",` + fmt.Sprintf(counts, 3, 1) + `}`
	want := `200 {"feeds":[{"airport":"JFK","door":"http","state":"silent","first_received":"2026-03-14T12:30:00.000Z","last_received":"2026-03-14T12:30:00.000Z","usual_gap":90.0,` +
		fmt.Sprintf(counts, 6, 2) + `,"hours":[` + hour + `,` + hour + `]}]}`
	if got := get(feedSite(table), "demo", "/v1/feeds"); got != want || table.hours != 24 {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if get(feedSite(table), "demo", "/v1/feeds?hours=744"); table.hours != 744 {
		t.Errorf("%d hours", table.hours)
	}
}

func TestFeedsAreThoseOfTheAirportsOfTheKey(t *testing.T) {
	s := feedSite(&feedTable{names: someFeeds})
	for _, c := range []struct{ key, query, want string }{
		{"demo", "", "- JFK JFK LHR"},
		{"lx", "", "- JFK JFK LHR"},
		{"lhr", "", "LHR"},
		{"lhr", "?airport=JFK", ""},
		{"demo", "?airport=JFK", "JFK JFK"},
		{"demo", "?airport=JFK&door=kafka", "JFK"},
		{"demo", "?door=fax", ""},
	} {
		if got := get(s, c.key, "/v1/feeds"+c.query); !strings.HasPrefix(got, "200 ") || feedsOf(got) != c.want {
			t.Errorf("%s %s: %s", c.key, c.query, got)
		}
	}
	if w := askV1(s, "history-only", "/v1/feeds", ""); w.Code != 403 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := askV1(feedSite(&feedTable{err: errors.New("away")}), "demo", "/v1/feeds", ""); w.Code != 503 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestPagesGoThroughEveryFeedOnce(t *testing.T) {
	s, seen, cursor := feedSite(&feedTable{names: someFeeds}), "", ""
	for range 5 {
		got := get(s, "demo", "/v1/feeds?limit=1"+cursor)
		seen += feedsOf(got) + " "
		_, next, more := strings.Cut(got, `"next":"`)
		if !more {
			break
		}
		cursor = "&cursor=" + strings.TrimSuffix(next, `"}`)
	}
	if seen != "- JFK JFK LHR " {
		t.Errorf("%q", seen)
	}
}

func TestEveryFaultOfAQuestionForFeedsIsTold(t *testing.T) {
	s := feedSite(&feedTable{err: errors.New("must not be asked")})
	for query, want := range map[string]string{
		"?airport=zrh&door=Fax&hours=0&state=silent": "state unknown, airport malformed, door malformed, hours malformed",
		"?hours=745":             "hours malformed",
		"?hours=1&hours=2":       "hours repeated",
		"?limit=0":               "limit malformed",
		"?cursor=eA&airport=ZRH": "cursor cursor",
	} {
		if got := faultsV1(t, askV1(s, "demo", "/v1/feeds"+query, "")); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
