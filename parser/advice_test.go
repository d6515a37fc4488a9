package parser_test

import (
	"slices"
	"strings"
	"testing"

	"bagtrail/parser"
)

// few is a Reference that knows few airports.
type few struct{ airports }

func (few) KnownLocation(code string) bool {
	return slices.Contains([]string{"ZRH", "JFK", "LHR", "LGR", "LGW"}, code)
}

func TestAdvice(t *testing.T) {
	const date = "DDMMM"
	for _, c := range []struct{ text, suggestion, hint string }{
		{strings.ToLower(bsm()), "BSM", "capital"},
		{"QU ZRHKMLX\n" + strings.ToLower(bsm()), "", "capital"},
		{"\xef\xbb\xbf" + bsm(), "", "byte-order mark"},
		{"\xff\xfe" + strings.Join(strings.Split(bsm(), ""), "\x00") + "\x00", "", "UTF-16"},
		{"\xfe\xff\x00" + strings.Join(strings.Split(bsm(), ""), "\x00"), "", "UTF-16"},
		{` {"bim_message":"BSM\r\n"}`, "", "content-type: application/json"},
		{`BSM\n.V/1LZRH\nENDBSM`, "", `characters \n`},
		{bsm() + bpm(), "", "--split"},
		{bsm() + "QU ZRHKMLX\n" + bsm(), "", "--split"},
		{".R/1\n" + bsm(), "", "text before"},
		{"BUM\n.V/1LZRH\n", "", ""},
		{"", "", ""},
		{"lorem", "", ""},
		{"BSM\r\n.V/1LZRH\r\n.f/LX14/12MAR/JFK\r\n.N/0724123456001\r\nENDBSM", "", "Line 3"},
		{"BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.b/OFF/0724123456001\n", "", "Line 4"},
		{strings.Replace(bsm(), "ENDBSM", "endbsm", 1), "", "capital"},
		{"ENDBSM\n" + strings.Replace(bsm(), "ENDBSM\n", "", 1), "", ""},
		{"BSM\n.V/1LZRH\n.N/0724123456001\nENDBSM", "", ""},

		{bsm(".I/LX14/2026-03-05/JFK"), "05MAR", date},
		{bsm(".I/LX14/20260305/JFK"), "05MAR", date},
		{bsm(".I/LX14/05MAR26/JFK"), "05MAR", date},
		{bsm(".I/LX14/5-Mar-2026/JFK"), "05MAR", date},
		{bsm(".I/LX14/MAR05/JFK"), "05MAR", date},
		{bsm(".I/LX1/5MARCH/JFK"), "05MAR", date},
		{bsm(".I/LX14/1MAR/JFK/Y"), "01MAR", date},
		{bsm(".I/LX1/MAR05-26/JFK"), "05MAR", date},
		{bsm(".F/BA296/13JAN ORD/J"), "", ""}, // the airport would be lost
		{bsm(".F/BA296/13JANORD/J"), "", ""},
		{bsm(".F/BA296/JAN13-ORD/J"), "", ""},
		{bsm(".F/BA296/13JAN26 ORD/J"), "", ""},
		{bsm(".F/BA296/13JAN261430/J"), "", ""},
		{bsm(".F/BA296/13JAN1430/J"), "", ""}, // a time
		{bsm(".F/BA296/13JAN1/J"), "", ""},
		{bsm(".I/LX14/2026-3-5/JFK/Y"), "05MAR", date},
		{bsm(".F/BA296/2026-01-13 ORD/J"), "", ""},
		{bsm(".F/BA296/2026-01-13-14/J"), "", date},
		{bsm(".I/LX14/05032026/JFK"), "", date}, // or is it 3 May?
		{bsm(".I/LX14/20032026/JFK"), "", date},
		{bsm(".I/LX14/05031122/JFK"), "", date}, // no year 503
		{bsm(".I/LX14/05.03.2026/JFK"), "", date},
		{bsm(".I/LX14/2026-13-05/JFK"), "", date},
		{bsm(".I/LX14/31FEB/JFK"), "", ""},
		{bsm(".I/LX14/31FEB26/JFK"), "", ""},
		{bsm(".I/LX14//JFK/YYYYYYY"), "", ""},

		{bsm(".F/LX14/12MAR/JKF"), "", ""},
		{bsm(".F/LX14/12MAR/JFX"), "JFK", ""},
		{bsm(".F/LX14/12MAR/JFKX"), "JFK", ""},
		{bsm(".F/LX14/12MAR/JJFK"), "JFK", ""}, // whichever J is left out
		{bsm(".F/LX14/12MAR/HR/Y"), "LHR", ""},
		{bsm(".F/LX14/12MAR/LGX"), "", ""}, // LGR or LGW
		{bsm(".F/LX14/12MAR/jfk"), "JFK", "capital"},
		{bsm(".O/LX14/12MAR/JFX"), "JFK", ""},
		{bsm(".F/LX14/12MAR/J\u00fcK"), "", ""},
		{bsm(".F/lx14a/12MAR/JFK"), "LX14A", "capital"},
		{bsm(".F/LX-14/12MAR/JFK"), "", ""},
		{strings.Replace(bsm(), "1LZRH", "1lZRH", 1), "L", "capital"},
		{strings.Replace(bsm(), "1LZRH", "1LZRG", 1), "ZRH", ""},
		{bsm(".W/k/1/20"), "K", "capital"},
		{bsm(".W/Q/1/20"), "", ""},
		{bsm(".W/K/l/20"), "", ""},
		{bsm(".W/K/2/k"), "", ""},
		{bpm(".B/off/0724123456001"), "OFF", "capital"},

		{bsm(".N/07241234560001"), ".N/0724123456001", "check digit"}, // 724123456 is 7 × 103446208
		{bpm(".B/OFF/07241234571001"), ".B/OFF/0724123457001", "check digit"},
		{bsm(".N/07241234564001"), "", "check digit"},
		{bsm(".N/07241234560000"), "", "check digit"}, // of no bag
		{bpm(".B/OFF/0724/123456001"), "", ""},
		{bpm(".B/OFF/00/16986470001111"), "", ""}, // one digit less would not mend it
		{bpm(".B/OFF 07241234560001"), "", ""},    // nor this
		{bsm(".N/0/07241234560001"), "", ""},
		{bsm(".N/OFF/07241234560001"), "", ""},
		{bpm(".B/07241234560001"), "", ""},
		{bsm(".N/0724123456"), "", ""},
		{bsm(".N/0724/23456001"), "", ""},
	} {
		var m parser.Message
		m.Parse(c.text, few{})
		found := slices.Concat(m.Errors, m.Warnings)
		if len(found) == 0 {
			t.Errorf("%q has no fault", c.text)
			continue
		}
		got := m.Advise(found[0], c.text, few{})
		if got.Suggestion != c.suggestion || (c.hint == "") != (got.Hint == "") || c.hint != date && !strings.Contains(got.Hint, c.hint) || c.hint == date && !strings.Contains(got.Hint, "A date") {
			t.Errorf("%q: %+v of %+v", c.text, got, found[0])
		}
		checkAdvice(t, c.text, &m, few{})
	}
}

// hiding are the codes of faults that may hide others, which are seen once these are mended.
var hiding = []parser.Code{parser.MissingIdentifier, parser.IrregularityLength, parser.WrongWeight}

// checkAdvice asserts that each suggestion mends its fault, in the place that the fault names, and
// makes no other.
func checkAdvice(t *testing.T, text string, m *parser.Message, ref parser.Reference) {
	t.Helper()
	for _, d := range slices.Concat(m.Errors, m.Warnings) {
		suggestion := m.Advise(d, text, ref).Suggestion
		if suggestion == "" {
			continue
		}
		lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
		l := &lines[d.Line-1]
		*l = (*l)[:d.Column-1] + suggestion + (*l)[d.EndColumn-1:]
		var mended parser.Message
		mended.Parse(strings.Join(lines, "\n"), ref)
		for _, left := range slices.Concat(mended.Errors, mended.Warnings) {
			if left.Code == d.Code && left.Line == d.Line && left.Column == d.Column {
				t.Errorf("%q for %+v leads to %+v", suggestion, d, left)
			}
		}
		if !slices.Contains(hiding, d.Code) && len(mended.Errors)+len(mended.Warnings) >= len(m.Errors)+len(m.Warnings) {
			t.Errorf("%q for %+v leads to %+v %+v", suggestion, d, mended.Errors, mended.Warnings)
		}
	}
}
