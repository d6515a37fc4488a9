package parser_test

import "testing"

func TestReconciliation(t *testing.T) {
	for element, want := range map[string][3]string{ // seat, passenger status, bag tag status
		".S/N/05A/C/051/051//N/I":   {"05A", "C", "I"},
		".S/Y/12A/B/001/0001/Y/Y/A": {"12A", "B", "A"},
		".S/N//N ":                  {"", "N", ""},
		".S/Y/ 12A / S ":            {"12A", "S", ""},
		".S/Y":                      {},
		".S":                        {},
		".S/":                       {},
		".S/?/INF/boarded/x////a":   {"INF", "", ""},
		".S/Y/1A/c/////AA":          {"1A", "", ""},
		".S/Y/1A/1/////1":           {"1A", "", ""},
	} {
		m := parse(t, bsm(element))
		g := m.Groups[0]
		equal(t, element, [3]string{g.Seat, g.PassengerStatus, g.TagStatus}, want)
		equal(t, "accepted with "+element, m.Accepted(), true)
	}
}

func TestReconciliationFirstOfTheGroupCounts(t *testing.T) {
	equal(t, "seat", parse(t, bsm(".S/Y/1A/B", ".S/Y/2A/C")).Groups[0].Seat, "1A")
	equal(t, "seat behind a bare one", parse(t, bsm(".S", ".S/Y/2A/C")).Groups[0].Seat, "")
}
