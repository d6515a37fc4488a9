package telemetry

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Consumer counts the work of a consumer of a topic. Its methods may be called from any goroutine.
//
// The age of a record is computed when the metrics are read, so it grows while the consumer stands
// still.
type Consumer struct {
	redelivered prometheus.Counter
	lost        prometheus.Counter
	retries     *prometheus.CounterVec
	lag, age    *prometheus.Desc

	now     func() time.Time
	mu      sync.Mutex
	waiting map[int]waiting // by partition
}

// waiting is the backlog of a partition: the records that are not yet decided on.
type waiting struct {
	records int64
	oldest  time.Time // zero if there is none
}

// NewConsumer registers the metrics of a consumer: their names begin with bagtrail_ and its own name.
// operations are those that it retries beside fetch, commit, join and takeover. Every counter begins at
// 0, so that its first step is an increase.
func NewConsumer(registry prometheus.Registerer, name string, operations []string, now func() time.Time) *Consumer {
	prefix := "bagtrail_" + name
	operations = append([]string{"fetch", "commit", "join", "takeover"}, operations...)
	factory := promauto.With(registry)
	c := &Consumer{
		redelivered: factory.NewCounter(prometheus.CounterOpts{
			Name: prefix + "_redelivered_records_total",
			Help: "Records that came although this process had handled them before; harmless.",
		}),
		lost: factory.NewCounter(prometheus.CounterOpts{
			Name: prefix + "_lost_records_total",
			Help: "Records that the broker deleted before they were read; the log names the partition.",
		}),
		retries: factory.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "_retries_total",
			Help: "Failed attempts, by operation (" + strings.Join(operations, ", ") + "); each is tried again.",
		}, []string{"operation"}),
		lag: prometheus.NewDesc(prefix+"_lag_records", "Records of a partition that are not yet decided on.", []string{"partition"}, nil),
		age: prometheus.NewDesc(prefix+"_lag_seconds",
			"Age, by its time, of the oldest record of a partition that is not yet decided on; 0 if there is none.", []string{"partition"}, nil),
		now: now, waiting: make(map[int]waiting),
	}
	for _, operation := range operations {
		c.retries.WithLabelValues(operation)
	}
	registry.MustRegister(c)
	return c
}

// Redelivered counts records that this process had handled before.
func (c *Consumer) Redelivered(n int) { c.redelivered.Add(float64(n)) }

// Lost counts records that the broker deleted before they were read.
func (c *Consumer) Lost(n int64) { c.lost.Add(float64(n)) }

// Retry counts failed attempts of an operation.
func (c *Consumer) Retry(operation string) { c.retries.WithLabelValues(operation).Inc() }

// Lag sets how many records of the partition are not yet decided on, and the time of the oldest of
// them, or zero.
func (c *Consumer) Lag(partition int, n int64, oldest time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[partition] = waiting{n, oldest}
}

// Released removes the series of a partition that this process no longer reads. A series that stayed
// at 0 would say that nothing waits, also while Kafka is away.
func (c *Consumer) Released(partition int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, partition)
}

// Backlog returns how many records of all partitions are not yet decided on, and the age of the
// oldest of them. known is false if this process reads no partition.
func (c *Consumer) Backlog() (records int64, oldest time.Duration, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.waiting {
		records += w.records
		oldest = max(oldest, w.age(c.now()))
	}
	return records, oldest, len(c.waiting) > 0
}

// age returns the age of the oldest record.
func (w waiting) age(now time.Time) time.Duration {
	if w.oldest.IsZero() {
		return 0
	}
	return max(0, now.Sub(w.oldest))
}

// Describe implements prometheus.Collector.
func (c *Consumer) Describe(to chan<- *prometheus.Desc) {
	to <- c.lag
	to <- c.age
}

// Collect implements prometheus.Collector.
func (c *Consumer) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for partition, w := range c.waiting {
		label := strconv.Itoa(partition)
		to <- prometheus.MustNewConstMetric(c.lag, prometheus.GaugeValue, float64(w.records), label)
		to <- prometheus.MustNewConstMetric(c.age, prometheus.GaugeValue, w.age(c.now()).Seconds(), label)
	}
}
