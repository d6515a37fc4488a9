package kafkadoor_test

import (
	"context"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
)

func envelopeOf(raw string) ingestor.Envelope {
	return ingestor.Envelope{Raw: raw, Received: received, Origin: "http/1"}
}

func TestAppendedMessageStandsOnTheRawTopicAsItWasSent(t *testing.T) {
	w := newWorld(t, 3)
	raw := "\x01BSM\r\n\xff\x00"
	if err := w.door.Append(t.Context(), []ingestor.Record{
		{Raw: raw, Received: received, Plate: "0724000000"},
		{Raw: "{}", Received: received, Report: true},
	}); err != nil {
		t.Fatal(err)
	}
	got := w.all(w.conf.Topics.Raw)
	if len(got) != 2 {
		t.Fatalf("%d records", len(got))
	}
	m, report := got[0], got[1]
	if m.Key == nil {
		m, report = report, m
	}
	if string(m.Value) != raw || string(m.Key) != "0724000000" || !m.Time.Equal(received) ||
		header(m, "bagtrail-received") != "2026-03-12T06:00:00.123Z" || header(m, "bagtrail-kind") != "" {
		t.Errorf("record %+v", m)
	}
	if header(report, "bagtrail-kind") != "delayed-bag-report" || report.Key != nil {
		t.Errorf("report %+v", report)
	}
}

func TestAppendedRecordsAreToldTheirPositions(t *testing.T) {
	w := newWorld(t, 4)
	for range 2 { // the second time offsets begin behind the first
		list := make([]ingestor.Record, 40)
		for i := range list {
			list[i] = ingestor.Record{Raw: message(i), Received: received, NoPosition: i == 13}
			if i%4 > 0 {
				list[i].Plate = plate(i % 7)
			}
		}
		if err := w.door.Append(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		stands := make(map[bag.Position]string)
		for _, m := range w.all(w.conf.Topics.Raw) {
			stands[bag.Position{Known: true, Partition: int32(m.Partition), Offset: m.Offset}] = string(m.Value)
		}
		for i, r := range list {
			switch {
			case r.NoPosition && r.Position != bag.Position{}:
				t.Errorf("a replayed record stands at %+v", r.Position)
			case !r.NoPosition && stands[r.Position] != message(i):
				t.Errorf("at %+v stands %q, want %q", r.Position, stands[r.Position], message(i))
			}
		}
	}
}

// The partitions are those that the clients of Java choose for these keys.
func TestMessagesAboutABagMeetInThePartitionOfItsPlate(t *testing.T) {
	w := newWorld(t, 12)
	for key, want := range map[bag.Plate]int32{"0724123456": 11, "0220123456": 10, "2220000001": 3} {
		last := int64(-1)
		for i := range 3 {
			list := []ingestor.Record{{Raw: message(i), Received: received}, {Raw: message(i), Received: received, Plate: key}}
			if err := w.door.Append(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			if p := list[1].Position; p.Partition != want || p.Offset <= last {
				t.Errorf("%s stands at %+v, want it in partition %d behind offset %d", key, p, want, last)
			}
			last = list[1].Position.Offset
		}
	}
}

func TestAReplayedMessageHasNoPosition(t *testing.T) {
	w := newWorld(t, 1)
	list := []ingestor.Record{{Raw: message(0), Received: received, Plate: plate(0), NoPosition: true}, {Raw: message(1), Received: received, Plate: plate(1)}}
	if err := w.door.Append(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	w.consume()
	w.waitCommitted(2)
	if s := w.index.stored(plate(0)); len(s) != 1 || s[0].Position != (bag.Position{}) {
		t.Errorf("filed %+v", s)
	}
	if s := w.index.stored(plate(1)); len(s) != 1 || s[0].Position != (bag.Position{Known: true, Offset: 1}) {
		t.Errorf("filed %+v", s)
	}
}

// Their keys lead to several partitions, and their offsets depend on what else is written.
func TestAMessageOfARequestKeepsItsNumberWhereverItStands(t *testing.T) {
	w := newWorld(t, 3)
	list := make([]ingestor.Record, 12)
	for i := range list {
		list[i] = ingestor.Record{Raw: message(i), Received: received, Plate: plate(i), Position: bag.InRequest(i)}
	}
	for range 2 { // the reply was lost
		if err := w.door.Append(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range list {
		if r.Position != bag.InRequest(i) {
			t.Errorf("message %d stands at %+v", i, r.Position)
		}
	}
	w.consume()
	w.waitCommitted(24)
	for i := range list {
		if s := w.index.stored(plate(i)); len(s) != 1 || s[0].Position != bag.InRequest(i) {
			t.Errorf("message %d is filed as %+v", i, s)
		}
	}
}

// Only doors of this service write the header, but others can.
func TestANumberThatIsNoneIsIgnored(t *testing.T) {
	w := newWorld(t, 1)
	numbers := []string{"-1", "x", "", "1.5", "2147483648", "99999999999999999999"}
	for i, number := range numbers {
		w.produce(0, kafkago.Record{Value: kafkago.NewBytes([]byte(message(i))), Headers: []kafkago.Header{{Key: "bagtrail-number", Value: []byte(number)}}})
	}
	w.produce(0, kafkago.Record{Value: kafkago.NewBytes([]byte(message(len(numbers)))), Headers: []kafkago.Header{
		{Key: "bagtrail-number", Value: []byte("7")}, {Key: "bagtrail-replayed", Value: []byte("true")},
	}})
	w.consume()
	w.waitCommitted(int64(len(numbers)) + 1)
	for i, number := range numbers {
		if s := w.index.stored(plate(i)); len(s) != 1 || s[0].Position != (bag.Position{Known: true, Offset: int64(i)}) {
			t.Errorf("number %q: filed %+v", number, s)
		}
	}
	if s := w.index.stored(plate(len(numbers))); len(s) != 1 || s[0].Position != (bag.Position{}) {
		t.Errorf("a replayed message is filed as %+v", s)
	}
}

func TestAMessageMadeOfARejectNamesItAndTheKey(t *testing.T) {
	w := newWorld(t, 1)
	if err := w.door.Append(t.Context(), []ingestor.Record{{Raw: message(0), Received: received, Reject: "ceb68f05b352e18cce77", Sender: "desk"}}); err != nil {
		t.Fatal(err)
	}
	r := w.all(w.conf.Topics.Raw)[0]
	if header(r, "bagtrail-reject") != "ceb68f05b352e18cce77" || header(r, "bagtrail-key") != "desk" {
		t.Errorf("%+v", r)
	}
}

func TestAppendsWithoutAKeyGoRoundThePartitions(t *testing.T) {
	w := newWorld(t, 3)
	for i := range 9 {
		if err := w.door.Append(t.Context(), []ingestor.Record{{Raw: message(i), Received: received}}); err != nil {
			t.Fatal(err)
		}
	}
	count := make(map[int]int)
	for _, m := range w.all(w.conf.Topics.Raw) {
		count[m.Partition]++
	}
	if count[0] < 2 || count[1] < 2 || count[2] < 2 { // a new partition may have been passed over once
		t.Errorf("records by partition: %v", count)
	}
}

func TestAppendedMessageIsConsumedAsTheSame(t *testing.T) {
	w := newWorld(t, 2)
	acceptor := w.poster()
	for i := range 10 {
		if outcome, err := acceptor.Accept(t.Context(), envelopeOf(message(i))); err != nil || outcome.Verdict != ingestor.Accepted {
			t.Fatal(outcome.Verdict, err)
		}
	}
	if outcome, err := acceptor.Accept(t.Context(), envelopeOf("BSM")); err != nil || outcome.Verdict != ingestor.Rejected {
		t.Fatal(outcome.Verdict, err)
	}
	w.consume()
	w.waitCommitted(10)
	w.wantFiled(10)
	if w.metrics.duplicate.Load() != 10 {
		t.Errorf("%d of 10 were known", w.metrics.duplicate.Load())
	}
	if m, ok := w.rejectsByOrigin()["http/1"]; !ok || string(m.Value) != "BSM" {
		t.Errorf("no reject of the rejected one")
	}
}

func TestAppendTriesAnotherPartitionWhileItsTimeLasts(t *testing.T) {
	w := newWorld(t, 2)
	w.needsFaults()
	w.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: w.conf.Topics.Raw, Partitions: []int32{0}, Err: kerr.NotLeaderForPartition, Count: -1,
	})
	for i := range 4 {
		if err := w.door.Append(t.Context(), []ingestor.Record{{Raw: message(i), Received: received}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.all(w.conf.Topics.Raw); len(got) != 4 || got[0].Partition != 1 {
		t.Errorf("records %+v", got)
	}
}

func TestAppendFailsInTimeWhileNoBrokerAnswers(t *testing.T) {
	w := newWorld(t, 1)
	w.needsFaults()
	fault := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicas, Count: -1})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := w.door.Append(ctx, []ingestor.Record{{Raw: message(0), Received: received}}); err == nil {
		t.Error("no error although too few replicas have the record")
	}
	fault.Remove()
	w.cluster.Close()
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := w.door.Append(ctx, []ingestor.Record{{Raw: message(0), Received: received}}); err == nil {
		t.Error("no error although the broker is gone")
	}
	if err := w.door.Ping(t.Context()); err == nil {
		t.Error("a broker that is gone answers")
	}
}
