package parser_test

import "testing"

func TestException(t *testing.T) {
	for element, want := range map[string]bool{
		".E/RUSH": true, ".E/ RUSH ": true, ".E/RUSH/1": true, ".E/PRIO\n.E/RUSH\n.E/VIP": true,
		".E/PRIO": false, ".E/rush": false, ".E/RUSHED": false, ".E/PRIO/RUSH": false, ".E": false, ".E/": false,
	} {
		equal(t, element, parse(t, bsm(element)).Groups[0].Rush, want)
	}
}

func TestUniqueID(t *testing.T) {
	for element, want := range map[string]string{
		".M/0724123499/A/1": "0724123499", ".M/ 0724123499 ": "0724123499", ".M/0724123499\n.M/0724123498": "0724123499",
		".M/072412349": "", ".M/07241234991": "", ".M/072412349X": "", ".M\n.M/0724123498": "", ".M/": "",
	} {
		equal(t, element, parse(t, bsm(element)).Groups[0].UniqueID, want)
	}
}

func TestAirlineData(t *testing.T) {
	for element, want := range map[string][]string{
		".R/DIVERTEDOK":             {"DIVERTEDOK"},
		".R/ A/B // C \n.R/D\n.R/D": {"A/B // C", "D", "D"},
		".R":                        nil,
		".R/ ":                      nil,
		".R\n.R/REMARK":             {"REMARK"},
	} {
		equal(t, element, parse(t, bsm(element)).Groups[0].AirlineData, want)
	}
}
