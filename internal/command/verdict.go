package command

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"bagtrail/ingestor"
	"bagtrail/internal/messagefile"
)

// writeVerdict writes what became of a message, and each fault with its line and a mark under its column.
func writeVerdict(w io.Writer, m messagefile.Message, outcome ingestor.Outcome) {
	verdict := "accepted"
	if outcome.Verdict == ingestor.Rejected {
		verdict = "rejected"
	}
	kind := outcome.Identifier
	if kind == "" {
		kind = "message"
	}
	fmt.Fprintf(w, "%s:%d: %s %s\n", m.File, m.Line, kind, verdict)
	for _, list := range []struct {
		name  string
		found []ingestor.Diagnostic
	}{{"error", outcome.Errors}, {"warning", outcome.Warnings}} {
		for _, d := range list.found {
			fmt.Fprintf(w, "  %s %s: %s\n", list.name, d.Code, d.Description)
			writeMark(w, m, d)
		}
	}
}

// writeMark writes the line at fault, numbered as in its file, and a mark under the column; nothing where the line is
// blank.
func writeMark(w io.Writer, m messagefile.Message, d ingestor.Diagnostic) {
	line := lineOf(m.Text, d.Line)
	if strings.TrimSpace(line) == "" {
		return
	}
	shown, mark := excerpt(line, d.Column-1)
	number := fmt.Sprintf("%6d", m.Line+d.Line-1)
	fmt.Fprintf(w, "%s | %s\n%s | %s^\n", number, shown, strings.Repeat(" ", len(number)), strings.Repeat(" ", mark))
}

// lineOf returns the line of that number, from 1; CR LF, LF and CR each end a line.
func lineOf(text string, number int) string {
	for range number - 1 {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			return ""
		}
		if strings.HasPrefix(text[end:], "\r\n") {
			end++
		}
		text = text[end+1:]
	}
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	return text
}

// What is shown of a long line: so many characters before and behind the mark.
const (
	shownBefore = 60
	shownBehind = 60
)

// excerpt returns line as a terminal can show it, every character one cell wide, and the cell of the byte at offset.
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
	if end := mark + shownBehind; end < len(cells) {
		cells = append(cells[:end], '…')
	}
	if begin := mark - shownBefore; begin > 0 {
		cells = append([]rune{'…'}, cells[begin:]...)
		mark = shownBefore + 1
	}
	return string(cells), mark
}
