package journey

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// version formats .V for an airport.
func (s *stage) version(source string, at airport) string {
	line := ".V/1" + source + at.code
	if s.chance(10) {
		line += "//" + fmt.Sprint(1+s.r.IntN(99))
	}
	return line
}

// flight formats .F, .I or .O. The airport is named by any of its codes.
func (s *stage) flight(letter byte, f flight, at airport) string {
	if s.chance(faults) && s.chance(3) { // any other date
		f.day = pick(s.r, time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC), f.day.AddDate(0, 6, 0), f.day.AddDate(0, 0, 7))
	}
	return flightElement(s.r, letter, f, pick(s.r, at.names()...))
}

// processing formats .J. The clock of the scanner may be wrong by an hour, as on days on which
// clocks change.
func (s *stage) processing(code string, at time.Time, zone *time.Location) string {
	if !at.IsZero() && s.chance(faults/4) {
		at = at.Add(time.Duration(pick(s.r, -60, -30, 30, 60)) * time.Minute)
		if wall := at.In(zone); s.chance(50) {
			at = time.Date(wall.Year(), wall.Month(), wall.Day(), 2, pick(s.r, 0, 15, 30), 0, 0, time.UTC)
			zone = time.UTC
		}
	}
	return processing(s.r, code, at, zone)
}

// bsm returns the BSM of flight i of the trip.
func (s *stage) bsm(change string, t trip, i int) *sheet {
	f := t.flights[i]
	source := "L"
	if i > 0 {
		source = pick(s.r, "T", "T", "L", "R")
	}
	b := newSheet("BSM", change, s.version(source, f.from), s.flight('F', f, f.to))
	if i > 0 && s.chance(80) || s.chance(faults/6) {
		in := t.flights[max(i-1, 0)]
		b.add(s.flight('I', in, in.from))
	}
	for _, o := range t.flights[i+1:] {
		if s.chance(85) {
			b.add(s.flight('O', o, o.to))
		}
	}
	b.add(s.tags("", t))
	if s.chance(50) {
		b.add(element('S', "Y", pick(s.r, "", "12A", "33K"), pick(s.r, "C", "C", "N", "B", ""), pick(s.r, "", "051"), "", "", "", pick(s.r, "", "A", "I")))
	}
	b.add(s.person(t.who, 85)...)
	if s.chance(5) {
		b.add(element('E', pick(s.r, "PRIO", "RUSH")))
	}
	if s.chance(10) {
		b.add(element('R', pick(s.r, "NOTE 42", "VIP")))
	}
	if s.chance(faults / 10) { // an element that belongs into a BPM
		b.add(pick(s.r, element('U', t.device), s.processing("S", s.clock, f.from.zone), s.tags("OFF", t)))
	}
	if s.chance(faults / 4) {
		s.another(b, t, i)
	}
	if s.chance(5) { // the order of elements matters only within groups
		slices.Reverse(b.lines[:1+s.r.IntN(2)])
	}
	return b
}

// another adds a second group: one more passenger, or one more flight.
func (s *stage) another(b *sheet, t trip, i int) {
	if s.chance(50) {
		f := s.detour(t.flights[i])[0]
		b.add(s.flight('F', f, f.to))
	} else {
		b.add(element('L', t.who.pnr))
	}
	other := t
	other.plate, other.who = pick(s.r, plates...), s.world.someone(s.r)
	b.add(s.tags("", other))
	b.add(s.person(other.who, 80)...)
}

// person returns elements about the passenger. The name is present in percent of the calls, the PNR
// in three quarters of that, weight and frequent flyer number in a few.
func (s *stage) person(who passenger, percent int) []string {
	var lines []string
	if s.chance(15) {
		lines = append(lines, element('W', pick(s.r, "K", "L", "P", "Q"), pick(s.r, "1", "02", "3"), pick(s.r, "", "20", "0038")))
	}
	if s.chance(percent) {
		name := who.surname
		switch s.r.IntN(6) {
		case 0:
			name = "1" + name
		case 1:
			name = squeeze(name)
		}
		lines = append(lines, element('P', name, pick(s.r, "", who.given)))
	}
	if s.chance(percent * 3 / 4) {
		pnr := who.pnr
		if s.chance(faults / 3) {
			pnr = strings.ToLower(pnr)
		}
		lines = append(lines, element('L', pnr))
	}
	if s.chance(10) {
		lines = append(lines, element('Y', "LX992"))
	}
	return lines
}

// tags formats the tags of the trip, as .N or with a status.
func (s *stage) tags(status string, t trip) string {
	count := t.count
	if status != "" && s.chance(70) {
		count = 1
	}
	return tagElement(status, t.plate, count)
}

// scan sends a BPM for flight i, with a process code for .J, a status code or "", and further
// elements ("" is none).
func (s *stage) scan(t trip, i int, at airport, code, status string, more ...string) {
	f := t.flights[i]
	b := newSheet("BPM", "", s.version(pick(s.r, "L", "L", "T"), at))
	read := s.clock
	switch {
	case code == "":
	case s.chance(75):
		b.add(s.processing(code, read, at.zone))
	default:
		b.add(s.processing(code, time.Time{}, at.zone))
	}
	if has(more, ".U/") || s.chance(75) {
		b.add(s.flight('F', f, f.to))
	}
	if i > 0 && s.chance(20) {
		in := t.flights[i-1]
		b.add(s.flight('I', in, in.from))
	}
	for _, line := range more {
		if line != "" {
			b.add(line)
		}
	}
	tags := []string{s.tags(status, t)}
	if status != "" && s.chance(30) { // .N has the count of all pieces, .B only the irregular bag
		tags = slices.Insert(tags, s.r.IntN(2), s.tags(pick(s.r, "", "OND", "NAL"), t))
	}
	b.add(tags...)
	b.add(s.person(t.who, 15)...)
	s.send(b, s.late(read), t.plate)
}

// position sends a container positioning.
func (s *stage) position(f flight, at airport, device string) {
	b := newSheet("BPM", "", s.version("L", at))
	if s.chance(60) {
		b.add(s.processing("R", s.clock, at.zone))
	}
	b.add(s.flight('F', f, f.to), element('U', device, pick(s.r, "", "31", "31", "42L", at.code)))
	if s.chance(10) {
		other := s.detour(f)[0]
		b.add(s.flight('F', other, other.to), element('U', pick(s.r, containers...), pick(s.r, "", "11")))
	}
	s.send(b, s.late(s.clock), 0)
}

// screening formats .X.
func (s *stage) screening() string {
	return pick(s.r, ".X//CLR///HBS302/HBSLEVEL1", ".X/SEL/REJ", ".X/NON/REF", ".X/XRAY", ".X//UCL")
}

// connecting formats a .U with the connection of flight i.
func (s *stage) connecting(t trip, i int) string {
	next := t.flights[min(i+1, len(t.flights)-1)]
	return element('U', t.device, pick(s.r, "", "12"), "", "", next.to.code, "", next.airline+next.number,
		pick(s.r, "", ddmmm(next.day)), pick(s.r, "", next.to.code))
}

// late returns when a message about a moment is received: usually at once, sometimes much later or,
// as if its clock were wrong, earlier.
func (s *stage) late(moment time.Time) time.Time {
	if !s.fault() {
		return moment.Add(time.Duration(s.r.IntN(2)) * time.Minute)
	}
	return moment.Add(time.Duration(pick(s.r, 5, 30, 100, 600, 3000, -5, -600, -1439, -1440, -1441, -2000)) * time.Minute)
}

// send adds a message to the feed, sometimes with a malformed one before it, and with repetitions
// after it. plate is 0 for a message without one.
func (s *stage) send(b *sheet, received time.Time, plate uint64) {
	m := Message{Text: dress(s.r, b.plain()), Received: received}
	if plate != 0 {
		m.Plate = fmt.Sprintf("%010d", plate)
	}
	if s.chance(s.opt.Malformed) {
		s.messages = append(s.messages, s.spoil(b, m))
	}
	s.messages = append(s.messages, m)
	for s.chance(faults / 2) {
		m.Received = received.Add(time.Duration(pick(s.r, 0, 1, 5, 9, 10, 11, 20, 21, 60*24)) * time.Minute).
			Add(time.Duration(pick(s.r, 0, 0, 0, 1)) * time.Millisecond)
		if s.chance(30) {
			m.Text = dress(s.r, b.plain())
		}
		s.messages = append(s.messages, m)
	}
}

// squeeze removes blanks and hyphens from a name, as some senders do.
func squeeze(name string) string {
	return string(slices.DeleteFunc([]byte(name), func(c byte) bool { return c == ' ' || c == '-' }))
}
