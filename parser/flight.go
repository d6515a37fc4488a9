package parser

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

// judgeFlight reads a flight element into flight: flight, date, airport, class of travel. A faulty one is absent.
func (m *Message) judgeFlight(e line, flight *Flight) {
	*flight = Flight{}
	if len(e.text) < shortestFlight {
		m.fail(ShortFlight, e, 0, e.text, "at least 16 characters, as in .F/LX1/12MAR/LHR")
		return
	}
	f := fieldsOf(e)
	number, numberAt := f.cut()
	date, dateAt := f.cut()
	airport, airportAt := f.cut()

	airline, digits, sound := flightOf(number)
	if !sound {
		m.fail(WrongFlight, e, numberAt, number, "airline, number and suffix, at most 8 characters, as in LX14A")
	}
	day, isDate := dateOf(date)
	if !isDate {
		m.fail(WrongFlightDate, e, dateAt, date, "a calendar date DDMMM")
		sound = false
	}
	if !m.isAirport(airport) {
		m.fail(WrongFlightAirport, e, airportAt, airport, "a known airport, three capitals")
		sound = false
	}
	if sound {
		flight.Airline, flight.Number, flight.Date, flight.Airport, flight.Class = airline, digits, day, airport, capital(f.text())
	}
}

// flightOf reads airline, number and suffix of a flight. A digit as third character belongs to the number:
// then the airline has two characters, else three.
func flightOf(s string) (airline, number string, ok bool) {
	if len(s) < 3 {
		return "", "", false
	}
	n := 3
	if isDigit(s[2]) {
		n = 2
	}
	airline, number = s[:n], s[n:]
	digits := number
	if number != "" && isCapital(number[len(number)-1]) {
		digits = number[:len(number)-1]
	}
	if !isAirline(airline) || len(digits) > 4 || !isDigits(digits) {
		return "", "", false
	}
	for zeros := len(digits) - 1; zeros > 0 && number[0] == '0'; zeros-- {
		number = number[1:]
	}
	return airline, number, true
}

// isAirline reports whether s is capitals and digits, at least one of them a capital. Where s has three
// characters, the last is that capital, since flightOf leaves no digit there.
func isAirline(s string) bool {
	capitals := 0
	for i := range len(s) {
		switch {
		case isCapital(s[i]):
			capitals++
		case !isDigit(s[i]):
			return false
		}
	}
	return capitals > 0
}

// months are the months in small letters, with the most days that they can have.
var months = [12]struct {
	name uint32
	days uint8
}{
	{'j'<<16 | 'a'<<8 | 'n', 31}, {'f'<<16 | 'e'<<8 | 'b', 29}, {'m'<<16 | 'a'<<8 | 'r', 31},
	{'a'<<16 | 'p'<<8 | 'r', 30}, {'m'<<16 | 'a'<<8 | 'y', 31}, {'j'<<16 | 'u'<<8 | 'n', 30},
	{'j'<<16 | 'u'<<8 | 'l', 31}, {'a'<<16 | 'u'<<8 | 'g', 31}, {'s'<<16 | 'e'<<8 | 'p', 30},
	{'o'<<16 | 'c'<<8 | 't', 31}, {'n'<<16 | 'o'<<8 | 'v', 30}, {'d'<<16 | 'e'<<8 | 'c', 31},
}

// dateOf reads DDMMM; the case of the month does not matter. 29FEB is a date, since some years have it.
func dateOf(s string) (d Date, ok bool) {
	if len(s) != 5 || !isDigit(s[0]) || !isDigit(s[1]) {
		return d, false
	}
	day := 10*(s[0]-'0') + s[1] - '0'
	const small = 0x20 // makes a capital small, and nothing else a small letter
	name := uint32(s[2]|small)<<16 | uint32(s[3]|small)<<8 | uint32(s[4]|small)
	for i := range months {
		if months[i].name == name {
			return Date{Day: day, Month: uint8(i + 1)}, 1 <= day && day <= months[i].days
		}
	}
	return d, false
}
