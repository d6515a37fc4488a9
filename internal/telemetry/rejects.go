package telemetry

import "github.com/prometheus/client_golang/prometheus"

// NewRejects registers and returns the gauge of open rejects.
func NewRejects(registry prometheus.Registerer) prometheus.Gauge {
	open := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "bagtrail_rejects_open",
		Help: "Rejected messages on which nobody has decided, as many as there were when this process last looked: once a minute.",
	})
	registry.MustRegister(open)
	return open
}
