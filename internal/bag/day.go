package bag

import (
	"errors"
	"time"
)

// Day is a calendar date in days since 1970-01-01, without a time zone. The day of a flight is its
// local date of departure.
type Day int32

// DayOf returns the calendar date that t shows in its own location.
func DayOf(t time.Time) Day { return DayIn(t.Date()) }

// DayIn returns a date. Month 13 is January of the next year. A day past the end of the month is a
// day of the next month.
func DayIn(year int, month time.Month, day int) Day {
	return Day(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// midnight returns the beginning of a date in UTC.
func (d Day) midnight() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// Year returns the year of a date.
func (d Day) Year() int { return d.midnight().Year() }

// ParseDay reads YYYY-MM-DD.
func ParseDay(s string) (Day, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || len(s) != 10 {
		return 0, errors.New("not a calendar date of the form YYYY-MM-DD")
	}
	return DayOf(t), nil
}

// String returns the date as YYYY-MM-DD.
func (d Day) String() string { return d.midnight().Format(time.DateOnly) }

// Append appends the date as YYYY-MM-DD.
func (d Day) Append(dst []byte) []byte { return d.midnight().AppendFormat(dst, time.DateOnly) }
