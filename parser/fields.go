package parser

// mostFields is how many fields of an element are read at most, with the letter before them.
const mostFields = 10

// fields are the fields of an element line. They lie between slashes and count from 1, as in rules
// §1; behind the last field every further field is empty.
type fields struct {
	line  string
	parts [mostFields]span // parts[0] is not used
}

// fields returns the fields 1 to n of an element: the guarded ones, which a code of rules §1 judges
// and which come first, as they stand, the others without outer blanks. They hold until it is
// called again.
func (m *Message) fields(e line, guarded, n int) *fields {
	f, text := &m.scratch.fields, e.text
	f.line = text
	from := min(len(".X/"), len(text))
	for i := 1; i <= n; i++ {
		to := from
		for to < len(text) && text[to] != '/' {
			to++
		}
		p := span{from, to}
		if i > guarded {
			p.from, p.to = trimmed(text, from, to)
		}
		f.parts[i] = p
		from = min(to+1, len(text))
	}
	return f
}

// of returns field i.
func (f *fields) of(i int) string { return f.line[f.parts[i].from:f.parts[i].to] }

// at returns the offset of field i in the line.
func (f *fields) at(i int) int { return f.parts[i].from }

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

// number reads s, at most 19 digits. ok is false if s is empty or anything else.
func number(s string) (n int, ok bool) {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = 10*n + int(s[i]-'0')
	}
	return n, s != ""
}
