package enricher

import (
	"slices"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// Messages reads the stored messages of a plate again, as far as they concern it: one bag.Message for
// every group that names it, none where a message names it nowhere. They take their memory from room; where that
// is nil, each holds itself.
func (e *Enricher) Messages(room *bag.Room, plate bag.Plate, stored []bag.Stored) []*bag.Message {
	wanted := number(plate)
	if room == nil {
		room = bag.NewRoom(len(stored))
	}
	r := reading{enricher: e, plate: plate, room: room, made: make([]*bag.Message, 0, len(stored))}
	for _, s := range stored {
		if s.Kind == bag.Report {
			e.report(&r, s)
			continue
		}
		r.read(s, func(g *parser.Group) (string, bool) { return holds(g, wanted) })
	}
	return r.made
}

// Stowage reads stored positionings of a container again: one bag.Message for every group that is about it.
func (e *Enricher) Stowage(c bag.Container, stored []bag.Stored) []*bag.Message {
	r := reading{enricher: e, room: bag.NewRoom(len(stored))}
	for _, s := range stored {
		r.read(s, func(g *parser.Group) (string, bool) { return "", g.Loading.Device == c.Device })
	}
	return slices.DeleteFunc(r.made, func(m *bag.Message) bool { return m.Outbound.Flight != c.Flight })
}

// reading collects messages that are read again.
type reading struct {
	enricher *Enricher
	plate    bag.Plate // "" for container positionings
	room     *bag.Room
	made     []*bag.Message
}

// add returns one more message, which may hold anything.
func (r *reading) add() *bag.Message {
	m := r.room.Add()
	r.made = append(r.made, m)
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
		made.Raw, made.Text, made.Group = s.Raw, text, i
		made.Irregularity = irregularity
		made.Original = original(r.plate, g)
	}
}

// fill fills in what a group says.
func (e *Enricher) fill(made *bag.Message, m *parser.Message, g *parser.Group, at moment) {
	*made = bag.Message{
		Received: at.received, Happened: at.happened, Read: at.read, LocalDay: at.localDay,

		Kind:      bag.BSM,
		Change:    bag.Change(m.Change),
		Source:    m.Version.Source,
		Airport:   m.Version.Airport,
		Outbound:  segment(g.Outbound, at.reference),
		Inbound:   segment(g.Inbound, at.reference),
		Screening: bag.Screening(m.Screening),

		Processed:    m.Processing.Present,
		Process:      m.Processing.Code,
		ReadLocation: m.Processing.ReadLocation,
		SentLocation: m.Processing.SentLocation,

		Loaded:      g.Loading.Present,
		Device:      g.Loading.Device,
		Compartment: g.Loading.Compartment,
		Connection:  connection(g.Loading.Connection, at.reference),

		Seat:            g.Seat,
		PassengerStatus: g.PassengerStatus,
		TagStatus:       g.TagStatus,
		Pieces:          g.Weight.Pieces,
		Weight:          g.Weight.Checked,
		WeightUnit:      g.Weight.Unit,
		Surname:         g.Surname,
		GivenName:       g.GivenName,
		PNR:             g.PNR,
		FrequentFlyer:   g.FrequentFlyer,
		Rush:            g.Rush,
	}
	if m.Kind == parser.BPM {
		made.Kind = bag.BPM
	}
	for _, o := range g.Onward {
		if s := segment(o, at.reference); !s.IsZero() {
			made.Onward = append(made.Onward, s)
		}
	}
	if len(g.AirlineData) > 0 {
		made.AirlineData = append([]string(nil), g.AirlineData...)
	}
}

// connection makes the connection flight of a .U whole; its date and destination may be absent.
func connection(f parser.Flight, ref bag.Day) bag.Segment {
	if !f.Present() {
		return bag.Segment{}
	}
	s := bag.Segment{Flight: bag.Flight{Airline: f.Airline, Number: f.Number}, Airport: f.Airport}
	if day, ok := Resolve(f.Date, ref); ok {
		s.Day = day
	}
	return s
}
