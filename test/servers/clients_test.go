package servers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/servers"
	"bagtrail/test/servers/program"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// redis sends one command and returns the reply as text.
func redis(t testing.TB, addr string, command ...any) string {
	t.Helper()
	ctx := servers.Context(t)
	c, err := program.DialRedis(ctx, addr)
	must(t, err)
	defer func() { _ = c.Close() }()
	reply, err := c.Do(ctx, command...).Result()
	must(t, err)
	return fmt.Sprint(reply)
}

// answers reports whether a Redis answers soon.
func answers(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	return program.RedisReady(ctx, addr) == nil
}

// produce makes the topic and writes one record to it.
func produce(t testing.TB, addr, topic, value string) {
	t.Helper()
	ctx := servers.Context(t)
	c, err := kafka.DialContext(ctx, "tcp", addr)
	must(t, err)
	defer func() { _ = c.Close() }()
	must(t, c.CreateTopics(kafka.TopicConfig{Topic: topic, NumPartitions: 1, ReplicationFactor: 1}))
	must(t, program.Await(ctx, func(ctx context.Context) error { // until the topic has a leader
		l, err := kafka.DialLeader(ctx, "tcp", addr, topic, 0)
		if err != nil {
			return err
		}
		defer func() { _ = l.Close() }()
		_, err = l.Write([]byte(value))
		return err
	}))
}

// fetch reads the first record of the topic.
func fetch(t testing.TB, addr, topic string) string {
	t.Helper()
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{addr}, Topic: topic, MaxWait: 100 * time.Millisecond})
	defer func() { _ = r.Close() }()
	m, err := r.ReadMessage(servers.Context(t))
	must(t, err)
	return string(m.Value)
}
