package parser

import "unsafe"

// Canonical returns the text by which copies of the message are recognised: the lines from the
// identifier to the end line, trimmed, without control characters and blank lines, joined by LF. A
// text without identifier is taken whole, one without end line to its end. It is a view of the text
// that m was parsed from, where that holds it as it is; with returns, it ends lines with CR LF
// instead.
func (m *Message) Canonical() (text string, returns bool) {
	o := &m.scratch.outline
	from, to := o.identifier.from, len(o.text)
	if o.end.to > 0 {
		to = o.end.to
	}
	part := o.text[from:to]
	if part == "" {
		return "", false
	}
	if to <= o.tidy && !lineEnd(part[len(part)-1]) {
		if o.feeds {
			return part, false
		}
		if o.pairs && !o.controls {
			return part, true
		}
	}
	made := make([]byte, 0, to-from)
	for _, l := range o.lines {
		if l.to < from || l.from >= to {
			continue
		}
		if text := trim(o.text[l.from:l.to]); text != "" {
			if len(made) > 0 {
				made = append(made, '\n')
			}
			made = append(made, text...)
		}
	}
	return unsafe.String(unsafe.SliceData(made), len(made)), false // nobody else has made
}
