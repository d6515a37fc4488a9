package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"bagtrail/parser"
)

func date(day, month uint8) parser.Date { return parser.Date{Day: day, Month: month} }

func withFlight(element string) string {
	return strings.Replace(bsm(), ".F/LX14/12MAR/JFK/Y", element, 1)
}

func TestFlight(t *testing.T) {
	for element, want := range map[string]parser.Flight{
		".F/LX1/12MAR/LHR":      {Airline: "LX", Number: "1", Date: date(12, 3), Airport: "LHR"},
		".F/LX1/12MAR/LHR/":     {Airline: "LX", Number: "1", Date: date(12, 3), Airport: "LHR"},
		".F/BA117/03OCT/SEL/J":  {Airline: "BA", Number: "117", Date: date(3, 10), Airport: "SEL"},
		".F/BA0117/03OCT/SEL":   {Airline: "BA", Number: "117", Date: date(3, 10), Airport: "SEL"},
		".F/BA0117A/03OCT/SEL":  {Airline: "BA", Number: "117A", Date: date(3, 10), Airport: "SEL"},
		".F/BA0000/03OCT/SEL":   {Airline: "BA", Number: "0", Date: date(3, 10), Airport: "SEL"},
		".F/BA0000Z/03OCT/SEL":  {Airline: "BA", Number: "0Z", Date: date(3, 10), Airport: "SEL"},
		".F/U2123/12MAR/LHR":    {Airline: "U2", Number: "123", Date: date(12, 3), Airport: "LHR"},
		".F/B2925/12MAR/LHR":    {Airline: "B2", Number: "925", Date: date(12, 3), Airport: "LHR"},
		".F/3K5/12MAR/LHR":      {Airline: "3K", Number: "5", Date: date(12, 3), Airport: "LHR"},
		".F/DLH0505/12MAR/LHR":  {Airline: "DLH", Number: "505", Date: date(12, 3), Airport: "LHR"},
		".F/DLH1234X/12MAR/LHR": {Airline: "DLH", Number: "1234X", Date: date(12, 3), Airport: "LHR"},
		".F/12A3/12MAR/LHR":     {Airline: "12A", Number: "3", Date: date(12, 3), Airport: "LHR"},
		".F/LX14/14Feb/LHR/f":   {Airline: "LX", Number: "14", Date: date(14, 2), Airport: "LHR"},
		".F/LX14/29FEB/LHR/FF":  {Airline: "LX", Number: "14", Date: date(29, 2), Airport: "LHR"},
		".F/LX14/31dec/LHR/ C ": {Airline: "LX", Number: "14", Date: date(31, 12), Airport: "LHR"},
	} {
		m := parse(t, withFlight(element))
		equal(t, element, m.Groups[0].Outbound, want)
	}
}

func TestFlightFaults(t *testing.T) {
	for name, element := range map[string]string{
		"020 under 16":                             "{020:.F/LX1/12MAR/LH}",
		"020 bare":                                 "{020:.F}",
		"020 bare with slash":                      "{020:.F/}",
		"020 is the only code of its line":         "{020:.F/L1/99XXX/QQ}",
		"021 flight over 8":                        ".F/{021:DLH12345X}/12MAR/LHR",
		"021 flight of five digits":                ".F/{021:LX12345}/12MAR/LHR",
		"021 flight without number":                ".F/{021:LXA}/12MAR/LHR",
		"021 flight without digits":                ".F/{021:LXAB}/12MAR/LHR",
		"021 flight with two suffixes":             ".F/{021:LX1AB}/12MAR/LHR",
		"021 suffix a small letter":                ".F/{021:LX1a}/12MAR/LHR",
		"021 airline in small letters":             ".F/{021:lx14}/12MAR/LHR",
		"021 airline of digits":                    ".F/{021:12345}/12MAR/LHR",
		"021 airline of three with a small letter": ".F/{021:DLh505}/12MAR/LHR",
		"021 flight of two characters":             ".F/{021:LX}/12MAR/LHR/Y",
		"021 flight empty":                         ".F/{021:}/12MAR/LHR/YYY",
		"021 blank in the flight":                  ".F/{021:LX 14}/12MAR/LHR",
		"021 other characters":                     ".F/{021:L-14}/12MAR/LHR",
		"022 date of four":                         ".F/LX14/{022:2MAR}/LHR",
		"022 date of seven":                        ".F/LX14/{022:12MAR26}/LHR",
		"022 date empty":                           ".F/LX14/{022:}/LHR/YYYYY",
		"022 no month":                             ".F/LX14/{022:12MRZ}/LHR",
		"022 letters for digits":                   ".F/LX14/{022:O2MAR}/LHR",
		"022 letter for the second digit":          ".F/LX14/{022:1lMAR}/LHR",
		"022 day nought":                           ".F/LX14/{022:00MAR}/LHR",
		"023 airport unknown":                      ".F/LX14/12MAR/{023:QQQ}",
		"023 airport not three capitals":           ".F/LX14/12MAR/{023:lhr}",
		"023 airport of two":                       ".F/LX14/12MAR/{023:LH}",
		"023 airport of four":                      ".F/LX14/12MAR/{023:LHRX}/Y",
		"023 airport empty":                        ".F/LX14/12MAR/{023:}/Y/",
		"022 and 023 of fields that are not there": ".F/{021:LX14-12MAR-LHR}{022:}{023:}",
		"021, 022 and 023":                         ".F/{021:LX}/{022:32DEC}/{023:XXX}/Y",
		"of a repeated element":                    ".F/LX14/12MAR/JFK\n.F/LX14/{022:12XXX}/JFK",
		"of .I":                                    ".F/LX14/12MAR/JFK\n.I/LX14/{022:31APR}/JFK",
		"of a repeated .I":                         ".F/LX14/12MAR/JFK\n.I/BA1/12MAR/LHR\n.I/BA1/12MAR/{023:qqq}\n{020:.I}",
		"of .O":                                    ".F/LX14/12MAR/JFK\n.O/{021:X}/{022:30FEB}/JFK/Y",
		"of all .O":                                ".F/LX14/12MAR/JFK\n.O/AA1/12MAR/BOS\n.O/AA1/12MAR/{023:qqq}\n{020:.O/}",
	} {
		t.Run(name, func(t *testing.T) {
			equal(t, "warnings", numbers(parse(t, withFlight(element)).Warnings), "-")
		})
	}
}

func TestAnUnknownAirportInInboundAndOnwardFlightsWarnsAndIsKept(t *testing.T) {
	for _, c := range []struct {
		elements         string
		errors, warnings string
	}{
		{".F/LX14/12MAR/{023:QQQ}", "023", "-"},
		{".F/LX14/12MAR/JFK\n.I/BA1/12MAR/{023:QQQ}", "-", "023"},
		{".F/LX14/12MAR/JFK\n.O/BA1/12MAR/{023:QQQ}\n.O/BA2/12MAR/{023:XXX}/Y", "-", "023,023"},
		{".F/LX14/12MAR/JFK\n.I/BA1/12MAR/LHR\n.I/BA1/12MAR/{023:QQQ}", "-", "023"},
		{".F/LX14/12MAR/JFK\n.I/BA1/12MAR/{023:qqq}", "023", "-"},
		{".F/LX14/12MAR/JFK\n.O/BA12/12MAR/{023:QQ}", "023", "-"},
		{".F/LX14/12MAR/JFK\n.O/BA1/12MAR/{023:QQQQ}", "023", "-"},
		{".F/LX14/12MAR/JFK\n.O/BA1/12MAR/{023:}/YYY", "023", "-"},
		{".F/LX14/12MAR/JFK\n.O/{021:X}/{022:30FEB}/{023:QQQ}/Y", "021,022", "023"},
		{".F/LX14/12MAR/{023:QQQ}\n.I/BA1/12MAR/{023:QQQ}", "023", "023"},
	} {
		m := parse(t, withFlight(c.elements))
		equal(t, "errors of "+c.elements, numbers(m.Errors), c.errors)
		equal(t, "warnings of "+c.elements, numbers(m.Warnings), c.warnings)
	}
	g := parse(t, bsm(".I/BA1/12MAR/{023:QQQ}", ".O/BA2/12MAR/{023:XXX}")).Groups[0]
	equal(t, "inbound", g.Inbound, parser.Flight{Airline: "BA", Number: "1", Date: date(12, 3), Airport: "QQQ"})
	equal(t, "onward", g.Onward, []parser.Flight{{Airline: "BA", Number: "2", Date: date(12, 3), Airport: "XXX"}})
}

func TestFlightDateIsADayThatSomeYearHas(t *testing.T) {
	for i, last := range []int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
		month := []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}[i]
		for day := range 100 {
			text := fmt.Sprintf("%02d%s", day, month)
			if day < 1 || day > last {
				text = "{022:" + text + "}"
			}
			m := parse(t, withFlight(".F/LX14/"+text+"/JFK"))
			if got := m.Groups[0].Outbound.Date; m.Accepted() && got != date(uint8(day), uint8(i+1)) {
				t.Errorf("%s is %+v", text, got)
			}
		}
	}
}

func TestFlightsOfItinerary(t *testing.T) {
	m := parse(t, bsm(".I/OS4064/28JAN/FLR/M", ".O/BD4064/28JAN/FLR/M", ".O/BD7/29JAN/BOS"))
	g := m.Groups[0]
	equal(t, "inbound", g.Inbound, parser.Flight{Airline: "OS", Number: "4064", Date: date(28, 1), Airport: "FLR"})
	equal(t, "onward", g.Onward, []parser.Flight{
		{Airline: "BD", Number: "4064", Date: date(28, 1), Airport: "FLR"},
		{Airline: "BD", Number: "7", Date: date(29, 1), Airport: "BOS"},
	})
	equal(t, "presence", g.Inbound.Present(), true)
	equal(t, "absence", parse(t, bsm()).Groups[0].Inbound.Present(), false)
}
