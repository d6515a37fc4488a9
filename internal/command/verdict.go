package command

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"bagtrail/ingestor"
	"bagtrail/internal/messagefile"
)

// writeVerdict writes the verdict on a message, and each fault with its line and a mark under its
// column.
func writeVerdict(w io.Writer, m messagefile.Message, outcome ingestor.Outcome) {
	verdict := "accepted"
	if outcome.Verdict == ingestor.Rejected {
		verdict = "rejected"
	}
	kind := outcome.Identifier
	if kind == "" {
		kind = "message"
	}
	fmt.Fprintf(w, "%s:%d: %s %s\n", printable(m.File), m.Line, printable(kind), verdict)
	if len(outcome.Errors)+len(outcome.Warnings) == 0 {
		return
	}
	lines := linesOf(m.Text)
	for _, list := range []struct {
		name  string
		found []ingestor.Diagnostic
	}{{"error", outcome.Errors}, {"warning", outcome.Warnings}} {
		for _, d := range list.found {
			fmt.Fprintf(w, "  %s %s: %s\n", list.name, d.Code, printable(d.Description))
			writeMark(w, m.Line, lines, d)
		}
	}
}

// writeMark writes the line at fault, numbered as in its file, and a mark under the column. It
// writes nothing if the line is blank. first is the number of the first of the lines.
func writeMark(w io.Writer, first int, lines []string, d ingestor.Diagnostic) {
	if d.Line > len(lines) || strings.TrimSpace(lines[d.Line-1]) == "" {
		return
	}
	shown, mark := excerpt(lines[d.Line-1], d.Column-1)
	number := fmt.Sprintf("%6d", first+d.Line-1)
	fmt.Fprintf(w, "%s | %s\n%s | %s^\n", number, shown, strings.Repeat(" ", len(number)), strings.Repeat(" ", mark))
}

// linesOf returns the lines of a text without their ends; CR LF, LF and CR each end a line.
func linesOf(text string) []string { return strings.Split(lineFeeds.Replace(text), "\n") }

var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// How many characters of a long line are shown before and after the mark.
const (
	shownBefore = 60
	shownAfter  = 60
)

// excerpt returns a part of the line for a terminal, each character one cell wide, and the cell of
// the byte at offset.
func excerpt(line string, offset int) (shown string, mark int) {
	var cells []rune
	mark = -1
	for i, r := range line {
		if mark < 0 && i >= offset {
			mark = len(cells)
		}
		switch {
		case r == '\t':
			r = ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			r = '·'
		}
		cells = append(cells, r)
	}
	if mark < 0 {
		mark = len(cells)
	}
	if end := mark + shownAfter; end < len(cells) {
		cells = append(cells[:end], '…')
	}
	if begin := mark - shownBefore; begin > 0 {
		cells = append([]rune{'…'}, cells[begin:]...)
		mark = shownBefore + 1
	}
	return string(cells), mark
}
