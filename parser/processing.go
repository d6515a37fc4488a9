package parser

// readProcessing reads .J: code, agent, scanner, read date, read time, reading location, sent-to
// location. The first of the message counts.
func (m *Message) readProcessing(e line) {
	if m.scratch.seen.has('J') {
		return
	}
	p := &m.Processing
	p.Present = true
	if code := capital(m.field(e, 1)); code != "" {
		p.Code = code[0]
	}
	p.Date, _ = dateOf(m.field(e, 4))
	time := m.field(e, 5)
	p.Seconds, p.UTC, p.HasTime = timeOf(time)
	p.HasSeconds = p.HasTime && len(time) == len("105930L")
	p.ReadLocation, p.SentLocation = m.field(e, 6), m.field(e, 7)
}

// timeOf reads HHMM or HHMMSS, then L for local or Z for UTC.
func timeOf(s string) (seconds int, utc, ok bool) {
	if len(s) != len("1059L") && len(s) != len("105930L") {
		return 0, false, false
	}
	zone := s[len(s)-1]
	n, digits := number(s[:len(s)-1])
	if len(s) == len("1059L") {
		n *= 100
	}
	hour, minute, second := n/10000, n/100%100, n%100
	if !digits || zone != 'L' && zone != 'Z' || hour > 23 || minute > 59 || second > 59 {
		return 0, false, false
	}
	return hour*3600 + minute*60 + second, zone == 'Z', true
}
