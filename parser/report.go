package parser

import "slices"

// Until place has run, the Line and Column of a diagnostic are offsets in the text that
// outline.scan has read: of the line in which it stands, and of its fault. So lines and columns are
// counted only if a message has faults.

// lineStart instead of an offset puts a fault at the first column of its line.
const lineStart = -1

// fail reports an error at that offset of l.
func (m *Message) fail(code Code, l line, offset int, value, expected string) {
	m.Errors = append(m.Errors, diagnosticOf(code, l, offset, value, expected))
}

// warn reports a warning at that offset of l.
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

// miss reports as an error that something is missing which the line l asks for.
func (m *Message) miss(code Code, element string, l line, expected string) {
	m.Errors = append(m.Errors, Diagnostic{Code: code, Line: l.at, Column: lineStart, Element: element, Expected: expected})
}

// place puts diagnostics in line order and turns their offsets into lines and columns of text,
// which is the text as sent.
func place(text string, found []Diagnostic) {
	slices.SortStableFunc(found, func(a, b Diagnostic) int { return a.Line - b.Line })
	start, offset := 0, 0 // of the current line in text, and in the text without stripped characters
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

// endingLength returns the length of the line end with which rest begins.
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

// columnOf returns the column of the byte at that offset of a line without its stripped characters.
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
