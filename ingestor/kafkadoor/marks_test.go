package kafkadoor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/ingestor"
	"bagtrail/internal/kafka"
)

// newMarkWorld is a world with a topic of marks.
func newMarkWorld(t *testing.T, opts ...kfake.Opt) *world {
	w := newBroker(t, opts...)
	w.conf.Partitions = 4
	w.marks = "bag.dirty" + w.conf.Group
	w.open()
	if err := w.door.EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.own.EnsureTopics(t.Context(), kafka.Topic{Name: w.marks, Partitions: 4}); err != nil {
		t.Fatal(err)
	}
	return w
}

// marker writes one mark a plate. It implements ingestor.Marks.
type marker struct {
	w      *world
	value  string
	before func(*ingestor.Batch) error // or nil
}

// Mark implements ingestor.Marks.
func (m marker) Mark(ctx context.Context, b *ingestor.Batch) error {
	if m.before != nil {
		if err := m.before(b); err != nil {
			return err
		}
	}
	var list []kafka.Record
	for _, o := range b.Outcomes {
		if o.Verdict == ingestor.Rejected {
			continue
		}
		for _, e := range o.Filing.Entries {
			id := fmt.Sprintf("%s-%d", e.Plate, o.Filing.Received.UnixMilli())
			list = append(list, kafka.Record{Key: []byte(e.Plate), Value: []byte(m.value), Headers: []kafka.Header{{Key: "id", Value: []byte(id)}}})
		}
	}
	if len(list) == 0 {
		return nil
	}
	return m.w.own.Produce(ctx, m.w.marks, list)
}

func TestPlatesOfAcceptedMessagesAreMarkedBeforeTheOffset(t *testing.T) {
	w := newMarkWorld(t)
	w.produce(0, records(0, 100)...)
	w.produce(1, record("BSM"))
	w.consume(marker{w: w, value: "x"})
	w.waitCommitted(101)
	seen := make(map[string]bool)
	partitions := make(map[int]bool)
	for _, m := range w.all(w.marks) {
		id := header(m, "id")
		if seen[id] || string(m.Value) != "x" || id != string(m.Key)+"-1773295200123" {
			t.Errorf("mark %s of %s", id, m.Key)
		}
		seen[id], partitions[m.Partition] = true, true
	}
	if len(seen) != 100 || len(partitions) != 4 {
		t.Errorf("%d marks on %d partitions, want 100 on 4", len(seen), len(partitions))
	}
}

func TestMarksOfAPlateStandInOnePartition(t *testing.T) {
	w := newMarkWorld(t)
	for range 3 {
		w.produce(0, records(0, 20)...)
	}
	w.consume(marker{w: w, value: "x"})
	w.waitCommitted(60)
	where := make(map[string]int)
	for _, m := range w.all(w.marks) {
		if before, ok := where[string(m.Key)]; ok && before != m.Partition {
			t.Errorf("events of %s in partitions %d and %d", m.Key, before, m.Partition)
		}
		where[string(m.Key)] = m.Partition
	}
	if len(where) != 20 {
		t.Errorf("events of %d plates", len(where))
	}
}

func TestMessageThatTheIndexHeldBeforeIsMarked(t *testing.T) {
	w := newMarkWorld(t)
	acceptor := w.poster()
	if _, err := acceptor.Accept(t.Context(), envelopeOf(message(0))); err != nil { // as the HTTP door does
		t.Fatal(err)
	}
	w.consume(marker{w: w, value: "x"})
	w.waitCommitted(1)
	if got := len(w.all(w.marks)); got != 1 {
		t.Errorf("%d marks, want one", got)
	}
	if w.metrics.duplicate.Load() != 1 {
		t.Errorf("%d duplicates, want one", w.metrics.duplicate.Load())
	}
}

// Who marks must know which records an owner before may have handled, since a reader may have seen a
// state that the index has lost; and which ones a door of the service has filed itself.
func TestMarksLearnWhatMayHaveBeenHandledBeforeAndWhatADoorHasFiled(t *testing.T) {
	w := newMarkWorld(t)
	if _, err := w.poster().Accept(t.Context(), envelopeOf(message(0))); err != nil { // as the HTTP door does
		t.Fatal(err)
	}
	w.produce(0, records(1, 1)...)
	var learned sync.Map // by text
	w.consume(marker{w: w, before: func(b *ingestor.Batch) error {
		for _, env := range b.Envelopes {
			learned.Store(env.Raw, fmt.Sprintf("again %t, relayed %t", env.Again, env.Relayed))
		}
		return nil
	}})
	w.waitCommitted(2)
	w.produce(0, records(2, 1)...)
	w.waitCommitted(3)
	for i, want := range []string{"again true, relayed true", "again true, relayed false", "again false, relayed false"} {
		if got, _ := learned.Load(message(i)); got != want {
			t.Errorf("record %d: %v, want %s", i, got, want)
		}
	}
}

func TestOffsetsStandStillWhileNothingCanBeMarked(t *testing.T) {
	w := newMarkWorld(t)
	w.needsFaults()
	fault := w.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: w.marks, Err: kerr.TopicAuthorizationFailed, Count: 5,
	})
	var asked atomic.Int64
	w.produce(0, records(0, 10)...)
	w.consume(marker{w: w, before: func(*ingestor.Batch) error {
		if asked.Add(1) <= 3 {
			return errors.New("the broker is away")
		}
		return nil
	}})
	if err := fault.Wait(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	w.waitCommitted(10)
	ids := make(map[string]bool)
	for _, m := range w.all(w.marks) {
		ids[header(m, "id")] = true
	}
	if len(ids) != 10 || w.metrics.retried("marks") < 4 {
		t.Errorf("%d different marks, %d retries", len(ids), w.metrics.retried("marks"))
	}
}

func TestATopicOfMarksThatStaysUnwritableIsCounted(t *testing.T) {
	w := newMarkWorld(t)
	w.needsFaults()
	w.kafka.Timing.Produce = 200 * time.Millisecond
	w.open()
	fault := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: w.marks, Err: kerr.NotEnoughReplicas, Count: -1})
	w.produce(0, records(0, 10)...)
	w.consume(marker{w: w, value: "x"})
	w.eventually("a failure is counted", func() bool { return w.metrics.retried("marks") > 0 })
	if got := w.committed()[0]; got > 0 {
		t.Errorf("committed %d although nothing is marked", got)
	}
	fault.Remove()
	w.waitCommitted(10)
}

// Marks of many partitions go to each broker in one request, however many of them it leads.
func TestABrokerGetsTheMarksOfItsPartitionsInOneRequest(t *testing.T) {
	w := newMarkWorld(t, kfake.NumBrokers(2))
	for p := range int32(4) {
		if err := w.cluster.MoveTopicPartition(w.marks, p, p%2); err != nil {
			t.Fatal(err)
		}
	}
	w.open() // one that does not know who led before
	writes := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: w.marks, Observe: true, Count: -1})
	w.produce(0, records(0, 100)...)
	w.consume(marker{w: w, value: "x"})
	w.waitCommitted(100)
	if got := len(w.all(w.marks)); got != 100 || writes.Hits() != 2 {
		t.Errorf("%d marks in %d requests to 2 leaders", got, writes.Hits())
	}
}

// A leader that is another one now gets what was meant for it.
func TestMarksFollowTheLeadersOfTheirPartitions(t *testing.T) {
	w := newMarkWorld(t, kfake.NumBrokers(2))
	w.consume(marker{w: w, value: "x"})
	for round := range 4 {
		for p := range int32(4) {
			if err := w.cluster.MoveTopicPartition(w.marks, p, (p+int32(round))%2); err != nil {
				t.Fatal(err)
			}
		}
		w.produce(0, records(100*round, 100)...)
		w.waitCommitted(100 * int64(round+1))
	}
	ids := make(map[string]bool)
	for _, m := range w.all(w.marks) {
		ids[header(m, "id")] = true
	}
	if len(ids) != 400 {
		t.Errorf("%d marks", len(ids))
	}
}

// Where one partition does not take its marks for now, those of the others are not written again.
func TestOnlyWhatAPartitionDidNotTakeIsWrittenAgain(t *testing.T) {
	w := newMarkWorld(t)
	w.needsFaults()
	fault := w.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: w.marks, Partitions: []int32{2}, Err: kerr.NotEnoughReplicas, Count: 3,
	})
	w.produce(0, records(0, 100)...)
	w.consume(marker{w: w, value: "x"})
	w.waitCommitted(100)
	ids, there := make(map[string]int), make(map[int]int)
	for _, m := range w.all(w.marks) {
		ids[header(m, "id")]++
		there[m.Partition]++
	}
	for id, times := range ids {
		if times != 1 {
			t.Errorf("mark %s was written %d times", id, times)
		}
	}
	if len(ids) != 100 || there[2] == 0 || fault.Hits() != 3 || w.metrics.retried("marks") != 0 {
		t.Errorf("%d marks, by partition %v, refused %d times, %d retries", len(ids), there, fault.Hits(), w.metrics.retried("marks"))
	}
}

// A partition that refuses its marks for good does not keep those of another, which takes them in a moment.
func TestWhatIsRefusedForGoodKeepsNothingElse(t *testing.T) {
	w := newMarkWorld(t)
	w.needsFaults()
	forGood := w.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: w.marks, Partitions: []int32{1}, Err: kerr.TopicAuthorizationFailed, Count: 1,
	})
	forNow := w.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: w.marks, Partitions: []int32{2}, Err: kerr.NotEnoughReplicas, Count: 3,
	})
	w.produce(0, records(0, 100)...)
	w.consume(marker{w: w, value: "x"})
	w.waitCommitted(100)
	times := make(map[int]map[string]int)
	for _, m := range w.all(w.marks) {
		if times[m.Partition] == nil {
			times[m.Partition] = make(map[string]int)
		}
		times[m.Partition][header(m, "id")]++
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
				t.Errorf("mark %s was written %d times to partition %d", id, n, p)
			}
		}
	}
	if ids != 100 || forGood.Hits() != 1 || forNow.Hits() != 3 || w.metrics.retried("marks") != 1 {
		t.Errorf("%d marks, refused %d and %d times, %d retries", ids, forGood.Hits(), forNow.Hits(), w.metrics.retried("marks"))
	}
}

// An answer that does not name a partition says nothing of it.
func TestAnAnswerThatNamesNoPartitionIsNoAcknowledgement(t *testing.T) {
	w := newMarkWorld(t)
	w.needsFaults()
	var silent atomic.Int64
	w.cluster.ControlKey(kmsg.Produce.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if produce, ok := req.(*kmsg.ProduceRequest); !ok || produce.Topics[0].Topic != w.marks {
			return nil, nil, false
		}
		silent.Add(1)
		return req.ResponseKind(), nil, true
	})
	w.consume(marker{w: w, value: "x"})
	w.produce(0, records(0, 20)...)
	w.waitCommitted(20)
	if got := len(w.all(w.marks)); got != 20 || silent.Load() != 1 {
		t.Errorf("%d marks, %d silent answers", got, silent.Load())
	}
}

// Large records of many partitions make several requests, and less where a broker takes less at once.
func TestLargeRecordsMakeSeveralRequests(t *testing.T) {
	for name, broker := range map[string]string{"as brokers are": "1048588", "less at once": "150000"} {
		t.Run(name, func(t *testing.T) {
			w := newMarkWorld(t, kfake.BrokerConfigs(map[string]string{"message.max.bytes": broker}))
			value := strings.Repeat("x", 60<<10)
			writes := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: w.marks, Observe: true, Count: -1})
			w.produce(0, records(0, 100)...)
			w.consume(marker{w: w, value: value})
			w.waitCommitted(100)
			times := make(map[string]int)
			for _, m := range w.all(w.marks) {
				if times[header(m, "id")]++; len(m.Value) != len(value) {
					t.Errorf("a mark of %d bytes", len(m.Value))
				}
			}
			for id, n := range times {
				if n != 1 {
					t.Errorf("mark %s was written %d times", id, n)
				}
			}
			if len(times) != 100 || writes.Hits() < 100*60/512 {
				t.Errorf("%d marks in %d requests", len(times), writes.Hits())
			}
		})
	}
}
