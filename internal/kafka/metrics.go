package kafka

import "time"

// Metrics counts what a consumer does. Its methods are called from many goroutines and must not
// block.
type Metrics interface {
	// Redelivered counts records that this process had handled before.
	Redelivered(n int)
	// Lost counts records that the broker deleted before they were read.
	Lost(n int64)
	// Retry counts a failed attempt of an operation: "fetch", "commit", "join" or "takeover". Handlers
	// count their own operations.
	Retry(operation string)
	// Lag sets how many records of a partition are not handled yet, and the time of the oldest of
	// them. Both are zero if there are none.
	Lag(partition int, n int64, oldest time.Time)
	// Released ends the lag of a partition that this process no longer reads. What waits there is
	// not known then.
	Released(partition int)
}

// NoMetrics counts nothing.
type NoMetrics struct{}

// Redelivered implements Metrics.
func (NoMetrics) Redelivered(int) {}

// Lost implements Metrics.
func (NoMetrics) Lost(int64) {}

// Retry implements Metrics.
func (NoMetrics) Retry(string) {}

// Lag implements Metrics.
func (NoMetrics) Lag(int, int64, time.Time) {}

// Released implements Metrics.
func (NoMetrics) Released(int) {}
