// Package excerpt returns the line to which a diagnostic points, cut around the fault, for display
// in a terminal.
package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Excerpt is a line of a text in three parts. They have printable characters only, whatever the text
// holds, and each is one cell wide in a terminal. Parts of a long line are left out, with … in their
// place.
type Excerpt struct {
	Before string // the text before the fault
	Fault  string // the faulty text; "" if something is missing here
	After  string // the text after the fault
}

// longest is the largest number of characters that are shown of each part.
const longest = 60

// Lines returns the lines of a text without their ends: CR LF, LF or CR.
func Lines(text string) []string { return strings.Split(lineFeeds.Replace(text), "\n") }

// Of returns the excerpt of a text with these lines for a line, a column and an end column as
// diagnostics have them: from 1, in bytes, the end exclusive. ok is false if that line is blank or
// does not exist.
func Of(lines []string, line, column, end int) (e Excerpt, ok bool) {
	if line < 1 || line > len(lines) || strings.Trim(lines[line-1], " \t") == "" {
		return Excerpt{}, false
	}
	var before, fault, after []rune
	for rest, at := lines[line-1], 1; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch cell := cellOf(r); {
		case at >= end && at >= column:
			after = append(after, cell)
		case at+size > column && end > column: // also if the fault begins inside a character
			fault = append(fault, cell)
		default:
			before = append(before, cell)
		}
		rest, at = rest[size:], at+size
	}
	if cut := len(before) - longest; cut > 0 {
		before = append([]rune{'…'}, before[cut:]...)
	}
	return Excerpt{string(before), head(fault), head(after)}, true
}

var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func head(cells []rune) string {
	if len(cells) > longest {
		return string(cells[:longest]) + "…"
	}
	return string(cells)
}

// cellOf returns the character that stands for r: itself if every terminal shows it in one cell and
// from left to right.
func cellOf(r rune) rune {
	const lastNarrow = 0x22ff // the wide characters come after it
	switch {
	case r == '\t':
		return ' '
	case r > lastNarrow, !unicode.IsPrint(r), !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Common):
		return '·'
	}
	return r
}

// Mark returns blanks under Before, and a mark under each character of Fault. If the fault is empty
// the mark is under the place where something is missing.
func (e Excerpt) Mark() string {
	return strings.Repeat(" ", utf8.RuneCountInString(e.Before)) + strings.Repeat("^", max(1, utf8.RuneCountInString(e.Fault)))
}
