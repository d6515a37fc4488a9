package parser

// readReconciliation reads .S: authority to load, seat, passenger status, sequence number, security
// number, passenger profile, authority to transport, bag tag status. The first of a group counts.
func (m *Message) readReconciliation(e line) {
	if m.scratch.own.has('S') {
		return
	}
	f := m.fields(e, 0, 8)
	g := m.group()
	g.Seat, g.PassengerStatus, g.TagStatus = f.of(2), capital(f.of(3)), capital(f.of(8))
}
