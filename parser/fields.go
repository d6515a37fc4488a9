package parser

import "strings"

// mostFields is how many fields of an element are read at most, with the letter before them.
const mostFields = 10

// fields are the fields of an element line. They lie between slashes and count from 1, as in rules §1; behind the
// last field every further field is empty.
type fields struct {
	line  string
	parts [mostFields]part // parts[0] is not used
}

// part is where a field lies in its line: from begin to before end.
type part struct{ begin, end uint32 }

// fields returns the fields 1 to n of an element: the guarded ones, which a code of rules §1 judges and which come
// first, as they stand, the others without outer blanks. They hold until it is called again.
func (m *Message) fields(e line, guarded, n int) *fields {
	o, f := &m.scratch.outline, &m.scratch.fields
	f.line = e.text
	parts := f.parts[1 : n+1]
	if len(e.text) < blockLength {
		f.cut(parts, slashesFrom(o.marks, e.at))
	} else {
		f.cutLong(parts)
	}
	if o.least <= ' ' && (o.least < ' ' || strings.IndexByte(e.text, ' ') >= 0) {
		f.trim(parts[guarded:])
	}
	return f
}

// cut finds the first fields as they stand, in a line with these slashes.
func (f *fields) cut(parts []part, slashes uint64) {
	length := uint32(len(f.line))
	slashes &^= 1<<len(".X/") - 1
	at := min(uint32(len(".X/")), length)
	for i := range parts {
		end := min(uint32(lowest(slashes)), length)
		parts[i] = part{at, end}
		slashes &= slashes - 1
		at = min(end+1, length)
	}
}

// cutLong is cut for a line that is longer than a bitmap.
func (f *fields) cutLong(parts []part) {
	at := min(len(".X/"), len(f.line))
	for i := range parts {
		end := len(f.line)
		if length := strings.IndexByte(f.line[at:], '/'); length >= 0 {
			end = at + length
		}
		parts[i] = part{uint32(at), uint32(end)}
		at = min(end+1, len(f.line))
	}
}

// trim takes outer blanks off fields.
func (f *fields) trim(parts []part) {
	for i, p := range parts {
		begin, end := trimmed(f.line, int(p.begin), int(p.end))
		parts[i] = part{uint32(begin), uint32(end)}
	}
}

// of returns field i.
func (f *fields) of(i int) string { return f.line[f.parts[i].begin:f.parts[i].end] }

// at returns the offset of field i in the line.
func (f *fields) at(i int) int { return int(f.parts[i].begin) }

// trim returns s without outer blanks.
func trim(s string) string {
	from, to := trimmed(s, 0, len(s))
	return s[from:to]
}

// trimmed returns from and to without the blanks between which they lie.
func trimmed(text string, from, to int) (int, int) {
	for from < to && blank(text[from]) {
		from++
	}
	for from < to && blank(text[to-1]) {
		to--
	}
	return from, to
}

func blank(c byte) bool     { return c == ' ' || c == '\t' }
func isDigit(c byte) bool   { return '0' <= c && c <= '9' }
func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }

// isDigits reports whether s is one digit or more, and nothing else.
func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// isCode reports whether s is three capitals.
func isCode(s string) bool {
	return len(s) == 3 && isCapital(s[0]) && isCapital(s[1]) && isCapital(s[2])
}

// capital returns s where it is one capital, else "".
func capital(s string) string {
	if len(s) == 1 && isCapital(s[0]) {
		return s
	}
	return ""
}

// number reads s, which is at most 19 digits.
func number(s string) (n uint64) {
	for i := range len(s) {
		n = 10*n + uint64(s[i]-'0')
	}
	return n
}
