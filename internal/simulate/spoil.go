package simulate

import (
	"bytes"
	"slices"
)

// spoilers make a right message wrong in one way each. All leave identifier and end line, so that messages can still be
// told apart where they stand behind each other.
var spoilers = []struct {
	bsm, bpm string // the one code that a message of each kind then earns
	spoil    func(text []byte) []byte
}{
	{"SVCPRB013", "SVCPRB013", edit(".V/", 3, 4, "2")},
	{"SVCPRB014", "SVCPRB014", edit(".V/", 4, 5, "Q")},
	{"SVCPRB015", "SVCPRB015", edit(".V/", 5, 8, "QQQ")},
	{"SVCPRB039", "SVCPRB005", line(".V/", "")},
	{"SVCPRB020", "SVCPRB020", line(".F/", ".F/LX1/1MAR/ZRH")},
	{"SVCPRB021", "SVCPRB021", line(".F/", ".F/LXABCD/12MAR/ZRH")},
	{"SVCPRB022", "SVCPRB022", line(".F/", ".F/LX100/31FEB/ZRH")},
	{"SVCPRB023", "SVCPRB023", line(".F/", ".F/LX100/12MAR/QQQ")},
	{"SVCPRB012", "SVCPRB012", line(".V/", ".V/1LZR")},
}

// edit replaces the bytes from one place to another of the first line with a beginning.
func edit(beginning string, from, to int, with string) func([]byte) []byte {
	return func(text []byte) []byte {
		at := bytes.Index(text, []byte(beginning))
		return slices.Replace(text, at+from, at+to, []byte(with)...)
	}
}

// line replaces the first line with a beginning.
func line(beginning, with string) func([]byte) []byte {
	return func(text []byte) []byte {
		at := bytes.Index(text, []byte(beginning))
		return slices.Replace(text, at, at+bytes.IndexAny(text[at:], "\r\n"), []byte(with)...)
	}
}
