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
type Consumer struct {
	redelivered prometheus.Counter
	lost        prometheus.Counter
	retries     *prometheus.CounterVec
	lag         *prometheus.GaugeVec
	ages        *ages
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
		lag: factory.NewGaugeVec(prometheus.GaugeOpts{
			Name: prefix + "_lag_records",
			Help: "Records of a partition that are not yet decided on.",
		}, []string{"partition"}),
		ages: &ages{now: now, since: make(map[int]time.Time), records: make(map[int]int64), seconds: prometheus.NewDesc(prefix+"_lag_seconds",
			"Age, by its time, of the oldest record of a partition that is not yet decided on; 0 if there is none.", []string{"partition"}, nil)},
	}
	for _, operation := range operations {
		c.retries.WithLabelValues(operation)
	}
	registry.MustRegister(c.ages)
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
	c.lag.WithLabelValues(strconv.Itoa(partition)).Set(float64(n))
	c.ages.mu.Lock()
	defer c.ages.mu.Unlock()
	c.ages.since[partition], c.ages.records[partition] = oldest, n
}

// Released removes the series of a partition that this process no longer reads. A series that stayed
// at 0 would say that nothing waits, also while Kafka is away.
func (c *Consumer) Released(partition int) {
	c.lag.DeleteLabelValues(strconv.Itoa(partition))
	c.ages.mu.Lock()
	defer c.ages.mu.Unlock()
	delete(c.ages.since, partition)
	delete(c.ages.records, partition)
}

// Backlog returns how many records of all partitions are not yet decided on, and the age of the
// oldest of them. known is false if this process reads no partition.
func (c *Consumer) Backlog() (records int64, oldest time.Duration, known bool) {
	c.ages.mu.Lock()
	defer c.ages.mu.Unlock()
	for partition, n := range c.ages.records {
		records += n
		oldest = max(oldest, c.ages.age(partition))
	}
	return records, oldest, len(c.ages.records) > 0
}

// ages is the age, for each partition, of the oldest record that is not yet decided on. It is
// computed when the metrics are read, so it grows while the consumer stands still.
type ages struct {
	seconds *prometheus.Desc
	now     func() time.Time
	mu      sync.Mutex
	since   map[int]time.Time // by partition
	records map[int]int64     // by partition: how many are not yet decided on
}

// age returns the age of the oldest record of a partition. mu is held.
func (a *ages) age(partition int) time.Duration {
	since := a.since[partition]
	if since.IsZero() {
		return 0
	}
	return max(0, a.now().Sub(since))
}

// Describe implements prometheus.Collector.
func (a *ages) Describe(to chan<- *prometheus.Desc) { to <- a.seconds }

// Collect implements prometheus.Collector.
func (a *ages) Collect(to chan<- prometheus.Metric) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for partition := range a.since {
		to <- prometheus.MustNewConstMetric(a.seconds, prometheus.GaugeValue, a.age(partition).Seconds(), strconv.Itoa(partition))
	}
}
