package messagefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"bagtrail/internal/messagefile"
)

// read reads everything that names hold.
func read(t *testing.T, r messagefile.Reader, names ...string) (messages []messagefile.Message, errs []error) {
	t.Helper()
	for m, err := range r.Messages(names) {
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
