package command_test

import (
	"io"
	"strings"
	"testing"

	"bagtrail/internal/command"
	"bagtrail/test/terminal"
)

// onTerminal runs bagtrail as run does, on a terminal, and returns what that shows.
func onTerminal(t *testing.T, stdin string, env []string, args ...string) (code int, text string) {
	t.Helper()
	keyboard, screen := terminal.Open(t)
	shown := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(keyboard) // the error is that the terminal was closed
		shown <- string(text)
	}()
	code = command.Run(t.Context(), args, env, strings.NewReader(stdin), screen, screen)
	screen.Close()
	return code, <-shown
}

func TestReplayClearsItsProgressBeforeADiagnostic(t *testing.T) {
	input := strings.Repeat(bsm, 2000) + bad + bsm
	code, text := onTerminal(t, input, append(tools(t), "NO_COLOR=1"), "replay", "--kafka-brokers=off", "--split", "-")
	if code != command.Rejected {
		t.Fatalf("exit code %d: %s", code, text)
	}
	if cleared := strings.Count(text, "999 messages\r\x1b[K"); cleared == 0 || cleared != strings.Count(text, "999 messages") {
		t.Errorf("the progress is not shown, or not cleared: %q", text)
	}
	if want := "\n-:10001: BSM rejected"; !strings.Contains(text, want) { // at the beginning of a line
		t.Errorf("no %q in %q", want, text)
	}
}

func TestValidateHasColoursOnATerminalUnlessToldOtherwise(t *testing.T) {
	for variable, coloured := range map[string]bool{"": true, "NO_COLOR=": true, "NO_COLOR=1": false} {
		_, text := onTerminal(t, bad, []string{variable}, "validate")
		if strings.Contains(text, "\x1b[31merror SVCPRB022\x1b[m") != coloured || strings.Contains(text, "\x1b") != coloured || !strings.Contains(text, "31FEB") {
			t.Errorf("%q: %q", variable, text)
		}
	}
	if got := run(t, bad, nil, "validate"); strings.Contains(got.stdout, "\x1b") {
		t.Errorf("colours in a file: %q", got.stdout)
	}
}
