package parser

import (
	"slices"
	"strings"
)

// line is one line of a text: not blank, trimmed, without stripped characters. The zero line stands
// for a line that does not exist.
type line struct {
	at   int // offset of its first byte in outline.text
	mark int // of an element: see span.mark; boundsOf needs it
	text string
}

// span is the place of a line in outline.text. The zero span stands for a line that does not exist.
type span struct {
	from, to int // offset of its first byte, and of the byte after its last one
	mark     int // index in outline.marks of the first mark at or after from
}

// letters is a set of the capital letters that name elements.
type letters uint32

func (l letters) has(letter byte) bool     { return l>>(letter-'A')&1 != 0 }
func (l letters) with(letter byte) letters { return l | 1<<(letter-'A') }

// outline classifies the lines of a text (rules §1). Lines of no class are skipped.
type outline struct {
	text       string // without stripped characters
	identifier span   // the first known identifier, else the first line of three capitals before any element
	end        span   // the first end line of the identifier
	late       span   // the first known identifier after an element
	elements   []span
	version    span    // the first .V
	present    letters // all elements
	known      bool    // the identifier is a known one, see KnownIdentifier

	marks []uint32 // the offsets of the marks in text, see isMark, then maxFields+1 times the length of text
}

// scan finds the lines of text and classifies them.
func (o *outline) scan(text string) {
	o.text = text
	o.identifier, o.end, o.late, o.version = span{}, span{}, span{}, span{}
	o.elements, o.present, o.known = o.elements[:0], 0, false
	var l span
	for i, mark := range o.mark() {
		at := int(mark)
		c := text[at]
		if c == '/' {
			continue
		}
		if stripped(c) {
			o.scan(strip(text))
			return
		}
		if c != '\n' || at == 0 || text[at-1] != '\r' { // else it is part of a CR LF, which has ended the line
			l.to = at
			o.add(l)
		}
		l.from, l.mark = at+1, i+1
	}
	if l.to = len(text); l.from < l.to {
		o.add(l)
	}
}

// isMark is 1 for each mark: a character that ends a line or a field, or is stripped.
var isMark = &[256]uint8{0: 1, 1: 1, 2: 1, 3: 1, '\n': 1, '\r': 1, '/': 1}

// mark returns the offsets of the marks in the text. It stores the offset of every byte at
// marks[n], and increases n only after a mark, so the offset of any other byte is overwritten by
// the next one. A loop that stores only the offsets of marks would take twice the time, since it
// needs a branch that a processor cannot predict.
func (o *outline) mark() []uint32 {
	text, isMark := o.text, isMark
	size := len(text) + maxFields + 1
	marks := slices.Grow(o.marks[:0], size)[:size]
	n := 0
	for i := range len(text) {
		marks[n] = uint32(i)
		n += int(isMark[text[i]])
	}
	o.marks = marks[:n+maxFields+1]
	for i := n; i < len(o.marks); i++ {
		o.marks[i] = uint32(len(text))
	}
	return marks[:n]
}

// add classifies one line.
func (o *outline) add(l span) {
	s := o.text[l.from:l.to]
	if s == "" || s[0] <= ' ' || s[len(s)-1] <= ' ' {
		if l.from, l.to = trimmed(o.text, l.from, l.to); l.from == l.to {
			return
		}
		s = o.text[l.from:l.to]
	}
	if IsElement(s) {
		if s[1] == 'V' && !o.present.has('V') {
			o.version = l
		}
		o.present = o.present.with(s[1])
		o.elements = append(o.elements, l)
	} else {
		o.addWord(l)
	}
}

// addWord classifies a line that is not an element.
func (o *outline) addWord(l span) {
	s := o.text[l.from:l.to]
	switch {
	case KnownIdentifier(s):
		if !o.known {
			o.identify(l)
			o.known = true
		}
		if o.present != 0 && o.late.to == 0 {
			o.late = l
		}
	case o.identifier.to == 0:
		if o.present == 0 && IsThreeCapitals(s) {
			o.identify(l)
		}
	case o.end.to == 0 && isEnd(s, o.lineAt(o.identifier).text):
		o.end = l
	}
}

// identify makes l the identifier. It forgets the end line of the previous identifier.
func (o *outline) identify(l span) { o.identifier, o.end = l, span{} }

// lineAt returns the line at a span: the zero line for the zero span.
func (o *outline) lineAt(l span) line { return line{l.from, l.mark, o.text[l.from:l.to]} }

// lineFrom returns the first line at or after offset i, or the zero line. i must not be inside a
// line.
func (o *outline) lineFrom(i int) line {
	text := o.text
	for i < len(text) && (blank(text[i]) || lineEnd(text[i])) {
		i++
	}
	from, to := trimmed(text, i, i+lineLength(text[i:]))
	return line{at: from, text: text[from:to]}
}

// lastLine returns the last line, or the zero line.
func (o *outline) lastLine() (last line) {
	for l := o.lineFrom(0); l.text != ""; l = o.lineFrom(l.at + len(l.text)) {
		last = l
	}
	return last
}

// stray returns the first line that cannot be part of the message, or the zero line: a line after
// the end line, or an identifier after an element.
func (o *outline) stray() line {
	if o.end.to > 0 {
		if behind := o.lineFrom(o.end.to); behind.text != "" && (o.late.to == 0 || behind.at < o.late.from) {
			return behind
		}
	}
	return o.lineAt(o.late)
}

// origin returns the last origin line with day and time before the identifier; "" if there is none.
func (o *outline) origin() (found string) {
	for l := o.lineFrom(0); l.at < o.identifier.from; l = o.lineFrom(l.at + len(l.text)) {
		if isOrigin(l.text) {
			found = l.text
		}
	}
	return found
}

func lineEnd(c byte) bool { return c == '\n' || c == '\r' }

// IsElement reports whether a line is an element: a point, a capital, and a slash or nothing.
func IsElement(s string) bool {
	return len(s) > 1 && s[0] == '.' && isCapital(s[1]) && (len(s) == 2 || s[2] == '/')
}

// isOrigin reports whether a line is a Type B origin line with day, hour and minute in a word after
// the address: .ZRHXXLX 201200, .ISTKMTK 081625 BMD-094, .PEKKMCA HB/301623.
func isOrigin(s string) bool {
	end := strings.IndexAny(s, " \t") // of the address
	if end < 0 || s[0] != '.' || len(s) < 3 || s[2] == '/' {
		return false
	}
	for word := range strings.FieldsFuncSeq(s[end:], func(r rune) bool { return r == ' ' || r == '\t' || r == '/' }) {
		n, digits := number(word)
		day, hour, minute := n/10000, n/100%100, n%100
		if digits && len(word) == len("ddhhmm") && 1 <= day && day <= 31 && hour <= 23 && minute <= 59 {
			return true
		}
	}
	return false
}

// KnownIdentifier reports whether a line is a message identifier: one of the IATA standard, even if
// Parse does not accept its messages, or one of a Kind.
func KnownIdentifier(s string) bool {
	switch s {
	case "BSM", "BPM", "BTM", "BUM", "BNS", "BCM", "BMM", "BRQ":
		return true
	}
	return len(s) == 3 && kindOf(s) != None
}

// isEnd reports whether a line ends a message with this identifier.
func isEnd(s, identifier string) bool {
	name, ok := strings.CutPrefix(s, "END")
	if !ok {
		return false
	}
	part, ok := strings.CutPrefix(name, "PART")
	return name == identifier || ok && kinds[kindOf(identifier)].hasParts && isDigits(part)
}

// stripped reports whether a character is removed before the text is read: NUL, SOH, STX or ETX.
func stripped(c byte) bool { return c <= 3 }

// strip returns text without the stripped characters.
func strip(text string) string {
	var kept strings.Builder
	kept.Grow(len(text))
	for i := range len(text) {
		if !stripped(text[i]) {
			kept.WriteByte(text[i])
		}
	}
	return kept.String()
}
