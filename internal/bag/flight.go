package bag

import (
	"errors"
	"time"
)

// Plate is a licence plate: the ten digits of a bag tag.
type Plate string

// Valid reports whether the plate is ten digits.
func (p Plate) Valid() bool {
	if len(p) != 10 {
		return false
	}
	for i := range len(p) {
		if p[i] < '0' || p[i] > '9' {
			return false
		}
	}
	return true
}

// Day is a calendar date, counted in days since 1970-01-01. It belongs to no time zone:
// of a flight it is the local date of departure.
type Day int32

// ErrDay is returned for a text that is no calendar date of the form YYYY-MM-DD.
var ErrDay = errors.New("not a calendar date of the form YYYY-MM-DD")

// DayOf returns the calendar date that t shows in its own location.
func DayOf(t time.Time) Day {
	y, m, d := t.Date()
	return Day(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// ParseDay reads YYYY-MM-DD.
func ParseDay(s string) (Day, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || len(s) != 10 {
		return 0, ErrDay
	}
	return DayOf(t), nil
}

// String returns the date as YYYY-MM-DD.
func (d Day) String() string { return string(d.Append(nil)) }

// Append appends the date as YYYY-MM-DD.
func (d Day) Append(dst []byte) []byte {
	return time.Unix(int64(d)*86400, 0).UTC().AppendFormat(dst, time.DateOnly)
}

// Flight names one flight of one day; it is comparable. The zero Flight is no flight.
type Flight struct {
	Airline string // 2 or 3 characters
	Number  string // digits without leading zeros, and the operational suffix: "117A"
	Day     Day    // local date of departure
}

// IsZero reports whether f is no flight.
func (f Flight) IsZero() bool { return f.Airline == "" }

// Segment is a flight as a message names it, with the airport that it names.
type Segment struct {
	Flight
	Airport string // destination of .F, .O and .U; origin of .I; may be "" for .U
}
