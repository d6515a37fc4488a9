package queryapi

import (
	"cmp"
	"context"
	"encoding/json"
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

const usualHours = 24

// feedsV1 answers GET /v1/feeds.
func (q Queries) feedsV1(ctx context.Context, c *web.Call) web.Answer {
	a := newArguments(c)
	a.allowOnly("airport", "door", "hours", "limit", "cursor")
	airport, door := a.text("airport", parser.IsThreeCapitals, airportForm), a.text("door", isDoor, "kafka or http")
	hours := a.number("hours", usualHours, 1, feeds.MaxHours)
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
	return writeFeeds(c, found, next)
}

func isDoor(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

// Documents of /v1/feeds. Times of delays and gaps are in seconds.
type (
	countsDocument struct {
		Accepted  int64          `json:"accepted"`
		Duplicate int64          `json:"duplicate"`
		Rejected  int64          `json:"rejected"`
		Delay     *delayDocument `json:"delay,omitempty"`
		Code      string         `json:"most_frequent_code,omitempty"`
	}
	delayDocument struct {
		P50 json.Number `json:"p50"`
		P95 json.Number `json:"p95"`
	}
	hourDocument struct {
		Hour string `json:"hour"`
		countsDocument
	}
	feedDocument struct {
		Airport  string      `json:"airport,omitempty"`
		Door     string      `json:"door"`
		State    feeds.State `json:"state"`
		First    string      `json:"first_received"`
		Last     string      `json:"last_received"`
		UsualGap json.Number `json:"usual_gap,omitempty"`
		countsDocument
		Hours []hourDocument `json:"hours"`
	}
)

func writeFeeds(c *web.Call, found []feeds.Feed, next string) web.Answer {
	dst := append(c.Buffer, `{"feeds":[`...)
	for i := range found {
		var err error
		if dst, err = c.Part(append(strictjson.AppendComma(dst), strictjson.Encode(feedDocumentOf(&found[i]))...)); err != nil {
			return c.Unavailable(err)
		}
	}
	return c.OK(append(strictjson.AppendMember(append(dst, ']'), "next", next), '}'))
}

func feedDocumentOf(f *feeds.Feed) feedDocument {
	d := feedDocument{
		Airport: f.Airport, Door: f.Door, State: f.State, First: instant(f.First), Last: instant(f.Last),
		Hours: make([]hourDocument, len(f.Hours)),
	}
	if f.Gap > 0 {
		d.UsualGap = seconds(f.Gap)
	}
	var total feeds.Counts
	for i := range f.Hours {
		h := &f.Hours[i]
		total.Add(&h.Counts)
		d.Hours[i] = hourDocument{instant(h.Start), countsOf(&h.Counts)}
	}
	d.countsDocument = countsOf(&total)
	return d
}

func countsOf(counts *feeds.Counts) countsDocument {
	d := countsDocument{Accepted: counts.Accepted, Duplicate: counts.Duplicate, Rejected: counts.Rejected, Code: counts.Code()}
	if p50, there := counts.Delays.Quantile(0.5); there {
		p95, _ := counts.Delays.Quantile(0.95)
		d.Delay = &delayDocument{seconds(p50), seconds(p95)}
	}
	return d
}

// instant returns a time as /v1 writes it.
func instant(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// seconds returns a duration in seconds, to a tenth of one.
func seconds(d time.Duration) json.Number {
	return json.Number(strconv.FormatFloat(d.Seconds(), 'f', 1, 64))
}
