package parser

import (
	"slices"
	"strings"
)

// line is one line of a text: not blank, trimmed, without the characters that outline.mark takes out.
// The zero line is no line.
type line struct {
	at   int // offset of its first byte in the text that outline.mark went through
	text string
}

// span is where a line lies in a text: from its first byte to behind its last. The zero span is no line.
type span struct{ from, to int }

// letters is a set of the capital letters that name elements.
type letters uint32

func (l letters) has(letter byte) bool     { return l>>(letter-'A')&1 != 0 }
func (l letters) with(letter byte) letters { return l | 1<<(letter-'A') }

// outline is the shape of a text: its lines by what they are (rules §1). Lines that are nothing of this
// are carried along, which is to say skipped.
type outline struct {
	text       string // without the characters that must be taken out
	identifier span   // the first known one, else the first of three capitals before any element
	end        span   // the first end line of the identifier
	late       span   // the first known identifier behind an element
	elements   []span
	present    letters // all elements
	known      bool    // the identifier is a known one
	returns    bool    // all its lines end with CR LF, there is nothing to trim, and no character below blank
	untidy     int     // up to this offset no line has anything to trim, none is blank, and each ends with LF

	marks []marks // of text
	least byte    // of all bytes of it that are neither CR nor LF
	ends  []int   // of its lines: where each ends, before its line end
}

// mark makes ready for scan: it takes out of text what must be taken out, and finds its line ends.
func (o *outline) mark(text string) {
	o.text, o.end, o.untidy, o.returns = text, span{}, 0, false
	var hasCR bool
	if o.marks, o.least, hasCR = mark(o.marks, text); stripped(o.least) && text != "" {
		o.text = strip(text)
		o.marks, o.least, hasCR = mark(o.marks, o.text)
	}
	o.ends = lineEnds(o.ends, o.marks, o.text)
	if !hasCR {
		o.untidy = len(o.text)
	}
}

// scan takes up all lines of a text that is marked.
func (o *outline) scan() {
	o.identifier, o.end, o.late = span{}, span{}, span{}
	o.elements, o.present, o.known = o.elements[:0], 0, false
	from := 0
	for _, to := range o.ends {
		o.add(from, to)
		from = to + endingLength(o.text[to:])
	}
}

// add takes up the line between these offsets.
func (o *outline) add(from, to int) {
	s := o.text[from:to]
	if s == "" || s[0] <= ' ' || s[len(s)-1] <= ' ' {
		o.untidy = min(o.untidy, max(from-1, 0))
		if from, to = trimmed(o.text, from, to); from == to {
			return
		}
		s = o.text[from:to]
	}
	if isElement(s) {
		o.present = o.present.with(s[1])
		o.elements = append(o.elements, span{from, to})
	} else {
		o.addWord(span{from, to})
	}
}

// addWord takes up a line that is no element.
func (o *outline) addWord(l span) {
	s := o.text[l.from:l.to]
	switch {
	case knownIdentifier(s):
		if !o.known {
			o.identify(l)
			o.known = true
		}
		if o.present != 0 && o.late.to == 0 {
			o.late = l
		}
	case o.identifier.to == 0:
		if o.present == 0 && isCode(s) {
			o.identify(l)
		}
	case o.end.to == 0 && isEnd(s, o.lineAt(o.identifier).text):
		o.end = l
	}
}

// identify makes l the identifier. What was thought of the lines before it no longer holds.
func (o *outline) identify(l span) { o.identifier, o.end, o.late = l, span{}, span{} }

// lineAt returns the line that lies there; of no line no line.
func (o *outline) lineAt(l span) line { return line{l.from, o.text[l.from:l.to]} }

// lineFrom returns the first line behind offset i, which is no line's middle; none where there is none.
func (o *outline) lineFrom(i int) line {
	text := o.text
	for i < len(text) && (blank(text[i]) || lineEnd(text[i])) {
		i++
	}
	from, to := trimmed(text, i, i+lineLength(text[i:]))
	return o.lineAt(span{from, to})
}

// lastLine returns the last line; none where there is none.
func (o *outline) lastLine() line {
	text := o.text
	to := len(text)
	for to > 0 && (blank(text[to-1]) || lineEnd(text[to-1])) {
		to--
	}
	from := to
	for from > 0 && !lineEnd(text[from-1]) {
		from--
	}
	from, to = trimmed(text, from, to)
	return o.lineAt(span{from, to})
}

// stray returns the first line that makes the text more than one message; none where there is none.
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
	from := 0
	for _, to := range o.ends {
		if from >= o.identifier.from {
			break
		}
		if s := trim(o.text[from:to]); isOrigin(s) {
			found = s
		}
		from = to + endingLength(o.text[to:])
	}
	return found
}

func lineEnd(c byte) bool { return c == '\n' || c == '\r' }

// isElement reports whether a line is an element: a point, a capital, and a slash or nothing.
func isElement(s string) bool {
	return len(s) > 1 && s[0] == '.' && isCapital(s[1]) && (len(s) == 2 || s[2] == '/')
}

// isOrigin reports whether a line is a Type B origin line that ends with a blank, day, hour and minute: .ZRHXXLX 201200.
func isOrigin(s string) bool {
	const length = len("ddhhmm")
	at := len(s) - length
	if at < 2 || s[0] != '.' || s[2] == '/' || !blank(s[at-1]) || !isDigits(s[at:]) {
		return false
	}
	day, hour, minute := number(s[at:at+2]), number(s[at+2:at+4]), number(s[at+4:])
	return 1 <= day && day <= 31 && hour <= 23 && minute <= 59
}

// foreign are the identifiers of the standard's other messages.
var foreign = [...]string{"BTM", "BUM", "BNS", "BCM", "BMM", "BRQ"}

// knownIdentifier reports whether a line is a standard message identifier.
func knownIdentifier(s string) bool {
	return len(s) == 3 && (kindOf(s) != None || slices.Contains(foreign[:], s))
}

// isEnd reports whether a line ends a message with that identifier.
func isEnd(s, identifier string) bool {
	name, ok := strings.CutPrefix(s, "END")
	if !ok {
		return false
	}
	part, ok := strings.CutPrefix(name, "PART")
	return name == identifier || ok && kinds[kindOf(identifier)].hasParts && isDigits(part)
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
