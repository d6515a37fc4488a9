package bag_test

import (
	"testing"
	"time"

	"bagtrail/internal/bag"
)

// Four hundred years are all that there is: then the calendar repeats.
func TestDaysAreThoseOfTheCalendar(t *testing.T) {
	for at := time.Date(1780, 1, 1, 12, 0, 0, 0, time.UTC); at.Year() < 2200; at = at.AddDate(0, 0, 1) {
		day := bag.DayOf(at)
		if want := at.Format(time.DateOnly); day.String() != want {
			t.Fatalf("%s is %s", want, day)
		}
		if got := day.Year(); got != at.Year() {
			t.Fatalf("%s is of %d", at.Format(time.DateOnly), got)
		}
		if got := bag.DayIn(at.Year(), at.Month(), at.Day()); got != day {
			t.Fatalf("%s is %s", at.Format(time.DateOnly), got)
		}
		if at.Month() == time.January {
			if got := bag.DayIn(at.Year()-1, 13, at.Day()); got != day {
				t.Fatalf("%s is %s as of the year before", at.Format(time.DateOnly), got)
			}
		}
	}
}

func TestADayIsThatOfTheClocksThere(t *testing.T) {
	const nearMidnight = "2026-03-12T23:30:00Z"
	at, err := time.Parse(time.RFC3339, nearMidnight)
	if err != nil {
		t.Fatal(err)
	}
	for offset, want := range map[int]string{0: "2026-03-12", 3600: "2026-03-13", -86000: "2026-03-11", 5*3600 + 1800: "2026-03-13"} {
		if got := bag.DayOf(at.In(time.FixedZone("", offset))).String(); got != want {
			t.Errorf("at %d s: %s, want %s", offset, got, want)
		}
	}
	if got := bag.DayOf(time.Unix(-1, 0).UTC()).String(); got != "1969-12-31" {
		t.Errorf("before 1970: %s", got)
	}
}
