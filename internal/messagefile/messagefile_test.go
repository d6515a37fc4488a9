package messagefile_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"bagtrail/ingestor/capture"
	"bagtrail/internal/messagefile"
)

// read reads everything that names hold.
func read(t *testing.T, r messagefile.Reader, names ...string) (messages []messagefile.Message, errs []error) {
	t.Helper()
	for m, err := range r.Messages(t.Context(), names) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		messages = append(messages, m)
	}
	return messages, errs
}

func texts(messages []messagefile.Message) []string {
	var all []string
	for _, m := range messages {
		all = append(all, m.Text)
	}
	return all
}

func TestMessagesOfACaptureKnowTheirPlace(t *testing.T) {
	messages, _ := read(t, messagefile.Reader{Stdin: strings.NewReader("\nBSM\nENDBSM\n\n\nBPM\nENDBPM\n"), Split: true}, "-")
	want := []messagefile.Message{{"-", 1, 2, "BSM\nENDBSM\n"}, {"-", 2, 6, "BPM\nENDBPM\n"}}
	if !slices.Equal(messages, want) {
		t.Errorf("got %+v, want %+v", messages, want)
	}
}

func TestAFileIsOneMessageWhateverItHolds(t *testing.T) {
	text := "\n\nBSM\nENDBSM\nBPM\nENDBPM\n"
	messages, errs := read(t, messagefile.Reader{Stdin: strings.NewReader(text)}, "-")
	if want := []messagefile.Message{{"-", 1, 1, text}}; !slices.Equal(messages, want) || errs != nil {
		t.Errorf("got %+v %v", messages, errs)
	}
	messages, _ = read(t, messagefile.Reader{Stdin: strings.NewReader("")}, "-")
	if len(messages) != 1 || messages[0].Text != "" {
		t.Errorf("an empty file is an empty message; got %+v", messages)
	}
}

func TestOfADirectoryTheMessageFilesAreReadInNameOrder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.txt", "a.bim", "c.md", "C.txt", "d.TXT"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "e.txt"), 0o700); err != nil {
		t.Fatal(err)
	}
	messages, errs := read(t, messagefile.Reader{}, dir, filepath.Join(dir, "c.md"))
	if got := texts(messages); !slices.Equal(got, []string{"C.txt", "a.bim", "b.txt", "c.md"}) || errs != nil {
		t.Errorf("got %q %v", got, errs)
	}
	if messages[1].File != filepath.Join(dir, "a.bim") {
		t.Errorf("got %q", messages[1].File)
	}
}

func TestAFileThatCannotBeReadDoesNotStopTheOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("BSM"), 0o600); err != nil {
		t.Fatal(err)
	}
	messages, errs := read(t, messagefile.Reader{}, filepath.Join(dir, "none"), path)
	if len(messages) != 1 || len(errs) != 1 || !errors.Is(errs[0], fs.ErrNotExist) {
		t.Errorf("got %+v %v", messages, errs)
	}
	broken := errors.New("broken pipe")
	for _, split := range []bool{false, true} {
		_, errs = read(t, messagefile.Reader{Stdin: iotest.ErrReader(broken), Split: split}, "-")
		if len(errs) != 1 || !errors.Is(errs[0], broken) {
			t.Errorf("split %v: got %v", split, errs)
		}
	}
}

func TestOfADirectoryNoPipeNoDeviceAndNoLoopIsFollowed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "b.txt"), []byte("BSM"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "a.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"c.txt": "/dev/zero", "d.txt": "d.txt", "e.txt": ".", "f.txt": "b.txt", "g.txt": "missing",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	messages, errs := read(t, messagefile.Reader{}, dir)
	if got := texts(messages); !slices.Equal(got, []string{"BSM", "BSM"}) || messages[1].File != filepath.Join(dir, "f.txt") {
		t.Errorf("got %+v", messages)
	}
	want := []string{"a.txt: not a regular file", "c.txt: not a regular file", "d.txt: " + syscall.ELOOP.Error(), "g.txt: " + syscall.ENOENT.Error()}
	if len(errs) != len(want) {
		t.Fatalf("got %v", errs)
	}
	for i, w := range want {
		if !strings.Contains(errs[i].Error(), filepath.Join(dir, w)) {
			t.Errorf("got %v, want %s", errs[i], w)
		}
	}
}

func TestADirectoryWithoutMessageFilesIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("BSM"), 0o600); err != nil {
		t.Fatal(err)
	}
	messages, errs := read(t, messagefile.Reader{}, dir)
	if len(messages) != 0 || len(errs) != 1 || !strings.Contains(errs[0].Error(), dir+": no message files") {
		t.Errorf("got %+v %v", messages, errs)
	}
}

func TestAFileThatIsFarTooLongIsNotReadWhole(t *testing.T) {
	rest := strings.NewReader(strings.Repeat("A", 8<<20))
	messages, errs := read(t, messagefile.Reader{Stdin: io.MultiReader(rest, iotest.ErrReader(errors.New("read whole")))}, "-")
	if len(messages) != 1 || len(messages[0].Text) != capture.Longest || errs != nil {
		t.Errorf("%d messages, %v", len(messages), errs)
	}
}

func TestANamedPipeThatIsNamedIsRead(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte("BSM\nENDBSM\n"), 0o600) }()
	messages, errs := read(t, messagefile.Reader{Split: true}, pipe)
	if got := texts(messages); !slices.Equal(got, []string{"BSM\nENDBSM\n"}) || errs != nil {
		t.Errorf("got %q %v", got, errs)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// silence is an input from which nothing comes, ever; it tells when somebody waits for it.
type silence struct{ waited func() }

func (s silence) Read([]byte) (int, error) {
	s.waited()
	select {}
}

func TestReadingStopsWithItsContextAlsoWhereNothingComes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe") // that nobody writes to
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		split bool
	}{{"-", false}, {"-", true}, {pipe, false}, {pipe, true}, {"/dev/zero", true}} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		reader := messagefile.Reader{Stdin: silence{cancel}, Split: c.split}
		var errs []error
		for m, err := range reader.Messages(ctx, []string{c.name, "missing.txt"}) {
			if err == nil {
				t.Errorf("%+v: got %+v", c, m)
			}
			errs = append(errs, err)
		}
		if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
			t.Errorf("%+v: got %v", c, errs)
		}
	}
}
