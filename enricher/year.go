package enricher

import (
	"time"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// Resolve gives a date without a year the year in which it lies nearest to the reference: the year
// before, the same, or the year after; for 29 February the leap years around it. Whole days are
// compared, and a tie goes to the past. ok is false for a date that no year has (rules §1, 022).
func Resolve(d parser.Date, reference bag.Day) (day bag.Day, ok bool) {
	around := time.Unix(int64(reference)*86400, 0).UTC().Year()
	reach := 1
	if d.Day == 29 && d.Month == 2 {
		reach = 8 // 1900 and its like are no leap years
	}
	best := bag.Day(-1)
	for year := around - reach; year <= around+reach; year++ {
		t := time.Date(year, time.Month(d.Month), int(d.Day), 0, 0, 0, 0, time.UTC)
		if t.Day() != int(d.Day) || t.Month() != time.Month(d.Month) {
			continue
		}
		candidate := bag.Day(t.Unix() / 86400)
		if apart := distance(candidate, reference); best < 0 || apart < best {
			day, best, ok = candidate, apart, true
		}
	}
	return day, ok
}

func distance(a, b bag.Day) bag.Day {
	if a < b {
		return b - a
	}
	return a - b
}
