package bag

import (
	"context"
	"slices"
	"time"

	"bagtrail/internal/smallmap"
	"bagtrail/parser"
)

// series names a sequence of messages. A copy repeats the message directly before it in its series
// (rules §3, duplicates).
type series struct {
	kind    parser.Kind
	airport string
}

// withoutCopies returns the messages that are events, in the order in which they were received: it
// leaves out copies of earlier messages (rules §3, duplicates). The messages are those of one
// plate, or the positionings of one container.
func (r Rules) withoutCopies(ctx context.Context, messages []*Message) ([]*Message, error) {
	sorted := slices.Clone(messages)
	slices.SortFunc(sorted, (*Message).compareReceipt)
	seen := copyFinder{rules: r}
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

// askEvery is the number of messages after which a fold checks its context. So many messages take a
// few milliseconds.
const askEvery = 1024

// copyFinder recognises copies. Messages are added in the order in which they were received.
type copyFinder struct {
	rules   Rules
	sets    []Status // a buffer for statuses
	reads   smallmap.Set[reading]
	runs    smallmap.Map[series, run]
	origins smallmap.Map[origin, time.Time] // received time of the first message
	loads   smallmap.Map[string, time.Time] // received time of the latest message that sets Loaded and has no read time
	latest  smallmap.Map[string, statusBPM] // by airport: the latest status-setting BPM
}

// run describes the last messages of a series that have the same text.
type run struct {
	text    string
	event   time.Time // received time of the last of them that is an event
	isEvent bool      // one of them is an event
}

// reading is a text with the read time of its message, in milliseconds since 1970.
type reading struct {
	text string
	at   int64
}

// origin is an origin line and the text after it.
type origin struct {
	line string
	text string
}

// statusBPM is a BPM that sets a status.
type statusBPM struct {
	message *Message
	sets    Status
}

// add adds a message and reports whether it is a copy of an earlier one. groups are the groups of
// the message that name the plate, or position the container.
func (c *copyFinder) add(groups []*Message) (isCopy bool) {
	m := groups[0]
	sets, key := c.statuses(groups), series{m.Kind, m.Airport}
	before := c.runs.Value(key)
	if before.text != m.Text {
		before = run{text: m.Text}
	}
	if m.isTimed() {
		isCopy = c.readAgain(m)
	} else {
		isCopy = before.isEvent && m.Received.Sub(before.event) <= c.rules.Window
		isCopy = c.sentAgain(m) || isCopy
		isCopy = c.loadedAgain(m, sets) || isCopy
	}
	if !isCopy {
		before.event, before.isEvent = m.Received, true
		c.setStatus(groups, sets)
	}
	c.runs.Set(key, before)
	return isCopy
}

// readAgain reports whether m repeats a text with the same read time.
func (c *copyFinder) readAgain(m *Message) bool {
	return !c.reads.Add(reading{m.Text, m.Read.UnixMilli()})
}

// sentAgain reports whether m repeats a text with the same origin line that was received more than
// a minute before.
func (c *copyFinder) sentAgain(m *Message) bool {
	if m.Origin == "" {
		return false
	}
	key := origin{m.Origin, m.Text}
	if first, have := c.origins.Get(key); have {
		return m.Received.Sub(first) > time.Minute
	}
	c.origins.Set(key, m.Received)
	return false
}

// loadedAgain reports whether m repeats a text that sets Loaded and was received within the window,
// and the bag was offloaded since. So a text that is sent again never puts a bag back on board.
// sets are the statuses that the groups of m set.
func (c *copyFinder) loadedAgain(m *Message, sets []Status) bool {
	if !slices.ContainsFunc(sets, Status.Loaded) {
		return false
	}
	before := c.loads.Value(m.Text)
	c.loads.Set(m.Text, m.Received)
	latest := c.latest.Value(m.Airport)
	return !before.IsZero() && m.Received.Sub(before) <= c.rules.Window && latest.sets == Offloaded
}

// statuses returns the status that each group of a BPM sets, or nil for a BSM. The result is valid
// until the next call.
func (c *copyFinder) statuses(groups []*Message) []Status {
	if !groups[0].Kind.IsProcessing() {
		return nil
	}
	c.sets = c.sets[:0]
	for _, m := range groups {
		c.sets = append(c.sets, processingEvent(m).Sets)
	}
	return c.sets
}

// setStatus records the latest status-setting BPM of each airport. groups are an event, and sets
// are the statuses that its groups set.
func (c *copyFinder) setStatus(groups []*Message, sets []Status) {
	for i, status := range sets {
		m := groups[i]
		if status == NoStatus {
			continue
		}
		if latest := c.latest.Value(m.Airport); latest.message == nil || latest.message.compare(m) < 0 {
			c.latest.Set(m.Airport, statusBPM{m, status})
		}
	}
}
