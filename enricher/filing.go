package enricher

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/smallmap"
	"bagtrail/parser"
)

// Filing returns the filing of an accepted message. raw is the text that m was parsed from;
// received is in UTC and whole milliseconds. The filing shares no memory with m except its strings.
func (e *Enricher) Filing(m *parser.Message, raw string, received time.Time) bag.Filing {
	filing := bag.Filing{Raw: raw, Received: received}
	day, _ := reference(m, received)
	for i := range m.Groups {
		filing.Entries = e.addEntries(filing.Entries, m, &m.Groups[i], day)
	}
	if len(m.Groups) > 1 {
		filing.Entries = merged(filing.Entries)
	}
	if len(filing.Entries) == 0 {
		filing.Stowage, filing.Ends = e.positioned(m, day)
	}
	return filing
}

// flightsOf returns the flights that a message names, and the ends of its legs, each once. The
// lists have no spare capacity, so an append to them copies.
func flightsOf(m *bag.Message) (named []bag.Flight, ends []bag.End) {
	for l := range m.Legs() {
		named = append(named, l.Flight)
		if l.From != "" {
			ends = append(ends, bag.End{Flight: l.Flight, Airport: l.From})
		}
		if l.To != "" {
			ends = append(ends, bag.End{Flight: l.Flight, Airport: l.To, Arriving: true})
		}
	}
	return slices.Clip(smallmap.Distinct(named)), slices.Clip(smallmap.Distinct(ends))
}

// addEntries appends an entry for each plate of a group, in plate order. The entries share their
// lists, which have no spare capacity.
func (e *Enricher) addEntries(to []bag.Entry, m *parser.Message, g *parser.Group, reference bag.Day) []bag.Entry {
	list := plates(g)
	message := e.message(bag.Message{}, m, g, reference)
	named, ends := flightsOf(message)
	stowage := slices.Clip(bag.Containers([]*bag.Message{message}))
	var pnrs []string
	if g.PNR != "" {
		pnrs = []string{strings.ToUpper(g.PNR)}
	}
	var surnames []string
	if name := bag.FoldName(g.Surname); name != "" {
		surnames = []string{name}
	}
	to = slices.Grow(to, len(list))
	for _, plate := range list {
		made := bag.Entry{Plate: plate, Flights: named, Ends: ends, PNRs: pnrs, Surnames: surnames, Stowage: stowage}
		made.Rush = plate[0] == '2' || m.Kind.IsSource() && g.Rush
		if m.Kind.IsSource() && made.Rush {
			if p := original(plate, g); p != "" {
				made.Originals = []bag.Plate{p}
			}
		}
		to = append(to, made)
	}
	return to
}

// merged returns one entry for each plate, in plate order. It has the values of all entries of the
// plate, each once.
func merged(entries []bag.Entry) []bag.Entry {
	slices.SortStableFunc(entries, func(a, b bag.Entry) int { return cmp.Compare(a.Plate, b.Plate) })
	all := entries[:0]
	for len(entries) > 0 {
		one, n := entries[0], 1
		for ; n < len(entries) && entries[n].Plate == one.Plate; n++ {
			more := &entries[n]
			one.Flights = append(one.Flights, more.Flights...)
			one.Ends = append(one.Ends, more.Ends...)
			one.PNRs = append(one.PNRs, more.PNRs...)
			one.Surnames = append(one.Surnames, more.Surnames...)
			one.Stowage = append(one.Stowage, more.Stowage...)
			one.Rush = one.Rush || more.Rush
			one.Originals = append(one.Originals, more.Originals...)
		}
		if n > 1 {
			one.Flights = smallmap.Distinct(one.Flights)
			one.Ends = smallmap.Distinct(one.Ends)
			one.PNRs = smallmap.Distinct(one.PNRs)
			one.Surnames = smallmap.Distinct(one.Surnames)
			one.Stowage = smallmap.Distinct(one.Stowage)
			one.Originals = smallmap.Distinct(one.Originals)
		}
		all, entries = append(all, one), entries[n:]
	}
	return all
}

// positioned returns the containers that a message without tags positions, and the ends of their
// legs.
func (e *Enricher) positioned(m *parser.Message, reference bag.Day) (all []bag.Container, ends []bag.End) {
	for i := range m.Groups {
		message := e.message(bag.Message{}, m, &m.Groups[i], reference)
		if c := bag.Containers([]*bag.Message{message}); c != nil {
			_, of := flightsOf(message)
			all, ends = append(all, c...), append(ends, of...)
		}
	}
	return smallmap.Distinct(all), smallmap.Distinct(ends)
}

// original returns the plate of the bag that a rush bag re-flights (rules §3, rush bags): the plate
// in .M if it is not plate, else the first word of .R that is a plate, unless it is plate. It
// returns "" if there is none.
func original(plate bag.Plate, g *parser.Group) bag.Plate {
	if p := bag.Plate(g.UniqueID); p.Valid() && p != plate {
		return p
	}
	for _, line := range g.AirlineData {
		for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return !alphanumeric(r) }) {
			if p := bag.Plate(word); p.Valid() {
				if p == plate {
					return ""
				}
				return p
			}
		}
	}
	return ""
}

func alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}
