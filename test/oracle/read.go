package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"bagtrail/parser"
)

// message is an accepted message or a report, with complete dates and times.
type message struct {
	parser.Message
	report   bool
	raw      string
	text     string // from identifier to end line
	origin   string // origin line with day and time, or ""
	received time.Time
	position *Position
	happened time.Time
	placed   time.Time // where it stands in the order: happened, or the end of its minute
	hasRead  bool
	read     time.Time
	airport  string
	localDay int // day of happened at the airport
	plates   []string
	groups   []*item
}

// item is one group of a message. For a plate, each group is a message of its own, since an event
// is made for each tag, group and message.
type item struct {
	*message
	group           int
	g               parser.Group
	out, in, joined flight // .F, .I and .U 7-9
	on              []flight
}

// flight is a flight element with its year. It is absent if the airline is "".
type flight struct {
	airline, number string
	day             int // days since 1970-01-01
	dated           bool
	airport         string
}

func (f flight) there() bool { return f.airline != "" }

// same reports whether two elements are of one flight: airline, number, suffix and date are equal.
// Airports do not matter.
func (o *Oracle) same(f, g flight) bool {
	return f.there() && g.there() && o.set.SameAirline(f.airline, g.airline) && f.number == g.number && f.day == g.day && f.dated == g.dated
}

// order compares items in the order of events: by time of the event, received time, position, text,
// then by the text as sent and the group.
func order(a, b *item) int {
	return cmp.Or(a.placed.Compare(b.placed), orderOfReceipt(a.message, b.message), cmp.Compare(a.group, b.group))
}

// orderOfReceipt compares messages in the order in which copies are looked for: by received time,
// position, text.
func orderOfReceipt(a, b *message) int {
	return cmp.Or(a.received.Compare(b.received), comparePositions(a.position, b.position), cmp.Compare(a.text, b.text), cmp.Compare(a.raw, b.raw))
}

// comparePositions puts messages without a position after those with one.
func comparePositions(a, b *Position) int {
	nowhere := &Position{Partition: math.MaxInt}
	if a == nil {
		a = nowhere
	}
	if b == nil {
		b = nowhere
	}
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
}

// read parses an input. It returns nil if the message has an error.
func (o *Oracle) read(in Input) *message {
	m := &message{raw: in.Text, received: in.Received, position: in.Position, happened: in.Received}
	m.Parse(in.Text, o.set.Reference)
	if !m.Accepted() {
		return nil
	}
	lines := linesOf(in.Text)
	m.text = strings.Join(lines[slices.Index(lines, m.Identifier):], "\n") // nothing follows the end line
	m.origin = originLine(lines, m.Identifier)
	m.airport = m.Version.Airport
	zone := o.set.Zone(m.airport)

	// The reference for missing years is the received time; for dates other than the read date it
	// is the resolved read date.
	reference := dayOf(in.Received.UTC())
	if j := m.Processing; j.Date != (parser.Date{}) {
		reference = nearest(j.Date, reference)
		if j.HasTime {
			m.hasRead = m.Kind.IsProcessing()
			if j.UTC {
				m.read = clock(reference, j.Seconds)
			} else {
				m.read = instant(clock(reference, j.Seconds), zone)
			}
		}
	}
	if m.hasRead && !m.read.After(m.received) {
		m.happened = m.read
	}
	m.placed = m.happened
	if m.hasRead && m.happened.Equal(m.read) && !readSeconds(lines) {
		// The end of a minute is its last millisecond.
		m.placed = m.read.Add(time.Minute - time.Millisecond)
		if m.placed.After(m.received) {
			m.placed = m.received
		}
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

// linesOf returns the lines of a text without control characters, surrounding blanks and empty
// lines.
func linesOf(text string) []string {
	text = strings.NewReplacer("\x00", "", "\x01", "", "\x02", "", "\x03", "", "\r", "\n").Replace(text)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// originLine returns the last line before the identifier that is an origin line with day and time:
// a dot, a third character other than a slash, and behind the first blank six digits between blanks
// and slashes. The digits are not checked.
func originLine(lines []string, identifier string) string {
	origin := ""
	for _, line := range lines {
		if line == identifier {
			break
		}
		if line[0] != '.' || len(line) > 2 && line[2] == '/' {
			continue
		}
		_, behind, _ := strings.Cut(line, " ")
		for word := range strings.SplitSeq(strings.ReplaceAll(behind, "/", " "), " ") {
			if len(word) == 6 && allDigits(word) {
				origin = line
			}
		}
	}
	return origin
}

// readSeconds reports whether the read time of the message has seconds.
func readSeconds(lines []string) bool {
	for _, line := range lines {
		if strings.HasPrefix(line, ".J/") {
			fields := strings.Split(line, "/")
			return len(fields) > 5 && len(strings.TrimSpace(fields[5])) == len("HHMMSSL")
		}
	}
	return false
}

// itemsOf returns the groups of the messages that name the plate, each once.
func itemsOf(plate string, messages []*message) []*item {
	var items []*item
	for _, m := range messages {
		items = append(items, m.naming(plate)...)
	}
	slices.SortFunc(items, order)
	return items
}

// naming returns the groups that name the plate.
func (m *message) naming(plate string) []*item {
	var items []*item
	for _, it := range m.groups {
		if len(it.tagStatuses(plate)) > 0 {
			items = append(items, it)
		}
	}
	return items
}

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

// arriving reports whether the .F is an arriving flight: it names the .V airport or a place of its
// city, or the message is a BSM with source X.
func (o *Oracle) arriving(it *item) bool {
	return isBSM(it) && it.Version.Source == 'X' || o.samePlace(it.out.airport, it.airport)
}

// onArrival reports whether a BPM is on arrival.
func (o *Oracle) onArrival(it *item) bool {
	if it.out.there() {
		return o.samePlace(it.out.airport, it.airport)
	}
	return it.in.there()
}

// named returns every flight that the item names, except the connection of a .U.
func (it *item) named() []flight {
	var all []flight
	for _, f := range append([]flight{it.out, it.in}, it.on...) {
		if f.there() && f.dated {
			all = append(all, f)
		}
	}
	return all
}

// names reports whether the item names the flight.
func (o *Oracle) names(it *item, f flight) bool {
	return slices.ContainsFunc(it.named(), func(g flight) bool { return o.same(f, g) })
}

func isBSM(it *item) bool { return it.Kind.IsSource() }
func isBPM(it *item) bool { return it.Kind.IsProcessing() }
func isDEL(it *item) bool { return isBSM(it) && it.Change == parser.Delete }

// isNew reports whether the item belongs to a new BSM: neither CHG nor DEL.
func isNew(it *item) bool { return isBSM(it) && it.Change == parser.New }

// isPositioning reports whether the item belongs to a container positioning.
func isPositioning(it *item) bool { return isBPM(it) && len(it.plates) == 0 }

// dated adds the year to a flight element.
func dated(f parser.Flight, reference int) flight {
	d := flight{airline: f.Airline, number: f.Number, airport: f.Airport}
	if f.Present() && f.Date != (parser.Date{}) {
		d.dated = true
		d.day = nearest(f.Date, reference)
	}
	return d
}

// nearest returns the day DDMMM that is nearest to the reference, in the year before, the same year
// or the year after; 29FEB in the nearest leap years. Of two equally near days it returns the
// earlier.
func nearest(d parser.Date, reference int) int {
	year := dateOf(reference).Year()
	best, found := 0, false
	for y := year - 8; y <= year+8; y++ {
		t := time.Date(y, time.Month(d.Month), int(d.Day), 0, 0, 0, 0, time.UTC)
		if t.Day() != int(d.Day) { // the date does not exist in this year
			continue
		}
		if distance := abs(dayOf(t) - reference); !found || distance < abs(best-reference) {
			best, found = dayOf(t), true
		}
	}
	return best
}

// instant returns the instant at which a clock in the zone shows the wall time, which is given as
// if it were UTC. Times that exist twice or not at all are read with the offset before the change.
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
	m := &message{report: true, raw: in.Text, text: in.Text, received: in.Received, position: in.Position,
		happened: in.Received, placed: in.Received}
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
