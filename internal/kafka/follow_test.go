package kafka_test

import (
	"context"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/pause"
)

// A topic has fewer records than before: it was made anew, or a replica that lacks the last records became leader.
func TestATopicThatLostItsEndIsFollowedFromItsBeginning(t *testing.T) {
	c := kafkatest.Start(t, kfake.SeedTopics(partitions, topic))
	client := kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}, Timing: kafka.Timing{Wait: 50 * time.Millisecond}})
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	t.Cleanup(func() { cancel(); following.Wait() })
	var mu sync.Mutex
	read := map[string]int{}
	following.Go(func() {
		client.Follow(ctx, topic, kafka.Follower{
			Begin: func(at, first, _ int64) int64 { return max(at, first) },
			Take: func(_ int, b kafka.Batch) {
				mu.Lock()
				defer mu.Unlock()
				for _, r := range b.Records {
					read[string(r.Value)]++
				}
			},
			Fail: func(err error) { t.Log(err) },
		})
	})
	await := func(value string) {
		t.Helper()
		limited, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		isRead := func() bool {
			mu.Lock()
			defer mu.Unlock()
			return read[value] == 1
		}
		if pause.Until(limited, 5*time.Millisecond, isRead) != nil {
			t.Fatalf("%s is not read", value)
		}
	}
	produce(t, client, 0, "a", "b", "c", "d", "e")
	await("e")
	admin := &kafkago.Client{Addr: kafkago.TCP(c.ListenAddrs()...)}
	if _, err := admin.DeleteTopics(t.Context(), &kafkago.DeleteTopicsRequest{Topics: []string{topic}}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CreateTopics(t.Context(), &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{
		{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1},
	}}); err != nil {
		t.Fatal(err)
	}
	if err := pause.For(t.Context(), 2*time.Second); err != nil { // until the follower has asked for what is gone
		t.Fatal(err)
	}
	produce(t, client, 0, "f", "g")
	await("f")
	await("g")
}
