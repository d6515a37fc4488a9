package parser_test

import (
	"strings"
	"testing"

	"bagtrail/parser"
)

func canonical(text string) string { return string(parser.AppendCanonical(nil, text)) }

func TestCanonical(t *testing.T) {
	const want = "BSM\nDEL\n.V/1LZRH\nlorem  ipsum\n.N/1\nENDBSM"
	for name, text := range map[string]string{
		"itself":                  want,
		"CR LF":                   strings.ReplaceAll(want, "\n", "\r\n"),
		"CR":                      strings.ReplaceAll(want, "\n", "\r"),
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

func TestCanonicalIsAppended(t *testing.T) {
	equal(t, "text", string(parser.AppendCanonical([]byte("7:"), " BSM \n ENDBSM ")), "7:BSM\nENDBSM")
}

// What a Message gives is what the function makes of its text.
func TestCanonicalOfAMessage(t *testing.T) {
	var m parser.Message
	for _, text := range []string{
		"", " ", "lorem\nipsum", bsm(), strings.ReplaceAll(bsm(), "\n", "\r\n"), strings.ReplaceAll(bsm(), "\n", "\r"),
		"QU ZRHXHXH\n" + bsm(), strings.ReplaceAll(bsm(), "\n", " \n\n "), "\x01" + bsm() + "\x03", bsm() + "\n \n",
		"BPM\n.V/1LZRH\t\n", "\nBPM", "BPM\n",
	} {
		m.Parse(text, airports{})
		equal(t, text, m.Canonical(), string(parser.AppendCanonical(nil, text)))
	}
}
