package parser

import "slices"

// passengerElements is the set of elements that, after a tag, let the next tag open a group.
const passengerElements = letters(1<<('S'-'A') | 1<<('W'-'A') | 1<<('P'-'A') | 1<<('L'-'A') | 1<<('Y'-'A'))

// group returns the open group, which is the last one. The pointer is valid until another group
// opens.
func (m *Message) group() *Group { return &m.Groups[len(m.Groups)-1] }

func (m *Message) openGroup() *Group {
	n := len(m.Groups)
	m.Groups = slices.Grow(m.Groups, 1)[:n+1]
	g := &m.Groups[n]
	*g = Group{}
	g.Weight = Weight{Pieces: -1, Checked: -1}

	m.scratch.own, m.scratch.tagged = 0, false
	return g
}

// openTagGroup is called at each .N and .B that is read. It opens a group if the open one has a
// tag, and an element of its passenger after its last tag. The new group inherits the flights.
func (m *Message) openTagGroup() {
	s := &m.scratch
	if s.tagged && s.sinceTag&passengerElements != 0 {
		before := m.group()
		g := m.openGroup()
		g.Outbound, g.Inbound, g.Onward = before.Outbound, before.Inbound, before.Onward
	}
	s.tagged, s.sinceTag = true, 0
}

// shareLoading sets the .U of each group without one to the first .U that stands before any tag.
func (m *Message) shareLoading() {
	if m.scratch.firstLoading < 0 {
		return
	}
	shared := m.Groups[m.scratch.firstLoading].Loading
	for i := range m.Groups {
		if g := &m.Groups[i]; !g.Loading.Present {
			g.Loading = shared
		}
	}
}

// extend appends v to memory and returns part with v at its end. part must be empty or the end of
// memory. So the parts of all groups share one slice, which the next Parse reuses. Earlier parts do
// not change.
func extend[T any](memory *[]T, part []T, v T) []T {
	*memory = append(*memory, v)
	n := len(*memory)
	return (*memory)[n-len(part)-1 : n : n]
}
