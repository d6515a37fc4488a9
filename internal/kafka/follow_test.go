package kafka_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/pause"
)

// A topic has fewer records than before: it was made anew, or a replica that lacks the last records became leader.
func TestATopicThatLostItsEndIsFollowedFromItsBeginning(t *testing.T) {
	c := kafkatest.Start(t, kfake.SeedTopics(partitions, topic))
	client := kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}, Timing: kafka.Timing{Wait: 50 * time.Millisecond}})
	var mu sync.Mutex
	read := map[string]int{}
	follow(t, client, func(_ int, b kafka.Batch) {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range b.Records {
			read[string(r.Value)]++
		}
	}, func(err error) { t.Log(err) })
	await := func(value string) {
		t.Helper()
		eventually(t, 15*time.Second, value+" is read", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return read[value] == 1
		})
	}
	produce(t, client, 0, "a", "b", "c", "d", "e")
	await("e")
	if err := errors.Join(c.DeleteTopic(topic), c.CreateTopic(topic, partitions, nil)); err != nil {
		t.Fatal(err)
	}
	if err := pause.For(t.Context(), 2*time.Second); err != nil { // until the follower has asked for what is gone
		t.Fatal(err)
	}
	produce(t, client, 0, "f", "g")
	await("f")
	await("g")
}

func TestAFollowerBeginsWithoutAnOffsetAndIsToldOfNoErrorAtItsEnd(t *testing.T) {
	_, client := cluster(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended, began := make(chan struct{}), make(chan int64, partitions)
	go func() {
		defer close(ended)
		client.Follow(ctx, topic, kafka.Follower{
			Begin: func(at, first, _ int64) int64 { began <- at; return first },
			Take:  func(int, kafka.Batch) {},
			Fail:  func(err error) { t.Error(err) },
		})
	}()
	for range partitions {
		if at := <-began; at != -1 {
			t.Errorf("it begins at %d", at)
		}
	}
	cancel()
	<-ended
}
