package queryapi

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/web"
)

// faults lists the faults of all parameters of a request, in the order of the checks.
type faults []fault.ID

// check adds the fault unless ok, and returns ok.
func (f *faults) check(ok bool, id fault.ID) bool {
	if !ok {
		*f = append(*f, id)
	}
	return ok
}

// present adds the fault if a path segment is "", that is missing or blank, and returns whether it
// is present.
func (f *faults) present(value string, missing fault.ID) bool { return f.check(value != "", missing) }

// day reads a mandatory date, YYYY-MM-DD.
func (f *faults) day(value string, missing, malformed fault.ID) bag.Day {
	if !f.present(value, missing) {
		return 0
	}
	day, err := bag.ParseDay(value)
	f.check(err == nil, malformed)
	return day
}

// optional returns the value of an optional query parameter, by any of its names, or "" if it is
// absent. A repeated parameter is a fault.
func (f *faults) optional(parameters web.Query, repeated fault.ID, names ...string) string {
	value, once := parameters.Value(names...)
	f.check(once, repeated)
	return value
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isAirport reports whether s is 3 upper case letters.
func isAirport(s string) bool {
	return len(s) == 3 && isUpper(s[0]) && isUpper(s[1]) && isUpper(s[2])
}

// isAirline reports whether s is an airline code in upper case: 2 letters or digits with at least
// one letter, or 3 ending with a letter.
func isAirline(s string) bool {
	for i := range len(s) {
		if !isUpper(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	switch len(s) {
	case 2:
		return isUpper(s[0]) || isUpper(s[1])
	case 3:
		return isUpper(s[2])
	}
	return false
}

// flightNumber reads 1 to 4 digits and an optional upper case letter, and returns them without
// leading zeros.
func flightNumber(s string) (number string, ok bool) {
	digits := s
	if n := len(s); n > 0 && isUpper(s[n-1]) {
		digits = s[:n-1]
	}
	if len(digits) < 1 || len(digits) > 4 || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	if number = strings.TrimLeft(s, "0"); number == "" || !isDigit(number[0]) {
		number = "0" + number
	}
	return number, true
}

// isAlphanumeric reports whether s is letters A-Z, a-z and digits only.
func isAlphanumeric(s string) bool {
	for i := range len(s) {
		if !isUpper(s[i]&^0x20) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// isPNRLength reports whether s is 5 or 6 characters long.
func isPNRLength(s string) bool {
	n := utf8.RuneCountInString(s)
	return n == 5 || n == 6
}

const maxSurname = 60 // letters

// isLetters reports whether s is letters only, of any script.
func isLetters(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
}

// isPNR reports whether s is a PNR of 5 or 6 letters and digits.
func isPNR(s string) bool { return isAlphanumeric(s) && isPNRLength(s) }
