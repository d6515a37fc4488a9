package parser_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bagtrail/parser"
)

// FuzzParse holds what is true of every text, whatever it is.
func FuzzParse(f *testing.F) {
	for _, text := range messages(f) {
		f.Add(text) // with its marks, which are faults of their own
		f.Add(plain(text))
	}
	f.Add(".ZRHXXLX201200\n./ 201200\n. 201200\n" + bpm())
	f.Add(".PEKKMCA HB/301623 A\n.HKGODCI\t061625/AMAMQ\n.ZRHXXLX/201200\n" + bsm())
	f.Add("QU ZRHKMLX\n.ZRHXXLX 201200\n \x01.LONXXBA\t210759 \n" + bsm())
	f.Add(bsm(".W/k/1/20", ".W/K/l/20", ".W/K/2/k", ".N/07241234560000"))
	for _, definition := range parser.Codes() {
		f.Add(strings.Replace(definition.Example, "^", "", 1))
	}
	var reused parser.Message
	f.Fuzz(func(t *testing.T, text string) {
		var m parser.Message
		m.Parse(text, airports{})
		reused.Parse(text, airports{})
		equal(t, "reused message", snapshot(&reused), snapshot(&m))

		checkDiagnostics(t, text, m.Errors)
		checkDiagnostics(t, text, m.Warnings)
		checkAdvice(t, text, &m, airports{})
		checkMeaning(t, &m)
		checkOrigin(t, &m, text)
		checkCanonical(t, &m, text)
	})
}

// plain takes the marks out of a text roughly: for a seed it does not matter where they were.
func plain(marked string) string {
	for _, definition := range parser.Codes() {
		marked = strings.ReplaceAll(marked, fmt.Sprintf("{%03d:", definition.Code), "")
	}
	return strings.ReplaceAll(marked, "}", "")
}

// checkDiagnostics asserts that diagnostics lie in the text, in line order, at most one a code and
// line, and that what they quote stands where they say.
func checkDiagnostics(t *testing.T, text string, found []parser.Diagnostic) {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
	if !slices.IsSortedFunc(found, byLine) {
		t.Errorf("not in line order: %v", found)
	}
	seen := map[string]bool{}
	for _, d := range found {
		key := fmt.Sprint(d.Code, d.Line)
		if seen[key] {
			t.Errorf("%v twice in line %d", d.Code, d.Line)
		}
		seen[key] = true
		if d.Line < 1 || d.Line > len(lines) || d.Column < 1 || d.Column > len(lines[d.Line-1])+1 {
			t.Fatalf("%v at %d:%d lies outside the text", d.Code, d.Line, d.Column)
		}
		if d.EndColumn < d.Column || d.EndColumn > len(lines[d.Line-1])+1 {
			t.Fatalf("%v at %d:%d ends outside the line, at %d", d.Code, d.Line, d.Column, d.EndColumn)
		}
		if at := lines[d.Line-1][d.Column-1 : d.EndColumn-1]; withoutControls(at) != d.Value {
			t.Errorf("%v at %d:%d quotes %q, where %q stands", d.Code, d.Line, d.Column, d.Value, at)
		}
		if _, known := d.Code.Definition(); !known || d.Code == parser.MissingTagsAlias {
			t.Errorf("%v is no code to give", d.Code)
		}
	}
}

// checkMeaning asserts what consumers rely on in an accepted message.
func checkMeaning(t *testing.T, m *parser.Message) {
	if !m.Accepted() {
		return
	}
	if m.Kind != parser.BSM && m.Kind != parser.BPM || m.Version.Airport == "" || m.Version.Source == 0 || len(m.Groups) == 0 {
		t.Errorf("accepted, but %+v", m)
	}
	tags := 0
	for i := range m.Groups {
		g := &m.Groups[i]
		for _, run := range g.Tags {
			tags++
			if run.Count < 1 || run.Count > 999 || run.First%1000000+uint64(run.Count) > 1000000 || run.First >= 1e10 {
				t.Errorf("tags %+v", run)
			}
		}
		if m.Kind == parser.BSM && !g.Outbound.Present() {
			t.Errorf("group %d of a BSM has no flight", i)
		}
		last := int64(-1)
		for plate := range g.Plates() {
			if int64(plate) <= last {
				t.Errorf("plate %d behind %d", plate, last)
			}
			last = int64(plate)
		}
	}
	if m.Kind == parser.BSM && tags == 0 {
		t.Error("a BSM without tags")
	}
}

var (
	lineEnds   = regexp.MustCompile("\r\n|\r|\n")
	dayAndTime = regexp.MustCompile(`[ \t](.*[ \t/])?(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d([ \t/]|$)`)
)

// checkOrigin asserts that the origin of an accepted message is the last line before its identifier
// that is one.
func checkOrigin(t *testing.T, m *parser.Message, text string) {
	if !m.Accepted() {
		return
	}
	want := ""
	for _, line := range lineEnds.Split(withoutControls(text), -1) {
		line = strings.Trim(line, " \t")
		if line == m.Identifier {
			break
		}
		if strings.HasPrefix(line, ".") && len(line) > 2 && line[2] != '/' && dayAndTime.MatchString(line) {
			want = line
		}
	}
	equal(t, "origin", m.Origin, want)
}

// checkCanonical asserts that the canonical text is the same message. Where the fault is how the
// message lies in its text, the canonical text may well be a sound one.
func checkCanonical(t *testing.T, m *parser.Message, text string) {
	short := canonical(text)
	equal(t, "canonical text of a canonical text", canonical(short), short)

	var again parser.Message
	again.Parse(short, airports{})
	equal(t, "identifier of the canonical text", again.Identifier, m.Identifier)
	if m.Kind != parser.None && len(m.Errors) > 0 && m.Errors[0].Code == parser.WrongIdentifier {
		return
	}
	equal(t, "errors of the canonical text", numbers(again.Errors), numbers(m.Errors))
	equal(t, "warnings of the canonical text", numbers(again.Warnings), numbers(m.Warnings))
	if m.Accepted() {
		m.Origin = "" // it stands before the canonical text
		equal(t, "canonical message", snapshot(withoutPlaces(&again)), snapshot(withoutPlaces(m)))
	}
}

func withoutPlaces(m *parser.Message) *parser.Message {
	for i := range m.Warnings {
		m.Warnings[i].Line, m.Warnings[i].Column, m.Warnings[i].EndColumn = 0, 0, 0
	}
	return m
}
