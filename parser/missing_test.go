package parser_test

import (
	"testing"

	"bagtrail/parser"
)

func TestPhaseB(t *testing.T) {
	for name, marked := range map[string]string{
		"039 no .V":                              "{039:}BSM\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM",
		"040 no ENDBSM":                          "BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n{040:}.N/0724123456001",
		"040 at the last line that is not blank": "BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\n{040:}  ENDBPM \n\n \n",
		"041 no .F":                              "{041:}BSM\n.V/1LZRH\n.N/0724123456001\nENDBSM",
		"041 no .F, source X":                    "{041:}BSM\n.V/1XZRH\n.I/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM",
		"007 no .N":                              "{007:}BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\nENDBSM",
		"007 no .N, though container":            "{007:}BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.U/AKE1234LX\nENDBSM",
		"039, 041, 007 and 040":                  "QU ZRHKMLX\n{039:}{041:}{007:}BSM\n{040:}.R/REMARK\n",
		"039, 041, 007 and 040 in one line":      "{039:}{041:}{007:}{040:}  BSM",
		"005 no .V":                              "{005:}BPM\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBPM",
		"006 .U field 1 without .F":              "BPM\n.V/1LZRH\n.N/0724123456001\n{006:}  .U/AKE1234LX\nENDBPM",
		"006 .U field 2 without .F":              "BPM\n.V/1LZRH\n{006:}.U//41\n.N/0724123456001\nENDBPM",
		"006 .U of too long a device":            "BPM\n.V/1LZRH\n{006:}.U/AKE12345678\n.N/0724123456001",
		"006 .U of too long a compartment":       "BPM\n.V/1LZRH\n{006:}.U//123456\n.N/0724123456001",
		"006 the first such .U":                  "BPM\n.V/1LZRH\n.N/0724123456001\n.U///X\n.U\n{006:}.U//41\n.U/AKE1234LX\nENDBPM",
		"006 not for .U without fields 1 and 2":  "BPM\n.V/1LZRH\n.N/0724123456001\n.U\n.U/\n.U// /B\nENDBPM",
		"006 not with .F":                        "BPM\n.V/1LZRH\n.N/0724123456001\n.U/AKE1234LX\n.F/LX14/12MAR/JFK",
		"006 not with a broken .F":               "BPM\n.V/1LZRH\n.N/0724123456001\n.U/AKE1234LX\n{020:.F}",
		"006 not in a BSM":                       "{041:}BSM\n.V/1LZRH\n.N/0724123456001\n.U/AKE1234LX\nENDBSM",
		"008 no .N, no .B":                       "{008:}BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\nENDBPM",
		"008 not with .N":                        "BPM\n.V/1LZRH\n.N/0724123456001",
		"008 not with .B":                        "BPM\n.V/1LZRH\n.B/OFF/0724123456001",
		"008 not with a broken .N":               "BPM\n.V/1LZRH\n{016:.N/1}",
		"008 not with a broken .B":               "BPM\n.V/1LZRH\n{018:.B/1}",
		"008 not for container positioning":      "BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.U/AKE1234LX//B\nENDBPM",
		"008 not for too long a device":          "BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.U/AKE12345678\nENDBPM",
		"008 a device in a later .U":             "BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.U//41\n.U/AKE1234LX\nENDBPM",
		"008 a compartment is no device":         "{008:}BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.U//41\nENDBPM",
		"005 and 008":                            "{005:}{008:}BPM",
		"005, 006 and a fault of phase C":        "{005:}BPM\n.N/{017:0000000000000}\n{006:}.U/AKE\n{020:.I}\n",
		"007 of a bare .N, and nothing else":     "BPM\n.V/1LZRH\n{007:.N}",
		"009 of a bare .B, and nothing else":     "BPM\n.V/1LZRH\n{009:.B/}",
		"a broken element is not missing":        "BSM\n{012:.V}\n{020:.F}\n{007:.N}\nENDBSM",
		"a bare .N is no reason for 007 twice":   "BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n{007:.N/}\nENDBSM",
		"a missing ENDBPM has no code":           "BPM\n.V/1LZRH\n.N/0724123456001",
	} {
		t.Run(name, func(t *testing.T) { parse(t, marked) })
	}
}

// The order within the line is that of rules §1, which no mark can show.
func TestMissingElementsStandAtTheIdentifierInTheOrderOfTheRules(t *testing.T) {
	for marked, want := range map[string][]parser.Code{
		"{039:}{041:}{007:}{040:}BSM":                                       {39, 41, 7, 40},
		"{005:}{008:}BPM\n.F/{021:L}/12MAR/{023:X}/AAAA":                    {5, 8, 21, 23},
		"{041:}{007:}BSM\n{040:}{012:.V}":                                   {41, 7, 12, 40},
		"BPM\n.B/{019:{027:}/OFF0724123456001}\n.V/{013:0}{014:0}{015:QQQ}": {19, 27, 13, 14, 15},
	} {
		var got []parser.Code
		for _, d := range parse(t, marked).Errors {
			got = append(got, d.Code)
		}
		equal(t, marked, got, want)
	}
}
