package enricher_test

import (
	"testing"

	"bagtrail/enricher"
	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// TestMissingYear: of the year before, the same and the year after the nearest to the reference
// counts, a tie goes to the past; for 29 February the nearest leap years.
func TestMissingYear(t *testing.T) {
	for _, row := range []struct {
		name      string
		date      parser.Date
		reference string
		want      string // "" if no year has the date
	}{
		{"the same day", parser.Date{Day: 12, Month: 3}, "2026-03-12", "2026-03-12"},
		{"01JAN on 31 December is next year", parser.Date{Day: 1, Month: 1}, "2026-12-31", "2027-01-01"},
		{"31DEC on 1 January is last year", parser.Date{Day: 31, Month: 12}, "2026-01-01", "2025-12-31"},
		{"half a year back", parser.Date{Day: 12, Month: 9}, "2026-03-12", "2025-09-12"},
		{"half a year ahead", parser.Date{Day: 10, Month: 9}, "2026-03-12", "2026-09-10"},
		{"a tie goes to the past", parser.Date{Day: 31, Month: 8}, "2024-03-01", "2023-08-31"},
		{"29FEB in a leap year", parser.Date{Day: 29, Month: 2}, "2024-03-01", "2024-02-29"},
		{"29FEB nearer to the leap year before", parser.Date{Day: 29, Month: 2}, "2026-02-27", "2024-02-29"},
		{"29FEB at the middle of two leap years", parser.Date{Day: 29, Month: 2}, "2026-03-01", "2028-02-29"},
		{"29FEB nearer to the leap year after", parser.Date{Day: 29, Month: 2}, "2026-03-12", "2028-02-29"},
		{"29FEB around 2100, which is none", parser.Date{Day: 29, Month: 2}, "2099-01-01", "2096-02-29"},
		{"31FEB", parser.Date{Day: 31, Month: 2}, "2026-03-12", ""},
		{"no date", parser.Date{}, "2026-03-12", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			reference, err := bag.ParseDay(row.reference)
			if err != nil {
				t.Fatal(err)
			}
			day, ok := enricher.Resolve(row.date, reference)
			if ok != (row.want != "") || ok && day.String() != row.want {
				t.Errorf("day = %s, %v, want %s", day, ok, row.want)
			}
		})
	}
}

// A message of March 2026 that was read on 30 September is of the year before, and so are its
// flights.
func TestTheReadDateIsTheReferenceDayForAllOtherDates(t *testing.T) {
	for _, text := range []string{
		"BSM\n.V/1LZRH\n.J/S///30SEP\n.F/LX100/02APR/JFK\n.N/" + plate + "001\nENDBSM",
		"BPM\n.V/1LZRH\n.J/S///30SEP/0600Z\n.F/LX100/02APR/JFK\n.N/" + plate + "001\nENDBPM",
	} {
		if day := read(t, text, "2026-03-12T06:00:00Z").Outbound.Day.String(); day != "2025-04-02" {
			t.Errorf("%s: day = %s", text[:3], day)
		}
	}
}
