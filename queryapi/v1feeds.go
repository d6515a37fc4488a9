package queryapi

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"bagtrail/internal/feeds"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// Feeds reads feeds; *feeds.Store implements it.
type Feeds interface {
	// Names returns the names of all feeds, in order.
	Names(ctx context.Context) ([]feeds.Name, error)
	// Read returns feeds in the order of their names, each with its last hours.
	Read(ctx context.Context, names []feeds.Name, hours int, now time.Time) ([]feeds.Feed, error)
}

const defaultHours = 24

// feedsV1 answers GET /v1/feeds.
func (q Queries) feedsV1(ctx context.Context, c *web.Call) web.Answer {
	a := newArguments(c).allowOnly("airport", "door", "hours", "limit", "cursor")
	airport, door := a.text("airport", parser.IsThreeCapitals, airportForm), a.text("door", isDoor, "kafka or http")
	hours := a.number("hours", defaultHours, 1, feeds.MaxHours)
	part := a.page("feeds", airport, door, strconv.Itoa(hours))
	if refusal, refused := a.refusal(c); refused {
		return refusal
	}
	names, err := q.Feeds.Names(ctx)
	if err != nil {
		return c.Unavailable(err)
	}
	names = slices.DeleteFunc(names, func(n feeds.Name) bool {
		return cmp.Or(airport, n.Airport) != n.Airport || cmp.Or(door, n.Door) != n.Door || n.String() <= part.position ||
			!c.Key.Airport(n.Airport)
	})
	next := ""
	if len(names) > part.limit {
		names = names[:part.limit]
		next = part.next(names[len(names)-1].String())
	}
	found, err := q.Feeds.Read(ctx, names, hours, q.Clock())
	if err != nil {
		return c.Unavailable(err)
	}
	dst := append(c.Buffer, `{"feeds":[`...)
	for i := range found {
		dst = c.Part(appendFeed(strictjson.AppendComma(dst), &found[i]))
	}
	return c.OK(append(strictjson.AppendMember(append(dst, ']'), "next", next), '}'))
}

func isDoor(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

func appendFeed(dst []byte, f *feeds.Feed) []byte {
	dst = strictjson.AppendMember(append(dst, '{'), "airport", f.Airport)
	dst = strictjson.AppendText(dst, "door", f.Door)
	dst = strictjson.AppendText(dst, "state", string(f.State))
	dst = strictjson.AppendInstant(dst, "first_received", f.First)
	dst = strictjson.AppendInstant(dst, "last_received", f.Last)
	if f.Gap > 0 {
		dst = appendSeconds(dst, "usual_gap", f.Gap)
	}
	var total feeds.Counts
	for i := range f.Hours {
		total.Add(&f.Hours[i].Counts)
	}
	dst = append(appendCounts(dst, &total), `,"hours":[`...)
	for i := range f.Hours {
		dst = strictjson.AppendInstant(append(strictjson.AppendComma(dst), '{'), "hour", f.Hours[i].Start)
		dst = append(appendCounts(dst, &f.Hours[i].Counts), '}')
	}
	return append(dst, ']', '}')
}

func appendCounts(dst []byte, c *feeds.Counts) []byte {
	dst = strictjson.AppendNumber(dst, "accepted", c.Accepted)
	dst = strictjson.AppendNumber(dst, "duplicate", c.Duplicate)
	dst = strictjson.AppendNumber(dst, "rejected", c.Rejected)
	if p50, there := c.Delays.Quantile(0.5); there {
		p95, _ := c.Delays.Quantile(0.95)
		dst = appendSeconds(append(dst, `,"delay":{`...), "p50", p50)
		dst = append(appendSeconds(dst, "p95", p95), '}')
	}
	return strictjson.AppendMember(dst, "most_frequent_code", c.Code())
}

// appendSeconds appends a duration in seconds, to a tenth of one.
func appendSeconds(dst []byte, name string, d time.Duration) []byte {
	return strconv.AppendFloat(strictjson.AppendName(dst, name), d.Seconds(), 'f', 1, 64)
}
