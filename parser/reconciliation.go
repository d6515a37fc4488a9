package parser

// readReconciliation reads .S: authority to load, seat, passenger status, sequence number, security number,
// passenger profile, authority to transport, bag tag status. The first of a group counts.
func (m *Message) readReconciliation(e line) {
	if m.scratch.own.has('S') {
		return
	}
	f := fieldsOf(e)
	g := m.group()
	f.skip(1)
	g.Seat = f.text()
	g.PassengerStatus = capital(f.text())
	f.skip(4)
	g.TagStatus = capital(f.text())
}
