package bagstore

import "testing"

func TestAVersionIsAFunctionOfTheFieldsAlone(t *testing.T) {
	for _, c := range []struct {
		words []string
		every int
		want  uint64
	}{
		{nil, 1, 1},
		{[]string{"\x00\x00\x00\x00\x00\x00\x00\x05", "\x00\x00\x00\x00\x00\x00\x01\x00"}, 1, 0x106},
		{[]string{"\x00\x00\x00\x00\x00\x00\x01\x00", "value", "\x00\x00\x00\x00\x00\x00\x00\x05", "value"}, 2, 0x106},
		{[]string{"\xff\xff\xff\xff\xff\xff\xff\xff"}, 1, 1}, // never 0
	} {
		if got := versionOf(c.words, c.every); got != c.want {
			t.Errorf("%q: version %#x, want %#x", c.words, got, c.want)
		}
	}
}
