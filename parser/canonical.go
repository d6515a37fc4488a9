package parser

import "unsafe"

// Canonical returns the text by which copies of the message are recognised: the lines from the identifier to the end
// line, trimmed, without control characters and blank lines, joined by LF. A text without identifier is taken whole,
// one without end line to its end. It is a view of the text that m was parsed from, where that holds it as it is; with
// returns, that is but for a CR before each LF.
func (m *Message) Canonical() (text string, returns bool) {
	o := &m.scratch.outline
	from, to := o.identifier.from, len(o.text)
	if o.end.to > 0 {
		to = o.end.to
	}
	if part := o.text[from:to]; part == "" || to <= o.untidy && !lineEnd(part[len(part)-1]) {
		return part, false
	} else if o.returns && !lineEnd(part[len(part)-1]) {
		return part, true
	}
	made := make([]byte, 0, to-from)
	for _, end := range o.ends {
		if end >= from && from < to {
			if l := trim(o.text[from:end]); l != "" {
				if len(made) > 0 {
					made = append(made, '\n')
				}
				made = append(made, l...)
			}
			from = end + endingLength(o.text[end:])
		}
	}
	return unsafe.String(unsafe.SliceData(made), len(made)), false // nobody else has made
}
