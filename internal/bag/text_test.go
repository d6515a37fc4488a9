package bag_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"bagtrail/internal/bag"
)

// VT and FF lie between LF and CR.
func TestTextsAreOrderedAsIfLFJoinedTheirLines(t *testing.T) {
	inOrder := []bag.Text{"A\tB", "A\r\nB", "A\vB", "A\fB"}
	for i := range inOrder[1:] {
		first, second := &bag.Message{Text: inOrder[i]}, &bag.Message{Text: inOrder[i+1]}
		if !first.Before(second) || second.Before(first) {
			t.Errorf("%q is not before %q", first.Text, second.Text)
		}
	}
}

func TestAnEventIDIsOfATextWhoseLinesLFJoins(t *testing.T) {
	received := time.UnixMilli(1)
	sum := sha256.Sum256([]byte("0220000001" + "\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "BPM\nENDBPM"))
	want := hex.EncodeToString(sum[:16])
	if got := bag.EventID("0220000001", &bag.Message{Received: received, Text: "BPM\r\nENDBPM"}); got != want {
		t.Errorf("id %s, want %s", got, want)
	}
}
