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

// day reads a mandatory date, YYYY-MM-DD. As for all segments of a path, "" is missing or blank.
func (f *faults) day(value string, missing, malformed fault.ID) bag.Day {
	if !f.check(value != "", missing) {
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

// isAlphanumeric reports whether s is letters A-Z, a-z and digits only.
func isAlphanumeric(s string) bool {
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
}

const maxSurname = 60 // letters

// isLetters reports whether s is letters only, of any script.
func isLetters(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
}
