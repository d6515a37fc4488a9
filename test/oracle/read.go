package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"bagtrail/parser"
)

// message is an accepted message, or a report, with its dates and times made whole.
type message struct {
	parser.Message
	report   bool
	raw      string
	text     string // canonical text
	received time.Time
	happened time.Time
	hasRead  bool
	read     time.Time
	airport  string
	localDay int // day of happened at the airport
	plates   []string
	groups   []*item
}

// item is one group of a message. To a plate it is a message of its own, since one event a tag, group and message is made.
type item struct {
	*message
	group           int
	g               parser.Group
	out, in, joined flight // .F, .I and .U 7-9
	on              []flight
}

// flight is a flight element with its year; no airline: no flight, no day: no date.
type flight struct {
	airline, number string
	day             int // days since 1970-01-01
	dated           bool
	airport         string
}

func (f flight) there() bool { return f.airline != "" }

// same says whether two elements are about one flight: airline, number, suffix, date. Airports do not matter.
func (f flight) same(g flight) bool {
	return f.there() && f.airline == g.airline && f.number == g.number && f.day == g.day && f.dated == g.dated
}

// order is the order of rules §2: happened, received, content; content is the canonical text, then the text as sent.
// The groups of one message follow each other.
func order(a, b *item) int {
	return cmp.Or(a.happened.Compare(b.happened), a.received.Compare(b.received),
		cmp.Compare(a.text, b.text), cmp.Compare(a.raw, b.raw), cmp.Compare(a.group, b.group))
}

// canonical returns the canonical text of a message.
func canonical(m *parser.Message) string {
	lines, returns := m.Canonical()
	if returns {
		return strings.ReplaceAll(lines, "\r\n", "\n")
	}
	return lines
}

// read parses the input; nil where the message has an error.
func (o *Oracle) read(in Input) *message {
	m := &message{raw: in.Text, received: in.Received, happened: in.Received}
	m.Parse(in.Text, o.set.Reference)
	if !m.Accepted() {
		return nil
	}
	m.text = canonical(&m.Message)
	m.airport = m.Version.Airport
	zone := o.set.Zone(m.airport)

	// The missing year: the reference is the received moment, or the resolved read date for the other dates.
	reference := dayOf(in.Received.UTC())
	if j := m.Processing; !j.Date.IsZero() {
		reference = nearest(j.Date, reference)
		if j.HasTime {
			m.hasRead = true
			if j.UTC {
				m.read = clock(reference, j.Seconds)
			} else {
				m.read = instant(clock(reference, j.Seconds), zone)
			}
		}
	}
	if m.Kind == parser.BPM && m.hasRead && m.read.Sub(m.received) <= 24*time.Hour {
		m.happened = m.read
	}
	m.localDay = dayOf(m.happened.In(zone))

	for i, g := range m.Groups {
		it := &item{message: m, group: i, g: g,
			out: dated(g.Outbound, reference), in: dated(g.Inbound, reference), joined: dated(g.Loading.Connection, reference)}
		for _, f := range g.Onward {
			it.on = append(it.on, dated(f, reference))
		}
		m.groups = append(m.groups, it)
		for _, tags := range g.Tags {
			for n := range tags.Count {
				m.plates = append(m.plates, fmt.Sprintf("%010d", tags.First+uint64(n)))
			}
		}
	}
	slices.Sort(m.plates)
	m.plates = slices.Compact(m.plates)
	return m
}

// itemsOf returns the groups of the messages that name the plate, each once.
func itemsOf(plate string, messages []*message) []*item {
	var items []*item
	for _, m := range messages {
		for _, it := range m.groups {
			if it.names(plate) {
				items = append(items, it)
			}
		}
	}
	slices.SortFunc(items, order)
	return items
}

func (it *item) names(plate string) bool { return len(it.tagStatuses(plate)) > 0 }

// tagStatuses returns the status codes under which the group names the plate, "" for an .N.
func (it *item) tagStatuses(plate string) []string {
	var statuses []string
	for _, tags := range it.g.Tags {
		for n := range tags.Count {
			if fmt.Sprintf("%010d", tags.First+uint64(n)) == plate {
				statuses = append(statuses, tags.Status)
			}
		}
	}
	return statuses
}

// arriving says whether the .F is the arriving flight: it names the .V airport, or the source is X.
func (o *Oracle) arriving(it *item) bool {
	return it.Kind == parser.BSM && it.Version.Source == 'X' || o.place(it.out.airport) == o.place(it.airport)
}

// named returns every flight that the item names. The connection of a .U is none of them.
func (it *item) named() []flight {
	var all []flight
	for _, f := range append([]flight{it.out, it.in}, it.on...) {
		if f.there() && f.dated {
			all = append(all, f)
		}
	}
	return all
}

// dated gives a flight element its year.
func dated(f parser.Flight, reference int) flight {
	d := flight{airline: f.Airline, number: f.Number, airport: f.Airport}
	if f.Present() && !f.Date.IsZero() {
		d.dated = true
		d.day = nearest(f.Date, reference)
	}
	return d
}

// nearest returns the day DDMMM that is nearest to the reference: of the year before, the same, the year after
// (29FEB: of the nearest leap years). A tie goes to the past.
func nearest(d parser.Date, reference int) int {
	year := dateOf(reference).Year()
	best, found := 0, false
	for y := year - 8; y <= year+8; y++ {
		t := time.Date(y, time.Month(d.Month), int(d.Day), 0, 0, 0, 0, time.UTC)
		if t.Day() != int(d.Day) { // no such date in this year
			continue
		}
		if distance := abs(dayOf(t) - reference); !found || distance < abs(best-reference) {
			best, found = dayOf(t), true
		}
	}
	return best
}

// instant returns when a clock at the place of zone shows the wall time (given as if it were UTC). Times that exist
// twice or not at all are read with the offset before the change.
func instant(wall time.Time, zone *time.Location) time.Time {
	_, before := wall.Add(-24 * time.Hour).In(zone).Zone()
	_, after := wall.Add(24 * time.Hour).In(zone).Zone()
	early := wall.Add(-time.Duration(before) * time.Second)
	late := wall.Add(-time.Duration(after) * time.Second)
	shows := func(t time.Time) bool {
		_, offset := t.In(zone).Zone()
		return t.Add(time.Duration(offset) * time.Second).Equal(wall)
	}
	if !shows(early) && shows(late) {
		return late
	}
	return early
}

func dayOf(t time.Time) int {
	return int(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

func dateOf(day int) time.Time { return time.Unix(int64(day)*86400, 0).UTC() }

func dayText(day int) string { return dateOf(day).Format(time.DateOnly) }

func clock(day, seconds int) time.Time {
	return dateOf(day).Add(time.Duration(seconds) * time.Second)
}

func abs(n int) int { return max(n, -n) }

// readReport reads a delayed-bag report.
func (o *Oracle) readReport(in Input) *message {
	m := &message{report: true, raw: in.Text, text: in.Text, received: in.Received, happened: in.Received}
	var document struct {
		Station string   `json:"station"`
		Plates  []string `json:"bags"`
	}
	if json.Unmarshal([]byte(in.Text), &document) != nil {
		return m
	}
	m.airport = document.Station
	m.localDay = dayOf(m.happened.In(o.set.Zone(m.airport)))
	m.plates = document.Plates
	slices.Sort(m.plates)
	m.plates = slices.Compact(m.plates)
	m.groups = []*item{{message: m}}
	return m
}

func allDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}
