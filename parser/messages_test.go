package parser_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bagtrail/parser"
)

// messages returns the texts of testdata/messages, in which faults are marked.
func messages(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/messages/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no messages: %v", err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(file), ".txt")] = string(text)
	}
	return texts
}

func TestMessagesOnDiskHaveTheirMarkedFaults(t *testing.T) {
	for name, marked := range messages(t) {
		t.Run(name, func(t *testing.T) {
			m := parse(t, marked)
			equal(t, "accepted", m.Accepted(), !strings.HasPrefix(name, "fault-"))
		})
	}
}

// The samples are real messages that live beside the repository, not in it.
func TestSamplesHaveTheExpectedCodes(t *testing.T) {
	const folder = "../../shared/samples/"
	file, err := os.Open(folder + "expected.tsv")
	if err != nil {
		t.Skip("there are no samples here")
	}
	defer file.Close()
	rows := csv.NewReader(file)
	rows.Comma = '\t'
	table, err := rows.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table[1:] {
		name, kind, errors, warnings := row[0], row[1], row[2], row[3]
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(folder + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			var m parser.Message
			m.Parse(string(text), airports{})
			equal(t, "kind", m.Identifier, kind)
			equal(t, "errors", numbers(m.Errors), errors)
			equal(t, "warnings", numbers(m.Warnings), warnings)
		})
	}
}

func numbers(found []parser.Diagnostic) string {
	if len(found) == 0 {
		return "-"
	}
	var list []string
	for _, d := range found {
		list = append(list, fmt.Sprintf("%03d", d.Code))
	}
	return strings.Join(list, ",")
}
