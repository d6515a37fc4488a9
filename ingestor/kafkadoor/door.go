// Package kafkadoor is the Kafka side of bagtrail: it brings the records of the raw topic to the pipeline, and writes
// the raw, rejects and events topics. It is the only package that knows Kafka.
//
// A record is in the index, or on the rejects topic, and its events are published, before its offset is committed;
// so a record may come twice, and none is ever lost or skipped. What is written twice carries an identity by which
// that can be seen.
package kafkadoor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
)

// Door is the way to one Kafka cluster. It may be used by several goroutines at once.
type Door struct {
	conf   Config
	dialer *kafka.Dialer
	client *kafka.Client
	turn   turns
}

// Open returns a Door, or all that is wrong with the configuration. It connects to nothing yet.
func Open(conf Config) (*Door, error) {
	conf = conf.withDefaults()
	if err := conf.Validate(); err != nil {
		return nil, fmt.Errorf("kafka configuration: %w", err)
	}
	mechanism, err := conf.SASL.mechanism()
	if err != nil {
		return nil, fmt.Errorf("kafka configuration: %w", err)
	}
	topics := []string{conf.Topics.Raw, conf.Topics.Rejects}
	if conf.Topics.Events != "" {
		topics = append(topics, conf.Topics.Events)
	}
	return &Door{
		conf: conf,
		dialer: &kafka.Dialer{
			ClientID: clientID, Timeout: conf.Timing.Request, KeepAlive: keepAlive,
			TLS: conf.TLS, SASLMechanism: mechanism,
		},
		client: &kafka.Client{
			Addr: kafka.TCP(conf.Brokers...), Timeout: requestLimit,
			Transport: &kafka.Transport{
				ClientID: clientID, DialTimeout: conf.Timing.Request, MetadataTTL: metadataTTL, MetadataTopics: topics,
				TLS: conf.TLS, SASL: mechanism,
			},
		},
	}, nil
}

const (
	clientID     = "bagtrail"
	keepAlive    = 30 * time.Second
	metadataTTL  = time.Second      // how long a moved leader may go unnoticed
	requestLimit = 10 * time.Second // of what has no limit of its own
)

// Close drops the connections that are not in use.
func (d *Door) Close() {
	d.client.Transport.(*kafka.Transport).CloseIdleConnections()
}

// Ping reports whether a broker answers, and knows the raw topic. It never names the topic to a broker that might create
// it then, with a number of partitions of its own: Ping may be asked before [Door.EnsureTopics].
func (d *Door) Ping(ctx context.Context) error {
	conn, err := d.dialAny(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // nothing was written
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := conn.SetDeadline(time.Now().Add(d.conf.Timing.Request)); err != nil {
		return fmt.Errorf("ask a kafka broker: %w", err)
	}
	if _, err := conn.ApiVersions(); err != nil {
		return fmt.Errorf("ask a kafka broker: %w", err)
	}
	_, err = d.topic(ctx, d.conf.Topics.Raw)
	return err
}

// dialAny connects to the first broker that can be reached.
func (d *Door) dialAny(ctx context.Context) (conn *kafka.Conn, err error) {
	for _, broker := range d.conf.Brokers {
		if conn, err = d.dialer.DialContext(ctx, "tcp", broker); err == nil {
			return conn, nil
		}
	}
	return nil, fmt.Errorf("connect to kafka: %w", err)
}

// topic returns what was known of a topic a moment ago.
func (d *Door) topic(ctx context.Context, name string) (kafka.Topic, error) {
	meta, err := d.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{name}})
	if err != nil {
		return kafka.Topic{}, fmt.Errorf("ask for topic %s: %w", name, err)
	}
	for _, t := range meta.Topics {
		switch {
		case t.Name != name:
		case t.Error != nil:
			return kafka.Topic{}, fmt.Errorf("ask for topic %s: %w", name, t.Error)
		case len(t.Partitions) > 0:
			return t, nil
		}
	}
	return kafka.Topic{}, fmt.Errorf("ask for topic %s: %w", name, kafka.UnknownTopicOrPartition)
}

// partitions returns the numbers of a topic's partitions.
func (d *Door) partitions(ctx context.Context, topic string) ([]int, error) {
	t, err := d.topic(ctx, topic)
	if err != nil {
		return nil, err
	}
	return numbersOf(t), nil
}

// numbersOf returns the numbers of the partitions of a topic, in their order.
func numbersOf(t kafka.Topic) []int {
	numbers := make([]int, len(t.Partitions))
	for i, p := range t.Partitions {
		numbers[i] = p.ID
	}
	slices.Sort(numbers)
	return numbers
}
