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
	bytes   *prometheus.CounterVec
}

// NewRequests registers the metrics.
func NewRequests(registry prometheus.Registerer) *Requests {
	factory := promauto.With(registry)
	return &Requests{
		seconds: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "bagtrail_http_request_duration_seconds",
			Help:    "How long requests took, by route, method and status; its count is the number of requests.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"route", "method", "status"}),
		bytes: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "bagtrail_http_response_bytes_total",
			Help: "Bytes of answers, by route.",
		}, []string{"route"}),
	}
}

// Observe counts one request.
func (r *Requests) Observe(route, method string, status int, took time.Duration, bytes int) {
	r.seconds.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
	r.bytes.WithLabelValues(route).Add(float64(bytes))
}

// Expect creates the series of a route with the statuses of success and of trouble, at 0, so that the
// first request is an increase.
func (r *Requests) Expect(route, method string) {
	r.bytes.WithLabelValues(route)
	for _, status := range []string{"200", "503"} {
		r.seconds.WithLabelValues(route, method, status)
	}
}
