package parser_test

import (
	"strings"
	"testing"

	"bagtrail/parser"
)

func withVersion(element string) string { return strings.Replace(bsm(), ".V/1LZRH", element, 1) }

func TestVersion(t *testing.T) {
	for element, want := range map[string]parser.Version{
		".V/1LZRH":                      {Source: 'L', Airport: "ZRH"},
		".V/1TORD/":                     {Source: 'T', Airport: "ORD"},
		".V/1XLHR///":                   {Source: 'X', Airport: "LHR"},
		".V/1RIST/PART2":                {Source: 'R', Airport: "IST"},
		".V/1LZRH/ PART1 / 654321 /A/9": {Source: 'L', Airport: "ZRH"},
	} {
		m := parse(t, withVersion(element))
		equal(t, element, m.Version, want)
	}
}

func TestVersionFaults(t *testing.T) {
	for name, element := range map[string]string{
		"012 under 8":                        "{012:.V/1LZR}",
		"012 bare":                           "{012:.V}",
		"012 bare with slash":                "{012:.V/}",
		"012 is the only code of its line":   "{012:.V/2KQ}",
		"013 version not 1":                  ".V/{013:2}LZRH",
		"014 source not L T X R":             ".V/1{014:K}ZRH",
		"014 source in small letters":        ".V/1{014:l}ZRH",
		"015 airport unknown":                ".V/1L{015:QQQ}",
		"015 airport not three capitals":     ".V/1L{015:Zrh}/PART1",
		"015 airport too short":              ".V/1L{015:ZR}/PART1",
		"015 glued text after it":            ".V/1L{015:ZRHX}",
		"015 airport missing":                ".V/1L{015:}/PART1",
		"014 and 015":                        ".V/1{014:}{015:}/PART1",
		"013, 014 and 015":                   ".V/{013:2}{014:K}{015:Q1Q}",
		"013, 014 and 015 of an empty field": ".V/{013:}{014:}{015:}/PART1",
		"015 blank before the airport":       ".V/1L{015: ZRH}",
		"012 of a repeated element":          ".V/1LZRH\n{012:.V/}",
		"013 of a repeated element":          ".V/1LZRH\n.V/{013:0}LJFK",
	} {
		t.Run(name, func(t *testing.T) { parse(t, withVersion(element)) })
	}
}

func TestVersionFirstCountsWhereverItStands(t *testing.T) {
	m := parse(t, "BSM\n.N/0724123456001\n.F/LX14/12MAR/JFK\n.V/1TGVA/PART1\n.V/1LZRH\nENDBSM")
	equal(t, "version", m.Version, parser.Version{Source: 'T', Airport: "GVA"})
}

// The reject of a text that is not one message of a known kind is for the airport that it names.
func TestVersionIsReadThoughTheTextIsNotOneMessage(t *testing.T) {
	for _, text := range []string{
		"BTM\n.V/1LZRH\nENDBTM",
		"BSM\n.V/1LZRH/P\nENDBSM\nBSM\n.V/1LGVA\nENDBSM",
		"BSM\n.V/1LZRH\nENDBSM\nrest",
		".V/1LZRH\n.N/0724123456001",
		"BSM\n.V/3LZRH\n.F/\nENDBSM\nrest",
	} {
		var m parser.Message
		m.Parse(text, airports{})
		if m.Version.Airport != "ZRH" || len(m.Errors) != 1 || len(m.Warnings) != 0 {
			t.Errorf("%q: airport %q, errors %v, warnings %v", text, m.Version.Airport, m.Errors, m.Warnings)
		}
	}
	var m parser.Message
	if m.Parse("BTM\n.V/1LQQQ\nENDBTM", airports{}); m.Version.Airport != "" {
		t.Errorf("an unknown airport: %+v", m.Version)
	}
}

func TestVersionWithoutItsFaultyFields(t *testing.T) {
	m := parse(t, withVersion(".V/{013:2}T{015:QQQ}/PART1/77"))
	equal(t, "version", m.Version, parser.Version{Source: 'T'})
}
