package command

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"bagtrail/ingestor"
	"bagtrail/internal/excerpt"
	"bagtrail/internal/messagefile"
	"bagtrail/internal/telemetry"
)

// verdictWriter writes verdicts on messages for people.
type verdictWriter struct {
	w      io.Writer
	colour bool // w is a terminal that shows colours
}

// showsColour reports whether the output to w may have colours.
func (p *process) showsColour(w io.Writer) bool {
	isSet := func(entry string) bool {
		value, found := strings.CutPrefix(entry, "NO_COLOR=")
		return found && value != ""
	}
	return telemetry.IsTerminal(w) && !slices.ContainsFunc(p.env, isSet)
}

// The colours, as terminals name them.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// in returns s in a colour.
func (v verdictWriter) in(colour, s string) string {
	if !v.colour {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[m"
}

// write writes the verdict on a message, and each fault with its line and a mark under the faulty
// text.
func (v verdictWriter) write(m messagefile.Message, outcome ingestor.Outcome) {
	verdict := v.in(green, "accepted")
	if outcome.Verdict == ingestor.Rejected {
		verdict = v.in(red, "rejected")
	}
	kind := cmp.Or(outcome.Identifier, "message")
	fmt.Fprintf(v.w, "%s:%d: %s %s\n", printable(m.File), m.Line, printable(kind), verdict)
	lines := excerpt.Lines(m.Text) // once, since each of them may have a fault
	for _, d := range slices.Concat(outcome.Errors, outcome.Warnings) {
		name, colour := "error", red
		if d.Warning {
			name, colour = "warning", yellow
		}
		fmt.Fprintf(v.w, "  %s: %s\n", v.in(colour, name+" "+printable(d.Code)), printable(d.Description))
		v.writePlace(m.Line, lines, d, colour)
	}
}

// writePlace writes the faulty line, numbered as in its file, with a mark under the faulty text,
// and how to mend it. first is the line of the file on which the message begins.
func (v verdictWriter) writePlace(first int, lines []string, d ingestor.Diagnostic, colour string) {
	const margin = "       "
	if e, ok := excerpt.Of(lines, d.Line, d.Column, d.EndColumn); ok {
		fmt.Fprintf(v.w, "%6d | %s%s%s\n%s| %s\n", first+d.Line-1, e.Before, v.in(colour, e.Fault), e.After, margin, v.in(colour, e.Mark()))
	}
	for _, advice := range [...]struct{ name, text string }{{"write", d.Suggestion}, {"hint", d.Hint}} {
		if advice.text != "" {
			fmt.Fprintf(v.w, "%s= %s %s\n", margin, v.in(cyan, advice.name+":"), printable(advice.text))
		}
	}
}
