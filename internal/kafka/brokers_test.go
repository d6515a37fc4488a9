package kafka_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/pause"
)

// silent returns the address of a broker that accepts connections, and never answers.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

// besideSilent starts a broker, and returns a client that knows two: the first is silent.
func besideSilent(t *testing.T, timing kafka.Timing) *kafka.Client {
	t.Helper()
	timing.Produce = time.Minute // the client may ask the silent broker first several times
	c := kafkatest.Start(t, kfake.SeedTopics(partitions, topic))
	return kafkatest.Open(t, c, kafka.Config{Brokers: []string{silent(t)}, Topics: []string{topic}, Timing: timing})
}

func TestAConsumerJoinsItsGroupThoughTheFirstBrokerNeverAnswers(t *testing.T) {
	client := besideSilent(t, kafka.Timing{Request: time.Second, JoinBackoff: 10 * time.Millisecond})
	h := &collecting{}
	run(t, client.NewConsumer(kafka.ConsumerConfig{Group: "group", Topic: topic, Handler: func(int) kafka.Handler { return h }}))
	produce(t, client, 0, "x")
	eventually(t, 20*time.Second, "a record is handled", func() bool { return h.has("x") })
}

// A check of /readyz has one second.
func TestPingSucceedsInASecondThoughTheFirstBrokerNeverAnswers(t *testing.T) {
	client := besideSilent(t, kafka.Timing{Request: time.Second})
	produce(t, client, 0, "x") // now the client knows the topic
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := client.Ping(ctx, topic); err != nil {
		t.Error(err)
	}
}

var login = kafka.SASL{Mechanism: "PLAIN", Username: "bagtrail", Password: "secret"}

func TestAConsumerStopsThoughNoLoginIsAnswered(t *testing.T) {
	client, err := kafka.Open(kafka.Config{Brokers: []string{silent(t)}, Topics: []string{topic}, SASL: login, Timing: kafka.Timing{Request: 200 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	consumer := client.NewConsumer(kafka.ConsumerConfig{Group: "group", Topic: topic, Handler: func(int) kafka.Handler { return &collecting{} }})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- consumer.Run(ctx) }()
	select {
	case err := <-stopped:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the consumer has not stopped")
	}
}

func TestALoginThatIsNotAnsweredIsTriedAgain(t *testing.T) {
	c := kafkatest.Start(t, kfake.SeedTopics(partitions, topic), kfake.EnableSASL(), kfake.Superuser(login.Mechanism, login.Username, login.Password))
	c.ControlKey(int16(kmsg.SASLHandshake), func(kmsg.Request) (kmsg.Response, error, bool) {
		return nil, nil, true // no answer, once
	})
	client := kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}, SASL: login, Timing: kafka.Timing{Request: 500 * time.Millisecond}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := client.Produce(ctx, topic, []kafka.Record{{Value: []byte("x")}}); err != nil {
		t.Error(err)
	}
}

// A POST has less than a second. The connection that it began is there for the next one.
func TestALoginMayTakeLongerThanARequest(t *testing.T) {
	c := kafkatest.Start(t, kfake.SeedTopics(partitions, topic), kfake.EnableSASL(), kfake.Superuser(login.Mechanism, login.Username, login.Password))
	c.ControlKey(int16(kmsg.SASLHandshake), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		c.SleepControl(func() { _ = pause.For(t.Context(), time.Second) })
		return nil, nil, false
	})
	client := kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}, SASL: login, Timing: kafka.Timing{Request: 10 * time.Second}})
	eventually(t, 30*time.Second, "a record is written", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		return client.Produce(ctx, topic, []kafka.Record{{Value: []byte("x")}}) == nil
	})
}

func TestPingFailsWithoutTheTopic(t *testing.T) {
	c := kafkatest.Start(t)
	client := kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}})
	if err := client.Ping(t.Context(), topic); err == nil {
		t.Error("no error")
	}
	if err := c.CreateTopic(topic, 1, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "the topic is found", func() bool { return client.Ping(t.Context(), topic) == nil })
}
