package bag

import "strings"

// Text is the canonical text of a message, by which copies are recognised (rules §3): its lines,
// joined by LF. Lines that are joined by CR LF are stored as they are, which avoids a copy.
type Text struct {
	lines string
	crlf  bool // CR LF joins the lines
}

// NewText returns the text of lines that are joined by LF or, if crlf is set, by CR LF. Lines
// joined by CR LF must hold no character between LF and CR, so that texts have the same order with
// either line end.
func NewText(lines string, crlf bool) Text { return Text{lines, crlf} }

// String returns the lines, joined by LF.
func (t Text) String() string {
	if !t.crlf {
		return t.lines
	}
	return strings.ReplaceAll(t.lines, "\r\n", "\n")
}

// Append appends the lines, joined by LF.
func (t Text) Append(dst []byte) []byte {
	if !t.crlf {
		return append(dst, t.lines...)
	}
	for lines := t.lines; ; {
		end := strings.IndexByte(lines, '\r')
		if end < 0 {
			return append(dst, lines...)
		}
		dst, lines = append(dst, lines[:end]...), lines[end+1:] // LF follows
	}
}

// Equal reports whether two texts have the same lines.
func (t Text) Equal(u Text) bool {
	if t.crlf == u.crlf {
		return t.lines == u.lines
	}
	if u.crlf {
		t, u = u, t
	}
	for {
		line, rest, more := strings.Cut(u.lines, "\n")
		theirs, behind, alsoMore := strings.Cut(t.lines, "\r\n")
		if line != theirs || more != alsoMore {
			return false
		}
		if !more {
			return true
		}
		t.lines, u.lines = behind, rest
	}
}

// Compare orders texts byte by byte.
func (t Text) Compare(u Text) int {
	if t.crlf == u.crlf {
		return strings.Compare(t.lines, u.lines)
	}
	return strings.Compare(t.String(), u.String())
}
