package enricher

import (
	"time"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// Resolve returns a date in the year in which it is nearest to the reference: the year before, the
// same year, or the year after; for 29 February one of the leap years around it. If two days are
// equally near, it returns the earlier one. ok is false for a date that no year has (rules §1, the
// missing year).
func Resolve(d parser.Date, reference bag.Day) (day bag.Day, ok bool) {
	around := reference.Year()
	reach := 1
	if d.Day == 29 && d.Month == 2 {
		reach = 8 // years such as 1900 are not leap years
	} else if day, ok = in(around, d); !ok || distance(day, reference) <= 182 {
		return day, ok // no other year is nearer
	}
	best := bag.Day(-1)
	for year := around - reach; year <= around+reach; year++ {
		candidate, exists := in(year, d)
		if apart := distance(candidate, reference); exists && (best < 0 || apart < best) {
			day, best, ok = candidate, apart, true
		}
	}
	return day, ok
}

// in returns the date in a year, and whether that year has it.
func in(year int, d parser.Date) (bag.Day, bool) {
	if d.Day < 1 || d.Month < 1 || d.Month > 12 {
		return 0, false
	}
	month := time.Month(d.Month)
	day := bag.DayIn(year, month, int(d.Day))
	return day, d.Day <= 28 || day < bag.DayIn(year, month+1, 1)
}

func distance(a, b bag.Day) bag.Day { return max(a-b, b-a) }
