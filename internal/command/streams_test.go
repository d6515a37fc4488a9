package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"bagtrail/internal/command"
)

func TestAFolderWithoutMessagesIsNoSuccess(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "notes.md", bsm)
	for _, args := range [][]string{{"validate", dir}, {"validate", "--json", dir}, {"replay", "--kafka-brokers=off", dir}} {
		got := run(t, "", tools(t), args...)
		if got.code != command.Failed || !strings.Contains(got.stderr, "bagtrail: "+dir+": no message files: no name ends in .txt or .bim\n") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

func TestNamesAndValuesCannotDriveTheTerminal(t *testing.T) {
	dir := t.TempDir()
	hostile := "a\x1b]0;owned\x07\n\u202e.txt"
	write(t, dir, hostile, "BSM\n.V/1L\x1b[2J\u202eX\n.F/LX14/\x9b31m\x7f/JFK\nENDBSM\n")
	if err := os.Symlink("missing\x1b[2J", filepath.Join(dir, "b\x1b[2J\nbagtrail: all is well.txt")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"validate", dir},
		{"replay", "--kafka-brokers=off", dir},
		{"validate", "--\x1b[2J"},
		{"\x1b[2J"},
		{"validate", "--received", "\x1b[2J"},
		{"validate", "--config", "\x1b[2J"},
		{"validate", "--airports-file", "\x1b[2J"},
		{"replay", "--from", "\x1b[2J"},
		{"simulate", "--to", "/missing/\x1b[2J"},
	} {
		got := run(t, "", tools(t), args...)
		if got.code == command.Done {
			t.Errorf("%q: %+v", args, got)
		}
		for _, text := range []string{got.stdout, got.stderr} {
			if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
				t.Errorf("%q prints %q", args, text)
			}
		}
		if strings.Contains(got.stderr, "\nbagtrail: all is well") {
			t.Errorf("%q: a name speaks for bagtrail: %s", args, got.stderr)
		}
	}
	if got := run(t, "", nil, "validate", dir); !strings.Contains(got.stdout, `/a\x1b]0;owned\a\n\u202e.txt:1: BSM rejected`) || !strings.Contains(got.stderr, `/b\x1b[2J\nbagtrail: all is well.txt: no such file`) {
		t.Errorf("%+v", got)
	}
}
