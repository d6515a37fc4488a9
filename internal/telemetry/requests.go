package telemetry

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Requests counts HTTP requests. Its labels are routes, never paths, which hold plates and PNRs.
type Requests struct {
	seconds *prometheus.HistogramVec
	bytes   *prometheus.CounterVec
}

// NewRequests registers the metrics.
func NewRequests(registry prometheus.Registerer) *Requests {
	r := &Requests{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "bagtrail_http_request_duration_seconds",
			Help:    "How long requests took, by route, method and status; its count is the number of requests.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"route", "method", "status"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bagtrail_http_response_bytes_total",
			Help: "Bytes of answers, by route.",
		}, []string{"route"}),
	}
	registry.MustRegister(r.seconds, r.bytes)
	return r
}

// Observe counts one request.
func (r *Requests) Observe(route, method string, status int, took time.Duration, bytes int) {
	r.seconds.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
	r.bytes.WithLabelValues(route).Add(float64(bytes))
}

// Expect creates the series of a route with each of the statuses, at 0, so that the first request
// is an increase.
func (r *Requests) Expect(route, method string, statuses ...int) {
	for _, status := range statuses {
		r.seconds.WithLabelValues(route, method, strconv.Itoa(status))
		r.bytes.WithLabelValues(route)
	}
}

// NewStreams registers the metric of open streams.
func NewStreams(registry prometheus.Registerer, open func() int) {
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "bagtrail_http_open_streams",
		Help: "Streams of changes that are open.",
	}, func() float64 { return float64(open()) }))
}
