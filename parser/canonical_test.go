package parser_test

import (
	"strings"
	"testing"

	"bagtrail/parser"
)

// canonical returns the canonical text of a text.
func canonical(text string) string {
	var m parser.Message
	m.Parse(text, airports{})
	return m.Canonical()
}

func TestCanonical(t *testing.T) {
	const want = "BSM\nDEL\n.V/1LZRH\nlorem  ipsum\n.N/1\nENDBSM"
	for name, text := range map[string]string{
		"itself":                  want,
		"CR LF":                   strings.ReplaceAll(want, "\n", "\r\n"),
		"CR":                      strings.ReplaceAll(want, "\n", "\r"),
		"LF, then CR LF":          strings.Replace(strings.ReplaceAll(want, "\n", "\r\n"), "\r\n", "\n", 1),
		"CR LF, then LF":          strings.Replace(want, "\n", "\r\n", 1),
		"CR, then CR LF":          strings.Replace(strings.ReplaceAll(want, "\n", "\r\n"), "\r\n", "\r", 1),
		"a line end at the end":   want + "\n",
		"outer and blank lines":   " \n" + strings.ReplaceAll(want, "\n", " \t\n\n \r\n\t"),
		"control characters":      "\x01" + strings.NewReplacer("D", "D\x00\x03", "\n", "\x02\r\x00\n\x01").Replace(want) + "\x03",
		"envelope":                "QU ZRHKMLX\n.MUCXXLH 121314\nSYM\n" + want,
		"text behind the end":     want + "\nlorem\n.N/2\nENDBSM",
		"a foreign end before it": "ENDBSM\n" + want,
	} {
		t.Run(name, func(t *testing.T) { equal(t, "text", canonical(text), want) })
	}
}

func TestCanonicalOfOtherTexts(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		" ":                               "",
		"\nBPM":                           "BPM",
		"BPM\n":                           "BPM",
		"lorem\r\n\r\nipsum\r":            "lorem\nipsum",
		"BPM\n.V/1LZRH\t\n":               "BPM\n.V/1LZRH",
		" \n \x00":                        "",
		" lorem \n\n.V/1":                 "lorem\n.V/1",
		"x\nBSM\n.V/1\n\n.N/1 \n":         "BSM\n.V/1\n.N/1",
		"x\nBPM\n.V/1\nENDPART7\nx":       "BPM\n.V/1\nENDPART7",
		"BUM\n.V/1\nENDBUM\nx":            "BUM\n.V/1\nENDBUM",
		"XYZ\n.V/1\nENDXYZ\nx":            "XYZ\n.V/1\nENDXYZ",
		"XYZ\n.V/1\nENDXYZ\nBSM\nENDXYZ":  "BSM\nENDXYZ",
		".R/1\nBSM\n.V/1\nBSM\nENDBSM\nx": "BSM\n.V/1\nBSM\nENDBSM",
	} {
		equal(t, text, canonical(text), want)
	}
}
