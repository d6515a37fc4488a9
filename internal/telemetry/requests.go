package telemetry

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Requests counts HTTP requests. Its labels are routes, never paths, which hold plates and PNRs.
type Requests struct {
	seconds *prometheus.HistogramVec
}

// NewRequests registers the metric.
func NewRequests(registry prometheus.Registerer) *Requests {
	return &Requests{promauto.With(registry).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "bagtrail_http_request_duration_seconds",
		Help:    "How long requests took, by route, method and status; its count is the number of requests.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
	}, []string{"route", "method", "status"})}
}

// Observe counts one request.
func (r *Requests) Observe(route, method string, status int, took time.Duration) {
	r.seconds.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}

// Expect creates the series of a route with the statuses of success and of trouble, at 0, so that the
// first request is an increase.
func (r *Requests) Expect(route, method string) {
	for _, status := range []string{"200", "503"} {
		r.seconds.WithLabelValues(route, method, status)
	}
}
