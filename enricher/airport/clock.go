package airport

import (
	"time"

	"bagtrail/internal/bag"
)

// Instant returns the UTC instant at which the clocks at the airport show secondOfDay on the day. A
// local time that exists twice or not at all is read with the offset before the change (rules §2).
func (l *Library) Instant(code string, day bag.Day, secondOfDay int) time.Time {
	wall, zone := time.Unix(int64(day)*86400+int64(secondOfDay), 0), l.TimeZone(code)
	// shown returns the instant at which clocks show the local time, with the offset in force at t.
	shown := func(t time.Time) time.Time {
		_, offset := t.In(zone).Zone()
		return wall.Add(-time.Duration(offset) * time.Second).UTC()
	}
	// The offset of a day earlier counts, since every offset is less than a day, unless the clocks
	// have changed since. If they have, but the new offset is not in force at the instant that it
	// gives, the clocks skipped the local time.
	before := shown(wall.Add(-24 * time.Hour))
	after := shown(before)
	if shown(after).Equal(after) {
		return after
	}
	return before
}

// Local returns t in the time zone of the airport, see TimeZone.
func (l *Library) Local(code string, t time.Time) time.Time { return t.In(l.TimeZone(code)) }
