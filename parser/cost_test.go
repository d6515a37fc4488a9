package parser_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/parser"
	"bagtrail/test/race"
)

// hostile are shapes of text that a careless parser pays for more than once a byte.
var hostile = map[string]func(size int) string{
	"lines":                          repeat("BPM\n", "lorem\n"),
	"blank lines":                    repeat("BPM\n", "\r\n"),
	"line feeds":                     repeat("", "\n"),
	"identifiers":                    repeat("", "BSM\n"),
	"three capitals":                 repeat("", "ABC\n"),
	"end lines":                      repeat("BSM\n", "ENDBSM\n"),
	"bare .F":                        repeat("BPM\n.V/1LZRH\n", ".F\n"),
	"flights":                        repeat("BPM\n.V/1LZRH\n", ".F/LX1/12MAR/JFK\n"),
	"onward flights":                 repeat("BPM\n.V/1LZRH\n", ".O/LX1/12MAR/JFK\n"),
	"onward, inherited":              repeat("BPM\n.V/1LZRH\n"+strings.Repeat(".O/LX1/12MAR/JFK\n", 100), ".N/0724123456001\n.L\n"),
	"onward, own":                    repeat("BPM\n.V/1LZRH\n", ".N/0724123456001\n.L\n.O/LX1/12MAR/JFK\n"),
	"flights after tags":             repeat("BPM\n.V/1LZRH\n.U/A\n", ".N/0724123456001\n.L\n.F/LX1/12MAR/JFK\n"),
	"one flight after tags":          func(size int) string { return repeat("BPM\n", ".N/0724123456001\n.L\n")(size) + ".F/LX1/12MAR/JFK\n" },
	"tags":                           repeat("BPM\n.V/1LZRH\n.F/LX1/12MAR/JFK\n", ".N/0724123456999\n"),
	"irregular tags":                 repeat("BPM\n.V/1LZRH\n.F/LX1/12MAR/JFK\n", ".B/OFF/0724123456999\n"),
	"tags with names":                repeat("BPM\n.V/1LZRH\n.F/LX1/12MAR/JFK\n", ".N/0724123456999\n.P/SMITH\n"),
	"faulty tags":                    repeat("BPM\n.V/1LZRH\n.F/LX1/12MAR/JFK\n", ".N/\n"),
	"faults, .V last":                func(size int) string { return repeat("BPM\n", ".F/LX/99XXX/QQ/Y\n")(size) + ".V/1LZRH" },
	"faults before the .V":           func(size int) string { return repeat("BPM\n", ".F/LX/99XXX/QQ/Y\n")(size) + ".V/2QQQQ" },
	"statuses before the .V":         func(size int) string { return repeat("BPM\n", ".B/QQQ/0724123456000\n")(size) + ".V/2QQQQ" },
	"warnings":                       repeat("BPM\n.V/1LZRH\n", ".W\n"),
	"versions":                       repeat("BPM\n", ".V/\n"),
	"loadings":                       repeat("BPM\n.V/1LZRH\n", ".U/A/B///////\n"),
	"remarks":                        repeat("BPM\n.V/1LZRH\n.F/LX1/12MAR/JFK\n", ".R/A\n"),
	"slashes in .F":                  repeat("BPM\n.F", "/"),
	"slashes in .J":                  repeat("BPM\n.J", "/"),
	"slashes in .U":                  repeat("BPM\n.U", "/"),
	"slashes in .X":                  repeat("BPM\n.X", "/"),
	"slashes in .R":                  repeat("BPM\n.R", "/"),
	"blanks":                         repeat("BPM\n.V/1LZRH", " "),
	"blanks in .P":                   repeat("BPM\n.P/A/", " "),
	"digits in .P":                   repeat("BPM\n.P/", "1"),
	"titles in .P":                   repeat("BPM\n.P/A/", "MR"),
	"points":                         repeat("BPM\n", ".\n"),
	"control characters":             repeat("BPM\n.V/1LZRH", "\x00"),
	"control characters amid faults": repeat("BPM\n.V/1LZRH\n", "\x00.F\x00\n\x00"),
}

func repeat(head, unit string) func(int) string {
	return func(size int) string { return head + strings.Repeat(unit, max(0, size-len(head))/len(unit)) }
}

// Eight times the text may take eight times the time, and on a busy machine more, but nowhere near
// sixty-four times.
func TestTimeGrowsWithTheLengthOfTheText(t *testing.T) {
	race.SkipOneGoroutine(t)
	const small, large, limit = 8 << 10, 64 << 10, 32
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			short, long := text(small), text(large)
			var ratio float64
			for range 5 { // a pause of the machine is no fault of the parser
				if ratio = float64(fastest(long)) / float64(fastest(short)); ratio < limit {
					return
				}
			}
			t.Errorf("eight times the text takes %.0f times the time", ratio)
		})
	}
}

func fastest(text string) time.Duration {
	var m parser.Message
	best := time.Hour
	for range 8 {
		start := time.Now()
		m.Parse(text, airports{})
		for _, d := range slices.Concat(m.Errors, m.Warnings) {
			m.Advise(d, text, airports{})
		}
		for i := range m.Groups {
			for range m.Groups[i].Plates() {
				break
			}
		}
		best = min(best, time.Since(start))
	}
	return max(best, time.Microsecond)
}

func TestReusedMessageAllocatesNothing(t *testing.T) {
	texts := messages(t)
	for name, text := range hostile {
		texts["hostile: "+name] = text(16 << 10)
	}
	for name, marked := range texts {
		text, _ := unmark(t, marked)
		want := 0.0
		if text != withoutControls(text) {
			want = 1 // the copy without them
		}
		var m parser.Message
		m.Parse(text, airports{})
		var ref parser.Reference = airports{}
		if got := testing.AllocsPerRun(20, func() { m.Parse(text, ref) }); got > want {
			t.Errorf("%s: %v allocations, want %v", name, got, want)
		}
	}
}
