package enricher

import (
	"slices"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// Messages parses the stored messages of a plate. It returns a bag.Message for each group that
// names the plate, and for each delayed-bag report.
func (e *Enricher) Messages(plate bag.Plate, stored []bag.Stored) []*bag.Message {
	wanted := number(plate)
	made := make([]*bag.Message, 0, len(stored))
	for _, s := range stored {
		if s.Report {
			made = e.addReport(made, plate, s)
			continue
		}
		made = e.addGroups(made, plate, s, func(g *parser.Group) (string, bool) { return holds(g, wanted) })
	}
	return made
}

// Positionings parses the stored positionings of a container. It returns a bag.Message for each group
// that is about it.
func (e *Enricher) Positionings(of bag.Container, stored []bag.Stored) []*bag.Message {
	made := make([]*bag.Message, 0, len(stored))
	for _, s := range stored {
		made = e.addGroups(made, "", s, func(g *parser.Group) (string, bool) { return "", g.Loading.Device == of.Device })
	}
	return slices.DeleteFunc(made, func(m *bag.Message) bool { return m.Outbound.Flight != of.Flight })
}

// addGroups parses a stored text and appends a message for each group that wanted selects. wanted
// also returns the status code of the .B that names the plate. plate is "" for container
// positionings.
func (e *Enricher) addGroups(to []*bag.Message, plate bag.Plate, s bag.Stored, wanted func(*parser.Group) (irregularity string, ok bool)) []*bag.Message {
	m := e.parsed.Get().(*parser.Message)
	defer e.parsed.Put(m)
	m.Parse(s.Raw, e.airports)

	var all bag.Message // the fields that the messages of all groups share
	var reference bag.Day
	for i := range m.Groups {
		g := &m.Groups[i]
		irregularity, ok := wanted(g)
		if !ok {
			continue
		}
		if all.Received.IsZero() {
			all, reference = e.timed(m, s.Received)
			all.Raw, all.Text, all.Position = s.Raw, m.Canonical(), s.Position
		}
		made := e.message(all, m, g, reference)
		made.Group, made.Irregularity, made.Original = int32(i), irregularity, original(plate, g)
		made.AirlineData = slices.Clone(g.AirlineData) // the parser reuses its memory
		made.Connection = e.connection(g.Loading.Connection, reference)
		to = append(to, made)
	}
	return to
}

// message returns made with the fields that the group and the head of m give.
func (e *Enricher) message(made bag.Message, m *parser.Message, g *parser.Group, reference bag.Day) *bag.Message {
	made.Head, made.Details, made.Stowage, made.LongDevice = m.Head, g.Details, g.Loading.Stowage, g.Loading.LongDevice
	made.Outbound, made.Inbound = e.segment(g.Outbound, reference), e.segment(g.Inbound, reference)
	for _, o := range g.Onward {
		if s := e.segment(o, reference); !s.IsZero() {
			made.Onward = append(made.Onward, s)
		}
	}
	made.Arriving = m.Arriving(g, e.airports.SamePlace)
	return &made
}
