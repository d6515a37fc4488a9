package parser

import "slices"

// passenger are the elements behind a tag after which the next tag belongs to another group.
const passenger = letters(1<<('S'-'A') | 1<<('W'-'A') | 1<<('P'-'A') | 1<<('L'-'A') | 1<<('Y'-'A'))

// group returns the open group, which is the last one. The pointer holds until another group opens.
func (m *Message) group() *Group { return &m.Groups[len(m.Groups)-1] }

// openGroup opens a group that inherits nothing.
func (m *Message) openGroup() *Group {
	n := len(m.Groups)
	m.Groups = slices.Grow(m.Groups, 1)[:n+1]
	g := &m.Groups[n]
	*g = Group{}
	g.Weight = Weight{Pieces: -1, Checked: -1}

	m.scratch.own, m.scratch.tagged = 0, false
	return g
}

// openFlightGroup opens a group at an .F: it inherits the inbound flight.
func (m *Message) openFlightGroup() *Group {
	before := m.group()
	g := m.openGroup()
	g.Inbound = before.Inbound
	return g
}

// openTagGroup opens a group at an .N or .B where the open one has a tag and, behind it, something of its
// passenger: the new one inherits the flights.
func (m *Message) openTagGroup() {
	s := &m.scratch
	if s.tagged && s.since&passenger != 0 {
		before := m.group()
		g := m.openGroup()
		g.Outbound, g.Inbound, g.Onward = before.Outbound, before.Inbound, before.Onward
	}
	s.tagged, s.since = true, 0
}

// shareLoading gives the first .U that stood before any tag to each group without its own.
func (m *Message) shareLoading() {
	if m.scratch.sharer < 0 {
		return
	}
	shared := m.Groups[m.scratch.sharer].Loading
	for i := range m.Groups {
		if g := &m.Groups[i]; !g.Loading.Present {
			g.Loading = shared
		}
	}
}

// extend appends v to part, which lies at the end of memory or is empty, and so keeps the parts of all
// groups in one memory that the next Parse uses again. Parts that are made stay as they are.
func extend[T any](memory *[]T, part []T, v T) []T {
	*memory = append(*memory, v)
	n := len(*memory)
	return (*memory)[n-len(part)-1 : n : n]
}
