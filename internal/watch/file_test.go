package watch_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"bagtrail/internal/watch"
)

// put writes content in place. Each version has its own modification time.
func put(t *testing.T, path, content string, second int) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 0, 0, second, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, content string) (path string, file *watch.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	put(t, path, content, 0)
	file, got, err := watch.Open(path)
	if err != nil || string(got) != content {
		t.Fatalf("opened %q, %v", got, err)
	}
	return path, file
}

// checkFile checks the file once for each wanted content; "" is no change.
func checkFile(t *testing.T, file *watch.File, want ...string) {
	t.Helper()
	for i, want := range want {
		content, changed, err := file.Check()
		if err != nil || changed != (want != "") || changed && string(content) != want {
			t.Errorf("check %d: %q, changed %v, %v; want %q", i+1, content, changed, err, want)
		}
	}
}

func TestAChangeCountsOnceTwoChecksSawTheSameFile(t *testing.T) {
	path, file := open(t, "one")
	checkFile(t, file, "", "")
	put(t, path, "two", 1)
	checkFile(t, file, "", "two", "")
}

func TestAFileThatIsBeingWrittenIsLeftAlone(t *testing.T) {
	path, file := open(t, "one")
	put(t, path, "", 1)
	checkFile(t, file, "")
	put(t, path, "half", 2)
	checkFile(t, file, "")
	put(t, path, "half and half", 3)
	checkFile(t, file, "", "half and half")
}

func TestAFileThatIsReplacedIsAChangeEvenWithTheOldTimeAndSize(t *testing.T) {
	path, file := open(t, "one")
	put(t, path+".new", "two", 0)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	checkFile(t, file, "", "two", "")
}

func TestATouchedFileIsNoChange(t *testing.T) {
	path, file := open(t, "one")
	put(t, path, "one", 1)
	checkFile(t, file, "", "", "")
}

func TestALinkThatPointsElsewhereIsAChange(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"one", "two"} {
		put(t, filepath.Join(folder, name), name, 0)
	}
	link := filepath.Join(folder, "link")
	point := func(name string) {
		if err := errors.Join(os.Symlink(name, link+".new"), os.Rename(link+".new", link)); err != nil {
			t.Fatal(err)
		}
	}
	point("one")
	file, _, err := watch.Open(link)
	if err != nil {
		t.Fatal(err)
	}
	point("two")
	checkFile(t, file, "", "two")
}

func TestAMissingFileIsReportedOnceAndReadWhenItIsBack(t *testing.T) {
	path, file := open(t, "one")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, changed, err := file.Check(); !errors.Is(err, fs.ErrNotExist) || changed {
		t.Errorf("first check: %v", err)
	}
	checkFile(t, file, "", "")
	put(t, path, "two", 1)
	checkFile(t, file, "", "two")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := file.Check(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone again: %v", err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	checkFile(t, file, "", "two", "") // so that the caller learns that it is back
}

// A read of a named pipe waits until somebody writes, perhaps for ever.
func TestANamedPipeIsReadOnlyOnce(t *testing.T) {
	path := pipe(t)
	go func() { _ = os.WriteFile(path, []byte("one"), 0o600) }() // which waits for a reader
	value, err := watch.NewValue(path, func(content []byte, _ *string) (*string, error) { return new(string(content)), nil })
	if err != nil || *value.Load() != "one" {
		t.Fatal(value, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	go func() {
		defer close(ended)
		value.Watch(ctx, ticks, func(err error) { t.Errorf("report %v", err) })
	}()
	for range 3 {
		select {
		case ticks <- time.Time{}:
		case <-time.After(10 * time.Millisecond): // nobody looks at the pipe
		}
	}
	stop()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("Watch has not ended")
	}
}

func TestAFileThatIsReplacedByANamedPipeIsReportedOnceAndReadWhenItIsBack(t *testing.T) {
	path, file := open(t, "one")
	if err := os.Rename(pipe(t), path); err != nil {
		t.Fatal(err)
	}
	checks := make(chan error)
	go func() {
		for range 3 {
			_, _, err := file.Check()
			checks <- err
		}
	}()
	for i := range 3 {
		select {
		case err := <-checks:
			if (err != nil) != (i == 0) {
				t.Errorf("check %d: %v", i+1, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("check %d has not ended", i+1)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	put(t, path, "two", 1)
	checkFile(t, file, "", "two")
}

// pipe returns the path of a named pipe.
func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileThatIsNotThereCannotBeOpened(t *testing.T) {
	if _, _, err := watch.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestWatchReportsTheResultOfEachChange(t *testing.T) {
	bad := errors.New("bad")
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "one", 0)
	value, err := watch.NewValue(path, func(content []byte, _ *string) (*string, error) {
		if text := string(content); text != "bad" {
			return &text, nil
		}
		return nil, bad
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ticks, reports, ended := make(chan time.Time), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		value.Watch(ctx, ticks, func(err error) { reports <- err })
	}()
	tick := func() { ticks <- time.Time{} }

	put(t, path, "bad", 1)
	tick()
	tick()
	if err := <-reports; !errors.Is(err, bad) || *value.Load() != "one" {
		t.Errorf("report %v, value %q", err, *value.Load())
	}
	tick() // the bad content is not reported again
	put(t, path, "two", 2)
	tick()
	tick()
	if err := <-reports; err != nil || *value.Load() != "two" {
		t.Errorf("report %v, value %q", err, *value.Load())
	}
	stop()
	<-ended
}
