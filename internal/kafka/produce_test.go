package kafka_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
)

// small starts a broker with a topic of two partitions that takes batches of at most 1000 bytes.
func small(t *testing.T) (*kfake.Cluster, *kafka.Client) {
	t.Helper()
	c := kafkatest.Start(t)
	if err := c.CreateTopic(topic, 2, map[string]string{"max.message.bytes": "1000"}); err != nil {
		t.Fatal(err)
	}
	return c, kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}})
}

// numbered returns records of about 100 bytes each, and their values.
func numbered(n int) (records []kafka.Record, values []string) {
	for i := range n {
		values = append(values, fmt.Sprintf("%03d%s", i, strings.Repeat("x", 80)))
		records = append(records, kafka.Record{Value: []byte(values[i])})
	}
	return records, values
}

// written returns the values of a partition.
func written(t *testing.T, client *kafka.Client, partition int) (values []string) {
	t.Helper()
	for r := client.Reader(topic, partition, 0); ; {
		b, err := r.Fetch(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range b.Records {
			values = append(values, string(record.Value))
		}
		if b.Next == b.HighWatermark {
			return values
		}
	}
}

// A topic that was made anew may have fewer partitions than before. Its records must not count as
// written.
func TestRecordsForAPartitionThatTheTopicDoesNotHaveAreNotWritten(t *testing.T) {
	c, _ := small(t)
	client := kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}, Timing: kafka.Timing{Produce: 200 * time.Millisecond}})
	records, values := numbered(2)
	if err := client.ProduceTo(t.Context(), topic, 1, records); err != nil || !slices.Equal(written(t, client, 1), values) {
		t.Errorf("partition 1 has %q (%v)", written(t, client, 1), err)
	}
	if client.ProduceTo(t.Context(), topic, 2, records) == nil {
		t.Error("a partition that does not exist took records")
	}
}

func TestRecordsThatAreTooLargeTogetherAreWrittenOnceAndInOrder(t *testing.T) {
	_, client := small(t)
	records, values := numbered(100)
	if err := client.ProduceAnywhere(t.Context(), topic, records); err != nil {
		t.Fatal(err)
	}
	if got := written(t, client, 0); !slices.Equal(got, values) {
		t.Errorf("%d records were written, want %d in order", len(got), len(values))
	}
	for i, r := range records {
		if r.Partition != 0 || r.Offset != int64(i) {
			t.Errorf("record %d is at %d/%d", i, r.Partition, r.Offset)
		}
	}
}

func TestARecordThatIsTooLargeAloneEndsItsPartitionAndNoOther(t *testing.T) {
	_, client := small(t)
	records, values := numbered(40)
	for i := range records {
		records[i].Key = []byte("k")
	}
	mine := kafka.PartitionOf(records[0].Key, 2)
	records[20].Value = make([]byte, 2000)
	other := kafka.Record{Value: []byte("other")}
	for i := 0; other.Key == nil || kafka.PartitionOf(other.Key, 2) == mine; i++ {
		other.Key = fmt.Append(nil, i)
	}
	err := client.Produce(t.Context(), topic, append(records, other))
	if !errors.Is(err, kafka.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	if got := written(t, client, mine); !slices.Equal(got, values[:20]) {
		t.Errorf("%d records were written, want the 20 before the one that is too large", len(got))
	}
	if got := written(t, client, 1-mine); !slices.Equal(got, []string{"other"}) {
		t.Errorf("%q were written to the other partition", got)
	}
}

// The broker refuses all records together because of their size, takes the first half, and refuses
// the second one for a reason that passes.
func TestWhatIsWrittenIsNotWrittenAgainAfterAnErrorThatPasses(t *testing.T) {
	c, client := small(t)
	records, values := numbered(16)
	fault := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicas, When: func(r kmsg.Request) bool {
		sent := r.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records
		return bytes.Contains(sent, []byte(values[8])) && !bytes.Contains(sent, []byte(values[0]))
	}})
	if err := client.ProduceAnywhere(t.Context(), topic, records); err != nil {
		t.Fatal(err)
	}
	if got := append(written(t, client, 0), written(t, client, 1)...); fault.Hits() != 1 || !slices.Equal(got, values) {
		t.Errorf("%d records were written after %d faults, want %d in order", len(got), fault.Hits(), len(values))
	}
}

// spread returns records for the partitions of the topic in turn, with different values.
func spread(n int) []kafka.Record {
	records := make([]kafka.Record, n)
	for i := range records {
		records[i] = kafka.Record{Key: keyOf(i % partitions), Value: fmt.Append(nil, i)}
	}
	return records
}

// wantOnce fails unless so many different values stand in the topic, each once.
func wantOnce(t *testing.T, client *kafka.Client, n int) {
	t.Helper()
	var all []string
	for p := range partitions {
		all = append(all, written(t, client, p)...)
	}
	slices.Sort(all)
	if count := len(all); count != n || len(slices.Compact(all)) != n {
		t.Errorf("%d records, want %d different ones", count, n)
	}
}

func TestABrokerGetsTheRecordsOfItsPartitionsInOneRequest(t *testing.T) {
	c, client := cluster(t, 2)
	for p := range int32(partitions) {
		if err := c.MoveTopicPartition(topic, p, p%2); err != nil {
			t.Fatal(err)
		}
	}
	writes := observe(c, kmsg.Produce)
	if err := client.Produce(t.Context(), topic, spread(120)); err != nil || writes.Hits() != 2 {
		t.Errorf("%d requests to 2 leaders, %v", writes.Hits(), err)
	}
	wantOnce(t, client, 120)
}

// If one partition does not take its records for now, those of the others are not written again.
func TestOnlyWhatAPartitionDidNotTakeIsWrittenAgain(t *testing.T) {
	c, client := cluster(t, 1)
	fault := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Partitions: []int32{2}, Err: kerr.NotEnoughReplicas, Count: 3})
	if err := client.Produce(t.Context(), topic, spread(120)); err != nil || fault.Hits() != 3 {
		t.Errorf("refused %d times, %v", fault.Hits(), err)
	}
	wantOnce(t, client, 120)
}

// A partition that refuses its records for good does not keep those of another, which takes them in
// a moment.
func TestWhatIsRefusedForGoodKeepsNothingElse(t *testing.T) {
	c, client := cluster(t, 1)
	forGood := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Partitions: []int32{1}, Err: kerr.TopicAuthorizationFailed, Count: 1})
	forNow := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Partitions: []int32{2}, Err: kerr.NotEnoughReplicas, Count: 3})
	err := client.Produce(t.Context(), topic, spread(120))
	if !errors.Is(err, kafkago.TopicAuthorizationFailed) || forGood.Hits() != 1 || forNow.Hits() != 3 {
		t.Errorf("refused %d and %d times, %v", forGood.Hits(), forNow.Hits(), err)
	}
	wantOnce(t, client, 110)
}

// An answer that does not name a partition says nothing of it.
func TestAnAnswerThatNamesNoPartitionIsNoAcknowledgement(t *testing.T) {
	c, client := cluster(t, 1)
	c.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		return r.ResponseKind(), nil, true // once
	})
	if err := client.Produce(t.Context(), topic, spread(120)); err != nil {
		t.Error(err)
	}
	wantOnce(t, client, 120)
}

// Records of several partitions that do not fit into one request are sent in several. If the topic
// takes less at once, there are more of them.
func TestLargeRecordsOfSeveralPartitionsAreAllWritten(t *testing.T) {
	for _, limit := range []string{"1048576", "150000"} {
		c, client := cluster(t, 1)
		if err := c.DeleteTopic(topic); err != nil {
			t.Fatal(err)
		}
		if err := c.CreateTopic(topic, partitions, map[string]string{"max.message.bytes": limit}); err != nil {
			t.Fatal(err)
		}
		writes := observe(c, kmsg.Produce)
		records := spread(120)
		for i := range records {
			records[i].Value = append(records[i].Value, strings.Repeat("x", 60<<10)...)
		}
		if err := client.Produce(t.Context(), topic, records); err != nil || writes.Hits() < 120*60/512 {
			t.Errorf("limit %s: %d requests, %v", limit, writes.Hits(), err)
		}
		wantOnce(t, client, 120)
	}
}

func TestLargeRecordsMakeSeveralRequests(t *testing.T) {
	c, client := cluster(t, 1)
	writes := observe(c, kmsg.Produce)
	records, values := numbered(100)
	for i := range records {
		values[i] += strings.Repeat("x", 60<<10)
		records[i].Value = []byte(values[i])
	}
	if err := client.ProduceAnywhere(t.Context(), topic, records); err != nil {
		t.Fatal(err)
	}
	if got := written(t, client, records[0].Partition); !slices.Equal(got, values) || writes.Hits() < 100*60/512 {
		t.Errorf("%d records were written in %d requests, want %d in order", len(got), writes.Hits(), len(values))
	}
}

// One request has no answer, because the connection breaks. The others have not been sent then.
func TestWhatComesAfterARequestWithoutAnAnswerIsWrittenToo(t *testing.T) {
	c, client := cluster(t, 1)
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		return nil, errors.New("the connection breaks"), true // once
	})
	records := spread(partitions)
	for i := range records {
		records[i].Value = append(records[i].Value, strings.Repeat("x", 300<<10)...)
	}
	if err := client.Produce(t.Context(), topic, records); err != nil {
		t.Error(err)
	}
	wantOnce(t, client, partitions)
}

func TestRecordsAreOnAllReplicasAndABrokerAnswersInTime(t *testing.T) {
	c := kafkatest.Start(t, kfake.SeedTopics(partitions, topic))
	client := kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}, Timing: kafka.Timing{Request: 2 * time.Second}})
	asked := make(chan *kmsg.ProduceRequest, 9)
	c.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		asked <- r.(*kmsg.ProduceRequest)
		return nil, nil, false
	})
	if err := client.Produce(t.Context(), topic, spread(1)); err != nil {
		t.Fatal(err)
	}
	if r := <-asked; r.Acks != -1 || r.TimeoutMillis > 1000 || r.TimeoutMillis < 1 {
		t.Errorf("acks %d, and %d ms of two seconds for the replicas", r.Acks, r.TimeoutMillis)
	}
}

// Records without a key, one of which is as large as several requests.
func TestRecordsWithoutAKeyGoTogetherAndEachCallGoesToTheNextPartition(t *testing.T) {
	_, client := cluster(t, 1)
	seen, at := make(map[int]bool), time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for range partitions {
		records, values := numbered(3)
		values[1] += strings.Repeat("x", 700<<10)
		records[1].Value = []byte(values[1])
		for i := range records {
			records[i].Time = at
		}
		if err := client.Produce(t.Context(), topic, records); err != nil {
			t.Fatal(err)
		}
		p := records[0].Partition
		seen[p] = true
		b, err := client.Reader(topic, p, 0).Fetch(t.Context(), 0)
		if err != nil || len(b.Records) == 0 || !b.Records[0].Time.Equal(at) {
			t.Errorf("%+v, want the time of the producer (%v)", b.Records, err)
		}
		if got := written(t, client, p); !slices.Equal(got, values) {
			t.Errorf("%d records in partition %d, want %d in order", len(got), p, len(values))
		}
	}
	if len(seen) != partitions {
		t.Errorf("%d calls write to %d partitions", partitions, len(seen))
	}
}
