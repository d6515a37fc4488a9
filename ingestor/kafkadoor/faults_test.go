package kafkadoor_test

import (
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/internal/kafka"
)

// mixed writes a batch of good and bad messages to each of the partitions, and returns how many of
// each.
func (w *world) mixed(partitions int) (good, bad int) {
	for p := range partitions {
		w.produce(p, records(good, 20)...)
		w.produce(p, record("BSM"), record(""))
		good, bad = good+20, bad+2
	}
	return good, bad
}

// wantAll fails unless every message is in the index, and every bad one on the rejects topic, by
// origin once.
func (w *world) wantAll(good, bad int) {
	w.t.Helper()
	w.waitCommitted(int64(good + bad))
	w.wantFiled(good)
	if got := len(w.rejectsByOrigin()); got != bad {
		w.t.Errorf("%d rejects, want %d", got, bad)
	}
}

func TestOffsetsStandStillWhileRejectsCannotBeWritten(t *testing.T) {
	w := newWorld(t, 2)
	w.needsFaults()
	fault := w.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: w.conf.Topics.Rejects, Err: kerr.TopicAuthorizationFailed, Count: -1,
	})
	good, bad := w.mixed(2)
	w.consume()
	if err := fault.Wait(t.Context(), 6); err != nil {
		t.Fatal(err)
	}
	if got := w.committed(); got[0] > 20 || got[1] > 20 {
		t.Errorf("committed %v although rejects were not written", got)
	}
	fault.Remove()
	w.wantAll(good, bad)
}

func TestRejectWhoseAcknowledgementIsLostHasTheSameOriginAgain(t *testing.T) {
	w := newWorld(t, 1)
	w.needsFaults()
	// The broker keeps the records and answers that it took too long.
	w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: w.conf.Topics.Rejects, Err: kerr.RequestTimedOut, Count: 2})
	w.produce(0, record("BSM"))
	w.consume()
	w.waitCommitted(1)
	if got := len(w.all(w.conf.Topics.Rejects)); got != 3 {
		t.Errorf("%d records on the rejects topic, want three copies", got)
	}
	if got := len(w.rejectsByOrigin()); got != 1 {
		t.Errorf("%d origins, want one", got)
	}
}

func TestFailedCommitEndsTheGenerationAndNothingIsLost(t *testing.T) {
	w := newWorld(t, 2)
	w.needsFaults()
	for _, err := range []*kerr.Error{kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.NotCoordinator, kerr.RequestTimedOut} {
		w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: err, Count: 2})
	}
	good, bad := w.mixed(2)
	w.consume()
	w.wantAll(good, bad)
	if w.metrics.retried("commit") == 0 || w.metrics.redelivered.Load() == 0 {
		t.Errorf("retries %v, redelivered %d", w.metrics.retries, w.metrics.redelivered.Load())
	}
}

func TestEndOfAGenerationLosesNothing(t *testing.T) {
	w := newWorld(t, 2)
	w.needsFaults()
	for _, err := range []*kerr.Error{kerr.RebalanceInProgress, kerr.UnknownMemberID, kerr.CoordinatorNotAvailable} {
		fault := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Err: err})
		stop := w.consume()
		if err := fault.Wait(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		stop()
	}
	joins := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, Observe: true, Count: -1})
	beats := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Err: kerr.RebalanceInProgress, Count: 3})
	good, bad := w.mixed(2)
	w.consume()
	for _, h := range []*kfake.FaultHandle{beats, joins} {
		if err := h.Wait(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
	}
	w.wantAll(good, bad)
}

func TestBatchInHandIsCommittedWhenTheGenerationEnds(t *testing.T) {
	w := newWorld(t, 1)
	w.needsFaults()
	entered, leave := w.index.gate()
	w.produce(0, records(0, 30)...)
	w.consume()
	<-entered
	beat := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Err: kerr.RebalanceInProgress})
	if err := beat.Wait(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	close(leave)
	w.waitCommitted(30)
	if got := w.metrics.redelivered.Load(); got != 0 {
		t.Errorf("%d records came again", got)
	}
}

func TestGroupThatCannotBeJoinedIsTriedAgain(t *testing.T) {
	w := newWorld(t, 1)
	w.needsFaults()
	w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, Err: kerr.CoordinatorNotAvailable, Count: 2})
	w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.SyncGroup}, Err: kerr.RebalanceInProgress, Count: 2})
	w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.FindCoordinator}, Err: kerr.CoordinatorNotAvailable, Count: 2})
	good, bad := w.mixed(1)
	w.consume()
	w.wantAll(good, bad)
	if w.metrics.retried("join") == 0 {
		t.Error("no failed join was counted")
	}
}

func TestFaultyFetchIsTriedAgainFromTheSameOffset(t *testing.T) {
	w := newWorld(t, 2)
	w.needsFaults()
	for _, err := range []*kerr.Error{kerr.NotLeaderForPartition, kerr.UnknownServerError, kerr.OffsetOutOfRange, kerr.KafkaStorageError} {
		w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: err, Count: 2})
	}
	good, bad := w.mixed(2)
	w.consume()
	w.wantAll(good, bad)
	if w.metrics.retried("fetch") == 0 || w.metrics.lost.Load() != 0 || w.metrics.redelivered.Load() != 0 {
		t.Errorf("retries %v, lost %d, redelivered %d", w.metrics.retries, w.metrics.lost.Load(), w.metrics.redelivered.Load())
	}
}

func TestLeaderThatMovesIsFollowed(t *testing.T) {
	w := newWorld(t, 2, kfake.NumBrokers(3))
	w.consume()
	produced := 0
	for round := range 6 {
		for p := range 2 {
			if err := w.cluster.MoveTopicPartition(w.conf.Topics.Raw, int32(p), int32((p+round)%3)); err != nil {
				t.Fatal(err)
			}
			w.produce(p, records(produced, 10)...)
			produced += 10
		}
		w.waitCommitted(int64(produced))
	}
	w.wantFiled(produced)
}

// deleteBefore takes away the records of a partition before an offset, as retention does.
func (w *world) deleteBefore(partition int32, offset int64) {
	w.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.Brokers...))
	if err != nil {
		w.t.Fatal(err)
	}
	defer client.Close()
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.TimeoutMillis = 5000
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = w.conf.Topics.Raw
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = partition, offset
	topic.Partitions = append(topic.Partitions, p)
	request.Topics = append(request.Topics, topic)
	answer, err := request.RequestWith(w.t.Context(), client)
	if err == nil {
		err = kerr.ErrorForCode(answer.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestRecordsDeletedBeforeTheyWereReadAreCounted(t *testing.T) {
	w := newWorld(t, 1)
	w.consumed(10)
	for i := 10; i < 100; i += 10 {
		w.produce(0, records(i, 10)...)
	}
	w.deleteBefore(0, 40)
	w.consume()
	w.eventually("all is read", func() bool { return w.committed()[0] == 100 })
	if got := w.metrics.lost.Load(); got != 30 {
		t.Errorf("%d records lost, want 30", got)
	}
	if w.index.plates() != 70 {
		t.Errorf("%d messages in the index, want 10 from before and 60 after", w.index.plates())
	}
}

// The partition is quiet after the loss, and its consumer starts again.
func TestALossIsCountedOnce(t *testing.T) {
	w := newWorld(t, 1)
	w.consumed(10)
	w.produce(0, records(10, 10)...)
	w.deleteBefore(0, 20)
	stop := w.consume()
	w.eventually("the loss is noticed", func() bool { return w.metrics.lost.Load() > 0 })
	stop()
	w.consume()
	w.produce(0, records(20, 10)...)
	w.waitCommitted(30)
	if got := w.metrics.lost.Load(); got != 10 {
		t.Errorf("%d records lost, want 10", got)
	}
}

func TestRecordsDeletedUnderARunningConsumerAreCounted(t *testing.T) {
	w := newWorld(t, 1)
	entered, leave := w.index.gate()
	w.produce(0, records(0, 10)...)
	w.consume()
	<-entered
	for i := 10; i < 50; i += 10 {
		w.produce(0, records(i, 10)...)
	}
	w.deleteBefore(0, 30)
	close(leave)
	w.eventually("all is read", func() bool { return w.committed()[0] == 50 })
	if got := w.metrics.lost.Load(); got != 20 {
		t.Errorf("%d records lost, want 20", got)
	}
}

func TestNewGroupLosesNothingByWhatWasDeletedBefore(t *testing.T) {
	w := newWorld(t, 1)
	core, logs := observer.New(zap.InfoLevel)
	w.kafka.Logger = zap.New(core)
	w.open()
	w.produce(0, records(0, 10)...)
	w.deleteBefore(0, 5)
	w.consume()
	w.eventually("all is read", func() bool { return w.committed()[0] == 10 })
	if got := w.metrics.lost.Load(); got != 0 || w.index.plates() != 5 {
		t.Errorf("lost %d, %d in the index", got, w.index.plates())
	}
	// Kafka forgets the offsets of a group that was away for long, so the operator must see why all is read.
	said := logs.FilterMessage("the group has no offset of the partition, which is read from its beginning")
	if said.Len() != 1 || said.FilterField(zap.Int64("from", 5)).FilterField(zap.Int64("to", 9)).Len() != 1 {
		t.Errorf("%v", logs.All())
	}
}

// commit commits an offset of partition 0 for the group, which has no members.
func (w *world) commit(offset int64) {
	w.t.Helper()
	answer, err := w.client.OffsetCommit(w.t.Context(), &kafkago.OffsetCommitRequest{
		GroupID: w.conf.Group, GenerationID: -1,
		Topics: map[string][]kafkago.OffsetCommit{w.conf.Topics.Raw: {{Partition: 0, Offset: offset}}},
	})
	if err != nil || answer.Topics[w.conf.Topics.Raw][0].Error != nil {
		w.t.Fatal(err, answer)
	}
}

func TestLogThatLostItsEndIsReadFromItsBeginning(t *testing.T) {
	w := newWorld(t, 1)
	w.produce(0, records(0, 10)...)
	w.commit(1000)
	w.consume()
	w.waitCommitted(10)
	w.wantFiled(10)
}

// The log may have grown beyond the offset when the next owner begins.
func TestLogThatLostItsEndIsReadFromItsBeginningByTheNextOwnerToo(t *testing.T) {
	w := newWorld(t, 1)
	w.produce(0, records(0, 10)...)
	w.commit(15)
	w.index.setFail(true)
	stop := w.consume()
	w.eventually("a batch was tried", func() bool { return w.index.failures() > 0 })
	stop()
	w.produce(0, records(10, 10)...)
	w.index.setFail(false)
	w.consume()
	w.eventually("all is read", func() bool { return w.committed()[0] == 20 })
	w.wantFiled(20)
}

// transactions is a producer of transactions on the raw topic.
func (w *world) transactions() *kgo.Client {
	w.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.Brokers...), kgo.TransactionalID("feed"+w.conf.Group), kgo.DefaultProduceTopic(w.conf.Topics.Raw))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(client.Close)
	return client
}

// begin begins a transaction with the messages from the first up to, and without, the end.
func begin(t *testing.T, client *kgo.Client, first, end int) {
	t.Helper()
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	for i := first; i < end; i++ {
		if err := client.ProduceSync(t.Context(), &kgo.Record{Value: []byte(message(i)), Timestamp: received}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func end(t *testing.T, client *kgo.Client, how kgo.TransactionEndTry) {
	t.Helper()
	if err := client.EndTransaction(t.Context(), how); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsOfAnAbortedTransactionAreNoMessages(t *testing.T) {
	w := newWorld(t, 1)
	client := w.transactions()
	begin(t, client, 0, 1)
	end(t, client, kgo.TryCommit)
	begin(t, client, 100, 103) // aborted, with others between and behind, and its mark in another fetch
	w.produce(0, records(1, 1)...)
	w.produce(0, record(strings.Repeat("A", 300<<10)))
	begun := client.ProduceSync(t.Context(), &kgo.Record{Value: []byte(message(103)), Timestamp: received})
	if err := begun.FirstErr(); err != nil {
		t.Fatal(err)
	}
	end(t, client, kgo.TryAbort)
	begin(t, client, 2, 3)
	end(t, client, kgo.TryCommit)
	w.produce(0, records(3, 1)...)

	w.consume()
	w.waitCommitted(1 + 1 + 3 + 1 + 1 + 1 + 1 + 1 + 1 + 1)
	w.wantFiled(4)
	if got := len(w.rejectsByOrigin()); got != 1 {
		t.Errorf("%d rejects, want that of the record that is too large", got)
	}
	again := newIndex()
	w.index = again
	if _, err := w.door.Rebuild(t.Context(), w.rebuilder(), kafka.Start{}, nil); err != nil {
		t.Fatal(err)
	}
	w.wantFiled(4)
}

func TestAnOpenTransactionIsWaitedForAndIsBehindButNotStandingStill(t *testing.T) {
	w := newWorld(t, 1)
	clock := new(later)
	w.kafka.Now = clock.now
	w.open()
	client := w.transactions()
	w.produce(0, records(0, 1)...)
	begin(t, client, 1, 2)
	w.produce(0, records(2, 1)...)
	consumer := w.door.NewConsumer(w.acceptor(), w.metrics)
	w.run(consumer)
	w.waitCommitted(1)
	w.eventually("two records wait", func() bool { n, oldest := w.metrics.waits(0); return n == 2 && !oldest.IsZero() })
	w.wantFiled(1)
	clock.forward(31 * time.Second)
	if err := consumer.Stalled(); err != nil {
		t.Error(err)
	}
	progress, err := w.door.Rebuild(t.Context(), w.rebuilder(), kafka.Start{}, nil)
	if err != nil || progress.Records != 1 {
		t.Errorf("a rebuild reads %d records: %v", progress.Records, err)
	}
	end(t, client, kgo.TryCommit)
	w.waitCommitted(4)
	w.wantFiled(3)
}

func TestARecordThatLooksLikeTheEndOfATransactionIsOneLikeOthers(t *testing.T) {
	w := newWorld(t, 1)
	looks := record("\x00\x00\x00\x00\x00\x01")
	looks.Key = kafkago.NewBytes([]byte("\x00\x00\x00\x01"))
	w.produce(0, looks)
	w.consume()
	w.waitCommitted(1)
	if got := len(w.rejectsByOrigin()); got != 1 {
		t.Errorf("%d rejects, want one", got)
	}
}

func TestGapsThatCompactionLeavesAreRead(t *testing.T) {
	w := newBroker(t)
	w.needsFaults()
	w.open()
	small := map[string]string{"cleanup.policy": "compact", "segment.bytes": "1", "retention.ms": "-1"}
	if err := w.cluster.CreateTopic(w.conf.Topics.Raw, 1, small); err != nil {
		t.Fatal(err)
	}
	if err := w.cluster.CreateTopic(w.conf.Topics.Rejects, 1, nil); err != nil {
		t.Fatal(err)
	}
	keyed := func(key string, i int) kafkago.Record {
		r := record(message(i))
		r.Key = kafkago.NewBytes([]byte(key))
		return r
	}
	w.produce(0, keyed("stays", 0), keyed("goes", 10), keyed("goes", 11))
	w.produce(0, keyed("goes", 12))
	w.produce(0, keyed("goes", 1))
	w.produce(0, keyed("last", 2))
	w.cluster.Compact()
	w.consume()
	w.waitCommitted(6)
	w.wantFiled(3)
}
