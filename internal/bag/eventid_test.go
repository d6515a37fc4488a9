package bag_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"bagtrail/internal/bag"
)

func TestEventIDIsTheHashThatItsCommentNames(t *testing.T) {
	received := time.UnixMilli(1)
	sum := sha256.Sum256([]byte("0220000001" + "\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "BPM\nENDBPM"))
	want := hex.EncodeToString(sum[:16])
	if got := bag.EventID("0220000001", &bag.Message{Received: received, Text: "BPM\nENDBPM"}); got != want {
		t.Errorf("id %s, want %s", got, want)
	}
}
