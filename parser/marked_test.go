package parser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bagtrail/parser"
)

// The tests write faults into the text: {022:31FEB} is the text 31FEB, which must be reported under
// code 022 with that value, at that place. Marks may stand inside each other. So no column is
// counted by hand.

// parse parses a marked text and asserts that it has the marked faults and no others.
func parse(t *testing.T, marked string) *parser.Message {
	t.Helper()
	text, want := unmark(t, marked)
	m := new(parser.Message)
	m.Parse(text, airports{})

	var got []string
	for _, d := range slices.Concat(m.Errors, m.Warnings) {
		got = append(got, faultOf(d))
		if strings.HasSuffix(d.Description(), "expected .") || d.Expected == "" {
			t.Errorf("%v does not say what was expected", d.Code)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q\n got %q\nwant %q", text, got, want)
	}
	if !slices.IsSortedFunc(m.Errors, byLine) || !slices.IsSortedFunc(m.Warnings, byLine) {
		t.Errorf("%q: not in line order: %v, %v", text, m.Errors, m.Warnings)
	}
	return m
}

func byLine(a, b parser.Diagnostic) int { return a.Line - b.Line }

func faultOf(d parser.Diagnostic) string {
	return fmt.Sprintf("%04d:%04d-%04d %v %q", d.Line, d.Column, d.EndColumn, d.Code, d.Value)
}

// unmark takes the marks out of a text and returns the faults that they stand for.
func unmark(t *testing.T, marked string) (text string, faults []string) {
	t.Helper()
	type mark struct {
		code parser.Code
		at   int
	}
	var open []mark
	var b strings.Builder
	for i := 0; i < len(marked); i++ {
		var number int
		if rest := marked[i:]; len(rest) >= len("{022:") && rest[0] == '{' && rest[4] == ':' {
			if _, err := fmt.Sscanf(rest[1:4], "%03d", &number); err == nil {
				open = append(open, mark{parser.Code(number), b.Len()})
				i += len("{022:") - 1
				continue
			}
		}
		if marked[i] == '}' && len(open) > 0 {
			m := open[len(open)-1]
			open = open[:len(open)-1]
			line, column := lineAndColumn(b.String()[:m.at])
			value := withoutControls(b.String()[m.at:])
			_, end := lineAndColumn(b.String())
			faults = append(faults, faultOf(parser.Diagnostic{Code: m.code, Line: line, Column: column, EndColumn: end, Value: value}))
			continue
		}
		b.WriteByte(marked[i])
	}
	if len(open) > 0 {
		t.Fatalf("a mark is not closed in %q", marked)
	}
	return b.String(), faults
}

// lineAndColumn returns where the byte behind before stands.
func lineAndColumn(before string) (line, column int) {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(before), "\n")
	return len(lines), len(lines[len(lines)-1]) + 1
}

func withoutControls(s string) string {
	return strings.NewReplacer("\x00", "", "\x01", "", "\x02", "", "\x03", "").Replace(s)
}

// airports is a Reference that knows every code but a few. At Zurich the status code WEL is known
// too.
type airports struct{}

func (airports) KnownLocation(code string) bool {
	return code != "QQQ" && code != "XXX"
}

func (airports) KnownStatus(airport, code string) bool {
	switch code {
	case "NAL", "OFF", "OND", "ONA", "UNS":
		return true
	}
	return code == "WEL" && airport == "ZRH"
}

// bsm and bpm make a message that is sound but for the lines that they are given, which stand
// before the tag.
func bsm(lines ...string) string { return around("BSM", lines) }
func bpm(lines ...string) string { return around("BPM", lines) }

func around(identifier string, lines []string) string {
	head := []string{identifier, ".V/1LZRH", ".F/LX14/12MAR/JFK/Y"}
	tail := []string{".N/0724123456001", "END" + identifier, ""}
	return strings.Join(slices.Concat(head, lines, tail), "\n")
}

// equal asserts that two values are the same.
func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s is %s, want %s", what, g, w)
	}
}
