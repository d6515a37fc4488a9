package parser

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Diagnostic is one fault of a message, with its place in the text as it was sent.
//
// Value and what is made from it may hold names and PNRs: neither belongs in a log line.
type Diagnostic struct {
	Code     Code
	Line     int    // 1-based; CR LF, LF and CR each end a line
	Column   int    // 1-based, in bytes of the line as sent
	Element  string // the element that is at fault or missing: ".V", ".F", …; "" where it is none
	Value    string // what stands there, any bytes; "" where nothing does
	Expected string // what should stand there
}

// longestQuote is how many bytes of a value Description shows.
const longestQuote = 40

// Description is one plain sentence that names the line, the element, and what was found there. It holds
// printable characters only, whatever the message held.
func (d Diagnostic) Description() string {
	var b strings.Builder
	definition, _ := d.Code.Definition()
	b.WriteString(definition.Text)
	fmt.Fprintf(&b, " (line %d", d.Line)
	if d.Element != "" {
		b.WriteString(", element " + d.Element)
	}
	b.WriteString(")")
	if d.Value != "" {
		b.WriteString(": found " + quote(d.Value) + ",")
	} else {
		b.WriteString(":")
	}
	b.WriteString(" expected " + d.Expected + ".")
	return b.String()
}

// quote shows s between quotation marks: its beginning where it is long, and escapes where it is not printable.
func quote(s string) string {
	if len(s) <= longestQuote {
		return strconv.Quote(s)
	}
	end := longestQuote
	for end > longestQuote-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return strconv.Quote(s[:end]) + "…"
}
