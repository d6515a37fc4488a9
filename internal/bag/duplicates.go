package bag

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// withoutCopies returns the messages that are events, in the order of received times: of every set of
// copies the one received first (rules §3, duplicates). The messages are those of one plate, or
// container positionings.
func withoutCopies(messages []*Message, window time.Duration) []*Message {
	sorted := slices.Clone(messages)
	slices.SortFunc(sorted, compareArrival)

	type reading struct {
		text string
		at   int64
	}
	type keeping struct {
		message *Message
		place   int // in sorted
	}
	reads := make(map[reading]*Message)
	kept := make(map[string]keeping)
	lastDelete, lastPlain := -1, -1 // places of the last BSM that is a DEL, and that is none

	events := sorted[:0]
	for place, m := range sorted {
		if m.Kind == BPM && !m.Read.IsZero() {
			key := reading{m.Text, m.Read.UnixMilli()}
			first, seen := reads[key]
			switch {
			case !seen:
				reads[key] = m
				events = append(events, m)
			case sameMessage(first, m) && last(events).Group != m.Group:
				events = append(events, m)
			}
			continue
		}
		ends := -1 // a message at this place or behind it ends the window
		if m.Kind == BSM {
			if m.isDelete() {
				ends, lastDelete = lastPlain, place
			} else {
				ends, lastPlain = lastDelete, place
			}
		}
		before, seen := kept[m.Text]
		switch {
		case seen && sameMessage(before.message, m):
			if last(events).Group != m.Group {
				events = append(events, m)
			}
		case seen && m.Received.Sub(before.message.Received) <= window && ends < before.place:
			// a copy
		default:
			kept[m.Text] = keeping{m, place}
			events = append(events, m)
		}
	}
	return events
}

// compareArrival orders messages by received time; at equal times a DEL comes first.
func compareArrival(m, n *Message) int {
	if c := m.Received.Compare(n.Received); c != 0 {
		return c
	}
	if m.isDelete() != n.isDelete() {
		if m.isDelete() {
			return -1
		}
		return 1
	}
	if c := strings.Compare(m.Text, n.Text); c != 0 {
		return c
	}
	if c := strings.Compare(m.Raw, n.Raw); c != 0 {
		return c
	}
	return cmp.Compare(m.Group, n.Group)
}

// sameMessage reports whether m and n are groups of one message.
func sameMessage(m, n *Message) bool {
	return m.Received.Equal(n.Received) && m.Raw == n.Raw
}

func last(events []*Message) *Message { return events[len(events)-1] }
