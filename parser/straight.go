package parser

// readStraight reads a message that lies in its text as nearly all do: BSM or BPM in the first line, the end line in
// the last, if there is one, elements between them, .V before .B, and nothing to trim. That takes one pass over the
// lines. At the first line that is otherwise it gives up: what it has read until then counts for nothing.
func (m *Message) readStraight() bool {
	o := &m.scratch.outline
	text, ends := o.text, o.ends
	if len(ends) == 0 || !m.readIdentifier(text[:ends[0]]) {
		return false
	}
	m.openGroup()
	from := ends[0] + endingLength(text[ends[0]:])
	pairs := from - ends[0] - 1 // CR LF
	for i, to := range ends[1:] {
		if to-from < 3 || from > len(text)-4 || text[from] <= ' ' || text[to-1] <= ' ' {
			return false
		}
		front := fourBytes(text[from:])
		l := line{from, text[from:to]}
		from = to + 1
		if from < len(text) && text[to] == '\r' && text[from] == '\n' {
			from++
			pairs++
		}
		const element = '.' | '/'<<16
		if front&0xff00ff == element && isCapital(byte(front>>8)) {
			if byte(front>>8) == 'B' && !m.scratch.seen.has('V') {
				return false
			}
			m.readElement(l)
			continue
		}
		switch {
		case knownIdentifier(l.text):
			return false
		case isEnd(l.text, m.Identifier):
			if i+2 < len(ends) {
				return false
			}
			o.end = span{l.at, to}
		case i == 0 && m.Kind == BSM:
			m.Change = changeOf(l.text)
		}
	}
	m.shareLoading()
	o.present = m.scratch.seen
	if last := ends[len(ends)-1]; last == len(text) {
		pairs++ // the last line ends with the text
	}
	o.returns = pairs == len(ends) && o.least >= ' '
	m.judgeMissing()
	return true
}

// readIdentifier reads the first line of a text, and reports whether it is BSM or BPM.
func (m *Message) readIdentifier(first string) bool {
	m.Kind = kindOf(first)
	m.Identifier = first
	m.scratch.outline.identifier = span{0, len(first)}
	return m.Kind == BSM || m.Kind == BPM
}
