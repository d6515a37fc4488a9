package kafkadoor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/announce"
	"bagtrail/internal/bag"
)

func newEventWorld(t *testing.T, opts ...kfake.Opt) *world {
	w := newBroker(t, opts...)
	w.conf.Partitions = 4
	w.conf.Topics.Events = "bag.events" + w.conf.Group
	w.open()
	if err := w.door.EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// events makes one event a plate.
func events(ctx context.Context, filings []bag.Filing, publish func([]announce.Event) error) error {
	return whole(eventsOf)(ctx, filings, publish)
}

// whole publishes the events of messages together.
func whole(made func(context.Context, []bag.Filing) ([]announce.Event, error)) kafkadoor.EventMaker {
	return func(ctx context.Context, filings []bag.Filing, publish func([]announce.Event) error) error {
		events, err := made(ctx, filings)
		if err != nil {
			return err
		}
		return publish(events)
	}
}

func eventsOf(_ context.Context, filings []bag.Filing) ([]announce.Event, error) {
	var list []announce.Event
	for _, f := range filings {
		for _, e := range f.Entries {
			list = append(list, announce.Event{
				ID: fmt.Sprintf("%s-%d", e.Plate, f.Received.UnixMilli()), Plate: e.Plate, Document: []byte(`{"id":"x"}`),
			})
		}
	}
	return list, nil
}

func TestEventsOfAcceptedMessagesArePublishedBeforeTheOffset(t *testing.T) {
	w := newEventWorld(t)
	w.produce(0, records(0, 100)...)
	w.produce(1, record("BSM"))
	w.consume(events)
	w.waitCommitted(101)
	seen := make(map[string]bool)
	partitions := make(map[int]bool)
	for _, m := range w.all(w.conf.Topics.Events) {
		id := header(m, "ce_id")
		if seen[id] || string(m.Value) != `{"id":"x"}` || id != string(m.Key)+"-1773295200123" ||
			header(m, "content-type") != "application/cloudevents+json; charset=UTF-8" {
			t.Errorf("event %s of %s", id, m.Key)
		}
		seen[id], partitions[m.Partition] = true, true
	}
	if len(seen) != 100 || len(partitions) != 4 {
		t.Errorf("%d events on %d partitions, want 100 on 4", len(seen), len(partitions))
	}
}

func TestEventsOfAPlateStandInOnePartition(t *testing.T) {
	w := newEventWorld(t)
	for range 3 {
		w.produce(0, records(0, 20)...)
	}
	w.consume(events)
	w.waitCommitted(60)
	where := make(map[string]int)
	for _, m := range w.all(w.conf.Topics.Events) {
		if before, ok := where[string(m.Key)]; ok && before != m.Partition {
			t.Errorf("events of %s in partitions %d and %d", m.Key, before, m.Partition)
		}
		where[string(m.Key)] = m.Partition
	}
	if len(where) != 20 {
		t.Errorf("events of %d plates", len(where))
	}
}

func TestMessageThatTheIndexHeldBeforeHasItsEventsAgain(t *testing.T) {
	w := newEventWorld(t)
	acceptor := w.poster()
	if _, err := acceptor.Accept(t.Context(), envelopeOf(message(0))); err != nil { // as the HTTP door does
		t.Fatal(err)
	}
	w.consume(events)
	w.waitCommitted(1)
	if got := len(w.all(w.conf.Topics.Events)); got != 1 {
		t.Errorf("%d events, want one", got)
	}
	if w.metrics.duplicate.Load() != 1 {
		t.Errorf("%d duplicates, want one", w.metrics.duplicate.Load())
	}
}

func TestOffsetsStandStillWhileEventsCannotBeMadeOrPublished(t *testing.T) {
	w := newEventWorld(t)
	w.needsFaults()
	fault := w.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: w.conf.Topics.Events, Err: kerr.TopicAuthorizationFailed, Count: 5,
	})
	var asked atomic.Int64
	w.produce(0, records(0, 10)...)
	w.consume(whole(func(ctx context.Context, filings []bag.Filing) ([]announce.Event, error) {
		if asked.Add(1) <= 3 {
			return nil, errors.New("the index is away")
		}
		return eventsOf(ctx, filings)
	}))
	if err := fault.Wait(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	w.waitCommitted(10)
	ids := make(map[string]bool)
	for _, m := range w.all(w.conf.Topics.Events) {
		ids[header(m, "ce_id")] = true
	}
	if len(ids) != 10 || w.metrics.retried("events") < 4 {
		t.Errorf("%d different events, %d retries", len(ids), w.metrics.retried("events"))
	}
}

func TestEventsAreOffWhereTheTopicIsEmpty(t *testing.T) {
	w := newWorld(t, 1)
	w.produce(0, records(0, 3)...)
	w.consume(whole(func(context.Context, []bag.Filing) ([]announce.Event, error) {
		t.Error("asked for events")
		return nil, nil
	}))
	w.waitCommitted(3)
}

func TestEventsOfALargeBatchAreMadeInPortions(t *testing.T) {
	w := newEventWorld(t)
	w.produce(0, records(0, 1300)...)
	var most atomic.Int64
	w.consume(whole(func(ctx context.Context, filings []bag.Filing) ([]announce.Event, error) {
		most.Store(max(most.Load(), int64(len(filings)))) // of one partition, so of one goroutine
		return eventsOf(ctx, filings)
	}))
	w.waitCommitted(1300)
	if published := len(w.all(w.conf.Topics.Events)); published != 1300 || most.Load() > 500 {
		t.Errorf("%d events are published, at most %d at once", published, most.Load())
	}
}

// Events of many partitions go to each broker in one request, however many of them it leads.
func TestABrokerGetsTheEventsOfItsPartitionsInOneRequest(t *testing.T) {
	w := newEventWorld(t, kfake.NumBrokers(2))
	for p := range int32(4) {
		if err := w.cluster.MoveTopicPartition(w.conf.Topics.Events, p, p%2); err != nil {
			t.Fatal(err)
		}
	}
	w.open() // one that does not know who led before
	writes := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: w.conf.Topics.Events, Observe: true, Count: -1})
	w.produce(0, records(0, 100)...)
	w.consume(events)
	w.waitCommitted(100)
	if got := len(w.all(w.conf.Topics.Events)); got != 100 || writes.Hits() != 2 {
		t.Errorf("%d events in %d requests to 2 leaders", got, writes.Hits())
	}
}

// A leader that is another one now gets what was meant for it.
func TestEventsFollowTheLeadersOfTheirPartitions(t *testing.T) {
	w := newEventWorld(t, kfake.NumBrokers(2))
	w.consume(events)
	for round := range 4 {
		for p := range int32(4) {
			if err := w.cluster.MoveTopicPartition(w.conf.Topics.Events, p, (p+int32(round))%2); err != nil {
				t.Fatal(err)
			}
		}
		w.produce(0, records(100*round, 100)...)
		w.waitCommitted(100 * int64(round+1))
	}
	ids := make(map[string]bool)
	for _, m := range w.all(w.conf.Topics.Events) {
		ids[header(m, "ce_id")] = true
	}
	if len(ids) != 400 {
		t.Errorf("%d events", len(ids))
	}
}

// Where one partition does not take its events for now, those of the others are not written again.
func TestOnlyWhatAPartitionDidNotTakeIsWrittenAgain(t *testing.T) {
	w := newEventWorld(t)
	w.needsFaults()
	fault := w.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: w.conf.Topics.Events, Partitions: []int32{2}, Err: kerr.NotEnoughReplicas, Count: 3,
	})
	w.produce(0, records(0, 100)...)
	w.consume(events)
	w.waitCommitted(100)
	ids, there := make(map[string]int), make(map[int]int)
	for _, m := range w.all(w.conf.Topics.Events) {
		ids[header(m, "ce_id")]++
		there[m.Partition]++
	}
	for id, times := range ids {
		if times != 1 {
			t.Errorf("event %s was written %d times", id, times)
		}
	}
	if len(ids) != 100 || there[2] == 0 || fault.Hits() != 3 || w.metrics.retried("events") != 0 {
		t.Errorf("%d events, by partition %v, refused %d times, %d retries", len(ids), there, fault.Hits(), w.metrics.retried("events"))
	}
}

// A partition that refuses its events for good does not keep those of another, which takes them in
// a moment.
func TestWhatIsRefusedForGoodKeepsNothingElse(t *testing.T) {
	w := newEventWorld(t)
	w.needsFaults()
	forGood := w.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: w.conf.Topics.Events, Partitions: []int32{1}, Err: kerr.TopicAuthorizationFailed, Count: 1,
	})
	forNow := w.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: w.conf.Topics.Events, Partitions: []int32{2}, Err: kerr.NotEnoughReplicas, Count: 3,
	})
	w.produce(0, records(0, 100)...)
	w.consume(events)
	w.waitCommitted(100)
	times := make(map[int]map[string]int)
	for _, m := range w.all(w.conf.Topics.Events) {
		if times[m.Partition] == nil {
			times[m.Partition] = make(map[string]int)
		}
		times[m.Partition][header(m, "ce_id")]++
	}
	ids := 0
	for p, counts := range times {
		want := 2 // the whole batch was tried again, once
		if p == 1 {
			want = 1
		}
		ids += len(counts)
		for id, n := range counts {
			if n != want {
				t.Errorf("event %s was written %d times to partition %d", id, n, p)
			}
		}
	}
	if ids != 100 || forGood.Hits() != 1 || forNow.Hits() != 3 || w.metrics.retried("events") != 1 {
		t.Errorf("%d events, refused %d and %d times, %d retries", ids, forGood.Hits(), forNow.Hits(), w.metrics.retried("events"))
	}
}

// An answer that does not name a partition says nothing of it.
func TestAnAnswerThatNamesNoPartitionIsNoAcknowledgement(t *testing.T) {
	w := newEventWorld(t)
	w.needsFaults()
	var silent atomic.Int64
	w.cluster.ControlKey(kmsg.Produce.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if produce, ok := req.(*kmsg.ProduceRequest); !ok || produce.Topics[0].Topic != w.conf.Topics.Events {
			return nil, nil, false
		}
		silent.Add(1)
		return req.ResponseKind(), nil, true
	})
	w.consume(events)
	w.produce(0, records(0, 20)...)
	w.waitCommitted(20)
	if got := len(w.all(w.conf.Topics.Events)); got != 20 || silent.Load() != 1 {
		t.Errorf("%d events, %d silent answers", got, silent.Load())
	}
}

// Large events of many partitions make several requests, and less where a broker takes less at
// once.
func TestLargeEventsMakeSeveralRequests(t *testing.T) {
	for name, broker := range map[string]string{"as brokers are": "1048588", "less at once": "150000"} {
		t.Run(name, func(t *testing.T) {
			w := newEventWorld(t, kfake.BrokerConfigs(map[string]string{"message.max.bytes": broker}))
			document := []byte(`{"id":"` + strings.Repeat("x", 60<<10) + `"}`)
			writes := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: w.conf.Topics.Events, Observe: true, Count: -1})
			w.produce(0, records(0, 100)...)
			w.consume(whole(func(ctx context.Context, filings []bag.Filing) ([]announce.Event, error) {
				list, err := eventsOf(ctx, filings)
				for i := range list {
					list[i].Document = document
				}
				return list, err
			}))
			w.waitCommitted(100)
			times := make(map[string]int)
			for _, m := range w.all(w.conf.Topics.Events) {
				if times[header(m, "ce_id")]++; len(m.Value) != len(document) {
					t.Errorf("an event of %d bytes", len(m.Value))
				}
			}
			for id, n := range times {
				if n != 1 {
					t.Errorf("event %s was written %d times", id, n)
				}
			}
			if len(times) != 100 || writes.Hits() < 100*60/512 {
				t.Errorf("%d events in %d requests", len(times), writes.Hits())
			}
		})
	}
}
