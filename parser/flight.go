package parser

// shortestFlight is the length of the shortest flight element: .F/LX1/12MAR/LHR.
const shortestFlight = 16

// readOutbound reads .F. The first .F of the message counts for all groups before it; each further
// .F opens a group, which inherits the inbound flight.
func (m *Message) readOutbound(e line) {
	if m.scratch.seen.has('F') {
		before := m.group()
		g := m.openGroup()
		g.Inbound = before.Inbound
		m.judgeFlight(e, &g.Outbound)
		return
	}
	first := &m.Groups[0].Outbound
	m.judgeFlight(e, first)
	for i := 1; i < len(m.Groups); i++ {
		m.Groups[i].Outbound = *first
	}
}

// readInbound reads .I. The first .I of a group counts.
func (m *Message) readInbound(e line) {
	inbound := &m.group().Inbound
	if m.scratch.own.has('I') {
		inbound = new(Flight)
	}
	m.judgeFlight(e, inbound)
}

// readOnward reads .O. The first .O of a group replaces those that the group has inherited.
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

// judgeFlight reads number, date and airport of a flight element into flight, and reports their
// faults. After an error flight is absent. An unknown airport of three capitals is an error in .F.
// In .I and .O it is a warning, and flight has that airport.
func (m *Message) judgeFlight(e line, flight *Flight) {
	*flight = Flight{}
	if len(e.text) < shortestFlight {
		m.fail(ShortFlight, e, 0, e.text, "at least 16 characters, as in .F/LX1/12MAR/LHR")
		return
	}
	number, atNumber := m.rawField(e, 1)
	date, atDate := m.rawField(e, 2)
	airport, atAirport := m.rawField(e, 3)
	airline, digits, sound := FlightOf(number)
	if !sound {
		m.fail(WrongFlight, e, atNumber, number, "airline, number and suffix, at most 8 characters, as in LX14A")
	}
	day, isDate := dateOf(date)
	if !isDate {
		m.fail(WrongFlightDate, e, atDate, date, "a calendar date DDMMM")
		sound = false
	}
	if !m.isAirport(airport) {
		const expected = "a known airport, three capitals"
		if IsThreeCapitals(airport) && e.text[1] != 'F' {
			m.warn(WrongFlightAirport, e, atAirport, airport, expected)
		} else {
			m.fail(WrongFlightAirport, e, atAirport, airport, expected)
			sound = false
		}
	}
	if sound {
		flight.Airline, flight.Number, flight.Date, flight.Airport = airline, digits, day, airport
	}
}

const shortestNumber = 3 // LX1

// FlightOf splits a flight, such as LX14A, into airline and number. The airline has two characters
// if the third character of s is a digit, else three. The number has no leading zeros, and has the
// suffix, see FlightNumber. If ok is false, airline and number mean nothing.
func FlightOf(s string) (airline, number string, ok bool) {
	if len(s) < shortestNumber {
		return "", "", false
	}
	airline, number = s[:3], s[3:]
	if isDigit(s[2]) {
		airline, number = s[:2], s[2:]
	}
	number, ok = FlightNumber(number)
	return airline, number, ok && IsAirline(airline)
}

// dateOf reads DDMMM, with the month in any case. 29FEB is a date, since some years have it. If s
// is not a date, d is zero.
func dateOf(s string) (d Date, ok bool) {
	if len(s) != 5 || !isDigit(s[0]) || !isDigit(s[1]) {
		return d, false
	}
	month := monthOf(s[2:])
	day := 10*(s[0]-'0') + s[1] - '0'
	if day < 1 || day > monthDays[month] {
		return d, false
	}
	return Date{Day: day, Month: month}, true
}

const monthNames = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"

// monthDays holds the largest number of days that each month can have, by number of the month.
var monthDays = [...]uint8{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// monthOf returns the number of the month with this name of three letters, in any case. It returns
// 0 if there is no such month.
func monthOf(name string) uint8 {
	a, b, c := name[0]&^0x20, name[1]&^0x20, name[2]&^0x20 // capitals, if these are letters
	for i := 0; i < len(monthNames); i += 3 {
		if monthNames[i] == a && monthNames[i+1] == b && monthNames[i+2] == c {
			return uint8(i/3 + 1)
		}
	}
	return 0
}
