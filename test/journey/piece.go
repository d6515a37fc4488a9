package journey

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// This file writes elements and messages. It knows nothing of journeys.

// flight is a flight of one day between two airports. An element may name the metropolitan code
// instead.
type flight struct {
	airline, number string
	day             time.Time // midnight UTC of the local departure date
	from, to        airport
}

// ddmmm formats a date as messages do.
func ddmmm(t time.Time) string { return strings.ToUpper(t.Format("02Jan")) }

// element formats an element, without empty fields at its end.
func element(letter byte, fields ...string) string {
	return "." + string(letter) + "/" + strings.TrimRight(strings.Join(fields, "/"), "/")
}

// flightElement formats .F, .I or .O; airport is the one that the element names.
func flightElement(r *rand.Rand, letter byte, f flight, airport string) string {
	number := f.number
	if r.IntN(4) == 0 && len(strings.TrimRight(number, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) < 4 {
		number = "0" + number
	}
	date := ddmmm(f.day)
	if r.IntN(8) == 0 {
		date = f.day.Format("02Jan")
	}
	class := pick(r, "", "", "Y", "C")
	line := element(letter, f.airline+number, date, airport, class)
	if len(line) < 16 { // the shortest flight element that is valid
		line = element(letter, f.airline+"0"+number, date, airport, class)
	}
	return line
}

// tagElement formats .N, or .B if there is a status code.
func tagElement(status string, plate uint64, count int) string {
	if status != "" {
		return fmt.Sprintf(".B/%s/%010d%03d", status, plate, count)
	}
	return fmt.Sprintf(".N/%010d%03d", plate, count)
}

// processing formats .J with the read time at, or without a time if at is zero.
func processing(r *rand.Rand, code string, at time.Time, zone *time.Location) string {
	agent, scanner := pick(r, "", "AG7"), pick(r, "", "CI621")
	reading, sent := pick(r, "", "LB9", "TIAT2"), pick(r, "", "GATE4")
	if at.IsZero() {
		return element('J', code, agent, scanner, "", "", reading, sent)
	}
	mark := "Z"
	at = at.UTC()
	if r.IntN(3) > 0 {
		mark = "L"
		at = at.In(zone)
	}
	clock := "150405"
	if at.Second() == 0 && r.IntN(2) == 0 {
		clock = "1504"
	}
	return element('J', code, agent, scanner, ddmmm(at), at.Format(clock)+mark, reading, sent)
}

// sheet is a message that is being written.
type sheet struct {
	identifier string
	change     string // CHG, DEL, ADD or ""
	lines      []string
}

func newSheet(identifier, change string, lines ...string) *sheet {
	return &sheet{identifier: identifier, change: change, lines: lines}
}

func (s *sheet) add(lines ...string) { s.lines = append(s.lines, lines...) }

// plain returns the lines of the message.
func (s *sheet) plain() []string {
	lines := []string{s.identifier}
	if s.change != "" {
		lines = append(lines, s.change)
	}
	return append(append(lines, s.lines...), "END"+s.identifier)
}

// dress writes the lines of a message in the style of some feed: line ends, envelope, indentation,
// control characters. It does not change the meaning.
func dress(r *rand.Rand, lines []string) string {
	if r.IntN(3) == 0 {
		return strings.Join(lines, "\n")
	}
	end := pick(r, "\n", "\n", "\r\n", "\r")
	indent := pick(r, "", "", "", "    ")
	var b strings.Builder
	if r.IntN(8) == 0 {
		b.WriteString("\x01QU ZRHXHXH" + end + ".MUCXXLH 121314" + end + "\x02")
	}
	for _, line := range lines {
		b.WriteString(indent + line + pick(r, "", "", "", " ") + end)
		if r.IntN(20) == 0 {
			b.WriteString(end)
		}
	}
	if r.IntN(8) == 0 {
		b.WriteString("\x03")
	}
	return b.String()
}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }
