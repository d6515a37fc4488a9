package bagstore

import "testing"

func TestAVersionIsNever0(t *testing.T) {
	if got := versionOf([]string{"\xff\xff\xff\xff\xff\xff\xff\xff"}, 1); got != 1 { // 1 is added
		t.Errorf("version %#x", got)
	}
}
