package servers_test

import (
	"errors"
	"testing"

	"github.com/segmentio/kafka-go"

	"bagtrail/ingestor/kafkadoor"
	ourkafka "bagtrail/internal/kafka"
	"bagtrail/test/servers"
)

func TestTheServiceCreatesItsTopicsOnABrokerThatCreatesThemByItself(t *testing.T) {
	broker := servers.PrivateKafka(t, "auto.create.topics.enable=true", "num.partitions=1")
	ctx := servers.Context(t)
	topics := kafkadoor.Topics{Raw: "bim.raw", Rejects: "bim.rejected"}
	client, err := ourkafka.Open(ourkafka.Config{Brokers: []string{broker.Addr}, Topics: topics.Names()})
	must(t, err)
	defer client.Close()
	door := kafkadoor.New(client, kafkadoor.Config{Group: "group", Topics: topics})
	for range 5 { // as often as /readyz does
		if err := door.Ping(ctx); !errors.Is(err, kafka.UnknownTopicOrPartition) {
			t.Errorf("before there is a topic Ping says %v", err)
		}
	}
	must(t, door.EnsureTopics(ctx))
	must(t, door.Ping(ctx))
	conn, err := kafka.DialContext(ctx, "tcp", broker.Addr)
	must(t, err)
	defer func() { _ = conn.Close() }()
	for topic, want := range map[string]int{"bim.raw": 12, "bim.rejected": 1} {
		partitions, err := conn.ReadPartitions(topic)
		if err != nil || len(partitions) != want {
			t.Errorf("%s has %d partitions, want %d: %v", topic, len(partitions), want, err)
		}
	}
}
