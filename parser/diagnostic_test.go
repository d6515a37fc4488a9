package parser_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"bagtrail/parser"
)

func faultIn(t *testing.T, text string) parser.Diagnostic {
	t.Helper()
	var m parser.Message
	m.Parse(text, airports{})
	if len(m.Errors) == 0 {
		t.Fatalf("%q has no fault", text)
	}
	return m.Errors[0]
}

func TestDescription(t *testing.T) {
	for text, want := range map[string]string{
		bsm(".I/LX14/31FEB/JFK"):     `Invalid date in the flight element (line 4, element .I): found "31FEB", expected a calendar date DDMMM.`,
		bsm(".O/LX14//JFK/YYYYYYY"):  `Invalid date in the flight element (line 4, element .O): expected a calendar date DDMMM.`,
		"":                           `Raw message missing (line 1): expected a BSM or BPM.`,
		"BSM\n.F/LX1/12MAR/LHR\n.N":  `Source message has no .V element (line 1, element .V): expected a .V element.`,
		bsm(".N/" + "\xff\n"):        `.N is not 16 characters (line 4, element .N): found ".N/\xff", expected 16 characters, as in .N/0220123456001.`,
		bsm(".N/\u202e\"\u00fc\x07"): `.N is not 16 characters (line 4, element .N): found ".N/\u202e\"ü\a", expected 16 characters, as in .N/0220123456001.`,
	} {
		equal(t, "description", faultIn(t, text).Description(), want)
	}
}

func TestDescriptionIsShortAndPrintableWhateverWasSent(t *testing.T) {
	for _, unit := range []string{"0", "\xff", "\x07", "\x80", "ü", "€", "\U0001f9f3", "\xf0\x9f", "\\", "\"", "\u2028"} {
		for n := range 60 {
			for _, element := range []string{".N/", ".V/1L"} {
				text := faultIn(t, bsm(element+strings.Repeat("1", n)+strings.Repeat(unit, 60))).Description()
				if len(text) > 400 || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Fatalf("%q with %d: %q", unit, n, text)
				}
			}
		}
	}
}

// A long value is cut between characters, not amid one.
func TestDescriptionCutsAValueBetweenCharacters(t *testing.T) {
	for _, n := range []int{34, 35, 36, 37} {
		text := faultIn(t, bsm(".N/"+strings.Repeat("1", n)+strings.Repeat("€", 9))).Description()
		if strings.Contains(text, `\x`) || !strings.Contains(text, `"…,`) {
			t.Errorf("%d: %s", n, text)
		}
	}
}

func TestElementIsTheOneAtFaultOrMissing(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "",
		"lorem":                               "",
		".V/1LZRH":                            ".V",
		"BUM":                                 "",
		bsm() + ".R/1":                        ".R",
		bsm() + "text":                        "",
		"BSM\n.F/1":                           ".V",
		"BSM\n.V/1LZRH\n.N/1":                 ".F",
		"BPM\n.V/1LZRH":                       ".N",
		bsm(".O/1"):                           ".O",
		strings.TrimSuffix(bsm(), "ENDBSM\n"): "",
		"BPM\n.V/1LZRH\n.N/0724123456001\n.U/AKE": ".F",
	} {
		equal(t, text, faultIn(t, text).Element, want)
	}
}
