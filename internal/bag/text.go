package bag

import "strings"

// Text is the canonical text of a message, by which copies are recognised (rules §3): its lines,
// joined by CR LF. Most senders join them so, which avoids a copy. Where the bytes of a text count,
// LF joins its lines.
type Text string

// withLF returns the lines, joined by LF.
func (t Text) withLF() string { return strings.ReplaceAll(string(t), "\r\n", "\n") }

// compare orders texts byte by byte.
func (t Text) compare(u Text) int {
	if t == u {
		return 0
	}
	return strings.Compare(t.withLF(), u.withLF())
}
