// Package kafkatest starts brokers inside the process of a test, and opens clients of them.
package kafkatest

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/internal/kafka"
)

// Start starts a cluster of one broker, unless an option sets another number. It ends with the test.
func Start(t testing.TB, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

// Open opens a client of a cluster, whose brokers it adds to the configuration. The client is
// closed when the test ends.
func Open(t testing.TB, cluster *kfake.Cluster, conf kafka.Config) *kafka.Client {
	t.Helper()
	conf.Brokers = append(conf.Brokers, cluster.ListenAddrs()...)
	client, err := kafka.Open(conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}
