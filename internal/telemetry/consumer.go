package telemetry

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Messages counts what became of messages, whatever door they came by. Its methods may be called from any goroutine.
type Messages struct{ decided *prometheus.CounterVec }

// NewMessages registers the counter.
func NewMessages(registry prometheus.Registerer) *Messages {
	m := &Messages{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "bagtrail_messages_total",
		Help: "Messages that were decided on, by door (kafka, http) and verdict (accepted, duplicate, rejected).",
	}, []string{"door", "verdict"})}
	registry.MustRegister(m.decided)
	for _, door := range []string{"kafka", "http"} {
		m.Count(door, 0, 0, 0) // so that a rate exists before the first message
	}
	return m
}

// Count adds messages that came by a door.
func (m *Messages) Count(door string, accepted, duplicate, rejected int) {
	m.decided.WithLabelValues(door, "accepted").Add(float64(accepted))
	m.decided.WithLabelValues(door, "duplicate").Add(float64(duplicate))
	m.decided.WithLabelValues(door, "rejected").Add(float64(rejected))
}

// Consumer counts what the Kafka consumer does. Its methods may be called from any goroutine.
type Consumer struct {
	messages    *Messages
	redelivered prometheus.Counter
	lost        *prometheus.CounterVec
	retries     *prometheus.CounterVec
	lag         *prometheus.GaugeVec
}

// NewConsumer registers the figures of the consumer; messages are counted by messages.
func NewConsumer(registry prometheus.Registerer, messages *Messages) *Consumer {
	c := &Consumer{
		messages: messages,
		redelivered: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bagtrail_kafka_redelivered_records_total",
			Help: "Records that came although this process had handled them before; harmless.",
		}),
		lost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bagtrail_kafka_lost_records_total",
			Help: "Records that the broker deleted before they were read.",
		}, []string{"partition"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bagtrail_kafka_retries_total",
			Help: "Failed attempts, by operation (index, rejects, events, fetch, commit, join); each is tried again.",
		}, []string{"operation"}),
		lag: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "bagtrail_kafka_lag_records",
			Help: "Records of a partition that are still to be read.",
		}, []string{"partition"}),
	}
	registry.MustRegister(c.redelivered, c.lost, c.retries, c.lag)
	return c
}

// Messages counts records that were decided on.
func (c *Consumer) Messages(accepted, duplicate, rejected int) {
	c.messages.Count("kafka", accepted, duplicate, rejected)
}

// Redelivered counts records that this process had handled before.
func (c *Consumer) Redelivered(n int) { c.redelivered.Add(float64(n)) }

// Lost counts records that the broker deleted before they were read.
func (c *Consumer) Lost(partition int, n int64) {
	c.lost.WithLabelValues(strconv.Itoa(partition)).Add(float64(n))
}

// Retry counts failed attempts of an operation.
func (c *Consumer) Retry(operation string) { c.retries.WithLabelValues(operation).Inc() }

// Lag sets how many records of the partition are still to be read.
func (c *Consumer) Lag(partition int, n int64) {
	c.lag.WithLabelValues(strconv.Itoa(partition)).Set(float64(n))
}
