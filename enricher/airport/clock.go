package airport

import (
	"time"

	"bagtrail/internal/bag"
)

// Instant returns the UTC instant at which the clocks at the airport show secondOfDay on the day. A
// local time that exists twice or not at all is read with the offset before the change (rules §2).
func (l *Library) Instant(code string, day bag.Day, secondOfDay int) time.Time {
	wall := time.Unix(int64(day)*86400+int64(secondOfDay), 0)
	// The loop walks the periods of constant offset. It starts a day earlier, since every offset is
	// less than a day; so the first period begins before its instant. The first period that has not
	// ended at the instant that its own offset gives is the right one. If that period begins after
	// the instant, the clocks skipped the local time, and the offset of the period before counts.
	at := wall.Add(-24 * time.Hour).In(l.TimeZone(code))
	var previous time.Time // the instant that the offset of the previous period gives
	for {
		_, offset := at.Zone()
		start, end := at.ZoneBounds()
		instant := wall.Add(-time.Duration(offset) * time.Second)
		switch {
		case instant.Before(start):
			return previous.UTC()
		case end.IsZero() || instant.Before(end):
			return instant.UTC()
		}
		previous, at = instant, end
	}
}

// Local returns t in the time zone of the airport, see TimeZone.
func (l *Library) Local(code string, t time.Time) time.Time { return t.In(l.TimeZone(code)) }
