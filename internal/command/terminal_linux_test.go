package command_test

import (
	"io"
	"strings"
	"testing"

	"bagtrail/internal/command"
	"bagtrail/test/terminal"
)

func TestReplayClearsItsProgressBeforeADiagnostic(t *testing.T) {
	keyboard, screen := terminal.Open(t)
	shown := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(keyboard) // the error is that the terminal was closed
		shown <- string(text)
	}()
	input := strings.NewReader(strings.Repeat(bsm, 2000) + bad + bsm)
	code := command.Run(t.Context(), []string{"replay", "--kafka-brokers=off", "--split", "-"}, tools(t), input, screen, screen)
	screen.Close()
	text := <-shown
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
