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
	"slices"
	"strings"
	"testing"
)

const module = "bagtrail"

// ring is the distance of a package from the text of a message. A package imports its own ring and
// those inside it.
type ring int

const (
	text       ring = iota // parser, the types of the domain, and tools that know neither
	meaning                // the meaning of messages for bags
	flow                   // the way of a message
	technology             // Kafka, HTTP, Redis, files
	wiring                 // the command
	tests
)

// rings holds the ring of each package. The longest path that contains the package counts.
var rings = []struct {
	path string
	ring ring
}{
	{"parser", text},
	{"internal/bag", text},
	{"internal/budget", text},
	{"internal/cache", text},
	{"internal/collector", text},
	{"internal/excerpt", text},
	{"internal/smallmap", text},
	{"internal/batcher", text},
	{"internal/operation", text},
	{"internal/secret", text},
	{"internal/strictjson", text},
	{"internal/parallel", text},
	{"internal/pause", text},
	{"internal/strictyaml", text},
	{"internal/watch", text},
	{"internal/wholefile", text},
	{"enricher", meaning},
	{"internal/trail", meaning},
	{"internal/preview", meaning},
	{"internal/apikey", meaning},
	{"internal/session", meaning},
	{"internal/bagdoc", meaning},
	{"internal/bagjson", meaning},
	{"internal/fault", meaning},
	{"internal/flightref", meaning},
	{"ingestor", flow},
	{"ingestor/capture", text},
	{"ingestor/filedoor", technology},
	{"ingestor/httpdoor", technology},
	{"ingestor/kafkadoor", technology},
	{"ingestor/rejectlog", technology},
	{"internal/kafka", technology},
	{"queryapi", technology},
	{"internal/apidoc", technology},
	{"internal/bagstore", technology},
	{"internal/changefeed", technology},
	{"internal/changes", technology},
	{"internal/changestore", technology},
	{"internal/config", technology},
	{"internal/console", technology},
	{"internal/feeds", technology},
	{"internal/kafka/kafkatest", tests},
	{"internal/messagefile", technology},
	{"internal/redis", technology},
	{"internal/redis/redistest", tests},
	{"internal/requeststore", technology},
	{"internal/rejectstore", technology},
	{"internal/sessionstore", technology},
	{"internal/status", technology},
	{"internal/statusstore", technology},
	{"internal/simulate", technology},
	{"internal/telemetry", technology},
	{"internal/web", technology},
	{"internal/webhooks", technology},
	{"internal/deliverystore", technology},
	{"internal/wtr", technology},
	{"internal/command", wiring},
	{"test", tests},
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

// ringOf returns the ring of a package of this module.
func ringOf(path string) (ring, bool) {
	if path == "" {
		return wiring, true // main
	}
	best, found := -1, false
	for i, r := range rings {
		if under(path, r.path) && (!found || len(r.path) > len(rings[best].path)) {
			best, found = i, true
		}
	}
	if !found {
		return 0, false
	}
	return rings[best].ring, true
}

func TestImportsPointInward(t *testing.T) {
	for _, p := range list(t) {
		own, known := ringOf(p.path())
		if !known {
			t.Errorf("%s is in no ring: give it one", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			path, inside := strings.CutPrefix(imported, module+"/")
			if !inside {
				continue
			}
			if other, known := ringOf(path); known && other > own {
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
