// Package quickstart_test runs the quick start of the README: its shell blocks, one after the other
// in one shell, in a copy of the tree. It needs bash, curl, GNU tar, and the ports of the README free.
// It is skipped unless BAGTRAIL_TEST_QUICKSTART is set; `make quickstart` sets it.
package quickstart_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"bagtrail/test/service"
)

const root = "../.."

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section returns the part of the README under a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(readme(t), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("the README has no section %q", heading)
	}
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}

var block = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// script returns the shell blocks of a text, joined.
func script(text string) string {
	var b strings.Builder
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		b.WriteString(m[1])
	}
	return b.String()
}

// copyTree copies the files of the project, as they are now, into a new folder. It ignores files that
// are deleted, but not committed.
func copyTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c",
		`git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --ignore-failed-read -c | tar -x -C "$0"`, dir)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func TestTheQuickStartDoesWhatItSays(t *testing.T) {
	if os.Getenv("BAGTRAIL_TEST_QUICKSTART") == "" {
		t.Skip("make quickstart runs it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-e", "-u", "-o", "pipefail", "-c", script(section(t, "Quick start")))
	cmd.Dir = copyTree(t)
	cmd.Env = service.WithoutSettings(os.Environ())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // to stop everything that it starts
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	log, _ := os.ReadFile(filepath.Join(cmd.Dir, "bagtrail.log"))
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), log)
	}
	for _, want := range []string{
		`{"success":true,"success_code":"SVCPRB037","success_message":"Message processed successfully"}`,
		`"loading_status":"Loaded on Aircraft"`, `"event_code":"EXPECTED"`, `"event_code":"SORTED"`, `"event_code":"LOADED_ON_AIRCRAFT"`,
		`"passenger_last_name":"MUELLER"`, "\nthe same three answers\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in what it prints", want)
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s", out.String(), log)
	}
}

func TestTheReadmeBeginsWithRunAndTest(t *testing.T) {
	beginning, _, _ := strings.Cut(readme(t), "\n## ")
	first := script(beginning)
	if !strings.HasPrefix(first, "make run ") || !strings.Contains(first, "\nmake test ") {
		t.Errorf("it begins with %q", first)
	}
}

// TestThePicturesOfTheReadmeAreSmall finds the pictures too.
func TestThePicturesOfTheReadmeAreSmall(t *testing.T) {
	pictures := regexp.MustCompile(`!\[[^]]+\]\(([^)]+)\)`).FindAllStringSubmatch(readme(t), -1)
	for _, picture := range pictures {
		switch file, err := os.Stat(filepath.Join(root, picture[1])); {
		case err != nil:
			t.Error(err)
		case file.Size() > 120_000:
			t.Errorf("%s has %d bytes", picture[1], file.Size())
		}
	}
	if len(pictures) < 3 {
		t.Errorf("%d pictures", len(pictures))
	}
}
