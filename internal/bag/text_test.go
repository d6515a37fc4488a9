package bag_test

import (
	"testing"

	"bagtrail/internal/bag"
)

func TestATextIsAppendedAsItReads(t *testing.T) {
	for _, lines := range []string{"", "BPM", "BPM\r\n.V/1LZRH\r\nENDBPM", "BPM\r\n", "\r\n\r\n"} {
		for _, returns := range []bool{false, true} {
			text := bag.NewText(lines, returns)
			if got := string(text.Append([]byte("x"))); got != "x"+text.String() {
				t.Errorf("%q, %t: %q, want %q behind x", lines, returns, got, text)
			}
		}
	}
}
