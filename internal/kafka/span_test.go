package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/internal/kafka"
)

// The broker deletes the oldest records after the spans were asked for.
func TestSpansAreReadFromTheFirstRecordThatIsLeft(t *testing.T) {
	c, client := cluster(t, 1)
	for i := range 10 {
		produce(t, client, 0, fmt.Sprint(i))
	}
	for _, deleted := range []int64{4, 10} {
		spans, err := client.Spans(t.Context(), topic, kafka.Start{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.DeleteRecords(topic, 0, deleted); err != nil {
			t.Fatal(err)
		}
		var read []int64
		err = client.ReadSpans(t.Context(), topic, spans[:1], func(_ context.Context, _ int, records []kafka.Record, _ int64) error {
			for _, r := range records {
				read = append(read, r.Offset)
			}
			return nil
		})
		if err != nil || len(read) != int(10-deleted) || len(read) > 0 && read[0] != deleted {
			t.Errorf("read the offsets %d, %v, want those from %d on", read, err, deleted)
		}
	}
}

// A retention of a hundred years asks for such a time.
func TestATimeBefore1970IsBeforeAllRecords(t *testing.T) {
	_, client := cluster(t, 1)
	produce(t, client, 0, "x")
	for _, year := range []int{1700, 1969, 1970} {
		if span, err := client.Span(t.Context(), topic, 0, kafka.Start{Time: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}); err != nil || span.From != 0 {
			t.Errorf("in %d: %+v, %v", year, span, err)
		}
	}
}

// kafka-go asks for each end of each partition alone, and tells no cause for those that fail.
func TestBoundsTellsThatItsContextEndedThoughSomePartitionsHaveAnswered(t *testing.T) {
	c, client := cluster(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int32
	c.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if asked.Add(1) == 2*partitions {
			cancel()
			<-t.Context().Done()
		}
		return nil, nil, false
	})
	if _, err := client.Bounds(ctx, topic); !errors.Is(err, context.Canceled) || asked.Load() != 2*partitions {
		t.Errorf("error %v after %d requests", err, asked.Load())
	}
}

// kafka-go asks for the first offset and for the end, and tells no cause if one of the two questions fails.
func TestSpansAsksAgainIfOneOfTwoQuestionsFails(t *testing.T) {
	c, client := cluster(t, 1)
	c.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) { return nil, errors.New("cut"), true })
	if spans, err := client.Spans(t.Context(), topic, kafka.Start{}); err != nil || len(spans) != partitions {
		t.Errorf("%d spans, error %v", len(spans), err)
	}
}

// kafka-go has no text for this cause, which is seen after a leader has moved.
func TestTheErrorOfASpanNamesThePartitionAndTheCause(t *testing.T) {
	c, client := cluster(t, 1)
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: kerr.OffsetNotAvailable, Count: -1})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for want, ctx := range map[string]context.Context{
		"offsets of topic/3: the new leader of the partition does not know its end yet": t.Context(),
		"offsets of topic/3: ": ended,
	} {
		if _, err := client.Span(ctx, topic, 3, kafka.Start{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error is %q, want %q", err, want)
		}
	}
}

func TestSpansWaitsForALeader(t *testing.T) {
	c, client := cluster(t, 1)
	c.ControlKey(int16(kmsg.Metadata), func(request kmsg.Request) (kmsg.Response, error, bool) {
		broker, of, p := kmsg.NewMetadataResponseBroker(), kmsg.NewMetadataResponseTopic(), kmsg.NewMetadataResponseTopicPartition()
		broker.NodeID, broker.Host = 7, "127.0.0.1"
		of.Topic, p.Leader, p.ErrorCode = kmsg.StringPtr(topic), -1, kerr.LeaderNotAvailable.Code
		of.Partitions = append(of.Partitions, p)
		answer := request.ResponseKind().(*kmsg.MetadataResponse)
		answer.Brokers, answer.Topics = append(answer.Brokers, broker), append(answer.Topics, of)
		return answer, nil, true // once
	})
	if spans, err := client.Spans(t.Context(), topic, kafka.Start{}); err != nil || len(spans) != 1 {
		t.Errorf("%d spans, error %v", len(spans), err)
	}
}

// The log has grown since the spans were asked for.
func TestASpanIsReadToItsEndAndNoFurther(t *testing.T) {
	c, client := cluster(t, 1)
	for i := range 10 {
		produce(t, client, 0, fmt.Sprint(i))
	}
	var read, next int64
	err := client.ReadSpans(t.Context(), topic, []kafka.Span{{From: 2, To: 5}}, func(_ context.Context, _ int, records []kafka.Record, after int64) error {
		read, next = read+int64(len(records)), after
		return nil
	})
	if err != nil || read != 3 || next != 5 {
		t.Errorf("%d records up to %d, want 3 up to 5 (%v)", read, next, err)
	}
	if err := c.DeleteRecords(topic, 0, 4); err != nil {
		t.Fatal(err)
	}
	spans, err := client.Spans(t.Context(), topic, kafka.Start{Offsets: kafka.Offsets{0: 1, 1: 7}})
	if err != nil || spans[0] != (kafka.Span{From: 4, To: 10}) || spans[1] != (kafka.Span{Partition: 1}) {
		t.Errorf("%+v (%v), want what is there of the offsets", spans, err)
	}
}

// A record of an open transaction can be read later, or never.
func TestOffsetsAreThoseOfCommittedRecords(t *testing.T) {
	c, client := cluster(t, 1)
	asked := make(chan int8, 9)
	c.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked <- r.(*kmsg.ListOffsetsRequest).IsolationLevel
		return nil, nil, false
	})
	if _, err := client.Span(t.Context(), topic, 0, kafka.Start{}); err != nil {
		t.Fatal(err)
	}
	if level := <-asked; level != 1 {
		t.Errorf("isolation level %d", level)
	}
}
