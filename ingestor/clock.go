package ingestor

import (
	"sync/atomic"
	"time"
)

// Clock gives messages their received times. These do not go back if the clock of the machine does,
// unless it goes back by more than farAhead: then it was wrong before. A Clock may be used by
// several goroutines at once.
type Clock struct {
	now   func() time.Time
	floor atomic.Int64 // the earliest time that Now may still return, in milliseconds since 1970
}

// NewClock returns a Clock that follows now.
func NewClock(now func() time.Time) *Clock { return &Clock{now: now} }

// farAhead is the most by which a received time may be ahead of the clock, in milliseconds. Kafka
// refuses times that are more than an hour ahead.
const farAhead = int64(10 * time.Minute / time.Millisecond)

// Now returns the time in whole milliseconds, UTC.
func (c *Clock) Now() time.Time {
	for {
		now, floor := c.now().UnixMilli(), c.floor.Load()
		if floor >= now && floor-now <= farAhead {
			return time.UnixMilli(floor).UTC()
		}
		if c.floor.CompareAndSwap(floor, now) {
			return time.UnixMilli(now).UTC()
		}
	}
}

// Pass returns when the millisecond of a received time is over. After that, Now never returns this
// time again.
func (c *Clock) Pass(received time.Time) {
	next := received.Truncate(time.Millisecond).Add(time.Millisecond)
	if wait := min(next.Sub(c.now()), time.Millisecond); wait > 0 { // longer only if the clock of the machine went back
		<-time.After(wait)
	}
	// Only a floor that is this time moves on. If it is lower, another process gave the time. If it
	// is higher, the time is over already.
	c.floor.CompareAndSwap(received.UnixMilli(), next.UnixMilli())
}
