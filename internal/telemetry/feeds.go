package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Feeds counts feeds by their state.
type Feeds struct{ states *prometheus.GaugeVec }

// NewFeeds registers the gauge of feeds in each of the states. It begins at 0.
func NewFeeds(registry prometheus.Registerer, states ...string) *Feeds {
	f := &Feeds{prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "bagtrail_feeds",
		Help: "Feeds, by state (new, flowing, silent), as they were when this process last looked: once a minute.",
	}, []string{"state"})}
	registry.MustRegister(f.states)
	for _, state := range states {
		f.Set(state, 0)
	}
	return f
}

// Set sets how many feeds have a state.
func (f *Feeds) Set(state string, n int) { f.states.WithLabelValues(state).Set(float64(n)) }
