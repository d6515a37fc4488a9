package parser

import (
	"strings"
	"unicode"
)

// readPassenger reads .P: an optional count glued to the surname, then the given name with the title glued
// to it. The first of a group counts.
func (m *Message) readPassenger(e line) {
	if m.scratch.own.has('P') {
		return
	}
	f := m.fields(e, 0, 2)
	g := m.group()
	g.Surname = withoutCount(f.of(1))
	g.GivenName = withoutTitle(f.of(2))
}

// withoutCount takes up to three digits from the front of a surname. What then still begins with a digit
// is no surname.
func withoutCount(s string) string {
	for n := 0; n < 3 && s != "" && isDigit(s[0]); n++ {
		s = s[1:]
	}
	s = trim(s)
	if s != "" && isDigit(s[0]) {
		return ""
	}
	return s
}

// withoutTitle takes a title from the end of a given name where that leaves two letters. No title ends another one.
func withoutTitle(s string) string {
	if len(s) < 4 {
		return s
	}
	four := fourBytes(s[len(s)-4:])
	length := 0 // each title on its own: what only sets a number costs no branch
	if four>>16 == 'M'|'R'<<8 {
		length = 2
	}
	if four>>16 == 'M'|'S'<<8 {
		length = 2
	}
	if four>>8 == 'M'|'R'<<8|'S'<<16 {
		length = 3
	}
	if four == 'M'|'I'<<8|'S'<<16|'S'<<24 {
		length = 4
	}
	if four == 'M'|'S'<<8|'T'<<16|'R'<<24 {
		length = 4
	}
	name := s[:len(s)-length]
	if length == 0 || !hasTwoLetters(name) || endsLikeTitle(s[strings.LastIndexAny(s, " \t-'")+1:]) {
		return s
	}
	return trim(name)
}

// endsLikeTitle reports whether the last word of a given name is itself a name that ends with the letters of a title, so that
// none is taken off: WILLIAMS is no WILLIA. These are surnames that serve as given names, and Latvian forms of Adam,
// Thomas, William, Maxim and others: what a title would leave of them is no name, or a rarer one. Names of which a
// title would not leave two letters, such as AMR, need no entry.
func endsLikeTitle(word string) bool {
	switch word {
	case "ABRAHAMS", "ABRAMS", "ADAMS", "SAMS", "WILLEMS", "WILLIAMS",
		"AKIMS", "ARTJOMS", "EFRAIMS", "JEFIMS", "MAKSIMS", "TOMS", "VADIMS", "VILHELMS", "VILJAMS":
		return true
	}
	return false
}

func hasTwoLetters(s string) bool {
	if len(s) > 1 && isCapital(s[0]) && isCapital(s[1]) {
		return true
	}
	found := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			found++
		}
	}
	return found >= 2
}

// readPNR reads .L, of which the first of a group counts.
func (m *Message) readPNR(e line) {
	if m.scratch.own.has('L') {
		return
	}
	f := m.fields(e, 0, 1)
	if pnr := f.of(1); isPNR(pnr) {
		m.group().PNR = pnr
	}
}

// isPNR reports whether s is five or six letters or digits.
func isPNR(s string) bool {
	if len(s) != 5 && len(s) != 6 {
		return false
	}
	word := fewBytes(s)
	const large = ^uint64(0x20 * ones) // makes a small letter a capital, and nothing else one
	sound := within(word&large, 'A', 'Z') | within(word, '0', '9')
	return word&highs == 0 && leading(sound) == len(s)
}

// readFrequentFlyer reads .Y, of which the first of a group counts.
func (m *Message) readFrequentFlyer(e line) {
	if m.scratch.own.has('Y') {
		return
	}
	f := m.fields(e, 0, 1)
	m.group().FrequentFlyer = f.of(1)
}
