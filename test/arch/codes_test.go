package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"bagtrail/internal/bag"
	message "bagtrail/parser"
)

// root is the folder of the module.
const root = "../.."

// table is the file that spells event codes. The oracle spells them too, as a second telling of the rules.
var table, oracle = filepath.Join("internal", "bag", "codes.go"), filepath.Join("test", "oracle")

// stringsOf returns the string literals of a Go file, and the names of its constants.
func stringsOf(t *testing.T, path string) (literals []string, constants []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				literals = append(literals, text)
			}
		case *ast.GenDecl:
			for _, s := range n.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && n.Tok == token.CONST {
					constants = append(constants, v.Names[0].Name)
				}
			}
		}
		return true
	})
	return literals, constants
}

// goFiles calls check with each file of the module that is no test, relative to its root.
func goFiles(t *testing.T, check func(path string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			check(filepath.FromSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A code of three letters stands in messages too, as the status of a .B element: it is not looked for.
func TestEventCodesAreSpelledInTheirTableAlone(t *testing.T) {
	codes := make(map[string]bool)
	for _, c := range bag.EventCodes() {
		if len(c.Code) > 3 {
			codes[c.Code] = true
		}
	}
	spelled := 0
	goFiles(t, func(path string) {
		literals, _ := stringsOf(t, path)
		for _, text := range literals {
			switch {
			case !codes[text]:
			case path == table:
				spelled++
			case !strings.HasPrefix(path, oracle):
				t.Errorf("%s spells the event code %s: use the constant of %s", path, text, table)
			}
		}
	})
	if spelled != len(codes) {
		t.Errorf("%s spells %d event codes of more than three letters, want each of %d once", table, spelled, len(codes))
	}
}

func TestEveryEventCodeHasAnEntryInTheTable(t *testing.T) {
	_, constants := stringsOf(t, table)
	text, err := os.ReadFile(filepath.Join(root, table))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range constants {
		if n := strings.Count(string(text), "\t{"+name+", "); n != 1 {
			t.Errorf("%s has %d entries in eventCodes, want 1", name, n)
		}
	}
	for _, c := range bag.EventCodes() {
		if c.Code == "" || c.Description == "" {
			t.Errorf("entry %+v", c)
		}
	}
}

// The table of rules §2 has the codes, texts and statuses of the code, and no others.
func TestTheRulesHaveEveryEventCodeWithItsTextAndStatus(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rows, found := strings.Cut(string(text), "| What the message is | event_code | event_desc | loading status that it sets |\n")
	if !found {
		t.Fatal("there is no table of events")
	}
	known := map[string]bag.EventCode{}
	for _, c := range bag.EventCodes() {
		known[c.Code] = c
	}
	delete(known, bag.EventCheckedIn) // registered, never made
	named := map[string]bool{"---": true, "that code": true}
	for line := range strings.Lines(rows) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 6 {
			break
		}
		code, description, sets := strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3]), strings.TrimSpace(cells[4])
		if c, ok := known[code]; ok {
			want := "none"
			if c.Sets != bag.NoStatus {
				want = c.Sets.String()
			}
			if description != c.Description || !strings.Contains(sets, want) {
				t.Errorf("docs/rules.md: %s is %q and sets %q, in %s it is %q and sets %q", code, description, sets, table, c.Description, want)
			}
		} else if !named[code] {
			t.Errorf("docs/rules.md has the event code %s, and %s has not", code, table)
		}
		named[code] = true
	}
	for code := range known {
		if !named[code] {
			t.Errorf("%s has the event code %s, and docs/rules.md has not", table, code)
		}
	}
}

func TestEveryErrorCodeHasAnEntryInTheTable(t *testing.T) {
	_, constants := stringsOf(t, filepath.Join("parser", "codes.go"))
	entries := make(map[message.Code]bool)
	for _, d := range message.Codes() {
		entries[d.Code] = true
	}
	if len(constants) != len(entries) {
		t.Errorf("%d codes, entries for %d", len(constants), len(entries))
	}
}

// Outside package parser, the table of event rules alone names kinds of messages. Other files ask for
// a property of the kind, so that a new kind has its place in them.
func TestKindsAreNamedInTheirTablesAlone(t *testing.T) {
	named := regexp.MustCompile(`\bparser\.B[A-Z]M\b`)
	goFiles(t, func(path string) {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if found := named.Find(text); found != nil && path != filepath.Join("internal", "bag", "event.go") {
			t.Errorf("%s asks for %s: ask for a property of the kind", path, found)
		}
	})
}
