package kafka_test

import (
	"errors"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/pause"
)

// A broker stood still until its partition had another leader and more records. It goes on, and
// does not know that. At first no other broker knows it either.
func TestABrokerThatStoodStillHasNotLostTheEndOfItsPartition(t *testing.T) {
	c := kafkatest.Start(t, kfake.NumBrokers(3), kfake.SeedTopics(1, topic))
	client := kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}, Timing: kafka.Timing{Wait: 50 * time.Millisecond, Produce: time.Minute}})
	h := &collecting{}
	run(t, client.NewConsumer(kafka.ConsumerConfig{Group: "g", Topic: topic, Handler: func(int) kafka.Handler { return h }}))
	writeAndHandle(t, client, h, "a", "b")
	before := metadataOf(t, c)
	still, end := before.Topics[0].Partitions[0].Leader, int64(2)
	if err := c.MoveTopicPartition(topic, 0, (still+1)%3); err != nil {
		t.Fatal(err)
	}
	writeAndHandle(t, client, h, "c", "d")

	var over atomic.Bool
	c.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		answer := *before
		answer.SetVersion(r.GetVersion())
		return &answer, nil, !over.Load() || c.CurrentNode() == still
	})
	c.ControlKey(int16(kmsg.Fetch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked := r.(*kmsg.FetchRequest).Topics[0]
		if c.CurrentNode() != still || asked.Partitions[0].FetchOffset <= end {
			return nil, nil, false
		}
		of, p := kmsg.NewFetchResponseTopic(), kmsg.NewFetchResponseTopicPartition()
		of.Topic, p.ErrorCode = asked.Topic, kerr.OffsetOutOfRange.Code
		of.Partitions = append(of.Partitions, p)
		answer := r.ResponseKind().(*kmsg.FetchResponse)
		answer.Topics = append(answer.Topics, of)
		return answer, nil, true
	})
	if err := pause.For(t.Context(), 2*time.Second); err != nil { // until the client has these metadata
		t.Fatal(err)
	}
	over.Store(true)
	writeAndHandle(t, client, h, "e")
	if got := h.values; len(got) != 5 {
		t.Errorf("%q are handled, want each of 5 records once", got)
	}
}

// A topic that is made anew has new leaders, whose epochs begin again at 0.
func TestATopicThatIsMadeAnewIsReadThoughItsLeadersHadMovedBefore(t *testing.T) {
	c := kafkatest.Start(t, kfake.NumBrokers(2), kfake.SeedTopics(1, topic))
	client := kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}, Timing: kafka.Timing{Wait: 50 * time.Millisecond}})
	h := &collecting{}
	run(t, client.NewConsumer(kafka.ConsumerConfig{Group: "g", Topic: topic, Handler: func(int) kafka.Handler { return h }}))
	if err := c.MoveTopicPartition(topic, 0, 1-c.LeaderFor(topic, 0)); err != nil {
		t.Fatal(err)
	}
	awaitMetadata := func() {
		if err := pause.For(t.Context(), 2*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	awaitMetadata()
	writeAndHandle(t, client, h, "old", "older")
	if err := errors.Join(c.DeleteTopic(topic), c.CreateTopic(topic, 1, nil)); err != nil {
		t.Fatal(err)
	}
	awaitMetadata()
	writeAndHandle(t, client, h, "new")
}

// writeAndHandle writes records, and waits until the last one is handled.
func writeAndHandle(t *testing.T, client *kafka.Client, h *collecting, values ...string) {
	t.Helper()
	for _, v := range values {
		if err := client.Produce(t.Context(), topic, []kafka.Record{{Value: []byte(v)}}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, 30*time.Second, "the last record", func() bool { return h.has(values[len(values)-1]) })
}

// metadataOf returns the metadata of a topic with one partition, as a broker sends them now.
func metadataOf(t *testing.T, c *kfake.Cluster) *kmsg.MetadataResponse {
	t.Helper()
	answer, of, p := kmsg.NewPtrMetadataResponse(), kmsg.NewMetadataResponseTopic(), kmsg.NewMetadataResponseTopicPartition()
	for i, addr := range c.ListenAddrs() {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		broker := kmsg.NewMetadataResponseBroker()
		broker.NodeID, broker.Host = int32(i), host
		number, err := strconv.Atoi(port)
		if err != nil {
			t.Fatal(err)
		}
		broker.Port = int32(number)
		answer.Brokers = append(answer.Brokers, broker)
	}
	of.Topic, p.Leader, p.LeaderEpoch = kmsg.StringPtr(topic), c.LeaderFor(topic, 0), c.PartitionInfo(topic, 0).Epoch
	of.Partitions = append(of.Partitions, p)
	answer.Topics = append(answer.Topics, of)
	return answer
}
