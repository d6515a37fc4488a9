package parser

// fields cuts an element line into its fields, which lie between slashes behind ".X/".
// Behind the last field every further field is empty.
type fields struct {
	rest string // from the next field on
	at   int    // offset of rest in the line
}

func fieldsOf(e line) fields {
	at := min(len(".X/"), len(e.text))
	return fields{e.text[at:], at}
}

// cut returns the next field as it stands, and where it stands in the line.
func (f *fields) cut() (field string, offset int) {
	offset = f.at
	rest := f.rest
	for i := 0; i < len(rest); i++ {
		if rest[i] == '/' {
			f.rest, f.at = rest[i+1:], offset+i+1
			return rest[:i], offset
		}
	}
	f.rest, f.at = "", offset+len(rest)
	return rest, offset
}

// text returns the next field without outer blanks. Fields that no code of rules §1 guards are read so.
func (f *fields) text() string {
	s, _ := f.cut()
	return trim(s)
}

// skip passes over n fields.
func (f *fields) skip(n int) {
	for range n {
		f.cut()
	}
}

// trim returns s without outer blanks.
func trim(s string) string {
	for s != "" && blank(s[0]) {
		s = s[1:]
	}
	for s != "" && blank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
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
