package parser

// readProcessing reads .J: code, agent, scanner, read date, read time, reading location, sent-to location.
// The first of the message counts.
func (m *Message) readProcessing(e line) {
	if m.scratch.seen.has('J') {
		return
	}
	f := fieldsOf(e)
	p := &m.Processing
	p.Present = true
	if code := capital(f.text()); code != "" {
		p.Code = code[0]
	}
	f.skip(2)
	if d, ok := dateOf(f.text()); ok {
		p.Date = d
	}
	p.Seconds, p.UTC, p.HasTime = timeOf(f.text())
	p.ReadLocation, p.SentLocation = f.text(), f.text()
}

// timeOf reads HHMM or HHMMSS, then L for local or Z for UTC.
func timeOf(s string) (seconds int, utc, ok bool) {
	if len(s) != len("1059L") && len(s) != len("105930L") {
		return 0, false, false
	}
	digits, zone := s[:len(s)-1], s[len(s)-1]
	if !isDigits(digits) || zone != 'L' && zone != 'Z' {
		return 0, false, false
	}
	hour, minute, second := number(digits[:2]), number(digits[2:4]), number(digits[4:])
	if hour > 23 || minute > 59 || second > 59 {
		return 0, false, false
	}
	return int(hour*3600 + minute*60 + second), zone == 'Z', true
}
