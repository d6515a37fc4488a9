package parser

const (
	longestDevice      = 10
	longestCompartment = 5
)

// readLoading reads .U: device, compartment, type, class, destination, seal, then number, date and
// airport of the connection. The first .U of a group counts. The first one before any tag also
// counts for groups without a .U.
func (m *Message) readLoading(e line) {
	s := &m.scratch
	device, compartment := m.field(e, 1), m.field(e, 2)
	if device != "" {
		s.positions = true
	}
	if s.loaded.text == "" && (device != "" || compartment != "") {
		s.loaded = e
	}
	if s.own.has('U') {
		return
	}
	u := &m.group().Loading
	u.Present = true
	if u.LongDevice = len(device) > longestDevice; !u.LongDevice {
		u.Device = device
	}
	if len(compartment) <= longestCompartment {
		u.Compartment = compartment
	}
	m.readConnection(e, &u.Connection)
	if len(s.tags) == 0 && s.firstLoading < 0 {
		s.firstLoading = len(m.Groups) - 1
	}
}

// readConnection reads the connection flight, which is absent if its number is faulty.
func (m *Message) readConnection(e line, c *Flight) {
	airline, number, ok := FlightOf(m.field(e, 7))
	if !ok {
		return
	}
	c.Airline, c.Number = airline, number
	if date, ok := dateOf(m.field(e, 8)); ok {
		c.Date = date
	}
	if airport := m.field(e, 9); m.isAirport(airport) {
		c.Airport = airport
	}
}
