package parser

// maxFields is the highest number of a field that the parser reads. Slashes separate the fields,
// and the first field is 1, as in rules §1. A field after the last one of the element is empty.
const maxFields = 9

// field returns field i of an element without leading and trailing blanks.
func (m *Message) field(e line, i int) string {
	from, to := m.boundsOf(e, i)
	return trim(m.scratch.outline.text[from:to])
}

// rawField returns field i of an element with its blanks, since blanks there are faults (rules §1).
// It also returns the offset of the field in the line.
func (m *Message) rawField(e line, i int) (text string, offset int) {
	from, to := m.boundsOf(e, i)
	return m.scratch.outline.text[from:to], from - e.at
}

// boundsOf returns the bounds of field i of an element in outline.text.
func (m *Message) boundsOf(e line, i int) (from, to int) {
	marks := m.scratch.outline.marks[e.mark+i-1:]
	end := e.at + len(e.text)
	return min(int(marks[0])+1, end), min(int(marks[1]), end)
}

// trim returns s without leading and trailing blanks.
func trim(s string) string {
	from, to := trimmed(s, 0, len(s))
	return s[from:to]
}

// trimmed returns the bounds of text[from:to] without leading and trailing blanks.
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

// isDigits reports whether s is one or more digits.
func isDigits(s string) bool {
	_, ok := number(s)
	return ok
}

// capital returns s if s is one capital, else "".
func capital(s string) string {
	if len(s) == 1 && isCapital(s[0]) {
		return s
	}
	return ""
}

// number reads s as a decimal number. ok reports whether s is one or more digits. A number of more
// than 18 digits may overflow, so the caller checks the length.
func number(s string) (n int, ok bool) {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = 10*n + int(s[i]-'0')
	}
	return n, s != ""
}
