package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Feeds counts feeds by their state.
type Feeds struct{ states *prometheus.GaugeVec }

// NewFeeds registers the gauge of feeds. It has the states that are set.
func NewFeeds(registry prometheus.Registerer) *Feeds {
	f := &Feeds{prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "bagtrail_feeds",
		Help: "Feeds, by state (new, flowing, silent), as they were when this process last looked: once a minute.",
	}, []string{"state"})}
	registry.MustRegister(f.states)
	return f
}

// Set sets how many feeds have a state.
func (f *Feeds) Set(state string, n int) { f.states.WithLabelValues(state).Set(float64(n)) }
