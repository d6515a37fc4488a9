package parser

// shortestVersion is the length of the shortest .V element: .V/1LZRH.
const shortestVersion = 8

// readVersion reads field 1 of .V: version digit, source indicator and airport, with nothing
// between them. Each .V is checked. The first one of the message counts.
func (m *Message) readVersion(e line) {
	v := &m.Version
	if m.scratch.seen.has('V') {
		v = new(Version)
	}
	if len(e.text) < shortestVersion {
		m.fail(ShortVersion, e, 0, e.text, "at least 8 characters, as in .V/1LZRH")
		return
	}
	field, at := m.rawField(e, 1)
	digit, rest := cutAfter(field, 1)
	source, airport := cutAfter(rest, 1)

	if digit != "1" {
		m.fail(WrongVersion, e, at, digit, "1")
	}
	at += len(digit)
	switch source {
	case "L", "T", "X", "R":
		v.Source = source[0]
	default:
		m.fail(WrongSource, e, at, source, "L, T, X or R")
	}
	at += len(source)
	if m.isAirport(airport) {
		v.Airport = airport
	} else {
		m.fail(WrongVersionAirport, e, at, airport, "a known airport, three capitals")
	}
}

// cutAfter cuts s after its first n bytes, or at its end if it is shorter.
func cutAfter(s string, n int) (head, tail string) {
	n = min(n, len(s))
	return s[:n], s[n:]
}

// isAirport reports whether s is three capitals that name a known airport.
func (m *Message) isAirport(s string) bool {
	return IsThreeCapitals(s) && m.scratch.ref.KnownLocation(s)
}
