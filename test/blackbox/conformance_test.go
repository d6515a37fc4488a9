package blackbox_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bagtrail/internal/fault"
)

const root = "../.."

// evidence is one row of docs/conformance.md: quoted words of the interface, and the tests that
// show them.
type evidence struct {
	section string // "4.1"; "" for the preamble
	quote   string
	tests   []string // "TestX", or "queryapi: TestX"
	plain   bool     // the row says that there is nothing to show
}

var (
	conformanceRow = regexp.MustCompile(`^\| “(.+)” \| (.+) \|$`)
	namedTest      = regexp.MustCompile("`((?:[a-z/]+: )?Test[A-Za-z0-9]+)`")
	sectionNumber  = regexp.MustCompile(`^#+ ([0-9][0-9.]*)`)
)

func conformance(t *testing.T) []evidence {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs/conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []evidence
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if m := sectionNumber.FindStringSubmatch(line); m != nil {
			section = m[1]
		}
		m := conformanceRow.FindStringSubmatch(line)
		if m == nil {
			if strings.HasPrefix(line, "| “") {
				t.Errorf("a row that nobody can read: %s", line)
			}
			continue
		}
		row := evidence{section: section, quote: m[1], plain: m[2] == "*notation*"}
		for _, name := range namedTest.FindAllStringSubmatch(m[2], -1) {
			row.tests = append(row.tests, name[1])
		}
		rows = append(rows, row)
	}
	return rows
}

// Every test that docs/conformance.md names exists, and every row names one.
func TestConformanceNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	declared := map[string]string{} // text of all test files, by folder
	for _, row := range conformance(t) {
		if len(row.tests) == 0 && !row.plain {
			t.Errorf("%s “%s” names no test", row.section, row.quote)
		}
		for _, test := range row.tests {
			folder, name, elsewhere := strings.Cut(test, ": ")
			if !elsewhere {
				folder, name = "test/blackbox", test
			}
			if _, read := declared[folder]; !read {
				declared[folder] = testFiles(t, folder)
			}
			if !strings.Contains(declared[folder], "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("%s “%s” names %s, which is not in %s", row.section, row.quote, name, folder)
			}
		}
	}
}

func testFiles(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// Every sentence and every table row of the interface has a row in docs/conformance.md, in its
// section. No row quotes words that the interface does not have.
func TestConformanceLeavesNothingOut(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "../shared/spec/interface.md"))
	if err != nil {
		t.Skip("the interface is not here")
	}
	rows := conformance(t)
	used := make([]bool, len(rows))
	for _, s := range statements(string(text)) {
		found := false
		for i, row := range rows {
			if row.section == s.section && (s.row && row.quote == s.text || !s.row && strings.HasPrefix(strings.TrimLeft(s.text, "`"), row.quote) || !s.row && strings.HasPrefix(s.text, row.quote)) {
				found, used[i] = true, true
			}
		}
		if !found {
			t.Errorf("%s is left out: %s", s.section, s.text)
		}
	}
	for i, row := range rows {
		if !used[i] {
			t.Errorf("%s “%s” is not in the interface", row.section, row.quote)
		}
	}
}

// statement is a sentence of the interface, or the first cell of a table row.
type statement struct {
	section, text string
	row           bool
}

var (
	listNumber = regexp.MustCompile(`^[0-9]+\. `)
	sentence   = regexp.MustCompile("([.:])\\s+([A-Z`'])")
	ruler      = regexp.MustCompile(`^\|[-| ]+\|$`)
)

func statements(text string) []statement {
	var all []statement
	section, heading := "", true // whether the next row of a table is its heading
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			if m := sectionNumber.FindStringSubmatch(line); m != nil {
				section = strings.TrimSuffix(m[1], ".")
			}
		case line == "":
			heading = true
		case ruler.MatchString(line):
		case strings.HasPrefix(line, "|"):
			if !heading {
				cell, _, _ := strings.Cut(line[1:], "|")
				all = append(all, statement{section, strings.TrimSpace(cell), true})
			}
			heading = false
		default:
			line = listNumber.ReplaceAllString(line, "")
			for s := range strings.SplitSeq(sentence.ReplaceAllString(line, "$1\n$2"), "\n") {
				all = append(all, statement{section, s, false})
			}
		}
	}
	return all
}

// A code is a fixed mark of three letters, a group and a number (interface 7).
func TestCodesHaveTheShapeOfTheInterface(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^SVC(GBF|GBH|GBP|DBR|PRB|SRV)[0-9]{3,4}$`)
	for _, e := range fault.Register() {
		if !shape.MatchString(e.Code) {
			t.Errorf("code %s", e.Code)
		}
	}
}
