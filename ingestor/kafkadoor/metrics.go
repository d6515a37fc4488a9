package kafkadoor

import "bagtrail/internal/kafka"

// Metrics counts what the consumer does. Its methods are called from many goroutines and must not
// block. Besides those of [kafka.Metrics], the operations of Retry are the steps of
// ingestor.StepError.
type Metrics interface {
	kafka.Metrics
	// Messages counts records that were decided on, by verdict.
	Messages(accepted, duplicate, rejected int)
}

// NoMetrics counts nothing.
type NoMetrics struct{ kafka.NoMetrics }

// Messages implements Metrics.
func (NoMetrics) Messages(_, _, _ int) {}
