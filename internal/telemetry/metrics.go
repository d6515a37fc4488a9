package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// NewRegistry returns a registry with the metrics of the Go runtime and of the process, and
// bagtrail_build_info.
func NewRegistry(version string) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "bagtrail_build_info",
			Help:        "Always 1; the version is in the label.",
			ConstLabels: prometheus.Labels{"version": version},
		}, func() float64 { return 1 }),
	)
	return registry
}

// NewMessages registers and returns the counter of messages, by door and verdict.
func NewMessages(registry prometheus.Registerer) *prometheus.CounterVec {
	return promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "bagtrail_messages_total",
		Help: "Messages that were decided on, by door and verdict (accepted, duplicate, rejected).",
	}, []string{"door", "verdict"})
}

// NewDamaged registers and returns the counter of damaged values that were found in Redis.
func NewDamaged(registry prometheus.Registerer) prometheus.Counter {
	return promauto.With(registry).NewCounter(prometheus.CounterOpts{
		Name: "bagtrail_store_damaged_values_total",
		Help: "Values in Redis that could not be read and were moved aside; bagtrail replay brings their messages back.",
	})
}

// NewRejects registers and returns the gauge of open rejects.
func NewRejects(registry prometheus.Registerer) prometheus.Gauge {
	return promauto.With(registry).NewGauge(prometheus.GaugeOpts{
		Name: "bagtrail_rejects_open",
		Help: "Rejected messages on which nobody has decided. This process counts them once a minute.",
	})
}

// NewFeeds registers and returns two gauges: the number of feeds in each state, and 1 for each silent
// feed, by its airport and door.
func NewFeeds(registry prometheus.Registerer) (states, silent *prometheus.GaugeVec) {
	states = promauto.With(registry).NewGaugeVec(prometheus.GaugeOpts{
		Name: "bagtrail_feeds",
		Help: "Feeds, by state (new, flowing, silent). This process counts them once a minute.",
	}, []string{"state"})
	silent = promauto.With(registry).NewGaugeVec(prometheus.GaugeOpts{
		Name: "bagtrail_feed_silent",
		Help: "1 for each silent feed. This process looks once a minute.",
	}, []string{"airport", "door"})
	return states, silent
}

// NewRefusedFiles registers and returns the gauge of watched files, by the setting that names the
// file: 1 if the file was changed and cannot be loaded, else 0. It is 0 at first for each of the settings.
func NewRefusedFiles(registry prometheus.Registerer, settings ...string) *prometheus.GaugeVec {
	refused := promauto.With(registry).NewGaugeVec(prometheus.GaugeOpts{
		Name: "bagtrail_file_refused",
		Help: "1 if the file of a setting was changed and cannot be loaded: the old content stays in force. Else 0.",
	}, []string{"setting"})
	for _, s := range settings {
		refused.WithLabelValues(s)
	}
	return refused
}

// NewWebhooks registers the counter of attempts to post to webhooks, by their results, and returns
// a function that counts one attempt. Every counter begins at 0, so that its first step is an
// increase.
func NewWebhooks(registry prometheus.Registerer, results ...string) func(result string) {
	attempts := promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "bagtrail_webhook_attempts_total",
		Help: "Attempts to post to webhooks, by result.",
	}, []string{"result"})
	for _, r := range results {
		attempts.WithLabelValues(r)
	}
	return func(result string) { attempts.WithLabelValues(result).Inc() }
}

// NewStreams registers the gauge of open streams. It calls open at each scrape.
func NewStreams(registry prometheus.Registerer, open func() int) {
	promauto.With(registry).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "bagtrail_http_open_streams",
		Help: "Streams of changes that are open, and requests that wait for changes.",
	}, func() float64 { return float64(open()) })
}
