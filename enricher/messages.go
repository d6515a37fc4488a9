package enricher

import (
	"slices"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// Messages reads the stored messages of a plate again, as far as they concern it: one bag.Message for
// every group that names it, none if a message names it nowhere.
func (e *Enricher) Messages(plate bag.Plate, stored []bag.Stored) []*bag.Message {
	wanted := number(plate)
	r := newReading(e, plate, len(stored))
	for _, s := range stored {
		if s.Report {
			e.report(r, s)
			continue
		}
		r.read(s, func(g *parser.Group) (string, bool) { return holds(g, wanted) })
	}
	return r.made
}

// Stowage reads stored positionings of a container again: one bag.Message for every group that is about it.
func (e *Enricher) Stowage(c bag.Container, stored []bag.Stored) []*bag.Message {
	r := newReading(e, "", len(stored))
	for _, s := range stored {
		r.read(s, func(g *parser.Group) (string, bool) { return "", g.Loading.Device == c.Device })
	}
	return slices.DeleteFunc(r.made, func(m *bag.Message) bool { return m.Outbound.Flight != c.Flight })
}

// reading collects messages that are read again.
type reading struct {
	enricher *Enricher
	plate    bag.Plate     // "" for container positionings
	block    []bag.Message // memory for the next messages
	made     []*bag.Message
}

func newReading(e *Enricher, plate bag.Plate, messages int) *reading {
	return &reading{e, plate, make([]bag.Message, messages), make([]*bag.Message, 0, messages)}
}

// add returns one more message, which is empty.
func (r *reading) add() *bag.Message {
	if len(r.block) == 0 {
		r.block = make([]bag.Message, 1)
	}
	m := &r.block[0]
	r.block, r.made = r.block[1:], append(r.made, m)
	return m
}

// read parses a stored text and makes a message of every group that wanted picks.
func (r *reading) read(s bag.Stored, wanted func(*parser.Group) (irregularity string, ok bool)) {
	e := r.enricher
	m := e.parsed.Get().(*parser.Message)
	defer e.parsed.Put(m)
	m.Parse(s.Raw, e.airports)

	var at moment
	var text bag.Text
	var read bool
	for i := range m.Groups {
		g := &m.Groups[i]
		irregularity, ok := wanted(g)
		if !ok {
			continue
		}
		if !read {
			at, read = e.moment(m, s.Received), true
			text = bag.NewText(m.Canonical())
		}
		made := r.add()
		e.fill(made, m, g, at)
		made.Raw, made.Text, made.Group = s.Raw, text, int32(i)
		made.Position = s.Position
		made.Irregularity = irregularity
		made.Original = original(r.plate, g)
	}
}

// fill fills in what a group says; made is empty.
func (e *Enricher) fill(made *bag.Message, m *parser.Message, g *parser.Group, at moment) {
	made.Head, made.Details, made.Stowage = m.Head, g.Details, g.Loading.Stowage
	made.AirlineData = slices.Clone(g.AirlineData) // the parser uses its memory again
	made.Received, made.Happened, made.Order, made.Read, made.LocalDay = at.received, at.happened, at.order, at.read, at.localDay
	made.Outbound, made.Inbound = at.segments.of(g.Outbound), at.segments.of(g.Inbound)
	for _, o := range g.Onward {
		if s := at.segments.of(o); !s.IsZero() {
			made.Onward = append(made.Onward, s)
		}
	}
	made.Connection = at.segments.connection(g.Loading.Connection)
}
