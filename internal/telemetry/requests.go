package telemetry

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Requests counts HTTP requests. Its labels are routes, never paths, which hold plates and PNRs.
type Requests struct {
	seconds *prometheus.HistogramVec
	bytes   *prometheus.CounterVec

	mu     sync.RWMutex
	series map[request]series // that have been used
}

// NewRequests registers the metrics.
func NewRequests(registry prometheus.Registerer) *Requests {
	r := &Requests{
		series: make(map[request]series),
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
	s := r.seriesOf(request{route, method, status})
	s.seconds.Observe(took.Seconds())
	s.bytes.Add(float64(bytes))
}

// Expect creates the series of a route with each of the statuses, at 0, so that the first request
// is an increase.
func (r *Requests) Expect(route, method string, statuses ...int) {
	for _, status := range statuses {
		r.seriesOf(request{route, method, status})
	}
}

// request is the labels of a request.
type request struct {
	route, method string
	status        int
}

// series is the metrics of one request. They are kept because finding them by labels takes longer
// than counting.
type series struct {
	seconds prometheus.Observer
	bytes   prometheus.Counter
}

func (r *Requests) seriesOf(q request) series {
	r.mu.RLock()
	s, have := r.series[q]
	r.mu.RUnlock()
	if !have {
		s = series{r.seconds.WithLabelValues(q.route, q.method, strconv.Itoa(q.status)), r.bytes.WithLabelValues(q.route)}
		r.mu.Lock()
		r.series[q] = s
		r.mu.Unlock()
	}
	return s
}
