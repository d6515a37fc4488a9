package parser

import "slices"

// Until place has run, the Line and Column of a diagnostic are offsets in outline.text: Line is the
// offset of the line, and Column that of the fault. So lines and columns are counted only if a
// message has faults.

// lineStart is the Column of a fault at the first column of its line.
const lineStart = -1

// fail reports an error at this offset in l.
func (m *Message) fail(code Code, l line, offset int, value, expected string) {
	m.Errors = append(m.Errors, diagnosticOf(code, l, offset, value, expected))
}

// warn reports a warning at this offset in l.
func (m *Message) warn(code Code, l line, offset int, value, expected string) {
	m.Warnings = append(m.Warnings, diagnosticOf(code, l, offset, value, expected))
}

func diagnosticOf(code Code, l line, offset int, value, expected string) Diagnostic {
	element := ""
	if IsElement(l.text) {
		element = l.text[:len(".F")]
	}
	return Diagnostic{Code: code, Line: l.at, Column: l.at + offset, Element: element, Value: value, Expected: expected}
}

// miss reports an error at line l: something is missing in the message.
func (m *Message) miss(code Code, element string, l line, expected string) {
	m.Errors = append(m.Errors, Diagnostic{Code: code, Line: l.at, Column: lineStart, Element: element, Expected: expected})
}

// place puts diagnostics into line order and turns their offsets into lines and columns of text,
// the text as sent.
func place(text string, found []Diagnostic) {
	slices.SortStableFunc(found, func(a, b Diagnostic) int { return a.Line - b.Line })
	start, offset := 0, 0 // where the current line begins in text, and in outline.text
	for number := 1; len(found) > 0; number++ {
		sent := text[start : start+lineLength(text[start:])]
		length := keptLength(sent)
		for len(found) > 0 && found[0].Line <= offset+length {
			d := &found[0]
			at := d.Column - offset
			d.Line, d.Column = number, columnOf(sent, at)
			d.EndColumn = d.Column
			if d.Value != "" {
				d.EndColumn = columnOf(sent, at+len(d.Value)-1) + 1
			}
			found = found[1:]
		}
		ending := endingLength(text[start+len(sent):])
		start += len(sent) + ending
		offset += length + ending
	}
}

// lineLength returns the length of the first line of text without its line end.
func lineLength(text string) int {
	for i := range len(text) {
		if text[i] == '\n' || text[i] == '\r' {
			return i
		}
	}
	return len(text)
}

// endingLength returns the length of the line end at the beginning of rest, or 0 if rest is empty.
func endingLength(rest string) int {
	if len(rest) > 1 && rest[:2] == "\r\n" {
		return 2
	}
	return min(1, len(rest))
}

// keptLength returns the length of s without stripped characters.
func keptLength(s string) int {
	n := 0
	for i := range len(s) {
		if !stripped(s[i]) {
			n++
		}
	}
	return n
}

// columnOf returns the column of a byte in a line as sent. offset is the offset of the byte in the
// line without stripped characters. A negative offset is that of column 1.
func columnOf(sent string, offset int) int {
	if offset < 0 {
		return 1
	}
	for i := range len(sent) {
		if stripped(sent[i]) {
			continue
		}
		if offset == 0 {
			return i + 1
		}
		offset--
	}
	return len(sent) + 1
}
