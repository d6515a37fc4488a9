package kafka_test

import (
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
)

// The leader of the group has divided the one partition that the topic has. Before the members learn
// what they get, the topic has two more.
func TestPartitionsThatAreAddedDuringAJoinAreFound(t *testing.T) {
	c := kafkatest.Start(t, kfake.SeedTopics(1, topic))
	admin := &kafkago.Client{Addr: kafkago.TCP(c.ListenAddrs()...)}
	c.ControlKey(int16(kmsg.SyncGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.SleepControl(func() {
			answer, err := admin.CreatePartitions(t.Context(), &kafkago.CreatePartitionsRequest{
				Topics: []kafkago.TopicPartitionsConfig{{Name: topic, Count: 3}},
			})
			if err != nil || answer.Errors[topic] != nil {
				t.Error(err, answer)
			}
		})
		return nil, nil, false
	})
	client := kafkatest.Open(t, c, kafka.Config{
		Topics: []string{topic}, Timing: kafka.Timing{Wait: 50 * time.Millisecond, Watch: 50 * time.Millisecond, JoinBackoff: 10 * time.Millisecond},
	})
	handlers := make(chan int, 100)
	run(t, client.NewConsumer(kafka.ConsumerConfig{Group: "g", Topic: topic, Handler: func(partition int) kafka.Handler {
		handlers <- partition
		return &collecting{}
	}}))
	eventually(t, 10*time.Second, "one partition is taken over, and then three", func() bool { return len(handlers) >= 4 })
	if first := <-handlers; first != 0 {
		t.Errorf("the first partition is %d", first)
	}
}
