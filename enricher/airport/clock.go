package airport

import (
	"time"

	"bagtrail/internal/bag"
)

// Instant returns the UTC instant at which the clocks at the airport show that second of that day. Local times that
// exist twice or not at all are read with the offset before the change (rules §2).
func (l *Library) Instant(code string, day bag.Day, secondOfDay int) time.Time {
	wall := time.Unix(int64(day)*86400+int64(secondOfDay), 0)
	// The periods of one offset are walked from a day earlier, since no clock is a day away from UTC. The first period
	// that has not ended by the time its own offset gives is the right one, except where that period would begin only
	// later: then the clocks jumped over the time, and the period before gives the offset.
	at := wall.Add(-24 * time.Hour).In(l.Location(code))
	for previous := (time.Time{}); ; {
		_, offset := at.Zone()
		start, end := at.ZoneBounds()
		instant := wall.Add(-time.Duration(offset) * time.Second)
		switch {
		case instant.Before(start) && !previous.IsZero():
			return previous.UTC()
		case end.IsZero() || instant.Before(end):
			return instant.UTC()
		}
		previous, at = instant, end
	}
}

// Local returns t as the clocks at the airport show it.
func (l *Library) Local(code string, t time.Time) time.Time { return t.In(l.Location(code)) }
