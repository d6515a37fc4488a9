package journey

import (
	"slices"
	"strings"
)

// spoiler makes a valid message malformed in one way.
type spoiler struct {
	kind string // BSM, BPM, or "" for both
	code int    // the code that the message then gets
	// spoil changes the lines of a message, from identifier to end line. It returns nil if it does
	// not apply to the message.
	spoil func(lines []string) []string
}

// without returns a spoiler's function that removes the elements with these letters.
func without(letters string) func([]string) []string {
	return func(lines []string) []string {
		kept := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return isElement(l) && strings.Contains(letters, l[1:2]) })
		if len(kept) == len(lines) {
			return nil
		}
		return kept
	}
}

// instead returns a spoiler's function that changes the first element with a letter.
func instead(letter byte, change func(line string) string) func([]string) []string {
	return func(lines []string) []string {
		lines = slices.Clone(lines)
		for i, l := range lines {
			if isElement(l) && l[1] == letter {
				lines[i] = change(l)
				return lines
			}
		}
		return nil
	}
}

// withoutB limits a spoiler to messages without .B: if the airport is not known, the status codes
// that are configured for it are not known either.
func withoutB(spoil func([]string) []string) func([]string) []string {
	return func(lines []string) []string {
		if has(lines, ".B/") {
			return nil
		}
		return spoil(lines)
	}
}

func isElement(l string) bool { return len(l) > 2 && l[0] == '.' && l[2] == '/' }

// has reports whether any line has the beginning.
func has(lines []string, beginning string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, beginning) })
}

// field returns a function that replaces field n of an element, counted from 1.
func field(n int, value string) func(string) string {
	return func(line string) string {
		fields := strings.Split(line, "/")
		for len(fields) <= n {
			fields = append(fields, "")
		}
		fields[n] = value
		return strings.Join(fields, "/")
	}
}

var spoilers = []spoiler{
	{"", 3, func([]string) []string { return []string{" ", ""} }},
	{"", 4, func(l []string) []string {
		if len(l[1]) == 3 { // a CHG would be taken for the identifier
			return nil
		}
		return l[1:]
	}},
	{"", 11, func(l []string) []string { return append([]string{"BUM"}, l[1:]...) }},
	{"", 11, func(l []string) []string { return append(slices.Clone(l), l...) }},
	{"BPM", 5, withoutB(without("V"))},
	{"BPM", 6, func(l []string) []string {
		if !has(l, ".U/") {
			return nil
		}
		return without("F")(l)
	}},
	{"BSM", 7, without("N")},
	{"BSM", 7, instead('N', func(string) string { return ".N/" })},
	{"BPM", 8, func(l []string) []string {
		if has(l, ".U/") {
			return nil
		}
		return without("NB")(l)
	}},
	{"BPM", 9, instead('B', func(string) string { return ".B" })},
	{"", 12, withoutB(instead('V', func(string) string { return ".V/1LZR" }))},
	{"", 13, instead('V', func(l string) string { return ".V/2" + l[4:] })},
	{"", 14, instead('V', func(l string) string { return ".V/1Q" + l[5:] })},
	{"", 15, withoutB(instead('V', func(l string) string { return l[:5] + "QQQ" + l[8:] }))},
	{"", 16, instead('N', func(l string) string { return l[:len(l)-1] })},
	{"", 17, instead('N', func(l string) string { return l[:len(l)-3] + "000" })},
	{"", 17, instead('N', func(l string) string { return l[:7] + "999999002" })},
	{"", 17, instead('N', func(l string) string { return ".N/A" + l[4:] })},
	{"BPM", 18, instead('B', func(l string) string { return l + "1" })},
	{"BPM", 19, instead('B', func(l string) string { return l[:len(l)-3] + "000" })},
	{"BPM", 27, instead('B', func(l string) string { return ".B/QQQ" + l[6:] })},
	{"", 20, instead('F', func(string) string { return ".F/LX1/1MAR/ZRH" })},
	{"", 21, instead('F', field(1, "LX12345678"))},
	{"", 21, instead('F', field(1, "LXABCD"))},
	{"", 22, instead('F', field(2, "31FEB"))},
	{"", 22, instead('F', field(2, "01MARS"))},
	{"", 23, instead('F', field(3, "QQQ"))},
	{"BSM", 39, without("V")},
	{"BSM", 40, func(l []string) []string { return l[:len(l)-1] }},
	{"BSM", 41, without("F")},
}

// spoil makes a malformed copy of a message.
func (s *stage) spoil(b *sheet, m Message) Message {
	for {
		bad := pick(s.r, spoilers...)
		if bad.kind != "" && bad.kind != b.identifier {
			continue
		}
		if lines := bad.spoil(b.plain()); lines != nil {
			m.Text = strings.Join(lines, pick(s.r, "\n", "\r\n"))
			m.Rejects = []int{bad.code}
			return m
		}
	}
}
