package bag

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"bagtrail/internal/few"
)

// withoutCopies returns the messages that are events, in the order of received times: of every set of
// copies the one received first (rules §3, duplicates). The messages are those of one plate, or
// container positionings.
func withoutCopies(messages []*Message, window time.Duration) []*Message {
	sorted := slices.Clone(messages)
	if len(sorted) < 2 {
		return sorted
	}
	slices.SortFunc(sorted, compareArrival)

	type keeping struct {
		message *Message
		place   int // in sorted
	}
	reads := newTextual[*Message](len(messages))       // the first of each text and read time
	kept := newTextual[keeping](min(len(messages), 4)) // the last of each other text that is an event
	lastDelete, lastPlain := -1, -1                    // places of the last BSM that is a DEL, and that is none

	events := sorted[:0]
	for place, m := range sorted {
		if m.Kind == BPM && !m.Read.IsZero() {
			first := reads.of(m.Text, m.Read.UnixMilli())
			switch {
			case *first == nil:
				*first = m
				events = append(events, m)
			case sameMessage(*first, m) && last(events).Group != m.Group:
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
		before := kept.of(m.Text, 0)
		seen := before.message != nil
		switch {
		case seen && sameMessage(before.message, m):
			if last(events).Group != m.Group {
				events = append(events, m)
			}
		case seen && m.Received.Sub(before.message.Received) <= window && ends < before.place:
			// a copy
		default:
			*before = keeping{m, place}
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
	if c := m.Text.Compare(n.Text); c != 0 {
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

// textual holds something for each text and time. Like few.Map it looks through what it has one by one while that is
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
	return textual[V]{list: make([]timed[V], 0, min(n, few.Most+1))}
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
	if len(t.list) > few.Most {
		t.index = make(map[stamp]int, 2*few.Most)
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
