package parser

// The elements of this file mark a rush bag and name the bag that it re-flights.

// readException reads .E, an exception. Exceptions other than RUSH are ignored.
func (m *Message) readException(e line) {
	if m.field(e, 1) == "RUSH" {
		m.group().Rush = true
	}
}

// readUniqueID reads .M, whose first field is a licence plate. The first .M of a group counts.
func (m *Message) readUniqueID(e line) {
	if plate := m.field(e, 1); len(plate) == plateDigits && isDigits(plate) {
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
