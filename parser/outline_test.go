package parser_test

import (
	"strings"
	"testing"

	"bagtrail/parser"
)

func TestPhaseA(t *testing.T) {
	for name, marked := range map[string]string{
		"003 empty":                           "{003:}",
		"003 blank":                           "{003:} \t\r\n\n \r",
		"003 blank but for what is taken out": "{003:}\x01\x02\x03\x00",

		"004 no identifier":                              "{004:.V/1LZRH}\n.F/LX14/12MAR/JFK",
		"004 no identifier, the first line is indented":  "\n \t{004:lorem ipsum}\n",
		"004 three capitals behind an element":           "{004:.V/1LZRH}\nXYZ",
		"004 three letters that are no capitals":         "{004:bsm}\n.V/1LZRH",
		"004 other control characters are not taken out": "{004:BS\x04M}\n.V/1LZRH",
		"004 an identifier with text behind it":          "{004:BSM 1}\n.V/1LZRH",
		"004 an identifier in a line of more characters": "{004:XBSM}\n.V/1LZRH",

		"011 BTM":                      "{011:BTM}\n.V/1LZRH\nENDBTM",
		"011 BUM":                      "{011:BUM}",
		"011 BNS":                      "{011:BNS}",
		"011 BCM":                      "{011:BCM}",
		"011 BMM":                      "{011:BMM}",
		"011 BRQ":                      "{011:BRQ}",
		"011 three other capitals":     "HALLO\n  {011:XYZ} \n.V/1LZRH\n.N/1\nENDXYZ\nABC",
		"011 the first of them":        "{011:XYZ}\nABC",
		"011 a known one of no use":    "ABC\n{011:BUM}\n.V/1LZRH",
		"011 the first fault only":     "{011:BUM}\n.V/1LZRH\nBSM\nENDBUM\ntext",
		"011 text behind the end":      bsm() + "\n \n {011:text}",
		"011 form feed behind the end": bsm() + "{011:\f}",
		"011 element behind the end":   bsm() + "{011:.R/REMARK}",
		"011 element with a fault":     bsm() + "{011:.F/}",
		"011 second message":           bsm() + "{011:BSM}\n.V/1LZRH",
		"011 second end line":          bpm() + "{011:ENDBPM}",
		"011 end of part and end":      "BPM\n.V/1LZRH/PART1\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDPART1\n{011:ENDBPM}",
		"011 identifier amid":          bsm("{011:BPM}", ".R/REMARK"),
		"011 the same amid":            bsm("{011:BSM}"),
		"011 an unused one amid":       bsm("{011:BUM}"),
		"011 element before":           ".R/REMARK\n{011:BSM}\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM",
		"011 element before, unknown":  "XYZ\n.R/REMARK\nENDXYZ\n{011:BSM}\n",
		"011 whichever comes first":    bsm("{011:BPM}") + "text",

		"no more codes behind a fault of this phase": "{011:BUM}\n.V/2\n.F/\n.N/\n.W/",
	} {
		t.Run(name, func(t *testing.T) {
			m := parse(t, marked)
			equal(t, "accepted", m.Accepted(), false)
			equal(t, "groups", len(m.Groups), 0)
		})
	}
}

func TestIdentifier(t *testing.T) {
	for name, c := range map[string]struct {
		text       string
		identifier string
		kind       parser.Kind
	}{
		"BSM":                                    {bsm(), "BSM", parser.BSM},
		"BPM":                                    {bpm(), "BPM", parser.BPM},
		"behind an envelope":                     {"QU ZRHKMLX LONRMBA\n.MUCXXLH 121314\n" + bsm(), "BSM", parser.BSM},
		"behind an origin line of two letters":   {".Q 121314\n.\n./\n.q/1\n" + bsm(), "BSM", parser.BSM},
		"behind foreign lines":                   {"LX10\nSYM\n" + bpm(), "BPM", parser.BPM},
		"behind an end line that is not its own": {"ENDBSM\n" + bsm(), "BSM", parser.BSM},
		"behind a whole foreign message":         {"ABC\nENDABC\n" + bsm(), "BSM", parser.BSM},
		"repeated before any element":            {"BSM\n" + bsm(), "BSM", parser.BSM},
		"the first known one":                    {"BPM\n" + bsm(), "BPM", parser.BPM},
	} {
		t.Run(name, func(t *testing.T) {
			m := parse(t, c.text)
			equal(t, "identifier", m.Identifier, c.identifier)
			equal(t, "kind", m.Kind, c.kind)
			equal(t, "tags", m.Groups[0].Tags, []parser.Tags{{First: 724123456, Count: 1}})
		})
	}
	for text, identifier := range map[string]string{"{003:}": "", "{004:?}": "", "{011:XYZ}": "XYZ", "{011:BUM}": "BUM"} {
		m := parse(t, text)
		equal(t, "kind of "+text, m.Kind, parser.None)
		equal(t, "identifier of "+text, m.Identifier, identifier)
	}
}

func TestTheOriginIsTheLastOriginLineWithDayAndTimeBeforeTheIdentifier(t *testing.T) {
	for name, c := range map[string]struct{ before, origin string }{
		"none":                                  {"", ""},
		"one":                                   {".ZRHXXLX 201200\n", ".ZRHXXLX 201200"},
		"behind addresses, in controls":         {"\x01QU LONRMBA\r\n.ZRHXXLX 201200\r\n\x02", ".ZRHXXLX 201200"},
		"without the blanks around it":          {" \t.ZRHXXLX\t201200 \n", ".ZRHXXLX\t201200"},
		"with more between":                     {".ZRHXXLX LX/A1 201200\n", ".ZRHXXLX LX/A1 201200"},
		"with an identity behind":               {".PTMAPET 122321 MESX007 JAN14\n", ".PTMAPET 122321 MESX007 JAN14"},
		"with an identity behind a slash":       {".HKGODCI 061625/AMAMQ\n", ".HKGODCI 061625/AMAMQ"},
		"with a signature before a slash":       {".PEKKMCA HB/301623\n", ".PEKKMCA HB/301623"},
		"the last of several":                   {".ZRHXXLX 201200\n.LONXXBA 201300\nSYM\n", ".LONXXBA 201300"},
		"the last that has a time":              {".ZRHXXLX 201200\n.LONXXBA 201360\n", ".ZRHXXLX 201200"},
		"of one letter":                         {".Q 312359\n", ".Q 312359"},
		"before a repeated identifier":          {".ZRHXXLX 201200\nBSM\n", ".ZRHXXLX 201200"},
		"before foreign capitals":               {"ABC\n.ZRHXXLX 201200\n", ".ZRHXXLX 201200"},
		"not without a time":                    {".ZRHXXLX\n", ""},
		"not without a blank":                   {".ZRHXXLX201200\n", ""},
		"not with a slash for the blank":        {".ZRHXXLX/201200\n", ""},
		"not in the address":                    {".ZRHXXLX/201200 LX\n", ""},
		"not inside a word":                     {".ZRHXXLX A201200 201200B\n", ""},
		"not with five digits":                  {".ZRHXXLX 20120\n", ""},
		"not with seven digits":                 {".ZRHXXLX 2012000\n", ""},
		"not on day 0":                          {".ZRHXXLX 001200\n", ""},
		"not on day 32":                         {".ZRHXXLX 321200\n", ""},
		"not at 24 hours":                       {".ZRHXXLX 202400\n", ""},
		"not without a point":                   {"ZRHXXLX 201200\n", ""},
		"not if its third character is a slash": {".1/ 201200\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := parse(t, c.before+bsm(".ZRHXXLX 201201"))
			equal(t, "origin", m.Origin, c.origin)
			m.Parse(bsm(), airports{})
			equal(t, "origin of the next message", m.Origin, "")
		})
	}
}

func TestChangeOfStatus(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		change parser.Change
	}{
		"none":                                {"BSM\n", parser.New},
		"ADD":                                 {"BSM\nADD\n", parser.New},
		"CHG":                                 {"BSM\nCHG\n", parser.Revise},
		"DEL":                                 {"BSM\nDEL\n", parser.Delete},
		"behind blank lines, indented":        {"BSM\r\n \r\n\r\n\tDEL \r\n", parser.Delete},
		"not where another line is between":   {"BSM\nSYM\nDEL\n", parser.New},
		"not where it is not alone":           {"BSM\nDEL 1\n", parser.New},
		"not in small letters":                {"BSM\ndel\n", parser.New},
		"not before the identifier":           {"DEL\nBSM\n", parser.New},
		"carried along behind an element":     {"BSM\n.R/1\nDEL\n", parser.New},
		"carried along in a BPM":              {"BPM\nDEL\n", parser.New},
		"of the identifier, not of a foreign": {"XYZ\nDEL\nBSM\n", parser.New},
	} {
		t.Run(name, func(t *testing.T) {
			_, rest, _ := strings.Cut(bsm(), "\n")
			if strings.HasPrefix(c.text, "BPM") {
				rest = strings.Replace(rest, "ENDBSM", "ENDBPM", 1)
			}
			equal(t, "change", parse(t, c.text+rest).Change, c.change)
		})
	}
}

func TestEndLine(t *testing.T) {
	part := func(end string) string { return strings.Replace(bpm(), "ENDBPM", end, 1) }
	for name, marked := range map[string]string{
		"ENDBPM may be missing":                 part(""),
		"ENDPART with any digits ends a BPM":    part("ENDPART9999") + "{011:text}",
		"ENDPART with one digit ends a BPM":     part("ENDPART1") + "{011:text}",
		"ENDPART without digits does not":       part("ENDPART") + "text",
		"ENDPART with a letter does not":        part("ENDPART1A") + "text",
		"the end of another kind does not":      part("ENDBSM") + "text",
		"an end line with text behind does not": part("ENDBPM 1") + "text",
		"ENDPART does not end a BSM":            strings.Replace(bsm(), "ENDBSM\n", "{040:}ENDPART1", 1),
	} {
		t.Run(name, func(t *testing.T) { parse(t, marked) })
	}
}

func TestShapeOfText(t *testing.T) {
	plain := strings.TrimSuffix(bsm(".L/QK7R2M", ".F/LX14/{022:31FEB}/JFK"), "\n")
	for name, marked := range map[string]string{
		"LF":                     plain,
		"CR LF":                  strings.ReplaceAll(plain, "\n", "\r\n"),
		"CR":                     strings.ReplaceAll(plain, "\n", "\r"),
		"LF CR":                  strings.ReplaceAll(plain, "\n", "\n\r"),
		"CR CR LF":               strings.ReplaceAll(plain, "\n", "\r\r\n"),
		"mixed":                  strings.Replace(strings.Replace(plain, "\n", "\r\n", 2), "\n", "\r", 1),
		"blank lines":            strings.ReplaceAll(plain, "\n", "\n\n \t\n"),
		"indented":               "\t" + strings.ReplaceAll(plain, "\n", "\n   \t"),
		"trailing blanks":        strings.ReplaceAll(plain, "\n", " \t \n"),
		"SOH STX ETX NUL around": "\x01QU ZRHKMLX\r\n.ZRHXHXH 121314\r\n\x02" + plain + "\x03\x00",
		"amid lines":             strings.NewReplacer("L", "\x00L\x01", "2M", "2\x02M\x03", "N/", "N\x00\x00/").Replace(plain),
		"amid line ends":         strings.ReplaceAll(plain, "\n", "\r\x00\n"),
		"before line ends":       strings.ReplaceAll(plain, "\n", "\x03\r\n"),
		"among blanks":           strings.ReplaceAll(plain, "\n", " \x00 \n \x01\t"),
		"no end of line":         strings.TrimSuffix(plain, "\n"),
		"lines that are nothing": strings.ReplaceAll(plain, "\n", "\nlorem\n.\n./\n.v/1LZRH\n.VV/1\n..\n/\n\xff\n\x0b\n"),
		"elements that are none of ours": strings.ReplaceAll(plain, "ENDBSM",
			".A/1\n.C/1\n.D/1\n.G/1\n.H/1\n.K/1\n.Q/1\n.T/1\n.Z/1\n.A\n.Z/\nENDBSM"),
	} {
		t.Run(name, func(t *testing.T) {
			m := parse(t, marked)
			equal(t, "PNR", m.Groups[0].PNR, "QK7R2M")
			equal(t, "airport", m.Version.Airport, "ZRH")
			equal(t, "tags", m.Groups[len(m.Groups)-1].Tags, []parser.Tags{{First: 724123456, Count: 1}})
		})
	}
}

func TestLengthsAreOfTrimmedLines(t *testing.T) {
	m := parse(t, "BPM\n \t.V/1LZRH \t\n  .F/LX1/12MAR/LHR  \n\t.N/0724123456001\t\n .B/OFF/0724123457001 ")
	equal(t, "accepted", m.Accepted(), true)
	parse(t, "BPM\n {012:.V/1LZR} \n  {020:.F/LX1/12MAR/LH} \n\t{016:.N/072412345600}\t\n {018:.B/OFF/072412345700} ")
}

// Fields behind the last one are asked for too, so there must be room behind a text without other
// characters than slashes and line ends. How much there is depends on the length.
func TestTextsOfSlashesAloneAreReadAtEveryLength(t *testing.T) {
	for n := 1; n <= 300; n++ {
		var m parser.Message
		m.Parse(strings.Repeat("/", n), airports{})
		equal(t, "errors", numbers(m.Errors), "004")
	}
}
