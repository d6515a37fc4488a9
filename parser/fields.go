package parser

// maxFields is the number of fields that an element can be asked for. Fields lie between slashes and
// count from 1, as in rules §1; behind the last field every further field is empty.
const maxFields = 9

// field returns field i of an element without leading and trailing blanks.
func (m *Message) field(e line, i int) string {
	from, to := m.boundsOf(e, i)
	return trim(m.scratch.outline.text[from:to])
}

// guarded returns field i of an element with its blanks, as the codes of rules §1 judge it, and its
// offset in the line.
func (m *Message) guarded(e line, i int) (text string, offset int) {
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

// isDigits reports whether s is one digit or more, and nothing else.
func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// capital returns s if it is one capital, else "".
func capital(s string) string {
	if len(s) == 1 && isCapital(s[0]) {
		return s
	}
	return ""
}

// number reads s as a decimal number. ok is false unless s is one or more digits. More than 18
// digits may overflow: the caller checks the length.
func number(s string) (n int, ok bool) {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = 10*n + int(s[i]-'0')
	}
	return n, s != ""
}
