package parser

import (
	"strings"
	"unsafe"
)

// AppendCanonical appends the text of a message by which copies of it are recognised: the lines from
// the identifier to the end line, trimmed, without control characters and blank lines, joined by LF.
// A text without identifier is taken whole, one without end line to its end.
func AppendCanonical(dst []byte, text string) []byte {
	var room [32]line // more than most messages have elements
	o := outline{elements: room[:0]}
	return o.appendCanonical(dst, o.read(text))
}

// Canonical returns what AppendCanonical makes of the text that m was parsed from: a view of it, where the
// text holds it as it is.
func (m *Message) Canonical() string {
	o := &m.scratch.outline
	text := o.extent(m.scratch.text)
	if plain(text) {
		return text
	}
	made := o.appendCanonical(make([]byte, 0, len(text)), m.scratch.text)
	return unsafe.String(unsafe.SliceData(made), len(made)) // nobody else has made
}

// extent returns the part of text from the identifier to the end line.
func (o *outline) extent(text string) string {
	if o.end.text != "" {
		text = text[:o.end.at+len(o.end.text)]
	}
	return text[o.identifier.at:]
}

// plain reports whether a text that begins and ends with a line has nothing to trim or drop: each LF stands
// between characters that are neither blanks nor line ends.
func plain(text string) bool {
	if text == "" || text[0] <= ' ' || text[len(text)-1] <= ' ' || strings.IndexByte(text, '\r') >= 0 {
		return false
	}
	for rest := text; ; {
		i := strings.IndexByte(rest, '\n')
		if i < 0 {
			return true
		}
		if i == 0 || rest[i-1] <= ' ' || rest[i+1] <= ' ' {
			return false
		}
		rest = rest[i+1:]
	}
}

func (o *outline) appendCanonical(dst []byte, text string) []byte {
	begin := len(dst)
	for text = o.extent(text); text != ""; {
		n := lineLength(text)
		if l := trim(text[:n]); l != "" {
			if len(dst) > begin {
				dst = append(dst, '\n')
			}
			dst = append(dst, l...)
		}
		text = text[min(n+1, len(text)):]
	}
	return dst
}
