package parser

import "strings"

// Canonical returns the text by which copies of the message are recognised: the lines from the
// identifier to the end line, trimmed, without control characters and blank lines, joined by LF. A
// text without identifier counts from its beginning, a text without end line to its end.
func (m *Message) Canonical() string {
	o := &m.scratch.outline
	from, to := o.identifier.from, len(o.text)
	if o.end.to > 0 {
		to = o.end.to
	}
	var made strings.Builder
	made.Grow(to - from)
	for l := o.lineFrom(from); l.text != "" && l.at < to; l = o.lineFrom(l.at + len(l.text)) {
		if made.Len() > 0 {
			made.WriteByte('\n')
		}
		made.WriteString(l.text)
	}
	return made.String()
}
