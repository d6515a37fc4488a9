package parser

import "strings"

// Canonical returns the text by which copies of the message are recognised: the lines from the
// identifier to the end line, trimmed, without control characters and blank lines, joined by CR LF. A
// text without identifier is taken whole, one without end line to its end. It is a view of the text
// that m was parsed from, if that holds it as it is.
func (m *Message) Canonical() string {
	o := &m.scratch.outline
	from, to := o.identifier.from, len(o.text)
	if o.end.to > 0 {
		to = o.end.to
	}
	part := o.text[from:to]
	if o.pairs && to <= o.tidy && part != "" && !lineEnd(part[len(part)-1]) {
		return part
	}
	var made strings.Builder
	made.Grow(len(part) + strings.Count(part, "\n")) // room for a CR at each LF
	for l := o.lineFrom(from); l.text != "" && l.at < to; l = o.lineFrom(l.at + len(l.text)) {
		if made.Len() > 0 {
			made.WriteString("\r\n")
		}
		made.WriteString(l.text)
	}
	return made.String()
}
