package parser_test

import (
	"strings"
	"testing"

	"bagtrail/parser"
)

func withTag(element string) string { return strings.Replace(bsm(), ".N/0724123456001", element, 1) }

func TestTags(t *testing.T) {
	for elements, want := range map[string][]parser.Tags{
		".N/0724123456001":                          {{First: 724123456, Count: 1}},
		".N/9999000000999":                          {{First: 9999000000, Count: 999}},
		".N/0724999999001":                          {{First: 724999999, Count: 1}},
		".N/0724999001999":                          {{First: 724999001, Count: 999}},
		".N/0000000000001":                          {{First: 0, Count: 1}},
		".N/0724123457001\n.N/0724123456002":        {{First: 724123457, Count: 1}, {First: 724123456, Count: 2}},
		".N/0724123456001\n.T/12\n.N/0724000000001": {{First: 724123456, Count: 1}, {First: 724000000, Count: 1}},
	} {
		m := parse(t, withTag(elements))
		equal(t, elements, m.Groups[0].Tags, want)
	}
}

func TestTagFaults(t *testing.T) {
	for name, element := range map[string]string{
		"007 bare":                         "{007:.N}",
		"007 bare with slash":              "{007:.N/}",
		"007 bare and blank":               "{007:.N/} ",
		"007 beside a sound one":           ".N/0724123456001\n{007:.N/}",
		"016 not 16, shorter":              "{016:.N/072412345601}",
		"016 not 16, longer":               "{016:.N/07241234560001}",
		"016 is the only code of its line": "{016:.N/07241X345600}\n{016:.N/X}",
		"016 further fields":               "{016:.N/0724123456001/}",
		"017 not all digits":               ".N/{017:072412345600A}",
		"017 a slash amid":                 ".N/{017:0724123456/01}",
		"017 a blank amid":                 ".N/{017:0724123456 01}",
		"017 count 000":                    ".N/{017:0724123456000}",
		"017 past serial 999999":           ".N/{017:0724999999002}",
		"017 past serial 999999, far":      ".N/{017:0724999002999}",
		"of a repeated element":            ".N/0724123456001\n.N/{017:0724123456000}",
	} {
		t.Run(name, func(t *testing.T) {
			parse(t, withTag(element))
			parse(t, strings.ReplaceAll(withTag(element), "BSM", "BPM"))
		})
	}
}
