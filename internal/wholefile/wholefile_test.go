package wholefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"bagtrail/internal/wholefile"
)

func TestAFileIsReplacedAsAWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path+".tmp", []byte("half of"), 0o644); err != nil { // left by a crash
		t.Fatal(err)
	}
	holds := func(content string, mode os.FileMode) {
		t.Helper()
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(text) != content || info.Mode().Perm() != mode {
			t.Errorf("%q, %v, %v, %v, want %q, %v", text, err, info, statErr, content, mode)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Errorf("beside the file there is %v", left)
		}
	}
	if err := wholefile.Write(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	holds("one", 0o600)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Write(path, []byte("two")); err != nil {
		t.Fatal(err)
	}
	holds("two", 0o640)
}

func TestAFileThatCannotBeReplacedStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "directory")
	if err := os.MkdirAll(filepath.Join(path, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Write(path, nil); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if _, err := os.Stat(path + ".tmp"); !os.IsNotExist(err) {
		t.Errorf("the new file stays: %v", err)
	}
}
