package parser_test

import (
	"strings"
	"testing"

	"bagtrail/parser"
)

func withIrregularity(element string) string {
	return strings.Replace(bpm(), ".N/0724123456001", element, 1)
}

func TestIrregularity(t *testing.T) {
	for elements, want := range map[string][]parser.Tags{
		".B/OFF/0724123456001": {{First: 724123456, Count: 1, Status: "OFF"}},
		".B/UNS/0724123456002\n.N/0724123457001\n.B/NAL/0724123456001": {
			{First: 724123456, Count: 2, Status: "UNS"},
			{First: 724123457, Count: 1},
			{First: 724123456, Count: 1, Status: "NAL"},
		},
		".B/WEL/0724999001999": {{First: 724999001, Count: 999, Status: "WEL"}},
	} {
		m := parse(t, withIrregularity(elements))
		equal(t, elements, m.Groups[0].Tags, want)
	}
}

func TestIrregularityFaults(t *testing.T) {
	for name, element := range map[string]string{
		"009 bare":                              "{009:.B}",
		"009 bare with slash":                   "{009:.B/}",
		"009 beside a sound one":                ".B/OFF/0724123456001\n{009:.B/}",
		"018 not 20, shorter":                   "{018:.B/OFF/072412345601}",
		"018 not 20, longer":                    "{018:.B/OFF/00/724123456001}",
		"018 is the only code of its line":      "{018:.B/QQQ/072412A000}",
		"019 slash missing":                     ".B/{019:OFF-0724123456001}",
		"019 not all digits":                    ".B/OFF/{019:07241234560 1}",
		"019 second slash":                      ".B/OFF/{019:0724123/56001}",
		"019 count 000":                         ".B/OFF/{019:0724123456000}",
		"019 past serial 999999":                ".B/OFF/{019:0724999999002}",
		"019 and 027 slash one too early":       ".B/{019:{027:OF}/00724123456001}",
		"019 and 027 slash one too late":        ".B/{019:{027:OFFL}/072412345601}",
		"019 and 027 slash at once":             ".B/{019:{027:}/OFF0724123456001}",
		"027 status code unknown":               ".B/{027:QQQ}/0724123456001",
		"027 status code in small letters":      ".B/{027:off}/0724123456001",
		"027 and 019 in one line":               ".B/{027:QQQ}/{019:0724123456000}",
		"019 not in place of 027, a known code": ".B/WEL/{019:0724123456000}",
		"of a repeated element":                 ".B/OFF/0724123456001\n.B/{027:QQQ}/0724123456001",
		"beside an .N":                          ".N/0724123456001\n.B/{027:QQQ}/0724123456001",
	} {
		t.Run(name, func(t *testing.T) { parse(t, withIrregularity(element)) })
	}
}

func TestIrregularityStatusIsJudgedForTheVersionAirport(t *testing.T) {
	for name, marked := range map[string]string{
		"of this airport":              "BPM\n.V/1LZRH\n.B/WEL/0724123456001",
		"of another":                   "BPM\n.V/1LGVA\n.B/{027:WEL}/0724123456001",
		"where .V comes later":         "BPM\n.B/WEL/0724123456001\n.V/1LZRH",
		"where .V comes later, wrong":  "BPM\n.B/{027:WEL}/0724123456001\n.V/1LGVA",
		"of the first .V":              "BPM\n.V/1LGVA\n.B/{027:WEL}/0724123456001\n.V/1LZRH",
		"where .V is missing":          "{005:}BPM\n.B/{027:WEL}/0724123456001\n.B/OFF/0724123456001",
		"where its airport is unknown": "BPM\n.V/1L{015:XXX}\n.B/{027:WEL}/0724123456001\n.B/OFF/0724123456001",
	} {
		t.Run(name, func(t *testing.T) { parse(t, marked) })
	}
}

func TestIrregularityOfABSMIsCarriedAlong(t *testing.T) {
	m := parse(t, bsm(".B/OFF/0724123457001", ".S/Y/1A/C", ".B/QQQ/1", ".B/", ".B"))
	equal(t, "groups", len(m.Groups), 1)
	equal(t, "tags", m.Groups[0].Tags, []parser.Tags{{First: 724123456, Count: 1}})
	parse(t, "{007:}BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.B/OFF/0724123457001\nENDBSM")
}
