package telemetry

import "github.com/prometheus/client_golang/prometheus"

// NewDamaged registers the counter of damaged values in Redis.
func NewDamaged(registry prometheus.Registerer) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "bagtrail_store_damaged_values_total",
		Help: "Values in Redis that could not be read and were moved aside; bagtrail replay brings their messages back.",
	})
	registry.MustRegister(c)
	return c
}
