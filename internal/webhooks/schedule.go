package webhooks

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// delays are the times between the first attempts. Later ones are about an hour apart.
var delays = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, longestDelay,
}

const (
	longestDelay = time.Hour
	patience     = 72 * time.Hour // time without success after which a webhook is paused
)

// delay returns how long to wait after the given number of failed attempts. after is the
// Retry-After of the receiver, or 0. random is in [0, 1) and spreads hourly attempts over twelve
// minutes.
func delay(failed int, after time.Duration, random float64) time.Duration {
	switch {
	case after > 0:
		return min(after, longestDelay)
	case failed <= len(delays):
		return delays[failed-1]
	}
	return time.Duration(float64(longestDelay) * (0.9 + 0.2*random))
}

// readRetryAfter returns the delay in a header Retry-After: seconds, or a date. It is 0 if there is
// none.
func readRetryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) { // out of range, seconds is the largest number
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
