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
	c := newMessageList(e, plate, len(stored))
	for _, s := range stored {
		if s.Report {
			e.addReport(c, s)
			continue
		}
		c.read(s, func(g *parser.Group) (string, bool) { return holds(g, wanted) })
	}
	return c.made
}

// Positionings parses the stored positionings of a container. It returns a bag.Message for each group
// that is about it.
func (e *Enricher) Positionings(of bag.Container, stored []bag.Stored) []*bag.Message {
	c := newMessageList(e, "", len(stored))
	for _, s := range stored {
		c.read(s, func(g *parser.Group) (string, bool) { return "", g.Loading.Device == of.Device })
	}
	return slices.DeleteFunc(c.made, func(m *bag.Message) bool { return m.Outbound.Flight != of.Flight })
}

// messageList parses stored messages and collects the results.
type messageList struct {
	enricher *Enricher
	plate    bag.Plate     // "" for container positionings
	block    []bag.Message // memory for the next messages
	made     []*bag.Message
}

func newMessageList(e *Enricher, plate bag.Plate, messages int) *messageList {
	return &messageList{e, plate, make([]bag.Message, messages), make([]*bag.Message, 0, messages)}
}

// add adds an empty message and returns it.
func (c *messageList) add() *bag.Message {
	if len(c.block) == 0 {
		c.block = make([]bag.Message, 1)
	}
	m := &c.block[0]
	c.block, c.made = c.block[1:], append(c.made, m)
	return m
}

// read parses a stored text and adds a message for each group that wanted selects.
func (c *messageList) read(s bag.Stored, wanted func(*parser.Group) (irregularity string, ok bool)) {
	e := c.enricher
	m := e.parsed.Get().(*parser.Message)
	defer e.parsed.Put(m)
	m.Parse(s.Raw, e.airports)

	var all bag.Message // what the messages of all groups have in common
	var dated flightDater
	for i := range m.Groups {
		g := &m.Groups[i]
		irregularity, ok := wanted(g)
		if !ok {
			continue
		}
		if all.Received.IsZero() {
			all, dated = e.timed(m, s.Received)
			all.Raw, all.Text, all.Position = s.Raw, bag.Text(m.Canonical()), s.Position
		}
		made := c.add()
		*made = *e.message(all, m, g, dated)
		made.Group, made.Irregularity, made.Original = int32(i), irregularity, original(c.plate, g)
	}
}

// message returns the message of a group: made with the fields that the parser read.
func (e *Enricher) message(made bag.Message, m *parser.Message, g *parser.Group, dated flightDater) *bag.Message {
	made.Head, made.Details, made.Stowage = m.Head, g.Details, g.Loading.Stowage
	made.AirlineData = slices.Clone(g.AirlineData) // the parser reuses its memory
	made.Outbound, made.Inbound = dated.segment(g.Outbound), dated.segment(g.Inbound)
	for _, o := range g.Onward {
		if s := dated.segment(o); !s.IsZero() {
			made.Onward = append(made.Onward, s)
		}
	}
	made.Connection = dated.connection(g.Loading.Connection)
	made.Arriving = m.Arriving(g, e.airports.SamePlace)
	return &made
}
