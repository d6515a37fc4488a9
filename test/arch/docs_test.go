package arch_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// pages returns the pages of the documentation by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			path, err := filepath.Rel(root, name)
			if err != nil {
				t.Fatal(err)
			}
			all[path] = string(text)
		}
	}
	if all["docs/contributing.md"] == "" || all["docs/rules.md"] == "" {
		t.Fatalf("pages are missing: there are %d", len(all))
	}
	return all
}

var (
	quoted = regexp.MustCompile("`([^`\n]+)`")
	inside = regexp.MustCompile(`^\.?[a-z][A-Za-z0-9_./-]*$`)
)

// filesOf returns what a page quotes that is a path below a folder of the project.
func filesOf(page string) (paths []string) {
	for _, m := range quoted.FindAllStringSubmatch(page, -1) {
		top, _, below := strings.Cut(m[1], "/")
		if !below || !inside.MatchString(m[1]) {
			continue
		}
		if info, err := os.Stat(filepath.Join(root, top)); err == nil && info.IsDir() {
			paths = append(paths, m[1])
		}
	}
	return paths
}

// TestPagesNameFilesThatExist leaves decisions out, which may name what is gone.
func TestPagesNameFilesThatExist(t *testing.T) {
	for name, page := range pages(t) {
		if strings.HasPrefix(name, "docs/adr/") {
			continue
		}
		for _, path := range filesOf(page) {
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s names %s, which does not exist", name, path)
			}
		}
	}
}

// TestPagesWrap finds prose of more than 100 columns. Tables and code may be wider, and the targets of
// links do not count.
func TestPagesWrap(t *testing.T) {
	target := regexp.MustCompile(`\]\([^)\s]*\)`)
	for name, page := range pages(t) {
		code, number := false, 0
		for line := range strings.Lines(page) {
			number++
			start := strings.TrimSpace(line)
			if strings.HasPrefix(start, "```") {
				code = !code
			}
			if code || strings.HasPrefix(start, "|") || strings.HasPrefix(line, "    ") {
				continue
			}
			if n := utf8.RuneCountInString(strings.TrimRight(target.ReplaceAllString(line, "]"), "\n")); n > 100 {
				t.Errorf("%s:%d has %d columns", name, number, n)
			}
		}
	}
}

// TestContributingNamesWhatFilesHold reads the rows of the tables that begin with a file: what else their first cell
// quotes stands in that file.
func TestContributingNamesWhatFilesHold(t *testing.T) {
	rows := 0
	for line := range strings.Lines(pages(t)["docs/contributing.md"]) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cell, _, _ := strings.Cut(line[2:], " |")
		names := quoted.FindAllStringSubmatch(cell, -1)
		info, err := os.Stat(filepath.Join(root, names[0][1]))
		if err != nil || info.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, names[0][1]))
		if err != nil {
			t.Fatal(err)
		}
		rows++
		for _, name := range names[1:] {
			if !regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(name[1]) + `(\W|$)`).Match(text) {
				t.Errorf("%s does not hold %s", names[0][1], name[1])
			}
		}
	}
	if rows < 20 {
		t.Errorf("%d rows name a file; are they still written as | `file` `name` |?", rows)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the names by which the headings of a page are linked to.
func anchors(page string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

func TestLinksBetweenPagesLeadSomewhere(t *testing.T) {
	all := pages(t)
	for name, page := range all {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "/") { // what the service serves
				continue
			}
			file, anchor, anchored := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = filepath.Join(filepath.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			} else if anchored && !slices.Contains(anchors(all[target]), anchor) {
				t.Errorf("%s links to %s, and there is no such heading", name, m[1])
			}
		}
	}
}

var namedTest = regexp.MustCompile("`[^`\n]*\\b(Test[A-Z][A-Za-z0-9]+)`")

func TestPagesNameTestsThatExist(t *testing.T) {
	declared := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			declared[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range pages(t) {
		for _, m := range namedTest.FindAllStringSubmatch(page, -1) {
			if !declared[m[1]] {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
	}
}
