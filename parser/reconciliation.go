package parser

// readReconciliation reads .S: authority to load, seat, passenger status, sequence number, security
// number, passenger profile, authority to transport, bag tag status. It is called for the first .S of
// a group only, see firstOfGroup.
func (m *Message) readReconciliation(e line) {
	g := m.group()
	g.Seat, g.PassengerStatus, g.TagStatus = m.field(e, 2), capital(m.field(e, 3)), capital(m.field(e, 8))
}
