package parser_test

import "testing"

func TestPassenger(t *testing.T) {
	for element, want := range map[string][2]string{ // surname, given name
		".P/SMITH/JOHN":                                {"SMITH", "JOHN"},
		".P/1SMITH/JOHNMR":                             {"SMITH", "JOHN"},
		".P/02SMITH/JOHN/JANEMRS":                      {"SMITH", "JOHN"},
		".P/123SMITH":                                  {"SMITH", ""},
		".P/ 1 SMITH-JONES / ANN LEE MISS ":            {"SMITH-JONES", "ANN LEE"},
		".P/1VAN DER BERG/WOLFGANGAMADEUSTHEOPHILUSMR": {"VAN DER BERG", "WOLFGANGAMADEUSTHEOPHILUS"},
		".P/1MÜLLER/JÖMR":                              {"MÜLLER", "JÖ"},
		".P//JOHN":                                     {"", "JOHN"},
		".P/1":                                         {},
		".P":                                           {},
		".P/":                                          {},
		".P/1234SMITH/JOHN":                            {"", "JOHN"},
	} {
		m := parse(t, bsm(element))
		g := m.Groups[0]
		equal(t, element, [2]string{g.Surname, g.GivenName}, want)
		equal(t, "accepted with "+element, m.Accepted(), true)
	}
}

func TestPassengerTitleIsTheLongestThatLeavesTwoLetters(t *testing.T) {
	for sent, want := range map[string]string{
		"JOHNMR": "JOHN", "JOHNMS": "JOHN", "JOHNMRS": "JOHN", "JOHNMISS": "JOHN", "JOHNMSTR": "JOHN",
		"ALMR": "AL", "AMR": "AMR", "MR": "MR", "MISS": "MISS", "AMISS": "AMISS", "ALMISS": "AL",
		"JOMRMR": "JOMR", "JO MR": "JO", "J MR": "J MR", "J9MR": "J9MR",
		"JOHNmr": "JOHNmr", "JOHNDR": "JOHNDR", "JOHNMRX": "JOHNMRX",
		"ÉLMS": "ÉL", "J\xd6MR": "J\xd6", "": "",
	} {
		equal(t, sent, parse(t, bsm(".P/SMITH/"+sent)).Groups[0].GivenName, want)
	}
}

func TestNoTitleIsTakenOffAGivenNameThatEndsLikeOne(t *testing.T) {
	for sent, want := range map[string]string{
		"WILLIAMS": "WILLIAMS", "ADAMS": "ADAMS", "ABRAMS": "ABRAMS", "SAMS": "SAMS", "VADIMS": "VADIMS", "AMR": "AMR",
		"JOHN WILLIAMS": "JOHN WILLIAMS", "JOHN-ADAMS": "JOHN-ADAMS",
		"WILLIAMSMR": "WILLIAMS", "ADAMSMSTR": "ADAMS", "JOHN ADAMSMR": "JOHN ADAMS",
		"WILLIAMMS": "WILLIAM", "ADAMMR": "ADAM", "EVEADAMS": "EVEADA", "ANNAMS": "ANNA", "WILLIAMS MS": "WILLIAMS",
	} {
		equal(t, sent, parse(t, bsm(".P/SMITH/"+sent)).Groups[0].GivenName, want)
	}
}

func TestPNR(t *testing.T) {
	for element, want := range map[string]string{
		".L/QK7R2M": "QK7R2M", ".L/H45XY": "H45XY", ".L/qk7r2m/1A": "qk7r2m", ".L/ QK7R2M ": "QK7R2M",
		".L/QK7R": "", ".L/QK7R2MX": "", ".L/QK-R2M": "", ".L/YX{num}6A6": "", ".L/@@@@@": "", ".L/[[[[[": "", ".L/": "", ".L": "",
	} {
		m := parse(t, bsm(element))
		equal(t, element, m.Groups[0].PNR, want)
		equal(t, "accepted with "+element, m.Accepted(), true)
	}
}

func TestFrequentFlyer(t *testing.T) {
	for element, want := range map[string]string{
		".Y/LX992001234567/SEN": "LX992001234567", ".Y/ LX1 ": "LX1", ".Y//SEN": "", ".Y/": "", ".Y": "",
	} {
		equal(t, element, parse(t, bsm(element)).Groups[0].FrequentFlyer, want)
	}
}

func TestPassengerElementsOfWhichTheFirstOfTheGroupCounts(t *testing.T) {
	g := parse(t, bsm(".P/SMITH/JOHN", ".P/JONES", ".L/AAAAAA", ".L/BBBBBB", ".Y/1", ".Y/2")).Groups[0]
	equal(t, "first ones", []string{g.Surname, g.GivenName, g.PNR, g.FrequentFlyer}, []string{"SMITH", "JOHN", "AAAAAA", "1"})
	g = parse(t, bsm(".P", ".P/JONES", ".L/?", ".L/BBBBBB", ".Y", ".Y/2")).Groups[0]
	equal(t, "ones behind bare or broken ones", []string{g.Surname, g.PNR, g.FrequentFlyer}, []string{"", "", ""})
}
