package parser_test

import (
	"testing"

	"bagtrail/parser"
)

func TestScreening(t *testing.T) {
	for _, c := range []struct {
		elements []string
		want     parser.Screening
	}{
		{nil, parser.NotScreened},
		{[]string{".X//CLR///HBS302/HBSLEVEL1"}, parser.Cleared},
		{[]string{".X/SEL/CLR"}, parser.Cleared},
		{[]string{".X/SEL/ CLR /"}, parser.Cleared},
		{[]string{".X/SEL/REJ/"}, parser.Refused},
		{[]string{".X/NON/REF"}, parser.Refused},
		{[]string{".X/SEL/UCL"}, parser.Screened},
		{[]string{".X/SEL/clr"}, parser.Screened},
		{[]string{".X/CLR"}, parser.Screened},
		{[]string{".X/RUSH BA0117"}, parser.Screened},
		{[]string{".X"}, parser.Screened},
		{[]string{".X/"}, parser.Screened},
		{[]string{".X//CLR", ".X//REJ", ".X/XRAY"}, parser.Refused},
		{[]string{".X/XRAY", ".X//CLR"}, parser.Cleared},
		{[]string{".X//CLR", ".X//UCL"}, parser.Cleared},
		{[]string{".F/LX1/12MAR/LHR", ".X//CLR", ".F/LX2/12MAR/LHR"}, parser.Cleared},
	} {
		m := parse(t, bpm(c.elements...))
		if m.Screening != c.want {
			t.Errorf("%v is %v, want %v", c.elements, m.Screening, c.want)
		}
	}
}
