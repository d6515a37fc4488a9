package parser

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Diagnostic is a fault of a message, with its place in the text as sent.
//
// Value and Description may hold names and PNRs, which must not be logged.
type Diagnostic struct {
	Code      Code
	Line      int    // 1-based; CR LF, LF and CR each end a line
	Column    int    // 1-based, in bytes of the line as sent
	EndColumn int    // the column after the last byte of Value; Column if Value is empty
	Element   string // the element that is faulty or missing: ".V", ".F", …; "" if the fault is in no element
	Value     string // the faulty text, any bytes; "" if there is none
	Expected  string // what should stand there
}

// longestQuote is the largest number of bytes of a value that Description shows.
const longestQuote = 40

// Description returns a sentence that names the fault, the line, the element, the faulty text and
// what is expected instead. It has printable characters only, whatever the message holds.
func (d Diagnostic) Description() string {
	definition, _ := d.Code.Definition()
	element, found := "", ""
	if d.Element != "" {
		element = ", element " + d.Element
	}
	if d.Value != "" {
		found = " found " + quote(d.Value) + ","
	}
	return fmt.Sprintf("%s (line %d%s):%s expected %s.", definition.Text, d.Line, element, found, d.Expected)
}

// quote returns s in quotation marks, with escapes for characters that are not printable. It cuts s
// between two characters to at most longestQuote bytes.
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
