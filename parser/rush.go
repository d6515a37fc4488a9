package parser

// The elements of this file mark a rush bag and name the bag that it re-flights.

// readException reads .E, an exception. RUSH alone is interpreted.
func (m *Message) readException(e line) {
	if f := m.fields(e, 0, 1); f.of(1) == "RUSH" {
		m.group().Rush = true
	}
}

// readUniqueID reads .M, whose first field is a licence plate. The first .M of a group counts.
func (m *Message) readUniqueID(e line) {
	if m.scratch.own.has('M') {
		return
	}
	f := m.fields(e, 0, 1)
	if plate := f.of(1); len(plate) == plateDigits && isDigits(plate) {
		m.group().UniqueID = plate
	}
}

// readAirlineData reads .R, free text.
func (m *Message) readAirlineData(e line) {
	if isBare(e) {
		return
	}
	g := m.group()
	g.AirlineData = extend(&m.scratch.data, g.AirlineData, trim(e.text[len(".R/"):]))
}
