package blackbox_test

import (
	"net/url"
	"strings"
	"testing"

	"bagtrail/test/service"
)

// Each parameter has the format of interface 4 and 8, up to its limits and not beyond.
func TestEachParameterIsAcceptedUpToTheLimitsOfItsFormat(t *testing.T) {
	t.Parallel()
	s := common(t)
	flight := func(airport, indicator, airline, number, day string) string {
		return service.FlightPath(url.PathEscape(airport), url.PathEscape(indicator), url.PathEscape(airline), url.PathEscape(number), url.PathEscape(day))
	}
	history := func(plate, day, query string) string {
		return service.HistoryPath(url.PathEscape(plate), url.PathEscape(day)) + "?" + query
	}
	date := func(code string, with func(string) string) format {
		return format{code, with,
			[]string{"2026-03-14", "2024-02-29", "0001-01-01", "9999-12-31"},
			[]string{"2026-3-14", "2026-03-1", "26-03-14", "2026-02-29", "2026-02-30", "2026-13-01", "2026-00-10", "2026-03-00", "20260314", "2026/03/14", "14MAR", " 2026-03-14", "2026-03-14 ", "2026-03-14T00:00:00Z", "-2026-03-14", "２０２６-03-14"}}
	}
	query := func(name string) func(string) string {
		return func(v string) string { return history("0724999990", "2026-03-14", name+"="+url.QueryEscape(v)) }
	}
	for _, f := range []format{
		{"SVCGBF006", func(v string) string { return flight(v, "D", "LX", "100", "2026-03-14") }, []string{"ZRH", "LON", "XQZ"}, []string{"zrh", "Zrh", "ZR", "ZRHX", "Z1H", "ZÜR", "ZRH "}},
		{"SVCGBF007", func(v string) string { return flight(v, "D", "LX", "100", "2026-03-14") }, []string{"JFK", "NYC"}, []string{"QQQ", "XXX"}},
		{"SVCGBF009", func(v string) string { return flight("ZRH", v, "LX", "100", "2026-03-14") }, []string{"A", "a", "D", "d"}, []string{"X", "AD", "0", "DEP", "D ", "Ａ"}},
		{"SVCGBF011", func(v string) string { return flight("ZRH", "D", v, "100", "2026-03-14") }, []string{"LX", "U2", "2B", "DLH", "12A", "A1B"}, []string{"L", "lx", "11", "123", "AB1", "LXXX", "L-", "LX "}},
		{"SVCGBF013", func(v string) string { return flight("ZRH", "D", "LX", v, "2026-03-14") }, []string{"1", "12", "123", "1234", "0001", "1A", "1234Z", "0"}, []string{"12345", "A", "1a", "1AA", "A1", "1 ", "-1", "1.0", "１"}},
		{"SVCGBH006", func(v string) string { return history(v, "2026-03-14", "") }, []string{"0724999990", "0000000000", "9999999999"}, []string{"724999990", "07249999900", "072499999X", "0724-99990", "+724999990", "٠724999990"}},
		{"SVCGBH009", query("pnr"), []string{"ABCDE", "abc12", "ABC123", "123456"}, []string{"ABC-1", "ABC 12", "ÄBCDE", "ABC12\x00", "ABC12+"}},
		{"SVCGBH010", query("pnr"), []string{"ABCDE", "ABCDEF", ""}, []string{"A", "ABCD", "ABCDEFG"}},
		{"SVCGBH011", query("pax_surname"), []string{"A", "Mueller", "MÜLLER", strings.Repeat("Ä", 60), ""}, []string{"MUELLER2", "VAN DYK", "O'NEIL", "VAN-DYK", "A.", "\xff"}},
		{"SVCGBH012", query("pax_surname"), []string{strings.Repeat("A", 60)}, []string{strings.Repeat("A", 61), strings.Repeat("Ä", 61)}},
		{"SVCGBH013", query("include_bim"), []string{"true", "false", ""}, []string{"TRUE", "True", "yes", "1", "true "}},
		{"SVCGBH013", query("include_BIM"), []string{"true", "false", ""}, []string{"FALSE", "no", "0"}},
		{"SVCGBP001", func(v string) string { return service.PassengerPath(v, "2026-03-14") }, []string{"ABCDE", "abcdef", "12345"}, []string{"ABCD", "ABCDEFG", "ABC-12", "ABC 12", "ÄBCDE"}},
		date("SVCGBF015", func(v string) string { return flight("ZRH", "D", "LX", "100", v) }),
		date("SVCGBH008", func(v string) string { return history("0724999990", v, "") }),
		date("SVCGBP003", func(v string) string { return service.PassengerPath("ABC123", url.PathEscape(v)) }),
	} {
		for _, value := range f.good {
			if got := s.Get(f.target(value)); got.Status != 200 {
				t.Errorf("%s: %q is refused: %s", f.code, value, got.Body)
			}
		}
		for _, value := range f.bad {
			if got := s.Get(f.target(value)); got.Status != 400 || !strings.Contains(got.Body, `"error_code":"`+f.code+`"`) {
				t.Errorf("%s: %q is not refused with it: %d %s", f.code, value, got.Status, got.Body)
			}
		}
	}
}

// format is a parameter, by the code of its fault.
type format struct {
	code      string
	target    func(value string) string
	good, bad []string
}
