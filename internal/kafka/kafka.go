// Package kafka reads and writes the topics of one Kafka cluster. It does not interpret records.
//
// [Open] returns a [Client], which all parts of a process share. [Client.EnsureTopics] creates
// topics. [Client.Produce] writes records to the partitions of their keys, on all in-sync replicas.
// [Client.Reader] reads one partition, and [Client.ReadSpans] all partitions of a topic up to an
// end. Readers return no record of an aborted transaction.
//
// A [Consumer] reads as a member of a consumer group. It loses and skips no record, and may give a
// record to its [Handler] twice.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// Client reads and writes the topics of one Kafka cluster. It may be used by several goroutines at
// once.
type Client struct {
	conf   Config
	dialer *kafkago.Dialer
	client *kafkago.Client
	turn   atomic.Uint32 // counts calls that write records without a key; selects their partition
	logged sync.Map      // the topics and texts that warnOnce has logged

	leaders leaders
}

// Open returns a Client. It does not connect yet. It fails if the SASL settings are invalid.
func Open(conf Config) (*Client, error) {
	boundCodecs()
	conf = conf.withDefaults()
	mechanism, err := conf.SASL.mechanism()
	if err != nil {
		return nil, fmt.Errorf("kafka configuration: %w", err)
	}
	return &Client{
		conf: conf, leaders: leaders{latest: make(map[partitionName]leaderEpoch)},
		dialer: &kafkago.Dialer{
			ClientID: clientID, Timeout: conf.Timing.Request, DialFunc: dial,
			TLS: conf.TLS, SASLMechanism: mechanism,
		},
		client: &kafkago.Client{
			Addr: kafkago.TCP(conf.Brokers...), Timeout: requestLimit,
			Transport: &kafkago.Transport{
				ClientID: clientID, DialTimeout: conf.Timing.Request, MetadataTTL: metadataTTL, MetadataTopics: conf.Topics,
				Dial: dialWithin(conf.Timing.Request), TLS: conf.TLS, SASL: mechanism,
			},
		},
	}, nil
}

const (
	clientID     = "bagtrail"
	metadataTTL  = time.Second      // how long a moved leader may go unnoticed
	requestLimit = 10 * time.Second // for requests that have no time limit of their own
)

// dial connects to a broker for a [kafkago.Dialer]. kafka-go then logs in without a time limit of
// its own, so dial closes the connection when the deadline of ctx passes. kafka-go cancels ctx once
// the connection is ready.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = conn.Close()
		}
	})
	return conn, nil
}

// dialWithin returns a function that connects to a broker for a [kafkago.Transport]. The limit
// holds for the login too. It does not depend on the time that is left for the request that needs
// the connection: if that request gives up, the next one uses the connection.
func dialWithin(limit time.Duration) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		deadline := time.Now().Add(limit)
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &loginConn{conn, deadline}, nil
	}
}

// loginConn is a connection whose login has a deadline. A Transport removes its deadline once before it
// logs in; after the login each request sets its own, and removes it.
type loginConn struct {
	net.Conn
	deadline time.Time // of the login; zero once the login has begun
}

// SetDeadline implements net.Conn.
func (c *loginConn) SetDeadline(t time.Time) error {
	if t.IsZero() {
		t, c.deadline = c.deadline, time.Time{}
	}
	return c.Conn.SetDeadline(t)
}

// Close closes the connections that are not in use.
func (c *Client) Close() {
	c.client.Transport.(*kafkago.Transport).CloseIdleConnections()
}

// Ping returns nil if a broker answers and the topic exists. It asks all brokers at the same time,
// and waits for the first answer. It never lets a broker create the topic, which would choose its own
// number of partitions: Ping may be called before [Client.EnsureTopics].
func (c *Client) Ping(ctx context.Context, topic string) error {
	answers := make(chan error, len(c.conf.Brokers))
	for _, broker := range c.conf.Brokers {
		go func() { answers <- c.ask(broker) }()
	}
	var err error
	for range c.conf.Brokers {
		select {
		case err = <-answers:
		case <-ctx.Done():
			return fmt.Errorf("ask the kafka brokers: %w", ctx.Err())
		}
		if err == nil {
			_, err = c.topic(ctx, topic)
			return err
		}
	}
	return err
}

// ask returns nil if a broker answers. It gives up after the time limit of a request.
func (c *Client) ask(broker string) error {
	deadline := time.Now().Add(c.conf.Timing.Request)
	conn, err := c.dialer.Dial("tcp", broker)
	if err != nil {
		return fmt.Errorf("connect to kafka: %w", err)
	}
	defer conn.Close() //nolint:errcheck // nothing was written
	if err := conn.SetDeadline(deadline); err != nil {
		return fmt.Errorf("ask a kafka broker: %w", err)
	}
	if _, err := conn.ApiVersions(); err != nil {
		return fmt.Errorf("ask a kafka broker: %w", err)
	}
	return nil
}

// topic returns the metadata of a topic, at most [metadataTTL] old.
func (c *Client) topic(ctx context.Context, name string) (kafkago.Topic, error) {
	meta, err := c.client.Metadata(ctx, &kafkago.MetadataRequest{Topics: []string{name}})
	if err != nil {
		return kafkago.Topic{}, fmt.Errorf("ask for topic %s: %w", name, err)
	}
	for _, t := range meta.Topics {
		switch {
		case t.Name != name:
		case t.Error != nil:
			return kafkago.Topic{}, fmt.Errorf("ask for topic %s: %w", name, t.Error)
		case len(t.Partitions) > 0:
			return t, nil
		}
	}
	return kafkago.Topic{}, fmt.Errorf("ask for topic %s: %w", name, kafkago.UnknownTopicOrPartition)
}

// Partitions returns the numbers of the partitions of a topic, in ascending order.
func (c *Client) Partitions(ctx context.Context, topic string) ([]int, error) {
	t, err := c.topic(ctx, topic)
	if err != nil {
		return nil, err
	}
	return partitionsOf(t), nil
}

// partitionsOf returns the numbers of the partitions of a topic, in ascending order.
func partitionsOf(t kafkago.Topic) []int {
	numbers := make([]int, len(t.Partitions))
	for i, p := range t.Partitions {
		numbers[i] = p.ID
	}
	slices.Sort(numbers)
	return numbers
}
