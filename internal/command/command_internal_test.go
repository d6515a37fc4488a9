package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// replay that has rejected messages fails with an exit that has no text, and a part that does not
// stop adds its error.
func TestAnErrorThatIsJoinedWithARejectionIsPrinted(t *testing.T) {
	rejected := &exit{code: Rejected}
	for _, c := range []struct {
		err  error
		want string
	}{
		{rejected, ""},
		{errors.Join(rejected, errors.New("redis: close")), "bagtrail: redis: close\n"},
		{errors.Join(&exit{Usage, errors.New("one\ntwo")}, errors.New("three")), "bagtrail: one\nbagtrail: two\nbagtrail: three\n"},
		{fmt.Errorf("replay: %w", errors.New("no broker")), "bagtrail: replay: no broker\n"},
	} {
		var out strings.Builder
		if printError(&out, c.err); out.String() != c.want {
			t.Errorf("%v: printed %q, want %q", c.err, out.String(), c.want)
		}
	}
}

// The start checks the rights to the keys that the documentation names.
func TestTheDocumentedRightsNameTheKeysThatAreChecked(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := " resetkeys ~" + strings.Join(redisKeys, " ~") + " resetchannels "; !strings.Contains(string(page), want) {
		t.Errorf("docs/operations.md does not have %q", want)
	}
}

// The documents say which doors there are: those that a process opens, and the files of replay.
func TestTheDocumentsNameEveryDoor(t *testing.T) {
	names := []string{"file"}
	for _, d := range doors {
		names = append(names, d.name)
	}
	for _, place := range []struct{ path, line string }{
		{"docs/v1.md", "| `GET /v1/rejects` |"},
		{"internal/apidoc/openapi.json", `"rejectDoor"`},
		{"internal/apidoc/openapi.json", `"door": {"type": "string", "description"`},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", place.path))
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, place.line) {
				found = line
				break
			}
		}
		for _, name := range names {
			if !strings.Contains(found, "`"+name+"`") {
				t.Errorf("%s does not name the door %s in %q", place.path, name, found)
			}
		}
	}
}
