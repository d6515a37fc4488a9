package capture_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"bagtrail/ingestor/capture"
	"bagtrail/test/race"
)

func split(t *testing.T, src io.Reader) []capture.Message {
	t.Helper()
	r := capture.NewReader(src)
	var list []capture.Message
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
}

func TestCaptureIsCutBehindEachEndLine(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		want []capture.Message
	}{
		{"nothing", "", nil},
		{"blank", " \r\n\x03\n", nil},
		{"one", "BSM\n.V/1LZRH\nENDBSM\n", []capture.Message{{"BSM\n.V/1LZRH\nENDBSM\n", 1}}},
		{"two, CR LF, blank lines between", "BSM\r\nENDBSM\r\n\r\n \r\nBPM\r\nENDBPM\r\n",
			[]capture.Message{{"BSM\r\nENDBSM\r\n", 1}, {"BPM\r\nENDBPM\r\n", 5}}},
		{"pages of a printer", "\f\nBSM\nENDBSM\n\f\n\v\n\fBPM\nENDBPM\f\n\f", []capture.Message{{"BSM\nENDBSM\n", 2}, {"\fBPM\nENDBPM\f\n", 6}}},
		{"CR alone", "BSM\rENDBSM\rBPM\rENDBPM\r", []capture.Message{{"BSM\rENDBSM\r", 1}, {"BPM\rENDBPM\r", 3}}},
		{"envelopes", "\x01QU ZRHXHXH\n.MUCXXLH 121314\n\x02BSM\nENDBSM\n\x03\n\x01QU ZRHXHXH\n\x02BPM\nENDBPM\x03",
			[]capture.Message{{"\x01QU ZRHXHXH\n.MUCXXLH 121314\n\x02BSM\nENDBSM\n", 1}, {"\x01QU ZRHXHXH\n\x02BPM\nENDBPM\x03", 6}}},
		{"indented end line", "BSM\n  ENDBSM \nBSM\n\tENDBSM\n", []capture.Message{{"BSM\n  ENDBSM \n", 1}, {"BSM\n\tENDBSM\n", 3}}},
		{"parts", "BPM\n.V/1LIST/PART1\nENDPART1\nBPM\n.V/1LIST/PART2\nENDPART9999\n",
			[]capture.Message{{"BPM\n.V/1LIST/PART1\nENDPART1\n", 1}, {"BPM\n.V/1LIST/PART2\nENDPART9999\n", 4}}},
		{"an identifier that nobody knows", "XYZ\n.V/1LZRH\nENDXYZ\nBSM\nENDBSM\n",
			[]capture.Message{{"XYZ\n.V/1LZRH\nENDXYZ\n", 1}, {"BSM\nENDBSM\n", 4}}},
		{"a text that looks like an end", "BSM\nENDING\nENDPART\nENDABC\n.R/ENDBSM\nENDBSM\n",
			[]capture.Message{{"BSM\nENDING\nENDPART\nENDABC\n.R/ENDBSM\nENDBSM\n", 1}}},
		{"the end of another", "BSM\n.V/1LZRH\nENDBPM\nBPM\nENDBPM\n",
			[]capture.Message{{"BSM\n.V/1LZRH\nENDBPM\n", 1}, {"BPM\nENDBPM\n", 4}}},
		{"something behind the last end line", "BSM\nENDBSM\n.F/LX14",
			[]capture.Message{{"BSM\nENDBSM\n", 1}, {".F/LX14", 3}}},
		{"bytes that are no text", "BSM\n.P/\xff\x00\nENDBSM\n", []capture.Message{{"BSM\n.P/\xff\x00\nENDBSM\n", 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, src := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
				got := split(t, src)
				if len(got) != len(c.want) {
					t.Fatalf("got %#v, want %#v", got, c.want)
				}
				for i := range got {
					if got[i] != c.want[i] {
						t.Errorf("message %d: got %#v, want %#v", i, got[i], c.want[i])
					}
				}
			}
		})
	}
}

func TestNoByteOfAMessageIsLost(t *testing.T) {
	const text = "BSM\r\n.V/1LZRH\x00\xff\r\nENDBSM\r\nrubbish\nBPM\rENDBPM\r\nENDBSM\nXYZ\nENDXYZ"
	var all strings.Builder
	for _, m := range split(t, strings.NewReader(text)) {
		all.WriteString(m.Text)
	}
	if all.String() != text {
		t.Errorf("together %q, want %q", all.String(), text)
	}
}

func TestReadErrorIsReturned(t *testing.T) {
	broken := errors.New("broken")
	r := capture.NewReader(io.MultiReader(strings.NewReader("BSM\nENDBSM\nBPM\n"), iotest.ErrReader(broken)))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func TestOfAMessageThatIsTooLongTheBeginningIsKept(t *testing.T) {
	race.SkipOneGoroutine(t)
	for name, text := range map[string]string{"lines": "BSM\n", "one line": "A", "blanks": " "} {
		t.Run(name, func(t *testing.T) {
			src := io.MultiReader(io.LimitReader(repeat(strings.Repeat(text, 1000)), 8<<20), strings.NewReader("X\nENDBSM\n\nBPM\nENDBPM\n"))
			got := split(t, src)
			if len(got) != 2 || len(got[0].Text) != capture.Longest || !strings.HasPrefix(got[0].Text, text) || got[1].Text != "BPM\nENDBPM\n" {
				t.Errorf("%d messages, the first of %d bytes", len(got), len(got[0].Text))
			}
		})
	}
}

func TestAStreamThatNeverEndsAMessageTakesBoundedMemory(t *testing.T) {
	race.SkipOneGoroutine(t)
	for name, text := range map[string]string{"lines": "BSM\n", "one line": "A", "blank lines": " \n"} {
		t.Run(name, func(t *testing.T) {
			r := capture.NewReader(io.LimitReader(repeat(strings.Repeat(text, 1000)), 16<<20))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := r.Next(); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if made := after.TotalAlloc - before.TotalAlloc; made > 4<<20 {
				t.Errorf("16 MiB of input made %d bytes", made)
			}
		})
	}
}

type repeat string

func (r repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], r)
	}
	return n, nil
}

func FuzzCapture(f *testing.F) {
	for _, s := range []string{"", "BSM\nENDBSM\nBPM\rENDBPM\r\n", "\x01QU\n\x02XYZ\nENDXYZ\x03", "ENDPART1", ".V/\nBSM\n\n\nENDBSM"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest := text
		for _, m := range split(t, strings.NewReader(text)) {
			at := strings.Index(rest, m.Text)
			if at < 0 || m.Text == "" {
				t.Fatalf("message %q is not next in %q", m.Text, rest)
			}
			if skipped := rest[:at]; strings.ContainsFunc(skipped, func(r rune) bool { return r > ' ' && r != 0x7f && !unicode.IsSpace(r) }) {
				t.Fatalf("%q was dropped", skipped)
			}
			rest = rest[at+len(m.Text):]
		}
	})
}
