// Package arch_test checks the shape of the project: six rings whose imports point inward only,
// and technologies that only the packages listed here may import. It reads `go list`, so that it
// sees what is compiled.
package arch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "bagtrail"

// rings returns the ring of each package: its distance from the text of a message. The map of packages
// in docs/contributing.md has a block for each ring. A package imports its own ring and those inside
// it.
func rings(t *testing.T) map[string]int {
	t.Helper()
	_, rest, found := strings.Cut(pages(t)["docs/contributing.md"], "\n## The map of packages\n")
	code := regexp.MustCompile("(?s)```\n(.*?)\n```").FindStringSubmatch(rest)
	if !found || code == nil {
		t.Fatal("docs/contributing.md has no map of packages")
	}
	all := map[string]int{}
	for ring, block := range strings.Split(code[1], "\n\n") {
		for line := range strings.Lines(block) {
			paths, _, _ := strings.Cut(line, "  ")
			for path := range strings.FieldsSeq(paths) {
				path = strings.TrimSuffix(path, "main.go")
				if _, twice := all[path]; twice {
					t.Errorf("the map names %s twice", path)
				}
				all[path] = ring
			}
		}
	}
	return all
}

func TestContributingMapsEveryPackageOnce(t *testing.T) {
	mapped := rings(t)
	for _, p := range list(t) {
		if _, found := mapped[p.path()]; !found {
			t.Errorf("the map does not name %s", p.ImportPath)
		}
		delete(mapped, p.path())
	}
	for path := range mapped {
		t.Errorf("the map names %s, which is not a package", path)
	}
}

type knower struct {
	library string
	paths   []string
}

// knowers lists the packages that may import a library. No package may import a library that is not
// listed.
var knowers = []knower{
	{"github.com/segmentio/kafka-go", []string{"internal/kafka", "test"}},
	{"github.com/twmb/franz-go", []string{"internal/kafka", "test"}},
	{"github.com/redis/go-redis/v9", []string{"internal/redis", "internal/bagstore", "internal/changestore", "internal/feeds", "internal/requeststore", "internal/rejectstore", "internal/deliverystore", "internal/sessionstore", "internal/statusstore", "test"}},
	{"github.com/alicebob/miniredis/v2", []string{"internal/redis", "test"}},
	{"github.com/klauspost/compress", []string{"internal/bagstore"}},
	{"github.com/gin-gonic/gin", []string{"internal/web", "test/bench"}},
	{"go.yaml.in/yaml/v4", []string{"internal/strictyaml", "internal/apikey", "test/deploy"}},
	{"github.com/swaggest/swgui", []string{"internal/apidoc"}},
	{"github.com/spf13/cobra", []string{"internal/command"}},
	{"github.com/spf13/pflag", []string{"internal/command", "internal/config"}},
	{"github.com/mattn/go-isatty", []string{"internal/telemetry"}},
	{"github.com/prometheus/client_golang", []string{"internal/telemetry", "internal/command"}},
	{"golang.org/x/sync", []string{"internal/changes", "internal/kafka", "internal/webhooks"}},
	{"go.uber.org/zap", []string{"internal/telemetry", "internal/command", "internal/web", "internal/changes", "internal/webhooks", "internal/kafka", "ingestor/kafkadoor", "ingestor/rejectlog", "test"}},
	{"github.com/testcontainers/testcontainers-go", []string{"test"}},
	{"github.com/moby/moby/api", []string{"test"}},
}

// pack is the output of `go list` for a package.
type pack struct {
	ImportPath string
	Imports    []string
}

func (p pack) path() string { return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/") }

func list(t *testing.T) []pack {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, stderr.String())
	}
	var all []pack
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pack
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// under reports whether path is dir or below it.
func under(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func TestImportsPointInward(t *testing.T) {
	ring := rings(t)
	for _, p := range list(t) {
		for _, imported := range p.Imports {
			if path, inside := strings.CutPrefix(imported, module+"/"); inside && ring[path] > ring[p.path()] {
				t.Errorf("%s imports %s, which is further out", p.ImportPath, imported)
			}
		}
	}
}

func mayImport(path, library string) bool {
	for _, k := range knowers {
		if under(library, k.library) && slices.ContainsFunc(k.paths, func(dir string) bool { return under(path, dir) }) {
			return true
		}
	}
	return false
}

func TestEveryTechnologyIsKnownToFew(t *testing.T) {
	for _, p := range list(t) {
		for _, imported := range p.Imports {
			first, _, _ := strings.Cut(imported, "/")
			if !strings.Contains(first, ".") {
				continue // the standard library, or this module
			}
			if !mayImport(p.path(), imported) {
				t.Errorf("%s imports %s: it is none of those who may", p.ImportPath, imported)
			}
		}
	}
}

func TestTheParserStandsOnTheStandardLibraryAlone(t *testing.T) {
	for _, p := range list(t) {
		for _, imported := range p.Imports {
			first, _, _ := strings.Cut(imported, "/")
			if p.path() == "parser" && (first == module || strings.Contains(first, ".")) {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}
