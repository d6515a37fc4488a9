package parser

import (
	"strings"
	"unsafe"
)

// Canonical returns the text by which copies of the message are recognised: the lines from the
// identifier to the end line, trimmed, without control characters and blank lines, joined by LF. A
// text without identifier is taken whole, one without end line to its end. It is a view of the text
// that m was parsed from, where that holds it as it is; with returns, it ends lines with CR LF
// instead, and has no character between LF and CR.
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
		if strings.IndexByte(part, '\r') < 0 {
			return part, false
		}
		if o.pairs && strings.IndexByte(part, '\v') < 0 && strings.IndexByte(part, '\f') < 0 {
			return part, true
		}
	}
	made := make([]byte, 0, len(part))
	for l := o.lineFrom(from); l.text != "" && l.at < to; l = o.lineFrom(l.at + len(l.text)) {
		if len(made) > 0 {
			made = append(made, '\n')
		}
		made = append(made, l.text...)
	}
	return unsafe.String(unsafe.SliceData(made), len(made)), false // nobody else has made
}
