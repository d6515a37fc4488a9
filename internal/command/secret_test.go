package command_test

import (
	"os"
	"path/filepath"
	"testing"

	"bagtrail/internal/command"
)

func TestServeMakesASecretOnceAndKeepsItInTheDataDirectory(t *testing.T) {
	folder := t.TempDir()
	s := start(t, []string{"serve"}, "BAGTRAIL_DATA_DIR="+folder)
	s.untilReady()
	first, err := os.ReadFile(filepath.Join(folder, "secret"))
	if err != nil || len(first) < 32 {
		t.Fatalf("%q %v", first, err)
	}
	if code := s.down(); code != command.Done {
		t.Fatalf("exit code %d", code)
	}
	s.up([]string{"serve"})
	s.untilReady()
	if again, err := os.ReadFile(filepath.Join(folder, "secret")); err != nil || string(again) != string(first) {
		t.Errorf("%q, then %q %v", first, again, err)
	}
}
