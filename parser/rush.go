package parser

// The elements of this file are what names a rush bag and the bag that it re-flights.

// readException reads .E, an open list of exceptions of which RUSH is interpreted.
func (m *Message) readException(e line) {
	f := fieldsOf(e)
	if f.text() == "RUSH" {
		m.group().Rush = true
	}
}

// readUniqueID reads .M, whose first field is a licence plate. The first of a group counts.
func (m *Message) readUniqueID(e line) {
	if m.scratch.own.has('M') {
		return
	}
	f := fieldsOf(e)
	if plate := f.text(); len(plate) == plateDigits && isDigits(plate) {
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
