package kafkadoor

import "time"

// Metrics counts what the consumer does. Its methods are called from many goroutines, and must not block.
type Metrics interface {
	// Messages counts records that were decided on, by what became of them.
	Messages(accepted, duplicate, rejected int)
	// Redelivered counts records that this process had handled before.
	Redelivered(n int)
	// Lost counts records that the broker deleted before they were read.
	Lost(n int64)
	// Retry counts failed attempts of an operation: "index", "rejects", "events", "fetch", "commit" or "join".
	Retry(operation string)
	// Lag is how many records of the partition are not yet decided on, and the time of the oldest of them; 0, and no time, also
	// when the partition is given up.
	Lag(partition int, n int64, oldest time.Time)
}

// NoMetrics counts nothing.
type NoMetrics struct{}

// Messages implements Metrics.
func (NoMetrics) Messages(_, _, _ int) {}

// Redelivered implements Metrics.
func (NoMetrics) Redelivered(int) {}

// Lost implements Metrics.
func (NoMetrics) Lost(int64) {}

// Retry implements Metrics.
func (NoMetrics) Retry(string) {}

// Lag implements Metrics.
func (NoMetrics) Lag(int, int64, time.Time) {}
