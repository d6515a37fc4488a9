package parser

// maxFields is the length of fields.parts: fields 1 to 9, and index 0, which is not used.
const maxFields = 10

// fields are the fields of an element line. They lie between slashes and count from 1, as in rules
// §1; behind the last field every further field is empty.
type fields struct {
	line  string
	parts [maxFields]span // parts[0] is not used
}

// fields returns the fields 1 to n of an element. Fields 1 to guarded, which codes of rules §1 judge,
// keep their blanks; the others are without leading and trailing blanks. The result is valid until the
// next call.
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

func (f *fields) of(i int) string { return f.line[f.parts[i].from:f.parts[i].to] }

// at returns the offset of field i in the line.
func (f *fields) at(i int) int { return f.parts[i].from }

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
