package telemetry

import "github.com/prometheus/client_golang/prometheus"

// NewWebhooks registers the counter of attempts to post to webhooks, by their results, and returns
// a function that counts one attempt. Every counter begins at 0, so that its first step is an
// increase.
func NewWebhooks(registry prometheus.Registerer, results ...string) func(result string) {
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "bagtrail_webhook_attempts_total",
		Help: "Attempts to post to webhooks, by result.",
	}, []string{"result"})
	for _, r := range results {
		attempts.WithLabelValues(r)
	}
	registry.MustRegister(attempts)
	return func(result string) { attempts.WithLabelValues(result).Inc() }
}
