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
	f := fieldsOf(e)
	g := m.group()
	g.Surname = withoutCount(f.text())
	g.GivenName = withoutTitle(f.text())
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

// titles are what may be glued to a given name, those before their own endings.
var titles = [...]string{"MISS", "MSTR", "MRS", "MR", "MS"}

// withoutTitle takes the longest title from the end of a given name that leaves two letters.
func withoutTitle(s string) string {
	if s == "" || s[len(s)-1] != 'R' && s[len(s)-1] != 'S' {
		return s // as no title ends
	}
	for _, title := range titles {
		if name, ok := strings.CutSuffix(s, title); ok && hasTwoLetters(name) {
			return trim(name)
		}
	}
	return s
}

func hasTwoLetters(s string) bool {
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
	f := fieldsOf(e)
	if pnr := f.text(); isPNR(pnr) {
		m.group().PNR = pnr
	}
}

// isPNR reports whether s is five or six letters or digits.
func isPNR(s string) bool {
	if len(s) != 5 && len(s) != 6 {
		return false
	}
	for i := range len(s) {
		if !isCapital(s[i]&^0x20) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// readFrequentFlyer reads .Y, of which the first of a group counts.
func (m *Message) readFrequentFlyer(e line) {
	if m.scratch.own.has('Y') {
		return
	}
	f := fieldsOf(e)
	m.group().FrequentFlyer = f.text()
}
