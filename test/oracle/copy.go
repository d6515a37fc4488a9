package oracle

import (
	"slices"
	"time"
)

// withoutCopies returns the messages of a tag that become events (rules §3, duplicates).
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

// firsts returns the messages that are no copies of earlier ones. events returns those that a message makes of the tag,
// if it is a BPM.
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

// repeatsRead says whether an earlier message has the text and the read instant of m.
func repeatsRead(m *message, earlier []*message) bool {
	return slices.ContainsFunc(earlier, func(e *message) bool { return e.text == m.text && e.read.Equal(m.read) })
}

// repeatsNeighbour says whether the message of the kind and airport of m just before it has the text of m, and m was
// received within the window after the last one of this run of equal messages that became an event.
// Reading: if none of the run did, since it begins with a copy of another sort, m is no copy here.
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

// repeatsOrigin says whether an earlier message has the text and the origin line of m, and came in more than a minute
// before it.
func repeatsOrigin(m *message, earlier []*message) bool {
	return m.origin != "" && slices.ContainsFunc(earlier, func(e *message) bool {
		return e.text == m.text && e.origin == m.origin && m.received.Sub(e.received) > time.Minute
	})
}

// loadsAgain says whether m says Loaded in the words of an earlier message inside the window, copies included, while the
// latest status-setting event of the tag at the airport, in the order of events, is Offloaded. Reports play no part.
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
