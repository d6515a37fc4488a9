package oracle

import (
	"slices"
	"time"
)

// withoutCopies returns the messages of a tag that make events (rules §3, duplicates).
func (o *Oracle) withoutCopies(plate string, messages []*message) []*message {
	return o.firsts(messages, func(m *message) []*event {
		var events []*event
		for _, it := range m.naming(plate) {
			if isBPM(it) {
				events = append(events, &event{item: it, row: o.processedRow(it, it.tagStatuses(plate))})
			}
		}
		return events
	})
}

// firsts returns the messages that are not copies of earlier ones. events returns the events that a
// BPM makes for the tag.
func (o *Oracle) firsts(messages []*message, events func(*message) []*event) []*message {
	messages = slices.Clone(messages)
	slices.SortFunc(messages, orderOfReceipt)
	var kept []*message
	for i, m := range messages {
		var copied bool
		if earlier := messages[:i]; m.hasRead {
			copied = repeatsRead(m, earlier)
		} else {
			copied = o.repeatsNeighbour(m, earlier, kept) || repeatsOrigin(m, earlier) || o.loadsAgain(m, earlier, kept, events)
		}
		if !copied {
			kept = append(kept, m)
		}
	}
	return kept
}

// repeatsRead reports whether an earlier message has the text and the read instant of m.
func repeatsRead(m *message, earlier []*message) bool {
	return slices.ContainsFunc(earlier, func(e *message) bool { return e.text == m.text && e.read.Equal(m.read) })
}

// repeatsNeighbour reports whether m continues a run of equal messages: the message of its kind and
// airport just before it has the same text, and m was received within the window after the last
// message of the run that made an event. Reading: if no message of the run made one, since it
// begins with a copy of another sort, m is not a copy here.
func (o *Oracle) repeatsNeighbour(m *message, earlier, kept []*message) bool {
	for _, e := range slices.Backward(earlier) {
		if e.Kind != m.Kind || e.airport != m.airport {
			continue
		}
		if e.text != m.text {
			return false
		}
		if slices.Contains(kept, e) {
			return m.received.Sub(e.received) <= o.set.Window
		}
	}
	return false
}

// repeatsOrigin reports whether a message that was received more than a minute earlier has the text
// and the origin line of m.
func repeatsOrigin(m *message, earlier []*message) bool {
	return m.origin != "" && slices.ContainsFunc(earlier, func(e *message) bool {
		return e.text == m.text && e.origin == m.origin && m.received.Sub(e.received) > time.Minute
	})
}

// loadsAgain reports whether m repeats, inside the window, the text of an earlier message that sets
// Loaded, copies included, while the latest status-setting event of the tag at the airport is
// Offloaded. Reports do not count.
func (o *Oracle) loadsAgain(m *message, earlier, kept []*message, events func(*message) []*event) bool {
	if !slices.ContainsFunc(events(m), func(e *event) bool { return e.loads() }) {
		return false
	}
	if !slices.ContainsFunc(earlier, func(e *message) bool { return e.text == m.text && m.received.Sub(e.received) <= o.set.Window }) {
		return false
	}
	var latest *event
	for _, k := range kept {
		for _, e := range events(k) {
			if e.airport == m.airport && e.status != "" && (latest == nil || order(e.item, latest.item) > 0) {
				latest = e
			}
		}
	}
	return latest != nil && latest.status == "Offloaded"
}
