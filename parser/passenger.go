package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// readPassenger reads .P: an optional count directly followed by the surname, then the given name
// directly followed by an optional title. The first .P of a group counts.
func (m *Message) readPassenger(e line) {
	g := m.group()
	g.Surname = withoutCount(m.field(e, 1))
	g.GivenName = withoutTitle(m.field(e, 2))
}

// withoutCount removes up to three digits from the front of a surname. It returns "" if more digits
// follow.
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

// withoutTitle removes a title from the end of a given name if at least two letters remain.
func withoutTitle(s string) string {
	at := max(0, strings.LastIndexByte(s, 'M')) // a title has no other M
	name, title := s[:at], s[at:]
	switch title {
	case "MR", "MRS", "MS", "MISS", "MSTR":
		if hasTwoLetters(name) && (title != "MS" || !endsWithName(s)) {
			return trim(name)
		}
	}
	return s
}

// endsWithName reports whether the last word of a given name is itself a name that ends with MS:
// WILLIAMS is not WILLIA with a title. The names are surnames that serve as given names, and
// Latvian forms of Adam, Thomas, William, Maxim and others. Without MS, each is a rarer name or not
// a name at all. A name with fewer than two letters before MS needs no entry.
func endsWithName(s string) bool {
	switch s[strings.LastIndexAny(s, " \t-'")+1:] {
	case "ABRAHAMS", "ABRAMS", "ADAMS", "SAMS", "WILLEMS", "WILLIAMS",
		"AKIMS", "ARTJOMS", "EFRAIMS", "JEFIMS", "MAKSIMS", "TOMS", "VADIMS", "VILHELMS", "VILJAMS":
		return true
	}
	return false
}

func hasTwoLetters(s string) bool {
	found := 0
	for _, r := range s {
		if unicode.IsLetter(r) || r == utf8.RuneError { // a byte that is not UTF-8 counts as a letter
			found++
		}
		if found == 2 {
			return true
		}
	}
	return false
}

// readPNR reads .L. The first .L of a group counts.
func (m *Message) readPNR(e line) {
	if pnr := m.field(e, 1); IsPNR(pnr) {
		m.group().PNR = pnr
	}
}

// readFrequentFlyer reads .Y. The first .Y of a group counts.
func (m *Message) readFrequentFlyer(e line) {
	m.group().FrequentFlyer = m.field(e, 1)
}
