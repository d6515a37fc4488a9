package simulate

import (
	"bytes"
	"slices"
)

// mutations make a valid message malformed, each in one way. All of them keep the identifier and
// the end line, so that messages in a capture can still be told apart.
var mutations = []struct {
	bsm, bpm string // the code with which a BSM or BPM is then rejected
	apply    func(text []byte) []byte
}{
	{"SVCPRB013", "SVCPRB013", replaceBytes(".V/", 3, 4, "2")},
	{"SVCPRB014", "SVCPRB014", replaceBytes(".V/", 4, 5, "Q")},
	{"SVCPRB015", "SVCPRB015", replaceBytes(".V/", 5, 8, "QQQ")},
	{"SVCPRB039", "SVCPRB005", replaceLine(".V/", "")},
	{"SVCPRB020", "SVCPRB020", replaceLine(".F/", ".F/LX1/1MAR/ZRH")},
	{"SVCPRB021", "SVCPRB021", replaceLine(".F/", ".F/LXABCD/12MAR/ZRH")},
	{"SVCPRB022", "SVCPRB022", replaceLine(".F/", ".F/LX100/31FEB/ZRH")},
	{"SVCPRB023", "SVCPRB023", replaceLine(".F/", ".F/LX100/12MAR/QQQ")},
	{"SVCPRB012", "SVCPRB012", replaceLine(".V/", ".V/1LZR")},
}

// replaceBytes replaces the bytes from offset first up to last of the first line with a prefix.
func replaceBytes(prefix string, first, last int, with string) func([]byte) []byte {
	return func(text []byte) []byte {
		at := bytes.Index(text, []byte(prefix))
		return slices.Replace(text, at+first, at+last, []byte(with)...)
	}
}

// replaceLine replaces the first line with a prefix.
func replaceLine(prefix, with string) func([]byte) []byte {
	return func(text []byte) []byte {
		at := bytes.Index(text, []byte(prefix))
		return slices.Replace(text, at, at+bytes.IndexAny(text[at:], "\r\n"), []byte(with)...)
	}
}
