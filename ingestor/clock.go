package ingestor

import (
	"sync/atomic"
	"time"
)

// Clock gives messages their received times. These never go back, even if the clock of the machine
// does. It may be used by several goroutines at once.
type Clock struct {
	now   func() time.Time
	floor atomic.Int64 // the earliest time that Now may still return, in milliseconds since 1970
}

// NewClock returns a Clock that follows now.
func NewClock(now func() time.Time) *Clock { return &Clock{now: now} }

// Now returns the time in whole milliseconds, UTC.
func (c *Clock) Now() time.Time { return time.UnixMilli(c.raise(c.now().UnixMilli())).UTC() }

// raise raises the floor to a millisecond, unless it is higher, and returns it.
func (c *Clock) raise(to int64) int64 {
	for {
		floor := c.floor.Load()
		if floor >= to {
			return floor
		}
		if c.floor.CompareAndSwap(floor, to) {
			return to
		}
	}
}

// Pass returns when the millisecond of a received time is over, and no message gets it any more.
func (c *Clock) Pass(received time.Time) {
	next := received.Truncate(time.Millisecond).Add(time.Millisecond)
	if wait := min(next.Sub(c.now()), time.Millisecond); wait > 0 { // longer only if the clock of the machine went back
		<-time.After(wait)
	}
	if c.floor.Load() >= received.UnixMilli() { // otherwise the time comes from another process
		c.raise(next.UnixMilli())
	}
}
