package parser

// readReconciliation reads .S: authority to load, seat, passenger status, sequence number, security
// number, passenger profile, authority to transport, bag tag status. The first of a group counts.
func (m *Message) readReconciliation(e line) {
	g := m.group()
	g.Seat, g.PassengerStatus, g.TagStatus = m.field(e, 2), capital(m.field(e, 3)), capital(m.field(e, 8))
}
