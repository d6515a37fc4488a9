package command_test

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bagtrail/internal/command"
	"bagtrail/test/loopback"
	process "bagtrail/test/service"
)

func TestServeBeyondLoopbackMakesAKeyAndPrintsItOnce(t *testing.T) {
	_, port, err := net.SplitHostPort(loopback.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "data") // which is not there yet
	s := start(t, []string{"serve"}, "BAGTRAIL_HTTP_ADDR=0.0.0.0:"+port, "BAGTRAIL_DATA_DIR="+folder)
	s.http = "127.0.0.1:" + port
	s.untilReady()
	printed := s.stdout.String()
	if !regexp.MustCompile(`^bagtrail_[A-Za-z0-9_-]{43}\n$`).MatchString(printed) {
		t.Fatalf("stdout: %q", printed)
	}
	key := strings.TrimSpace(printed)
	path := filepath.Join(folder, "keys.yaml")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v %v", info, err)
	}
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), key) || !strings.Contains(string(text), "sha256:") {
		t.Errorf("the file holds the digest, not the key: %s %v", text, err)
	}

	s.post(bsmOfToday(), http.StatusUnauthorized, "SVCPRB002") // with the development key
	s.key = key
	s.post(bsmOfToday(), http.StatusOK, "SVCPRB037")
	first := s.stderr.String()
	if code := s.down(); code != command.Done {
		t.Fatalf("exit code %d", code)
	}

	s.up([]string{"serve"})
	s.untilReady()
	if status, answer := s.ask(http.MethodGet, historyOfToday(), ""); status != http.StatusOK || !strings.Contains(answer, "EXPECTED") {
		t.Errorf("the same key after a restart: %d %s", status, answer)
	}
	if again := s.stdout.String(); again != "" || strings.Contains(first+s.stderr.String(), key) {
		t.Errorf("the key is shown again: %q", again)
	}
}

// A key that nobody has read is not kept: the next start makes another.
func TestAKeyThatCannotBePrintedIsNotKept(t *testing.T) {
	folder := t.TempDir()
	var stderr process.Buffer
	code := command.Run(t.Context(), []string{"serve"}, []string{
		"BAGTRAIL_HTTP_ADDR=0.0.0.0:0", "BAGTRAIL_OPS_ADDR=127.0.0.1:0", "BAGTRAIL_DATA_DIR=" + folder, "BAGTRAIL_KAFKA_BROKERS=off",
	}, strings.NewReader(""), full{}, &stderr)
	if code != command.Failed || !strings.Contains(stderr.String(), "print the new key") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
	if _, err := os.Stat(filepath.Join(folder, "keys.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the key file: %v", err)
	}
}

// The name of a key that nobody has read stays taken, so the error says what to do.
func TestAKeyOfTheFileThatCannotBePrintedIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.yaml")
	var stderr process.Buffer
	code := command.Run(t.Context(), []string{"keys", "create", "app-2027"}, []string{"BAGTRAIL_KEYS_FILE=" + file}, strings.NewReader(""), full{}, &stderr)
	if code != command.Failed || !strings.Contains(stderr.String(), "key app-2027 is in the file, but cannot be shown; revoke it") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrInvalid }
