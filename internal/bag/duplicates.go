package bag

import (
	"cmp"
	"context"
	"slices"
	"time"

	"bagtrail/internal/smallmap"
	"bagtrail/parser"
)

// series is the messages among which a copy is looked for just before it (rules §3, duplicates).
type series struct {
	kind      parser.Kind
	airport   string
	container Container // of positionings; zero for messages of a tag
}

// sameTag returns the series of a message that names a tag.
func sameTag(m *Message) series { return series{kind: m.Kind, airport: m.Airport} }

// containerOf returns the series of a container positioning.
func containerOf(m *Message) series {
	return series{m.Kind, m.Airport, Container{m.Outbound.Flight, m.Device}}
}

// withoutCopies returns the messages that are events, in the order of received times: of every set of copies the one
// received first (rules §3, duplicates). The messages are those of one plate, or container positionings.
func (r Rules) withoutCopies(ctx context.Context, messages []*Message, in func(*Message) series) ([]*Message, error) {
	if len(messages) < 2 {
		return messages, nil
	}
	sorted := slices.Clone(messages)
	slices.SortFunc(sorted, func(m, n *Message) int {
		return cmp.Or(compareArrival(m, n), cmp.Compare(m.Group, n.Group))
	})
	seen := copies{rules: r, in: in, reads: newTextual[bool](len(sorted)), loads: newTextual[time.Time](0)}
	seen.untimed = slices.ContainsFunc(sorted, func(m *Message) bool { return m.Kind == parser.BPM && m.Read.IsZero() })
	events := sorted[:0]
	for start := 0; start < len(sorted); {
		end := start + 1
		for end < len(sorted) && sameMessage(sorted[start], sorted[end]) {
			end++
		}
		groups := sorted[start:end]
		if !seen.add(groups) {
			events = append(events, groups...)
		}
		if start/askEvery != end/askEvery && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		start = end
	}
	return events, nil
}

// askEvery is after how many messages a fold asks whether it is still wanted: a few milliseconds.
const askEvery = 1024

// copies recognises copies among messages that are added in the order of their receipt.
type copies struct {
	rules   Rules
	in      func(*Message) series
	untimed bool                             // a BPM has no read time: only such messages ask which status was set last
	sets    []Status                         // of the message that is added
	reads   textual[bool]                    // the texts with a read time, and their read times
	runs    smallmap.Map[series, run]        // the latest messages of each series
	origins map[origin]time.Time             // when a text came first behind an origin line
	loads   textual[time.Time]               // when a text that says loaded, without a read time, came last
	latest  smallmap.Map[string, settingBPM] // airport → its latest status-setting event
}

// run is the messages of a series with one text behind which no other came.
type run struct {
	text    Text
	event   time.Time // received time of the last of them that is an event
	isEvent bool      // there is one
}

// origin is an origin line with the text behind it, in a series.
type origin struct {
	series     series
	line, text string
}

// settingBPM is a BPM that sets a status.
type settingBPM struct {
	message *Message
	sets    Status
}

// add reports whether a message is a copy of one before it. groups are those of its groups that name the plate, or position the
// container.
func (c *copies) add(groups []*Message) (isCopy bool) {
	m, sets := groups[0], c.statuses(groups)
	series := c.in(m)
	before, have := c.runs.Get(series)
	if !have || !before.text.Equal(m.Text) {
		before = run{text: m.Text}
	}
	if m.Kind == parser.BPM && !m.Read.IsZero() {
		read := c.reads.of(m.Text, m.Read.UnixMilli())
		isCopy, *read = *read, true
	} else {
		isCopy = before.isEvent && m.Received.Sub(before.event) <= c.rules.Window
		isCopy = c.sentAgain(m) || isCopy
		isCopy = c.loadedAgain(m, sets) || isCopy
	}
	if !isCopy {
		before.event, before.isEvent = m.Received, true
		c.setStatus(groups, sets)
	}
	c.runs.Set(series, before)
	return isCopy
}

// sentAgain reports whether a text came behind the same origin line before, more than a minute ago.
func (c *copies) sentAgain(m *Message) bool {
	if m.Origin == "" {
		return false
	}
	key := origin{c.in(m), m.Origin, m.Text.String()}
	first, have := c.origins[key]
	if !have {
		if c.origins == nil {
			c.origins = make(map[origin]time.Time)
		}
		c.origins[key] = m.Received
		return false
	}
	return m.Received.Sub(first) > time.Minute
}

// loadedAgain reports whether a text that says loaded came before, inside the window, and the bag was offloaded since: a text that is sent
// again never puts a bag back on board. sets are the statuses that the groups of m set.
func (c *copies) loadedAgain(m *Message, sets []Status) bool {
	if m.Kind != parser.BPM || c.in(m).container != (Container{}) || !slices.ContainsFunc(sets, Status.Loaded) {
		return false
	}
	last := c.loads.of(m.Text, 0)
	before := *last
	*last = m.Received
	latest := c.latest.Value(m.Airport)
	return !before.IsZero() && m.Received.Sub(before) <= c.rules.Window && latest.sets == Offloaded
}

// statuses returns the status that each group sets, nothing if no message asks for them.
func (c *copies) statuses(groups []*Message) []Status {
	if !c.untimed || groups[0].Kind != parser.BPM {
		return nil
	}
	c.sets = c.sets[:0]
	for _, m := range groups {
		c.sets = append(c.sets, c.rules.processingEvent(m).Sets)
	}
	return c.sets
}

// setStatus takes up an event whose groups set these statuses.
func (c *copies) setStatus(groups []*Message, sets []Status) {
	for i, status := range sets {
		m := groups[i]
		if status == NoStatus {
			continue
		}
		if latest := c.latest.Value(m.Airport); latest.message == nil || latest.message.compare(m) < 0 {
			c.latest.Set(m.Airport, settingBPM{m, status})
		}
	}
}

// sameMessage reports whether m and n are groups of one message.
func sameMessage(m, n *Message) bool {
	return m.Received.Equal(n.Received) && m.Position == n.Position && m.Raw == n.Raw
}

// textual holds something for each text and time. Like smallmap.Map it looks through what it has one by one while that is
// little: most texts differ in length already.
type textual[V any] struct {
	list  []timed[V]
	index map[stamp]int // in list, where that is more than a few
}

type timed[V any] struct {
	text  Text
	at    int64
	value V
}

// newTextual returns one with memory for so many texts, if these are few.
func newTextual[V any](n int) textual[V] {
	return textual[V]{list: make([]timed[V], 0, min(n, smallmap.Most+1))}
}

type stamp struct {
	text string
	at   int64
}

// of returns where the value of a text and time is, which is zero at first. It holds until the next call.
func (t *textual[V]) of(text Text, at int64) *V {
	if t.index != nil {
		key := stamp{text.String(), at}
		i, have := t.index[key]
		if !have {
			i = t.add(text, at)
			t.index[key] = i
		}
		return &t.list[i].value
	}
	for i := range t.list {
		if e := &t.list[i]; e.at == at && e.text.Equal(text) {
			return &e.value
		}
	}
	i := t.add(text, at)
	if len(t.list) > smallmap.Most {
		t.index = make(map[stamp]int, 2*smallmap.Most)
		for i, e := range t.list {
			t.index[stamp{e.text.String(), e.at}] = i
		}
	}
	return &t.list[i].value
}

func (t *textual[V]) add(text Text, at int64) int {
	t.list = append(t.list, timed[V]{text: text, at: at})
	return len(t.list) - 1
}
