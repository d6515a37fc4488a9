package parser

// IsThreeCapitals reports whether s is three capitals, as the code of an airport is.
func IsThreeCapitals(s string) bool {
	return len(s) == 3 && isCapital(s[0]) && isCapital(s[1]) && isCapital(s[2])
}

// IsAirline reports whether s has the form of an airline code: two capitals or digits, at least one
// of them a capital, or three capitals or digits, the last one a capital.
func IsAirline(s string) bool {
	for i := range len(s) {
		if !isCapital(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	switch len(s) {
	case 2:
		return isCapital(s[0]) || isCapital(s[1])
	case 3:
		return isCapital(s[2])
	}
	return false
}

// FlightNumber reads one to four digits and an optional capital, and returns them without leading
// zeros: 0117A is 117A, and 0000 is 0.
func FlightNumber(s string) (number string, ok bool) {
	digits := s
	if s != "" && isCapital(s[len(s)-1]) {
		digits = s[:len(s)-1]
	}
	if len(digits) > 4 || !isDigits(digits) {
		return "", false
	}
	for len(digits) > 1 && digits[0] == '0' {
		digits, s = digits[1:], s[1:]
	}
	return s, true
}

// IsPNR reports whether s is five or six letters or digits.
func IsPNR(s string) bool {
	if len(s) != 5 && len(s) != 6 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isDigit(c) && !isCapital(c&^0x20) { // c as a capital, if it is a letter
			return false
		}
	}
	return true
}
