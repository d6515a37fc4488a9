package kafka_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
)

// marksAndChanges are two topics that need the same number of partitions.
func marksAndChanges() []kafka.Topic {
	return []kafka.Topic{
		{Name: "marks", Partitions: 12, Log: true, Fixed: true},
		{Name: "changes", Partitions: 12, Log: true, Fixed: true},
	}
}

func TestFixedTopicsWithDifferentNumbersOfPartitionsAreRefused(t *testing.T) {
	for _, numbers := range [][2]int32{{6, 12}, {12, 6}} {
		c := kafkatest.Start(t, kfake.SeedTopics(numbers[0], "marks"), kfake.SeedTopics(numbers[1], "changes"))
		core, logs := observer.New(zap.WarnLevel)
		client := kafkatest.Open(t, c, kafka.Config{Logger: zap.New(core)})
		few, many := "marks", "changes"
		if numbers[0] > numbers[1] {
			few, many = many, few
		}
		want := "topic " + few + " has 6 partitions and topic " + many + " has 12, but both need the same number: add partitions with " +
			"kafka-topics.sh --bootstrap-server " + c.ListenAddrs()[0] + " --alter --topic " + few + " --partitions 12"
		if err := client.EnsureTopics(t.Context(), marksAndChanges()...); err == nil || err.Error() != want {
			t.Errorf("%v: error %v, want %s", numbers, err, want)
		}
		if logs.Len() != 0 {
			t.Errorf("%v: warnings %v beside the error", numbers, logs.All())
		}
	}
}

func TestAMissingFixedTopicGetsTheNumberOfPartitionsOfTheOther(t *testing.T) {
	for _, there := range []string{"marks", "changes"} {
		client := kafkatest.Open(t, kafkatest.Start(t, kfake.SeedTopics(6, there)), kafka.Config{})
		if err := client.EnsureTopics(t.Context(), marksAndChanges()...); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"marks", "changes"} {
			if found, err := client.Partitions(t.Context(), name); err != nil || len(found) != 6 {
				t.Errorf("only %s was there: %s has partitions %v, %v", there, name, found, err)
			}
		}
	}
}

func TestAFixedTopicWithTooManyPartitionsIsRefused(t *testing.T) {
	client := kafkatest.Open(t, kafkatest.Start(t, kfake.SeedTopics(48, "marks")), kafka.Config{})
	for most, want := range map[int]string{48: "", 47: "topic marks has 48 partitions, but may have at most 47"} {
		err := client.EnsureTopics(t.Context(), kafka.Topic{Name: "marks", Partitions: 12, Log: true, Fixed: true, Most: most})
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%d: error %v, want %q", most, err, want)
		}
	}
}

// Kafka does not compact the newest segment, and whoever starts reads all of it.
func TestAMissingCompactedTopicGetsSmallSegments(t *testing.T) {
	c := kafkatest.Start(t)
	client, topic := kafkatest.Open(t, c, kafka.Config{}), kafka.Topic{Name: "webhooks", Partitions: 12, Compacted: true}
	refusal := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Topic: topic.Name, Err: kerr.TopicAuthorizationFailed, Count: -1})
	want := "--create --topic webhooks --partitions 12 --config cleanup.policy=compact --config retention.ms=-1 --config segment.bytes=16777216"
	if err := client.EnsureTopics(t.Context(), topic); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	refusal.Remove()
	if err := client.EnsureTopics(t.Context(), topic); err != nil {
		t.Errorf("%v", err)
	}
}

// A start that waits for a server asks again twice a second.
func TestAWarningIsLoggedOnceForEachTopic(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	client := kafkatest.Open(t, kafkatest.Start(t, kfake.SeedTopics(3, "raw", "marks")), kafka.Config{Logger: zap.New(core)})
	for range 3 {
		err := client.EnsureTopics(t.Context(), kafka.Topic{Name: "raw", Partitions: 12, Log: true}, kafka.Topic{Name: "marks", Partitions: 12, Log: true})
		if err != nil {
			t.Fatal(err)
		}
	}
	if logs.Len() != 2 {
		t.Errorf("%d warnings, want one for each topic: %v", logs.Len(), logs.All())
	}
}
