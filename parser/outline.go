package parser

import (
	"math/bits"
	"strings"
)

// line is one line of a text: not blank, trimmed, without the characters that outline.read takes out.
// The zero line is no line.
type line struct {
	at   int // offset of its first byte in the text that outline.read went through
	text string
}

// letters is a set of the capital letters that name elements.
type letters uint32

func (l letters) has(letter byte) bool     { return l>>(letter-'A')&1 != 0 }
func (l letters) with(letter byte) letters { return l | 1<<(letter-'A') }

// outline is the shape of a text: its lines by what they are (rules §1). Lines that are nothing of this
// are carried along, which is to say skipped.
type outline struct {
	first, last line    // of all lines
	identifier  line    // the first known one, else the first of three capitals before any element
	second      line    // the line behind the identifier, whatever it is
	end         line    // the first end line of the identifier
	stray       line    // the first line that makes the text more than one message
	version     line    // the first .V element
	elements    []line  // all other elements, wherever they stand
	present     letters // all elements
	known       bool    // the identifier is a known one
}

// read makes the outline of text, in one pass over its bytes. It returns the text in which the lines stand:
// the same, or where there is something to take out a copy.
func (o *outline) read(text string) string {
	if !o.scan(text) {
		text = strip(text)
		o.scan(text)
	}
	return text
}

// scan is read for a text without characters that must be taken out; at the first one it gives up.
func (o *outline) scan(text string) bool {
	*o = outline{elements: o.elements[:0]}
	start := 0
	for i := nextLow(text, 0); i < len(text); i = nextLow(text, i+1) {
		c := text[i]
		if c == '\n' || c == '\r' {
			o.add(text, start, i)
			if c == '\r' && i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
			start = i + 1
		} else if stripped(c) {
			return false
		}
	}
	o.add(text, start, len(text))
	return true
}

// nextLow returns the offset of the first character up to CR at or behind i: of a line end, a tab, or a character
// that nobody expects. It looks at eight bytes at once, since nearly all are of no interest.
func nextLow(text string, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
		limit = '\r' + 1
	)
	for ; i+8 <= len(text); i += 8 {
		eight := text[i : i+8]
		word := uint64(eight[0]) | uint64(eight[1])<<8 | uint64(eight[2])<<16 | uint64(eight[3])<<24 |
			uint64(eight[4])<<32 | uint64(eight[5])<<40 | uint64(eight[6])<<48 | uint64(eight[7])<<56
		if low := (word - limit*ones) &^ word & highs; low != 0 { // the lowest bit is right, others may be borrowed
			return i + bits.TrailingZeros64(low)/8
		}
	}
	for i < len(text) && text[i] > '\r' {
		i++
	}
	return i
}

// add takes up the line text[start:end].
func (o *outline) add(text string, start, end int) {
	for start < end && blank(text[start]) {
		start++
	}
	for start < end && blank(text[end-1]) {
		end--
	}
	if start == end {
		return
	}
	l := line{start, text[start:end]}
	if o.first.text == "" {
		o.first = l
	}
	o.last = l
	if o.identifier.text != "" && o.second.text == "" {
		o.second = l
	}
	if o.end.text != "" {
		o.goAstray(l)
	}
	if isElement(l.text) {
		o.addElement(l)
	} else {
		o.addWord(l)
	}
}

func (o *outline) addElement(l line) {
	o.present = o.present.with(l.text[1])
	if l.text[1] == 'V' && o.version.text == "" {
		o.version = l
	} else {
		o.elements = append(o.elements, l)
	}
}

// addWord takes up a line that is no element.
func (o *outline) addWord(l line) {
	switch {
	case knownIdentifier(l.text):
		if !o.known {
			o.identify(l)
			o.known = true
		}
		if o.present != 0 {
			o.goAstray(l)
		}
	case o.identifier.text == "":
		if o.present == 0 && isCode(l.text) {
			o.identify(l)
		}
	case o.end.text == "" && isEnd(l.text, o.identifier.text):
		o.end = l
	}
}

// identify makes l the identifier. What was thought of the lines before it no longer holds.
func (o *outline) identify(l line) {
	o.identifier = l
	o.second, o.end, o.stray = line{}, line{}, line{}
}

func (o *outline) goAstray(l line) {
	if o.stray.text == "" {
		o.stray = l
	}
}

// isElement reports whether a line is an element: a point, a capital, and a slash or nothing.
func isElement(s string) bool {
	return len(s) > 1 && s[0] == '.' && isCapital(s[1]) && (len(s) == 2 || s[2] == '/')
}

// knownIdentifier reports whether a line is a standard message identifier.
func knownIdentifier(s string) bool {
	switch s {
	case "BSM", "BPM", "BTM", "BUM", "BNS", "BCM", "BMM", "BRQ":
		return true
	}
	return false
}

// isEnd reports whether a line ends a message with that identifier.
func isEnd(s, identifier string) bool {
	name, ok := strings.CutPrefix(s, "END")
	if !ok {
		return false
	}
	part, ok := strings.CutPrefix(name, "PART")
	return name == identifier || ok && identifier == "BPM" && isDigits(part)
}

// stripped reports whether a character is taken out before anything is judged: NUL, SOH, STX and ETX.
func stripped(c byte) bool { return c <= 3 }

// strip returns text without the stripped characters.
func strip(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	start := 0
	for i := range len(text) {
		if stripped(text[i]) {
			b.WriteString(text[start:i])
			start = i + 1
		}
	}
	b.WriteString(text[start:])
	return b.String()
}
