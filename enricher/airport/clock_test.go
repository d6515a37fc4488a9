package airport_test

import (
	"testing"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
)

// wall splits what a clock shows, "2006-01-02 15:04:05", into day and second of the day.
func wall(t *testing.T, text string) (bag.Day, int) {
	t.Helper()
	at, err := time.Parse(time.DateTime, text)
	if err != nil {
		t.Fatal(err)
	}
	return bag.DayOf(at), at.Hour()*3600 + at.Minute()*60 + at.Second()
}

func TestLocalTimesBecomeInstants(t *testing.T) {
	lib := airport.New()
	for _, c := range []struct{ what, airport, local, utc string }{
		{"winter", "ZRH", "2026-01-15 12:00:00", "2026-01-15T11:00:00Z"},
		{"summer", "ZRH", "2026-07-15 12:00:00", "2026-07-15T10:00:00Z"},
		{"day before", "ZRH", "2026-01-01 00:30:00", "2025-12-31T23:30:00Z"},
		{"day after", "JFK", "2026-11-21 23:30:00", "2026-11-22T04:30:00Z"},
		{"no summer time", "NBO", "2026-07-15 12:00:00", "2026-07-15T09:00:00Z"},
		{"quarter hours", "KTM", "2026-07-15 12:00:00", "2026-07-15T06:15:00Z"},
		{"unknown airport is UTC", "QQQ", "2026-07-15 12:00:00", "2026-07-15T12:00:00Z"},

		{"last second before the gap", "ZRH", "2026-03-29 01:59:59", "2026-03-29T00:59:59Z"},
		{"first second of the gap", "ZRH", "2026-03-29 02:00:00", "2026-03-29T01:00:00Z"},
		{"in the gap: offset before", "ZRH", "2026-03-29 02:30:00", "2026-03-29T01:30:00Z"},
		{"first second after the gap", "ZRH", "2026-03-29 03:00:00", "2026-03-29T01:00:00Z"},
		{"last second that is once", "ZRH", "2026-10-25 01:59:59", "2026-10-24T23:59:59Z"},
		{"twice: offset before", "ZRH", "2026-10-25 02:30:00", "2026-10-25T00:30:00Z"},
		{"first second after the double hour", "ZRH", "2026-10-25 03:00:00", "2026-10-25T02:00:00Z"},

		{"half an hour is missing", "LDH", "2026-10-04 02:15:00", "2026-10-03T15:45:00Z"},
		{"half an hour is twice", "LDH", "2026-04-05 01:45:00", "2026-04-04T14:45:00Z"},
		{"after the double half hour", "LDH", "2026-04-05 02:00:00", "2026-04-04T15:30:00Z"},
		{"southern spring", "SYD", "2026-10-04 02:30:00", "2026-10-03T16:30:00Z"},
		{"southern autumn", "SYD", "2026-04-05 02:30:00", "2026-04-04T15:30:00Z"},
		{"gap at midnight", "SCL", "2026-09-06 00:30:00", "2026-09-06T04:30:00Z"},

		{"the zone changed its offset: twice", "ALA", "2024-02-29 23:30:00", "2024-02-29T17:30:00Z"},
		{"the zone changed its offset: before", "ALA", "2024-02-29 12:00:00", "2024-02-29T06:00:00Z"},
		{"the zone changed its offset: after", "ALA", "2024-03-01 12:00:00", "2024-03-01T07:00:00Z"},
		{"over the date line: a day that never was", "APW", "2011-12-30 12:00:00", "2011-12-30T22:00:00Z"},
		{"over the date line: the day before", "APW", "2011-12-29 12:00:00", "2011-12-29T22:00:00Z"},
		{"over the date line: the day after", "APW", "2011-12-31 12:00:00", "2011-12-30T22:00:00Z"},
		{"farthest east", "CXI", "2026-01-01 00:00:00", "2025-12-31T10:00:00Z"},
		{"farthest west", "PPG", "2025-12-31 23:59:59", "2026-01-01T10:59:59Z"},
		{"last day of a leap year that no table of changes reaches", "ZRH", "2040-12-31 12:00:00", "2040-12-31T11:00:00Z"},
		{"the day after", "ZRH", "2041-01-01 12:00:00", "2041-01-01T11:00:00Z"},
	} {
		day, second := wall(t, c.local)
		if got := lib.Instant(c.airport, day, second).Format(time.RFC3339); got != c.utc {
			t.Errorf("%s: %s %s is %s, want %s", c.what, c.airport, c.local, got, c.utc)
		}
	}
}

// At every change of every zone in these years, local times that exist twice or not at all have the
// offset before the change, and all others the offset in force.
func TestEveryChangeOfEveryZoneIsReadWithTheOffsetBefore(t *testing.T) {
	lib := airport.New()
	seen := map[string]bool{}
	changes := 0
	for _, row := range lines(t) {
		if seen[row[3]] {
			continue
		}
		seen[row[3]] = true
		at := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).In(lib.TimeZone(row[0]))
		for until := at.AddDate(20, 0, 0); ; {
			_, change := at.ZoneBounds()
			if change.IsZero() || change.After(until) {
				break
			}
			checkChange(t, lib, row[0], change)
			at, changes = change, changes+1
		}
	}
	if changes < 1000 {
		t.Errorf("%d changes", changes)
	}
}

func checkChange(t *testing.T, lib *airport.Library, code string, change time.Time) {
	t.Helper()
	_, before := change.Add(-time.Second).Zone()
	_, after := change.Zone()
	first, last := change.Unix()+int64(min(before, after)), change.Unix()+int64(max(before, after))
	check := func(shown int64, offset int) {
		t.Helper()
		got := lib.Instant(code, bag.Day(shown/86400), int(shown%86400))
		if want := shown - int64(offset); got.Unix() != want {
			t.Errorf("%s, change of %s: %s is %s, want %s", code, change, time.Unix(shown, 0).UTC().Format(time.DateTime),
				got, time.Unix(want, 0).UTC())
		}
	}
	check(first-1, before)
	if first < last {
		check(first, before)
		check((first+last)/2, before)
		check(last-1, before)
	}
	check(last, after)
}

func TestLocalShowsTheClocksOfTheAirport(t *testing.T) {
	lib := airport.New()
	at := time.Date(2026, 11, 21, 12, 10, 0, 0, time.UTC)
	for code, want := range map[string]string{
		"ZRH": "2026-11-21T13:10:00+01:00", "JFK": "2026-11-21T07:10:00-05:00", "QQQ": "2026-11-21T12:10:00Z",
	} {
		if got := lib.Local(code, at).Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", code, got, want)
		}
	}
}
