package command_test

import (
	"strings"
	"testing"

	"bagtrail/internal/command"
)

func TestAReplayThatCannotPrintItsResultFails(t *testing.T) {
	body := "BSM\n.V/1LZRH\n.F/LX14/21NOV/JFK\n.N/0724123456001\n.P/1A/B\n.L/ABC123\nENDBSM\n"
	for _, text := range []string{body, "BSM\nENDBSM\n"} {
		var stderr strings.Builder
		code := command.Run(t.Context(), []string{"replay", "--kafka-brokers=off", "-"}, tools(t), strings.NewReader(text), full{}, &stderr)
		if code != command.Failed || !strings.Contains(stderr.String(), "invalid argument") {
			t.Errorf("exit code %d: %s", code, stderr.String())
		}
	}
}
