package parser

import "math/bits"

// shortestFlight is the length of the shortest flight element: .F/LX1/12MAR/LHR.
const shortestFlight = 16

// readOutbound reads .F, which opens a group unless it is the message's first; groups without an .F
// before them take that one.
func (m *Message) readOutbound(e line) {
	if m.scratch.seen.has('F') {
		m.judgeFlight(e, &m.openFlightGroup().Outbound)
		return
	}
	first := &m.Groups[0].Outbound
	m.judgeFlight(e, first)
	for i := 1; i < len(m.Groups); i++ {
		m.Groups[i].Outbound = *first
	}
}

// readInbound reads .I, of which the first of a group counts.
func (m *Message) readInbound(e line) {
	if m.scratch.own.has('I') {
		m.judgeFlight(e, new(Flight))
		return
	}
	m.judgeFlight(e, &m.group().Inbound)
}

// readOnward reads .O; the first of a group replaces those that the group inherited.
func (m *Message) readOnward(e line) {
	var f Flight
	m.judgeFlight(e, &f)
	g := m.group()
	if !m.scratch.own.has('O') {
		g.Onward = nil
	}
	if f.Present() {
		g.Onward = extend(&m.scratch.flights, g.Onward, f)
	}
}

// judgeFlight reads a flight element into flight: flight, date, airport, class of travel. A faulty one is absent. An unknown
// airport of three capitals is a fault in .F alone: in .I and .O it is warned of, and kept.
func (m *Message) judgeFlight(e line, flight *Flight) {
	*flight = Flight{}
	if len(e.text) < shortestFlight {
		m.fail(ShortFlight, e, 0, e.text, "at least 16 characters, as in .F/LX1/12MAR/LHR")
		return
	}
	f := m.fields(e, 3, 4)
	number, date, airport := f.of(1), f.of(2), f.of(3)
	airline, digits, sound := flightOf(number)
	if !sound {
		m.fail(WrongFlight, e, f.at(1), number, "airline, number and suffix, at most 8 characters, as in LX14A")
	}
	day, isDate := dateOf(date)
	if !isDate {
		m.fail(WrongFlightDate, e, f.at(2), date, "a calendar date DDMMM")
		sound = false
	}
	if !m.isAirport(airport) {
		const expected = "a known airport, three capitals"
		if isCode(airport) && e.text[1] != 'F' {
			m.warn(WrongFlightAirport, e, f.at(3), airport, expected)
		} else {
			m.fail(WrongFlightAirport, e, f.at(3), airport, expected)
			sound = false
		}
	}
	if sound {
		flight.Airline, flight.Number, flight.Date, flight.Airport, flight.Class = airline, digits, day, airport, capital(f.of(4))
	}
}

const (
	shortestNumber = 3 // LX1
	longestNumber  = 8 // XYZ1234A
	mostDigits     = 4
)

// flightOf reads airline, number and suffix of a flight. A digit as third character belongs to the number:
// then the airline has two characters, else three; capitals and digits, at least one of them a capital.
func flightOf(s string) (airline, number string, ok bool) {
	if len(s) < shortestNumber || len(s) > longestNumber {
		return "", "", false
	}
	var word uint64
	if len(s) > shortestNumber {
		word = fewBytes(s)
	} else {
		word = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16
	}
	digits, capitals := within(word, '0', '9'), within(word, 'A', 'Z')
	n := 3 - int(digits>>23&1) // the length of the airline
	airlines := uint64(1)<<(8*n) - 1
	count := leading(digits >> (8 * n))
	suffix := int(capitals >> (8*(n+count) + 7) & 1)
	if word&highs != 0 || (digits|capitals)&airlines != highs&airlines || capitals&airlines == 0 ||
		count < 1 || count > mostDigits || n+count+suffix != len(s) {
		return "", "", false
	}
	zeros := bits.TrailingZeros64(word>>(8*n)^'0'*ones) / 8
	return s[:n], s[n+min(zeros, count-1):], true
}

// months are the months, each at the slot of its name.
var months = func() (slots [monthSlots]month) {
	for i, m := range [...]struct {
		name string
		days uint8
	}{
		{"jan", 31}, {"feb", 29}, {"mar", 31}, {"apr", 30}, {"may", 31}, {"jun", 30},
		{"jul", 31}, {"aug", 31}, {"sep", 30}, {"oct", 31}, {"nov", 30}, {"dec", 31},
	} {
		name := monthName(m.name)
		slots[monthSlot(name)] = month{name, uint8(i + 1), m.days}
	}
	return slots
}()

type month struct {
	name   uint32 // see monthName
	number uint8
	days   uint8 // the most that it can have
}

// monthName returns three letters as a number, in which their case does not show.
func monthName(s string) uint32 {
	const small = 0x202020 // makes a capital small, and nothing else a small letter
	return uint32(s[2])<<16 | uint32(s[1])<<8 | uint32(s[0]) | small
}

const monthSlots = 16

// monthSlot returns where in months a month stands. No two months share a slot.
func monthSlot(name uint32) uint32 { return name * 26597 >> 28 }

// dateOf reads DDMMM; the case of the month does not matter. 29FEB is a date, since some years have it.
func dateOf(s string) (d Date, ok bool) {
	if len(s) != 5 || !isDigit(s[0]) || !isDigit(s[1]) {
		return d, false
	}
	day := 10*(s[0]-'0') + s[1] - '0'
	name := monthName(s[2:])
	m := &months[monthSlot(name)]
	if m.name != name {
		return d, false
	}
	return Date{Day: day, Month: m.number}, 1 <= day && day <= m.days
}
