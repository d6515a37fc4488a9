package kafkadoor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/ingestor"
)

func TestEveryRecordIsIndexedOrRejectedBeforeItsOffsetIsCommitted(t *testing.T) {
	w := newWorld(t, 3)
	faulty := strings.Replace(message(3), "JFK", "J!K", 1)
	document, err := json.Marshal(map[string]string{"bim_message": message(1)})
	if err != nil {
		t.Fatal(err)
	}
	oversize := message(4) + strings.Repeat(" ", ingestor.MaxMessage)
	tombstone := kafkago.Record{Time: received, Key: kafkago.NewBytes([]byte("k"))}
	w.produce(0,
		record(message(0)),
		record(string(document), "content-type", "application/json"),
		record(`{"bim_message":1}`, "content-type", "application/json; charset=utf-8"),
		record(faulty),
		record(""))
	w.produce(1,
		record(oversize),
		record("\x00\xff\x1f\x8b"),
		tombstone)
	w.produce(2,
		record(`{"record_reference":"ZRHLX00001","station":"ZRH","bags":["0724000002"]}`, "bagtrail-kind", "delayed-bag-report"))

	stop := w.consume()
	w.waitCommitted(9)
	stop()

	w.wantFiled(3)
	if s := w.index.stored(plate(1)); len(s) != 1 || s[0].Raw != message(1) {
		t.Errorf("of a document is stored %+v", s)
	}
	if s := w.index.stored(plate(2)); len(s) != 1 || !s[0].Report {
		t.Errorf("of a report is stored %+v", s)
	}
	rejects := w.rejectsByOrigin()
	raw := w.conf.Topics.Raw
	for origin, want := range map[string]struct{ codes, value, contentType, key string }{
		raw + "/0/2": {"SVCPRB003", `{"bim_message":1}`, "application/json", ""},
		raw + "/0/3": {"SVCPRB023", faulty, "", ""},
		raw + "/0/4": {"SVCPRB003", "", "", ""},
		raw + "/1/0": {"SVCSRV003", oversize, "", ""},
		raw + "/1/1": {"SVCPRB004", "\x00\xff\x1f\x8b", "", ""},
		raw + "/1/2": {"SVCPRB003", "", "", "k"},
	} {
		m, ok := rejects[origin]
		if !ok || header(m, "bagtrail-codes") != want.codes || string(m.Value) != want.value ||
			header(m, "content-type") != want.contentType || string(m.Key) != want.key {
			t.Errorf("reject of %s: found %v, codes %s, key %q", origin, ok, header(m, "bagtrail-codes"), m.Key)
			continue
		}
		var list []map[string]any
		if err := json.Unmarshal([]byte(header(m, "bagtrail-diagnostics")), &list); err != nil || len(list) != 1 || list[0]["code"] != want.codes {
			t.Errorf("diagnostics of %s: %v, %v", origin, list, err)
		}
		if got := header(m, "bagtrail-received"); got != "2026-03-12T06:00:00.123Z" {
			t.Errorf("received time of %s: %s", origin, got)
		}
	}
	if len(rejects) != 6 {
		t.Errorf("%d rejects, want 6", len(rejects))
	}
	if a, r := w.metrics.accepted.Load(), w.metrics.rejected.Load(); a != 3 || r != 6 {
		t.Errorf("counted %d accepted, %d rejected", a, r)
	}
}

// The AsyncAPI document says so: parameters do not count, and some clients write strange ones.
func TestTheMediaTypeAloneSaysThatAValueIsADocument(t *testing.T) {
	w := newWorld(t, 1)
	types := []string{"application/json; charset", " Application/JSON ;charset=utf-8;charset=utf-8", "application/json;"}
	for i, contentType := range types {
		document, err := json.Marshal(map[string]string{"bim_message": message(i)})
		if err != nil {
			t.Fatal(err)
		}
		w.produce(0, record(string(document), "content-type", contentType))
	}
	w.produce(0, record(message(len(types)), "content-type", "application/jsonlines"))
	w.consume()
	w.waitCommitted(int64(len(types) + 1))
	w.wantFiled(len(types) + 1)
}

// An administrator may let the rejects topic be compacted. Brokers refuse to write a record without
// a key to such a topic, again and again.
func TestTheRejectOfARecordWithoutAKeyHasOne(t *testing.T) {
	w := newWorld(t, 1)
	w.set(w.conf.Topics.Rejects, "cleanup.policy", "compact,delete")
	w.produce(0, record("BSM"))
	w.consume()
	w.waitCommitted(1)
	b, err := w.own.Reader(w.conf.Topics.Rejects, 0, 0).Fetch(t.Context(), time.Second)
	if err != nil || len(b.Records) != 1 || b.Records[0].Key == nil || len(b.Records[0].Key) > 0 {
		t.Errorf("the rejects are %+v (%v)", b.Records, err)
	}
}

// Brokers bound the packed size of records only.
func TestAPackedRecordThatIsLargerThanARejectHoldsUpNothing(t *testing.T) {
	w := newWorld(t, 1)
	large := record(strings.Repeat("A", 5<<20))
	large.Key = kafkago.NewBytes([]byte(strings.Repeat("k", 5<<20)))
	w.produceTo(w.conf.Topics.Raw, 0, compress.Zstd, large)
	w.produce(0, records(0, 1)...)
	w.consume()
	w.waitCommitted(2)
	w.wantFiled(1)
	rejects := w.rejectsByOrigin()
	m := rejects[w.conf.Topics.Raw+"/0/0"]
	if len(rejects) != 1 || header(m, "bagtrail-codes") != "SVCSRV003" || len(m.Value) != ingestor.MaxDocument+1 || len(m.Key) != ingestor.MaxMessage {
		t.Errorf("%d rejects, codes %s, %d bytes with a key of %d", len(rejects), header(m, "bagtrail-codes"), len(m.Value), len(m.Key))
	}
}

// An administrator may have created the rejects topic with the limit of Kafka.
func TestARejectThatTheTopicDoesNotTakeIsCut(t *testing.T) {
	w := newWorld(t, 1)
	w.needsFaults() // a real broker may apply the setting later
	w.set(w.conf.Topics.Rejects, "max.message.bytes", "400000")
	large := make([]byte, 500_000)
	if _, err := rand.NewChaCha8([32]byte{}).Read(large); err != nil { // packing makes it no smaller
		t.Fatal(err)
	}
	var faulty strings.Builder // a document that is as long as a text that is cut, with many faults
	for _, c := range []byte("BSM\n.V/1LZRH\n" + strings.Repeat(".N/1\n", 10_000)) {
		fmt.Fprintf(&faulty, `\u%04x`, c)
	}
	document := `{"bim_message":"` + faulty.String() + `"}`
	w.produce(0, record(string(large)), record("BSM"), record(message(0)), record(document, "content-type", "application/json"))
	w.consume()
	w.waitCommitted(4)
	w.wantFiled(1)
	rejects := w.rejectsByOrigin()
	m := rejects[w.conf.Topics.Raw+"/0/3"]
	var list []ingestor.Diagnostic
	if err := json.Unmarshal([]byte(header(m, "bagtrail-diagnostics")), &list); err != nil || len(list) < 100 || string(m.Value) != document[:256<<10] {
		t.Errorf("%d diagnostics, error %v, %d bytes", len(list), err, len(m.Value))
	}
	m = rejects[w.conf.Topics.Raw+"/0/0"]
	if len(rejects) != 3 || header(m, "bagtrail-codes") != "SVCSRV003" || !bytes.Equal(m.Value, large[:256<<10]) {
		t.Errorf("%d rejects, codes %s, %d bytes", len(rejects), header(m, "bagtrail-codes"), len(m.Value))
	}
}

func TestARecordThatIsMarkedAsAReportAndIsNoneIsRejected(t *testing.T) {
	w := newWorld(t, 1)
	for _, value := range []string{
		``, `null`, `{}`, `[]`, `"ZRHLX00001"`, message(0), `{"bim_message":"x"}`,
		`{"record_reference":"ZRHLX00001","station":"ZRH"}`,
		`{"record_reference":"ZRHLX00001","station":"ZRH","bags":[]}`,
		`{"record_reference":"ZRHLX00001","station":"ZRH","bags":["724"]}`,
		`{"station":"ZRH","bags":["0724000002"]}`,
	} {
		w.produce(0, record(value, "bagtrail-kind", "delayed-bag-report"))
	}
	w.consume()
	w.waitCommitted(11)
	if a, d, r := w.metrics.accepted.Load(), w.metrics.duplicate.Load(), w.metrics.rejected.Load(); a != 0 || d != 0 || r != 11 {
		t.Errorf("%d accepted, %d duplicates, %d rejected, want 11 rejected", a, d, r)
	}
	rejects := w.rejectsByOrigin()
	if len(rejects) != 11 {
		t.Errorf("%d rejects, want 11", len(rejects))
	}
	for origin, m := range rejects {
		if codes := header(m, "bagtrail-codes"); codes != "SVCSRV009" {
			t.Errorf("reject of %s: codes %s, want SVCSRV009", origin, codes)
		}
	}
}

func TestReceivedTimeIsTheHeadersElseTheRecords(t *testing.T) {
	w := newWorld(t, 1)
	w.produce(0,
		record(message(0)),
		record(message(1), "bagtrail-received", "2026-03-11T23:30:00.456+01:00"),
		record(message(2), "bagtrail-received", "yesterday"),
		record(message(3), "bagtrail-received", "2026-03-11T22:30:00.4569999Z"),
		record(message(4), "bagtrail-received", "0000-01-01T00:00:00Z"))
	w.consume()
	w.waitCommitted(5)
	header := time.Date(2026, 3, 11, 22, 30, 0, 456e6, time.UTC)
	for i, want := range []time.Time{received, header, received, header, received} {
		if s := w.index.stored(plate(i)); len(s) != 1 || s[0].Received != want {
			t.Errorf("message %d: stored %+v, want it received at %v", i, s, want)
		}
	}
}

func TestEveryFormOfBatchIsRead(t *testing.T) {
	w := newWorld(t, 1)
	n := 0
	for _, codec := range []kafkago.Compression{compress.None, compress.Gzip, compress.Snappy, compress.Lz4, compress.Zstd} {
		w.produceTo(w.conf.Topics.Raw, 0, codec, records(n, 50)...)
		n += 50
	}
	large := strings.Repeat("A", 700<<10) // more than one fetch asks for
	w.produce(0, record(large))
	w.produce(0, records(n, 1)...)
	w.consume()
	w.waitCommitted(int64(n) + 2)
	w.wantFiled(n + 1)
	if m := w.rejectsByOrigin()[fmt.Sprintf("%s/0/%d", w.conf.Topics.Raw, n)]; string(m.Value) != large {
		t.Errorf("the reject of a large record has %d bytes, want %d", len(m.Value), len(large))
	}
}

func TestDiagnosticsWithoutNumberStillFitIntoAReject(t *testing.T) {
	w := newWorld(t, 1)
	value := "BSM\n.V/1LZRH\n" + strings.Repeat(".N/1\n", 10_000) + "ENDBSM\n"
	w.produce(0, record(value))
	w.consume()
	w.waitCommitted(1)
	m := w.rejectsByOrigin()[w.conf.Topics.Raw+"/0/0"]
	var list []map[string]any
	if err := json.Unmarshal([]byte(header(m, "bagtrail-diagnostics")), &list); err != nil || len(list) < 100 {
		t.Errorf("%d diagnostics, error %v", len(list), err)
	}
	if got := header(m, "bagtrail-codes"); got != "SVCPRB041,SVCPRB016" && got != "SVCPRB016,SVCPRB041" {
		t.Errorf("codes %s", got)
	}
	if string(m.Value) != value {
		t.Error("the value is not as it came")
	}
}

func TestADiagnosticThatIsTooLargeForARejectIsCut(t *testing.T) {
	w := newWorld(t, 1)
	w.produce(0, record("BSM\n.V/1L"+strings.Repeat("<", 43_700)+"\n.F/LX1/14MAR/ZRH\n.N/0724100001001\nENDBSM"))
	w.consume()
	w.waitCommitted(1)
	m := w.rejectsByOrigin()[w.conf.Topics.Raw+"/0/0"]
	var list []ingestor.Diagnostic
	if err := json.Unmarshal([]byte(header(m, "bagtrail-diagnostics")), &list); err != nil || len(list) != 1 || len(list[0].Value) != 8192 {
		t.Errorf("%d diagnostics, error %v, of codes %s", len(list), err, header(m, "bagtrail-codes"))
	}
}

func TestOffsetsStandStillWhileTheIndexFails(t *testing.T) {
	w := newWorld(t, 2)
	w.index.setFail(true)
	w.produce(0, records(0, 20)...)
	w.produce(1, records(20, 20)...)
	w.produce(1, record("BSM"))
	consumer := w.door.NewConsumer(w.acceptor(), w.metrics)
	w.run(consumer)

	w.eventually("both batches were tried again", func() bool { return w.index.failures() > 10 })
	if got := w.committed(); got[0] > 0 || got[1] > 0 {
		t.Errorf("committed %v while the index failed", got)
	}
	if len(w.all(w.conf.Topics.Rejects)) != 0 || w.index.plates() != 0 {
		t.Error("a batch that is not decided on has left traces")
	}
	if err := consumer.Member(); err != nil || w.metrics.retried("commit") != 0 || w.metrics.retried("index") == 0 {
		t.Errorf("member: %v, retries %v", err, w.metrics.retries)
	}

	w.index.setFail(false)
	w.waitCommitted(41)
	w.wantFiled(40)
	if len(w.all(w.conf.Topics.Rejects)) != 1 {
		t.Error("not one reject")
	}
}

func TestStopFinishesTheBatchInHandAndLeaves(t *testing.T) {
	w := newWorld(t, 1)
	entered, leave := w.index.gate()
	w.produce(0, records(0, 30)...)
	stop := w.consume()
	<-entered
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	select {
	case <-stopped:
		t.Error("it stopped with a batch in hand")
	case <-time.After(50 * time.Millisecond):
	}
	close(leave)
	<-stopped
	if got := w.committed(); got[0] != 30 {
		t.Errorf("committed %v, want 30", got)
	}
	w.wantFiled(30)
	groups, err := w.client.DescribeGroups(t.Context(), &kafkago.DescribeGroupsRequest{GroupIDs: []string{w.conf.Group}})
	if err != nil || len(groups.Groups) != 1 || len(groups.Groups[0].Members) != 0 {
		t.Errorf("the group still has members: %+v, %v", groups, err)
	}
}

func TestStopDoesNotWaitForAnIndexThatFails(t *testing.T) {
	w := newWorld(t, 1)
	w.index.setFail(true)
	w.produce(0, records(0, 5)...)
	stop := w.consume()
	w.eventually("the index was tried", func() bool { return w.index.failures() > 2 })
	stop()
	if got := w.committed(); got[0] > 0 {
		t.Errorf("committed %v", got)
	}
	w.index.setFail(false)
	w.consume()
	w.waitCommitted(5)
	w.wantFiled(5)
}

func TestStopDoesNotWaitForAnIndexThatHangs(t *testing.T) {
	w := newWorld(t, 1)
	w.kafka.Timing.Drain = 50 * time.Millisecond
	w.open()
	entered, _ := w.index.gate()
	w.produce(0, records(0, 5)...)
	stop := w.consume()
	<-entered
	stop()
	if got := w.committed(); got[0] > 0 {
		t.Errorf("committed %v", got)
	}
}

// However many partitions there are, no more than a batch a core is in hand, and two at least; all
// have their turn.
func TestFewBatchesAreInHandAtOnce(t *testing.T) {
	const partitions = 12
	w := newWorld(t, partitions)
	entered, leave := w.index.gate()
	for p := range partitions {
		w.produce(p, records(10*p, 10)...)
	}
	stop := w.consume()
	most := max(2, runtime.GOMAXPROCS(0))
	for range min(most, partitions) {
		<-entered
	}
	select {
	case <-entered:
		if most < partitions {
			t.Errorf("more than %d batches are in hand", most)
		}
	case <-time.After(300 * time.Millisecond):
	}
	close(leave)
	w.waitCommitted(10 * partitions)
	stop()
	w.wantFiled(10 * partitions)
}

// Partitions that cannot go on let the others have their turn, whether what they wait for fails or
// hangs.
func TestPartitionsThatCannotGoOnDoNotStopTheOthers(t *testing.T) {
	for _, hang := range []bool{false, true} {
		t.Run(fmt.Sprintf("hang %v", hang), func(t *testing.T) {
			stuck := 2 * max(2, runtime.GOMAXPROCS(0))
			w := newWorld(t, stuck+1)
			w.kafka.Timing.Drain = 50 * time.Millisecond
			w.open()
			w.index.refuse("0724", hang)
			for p := range stuck {
				w.produce(p, records(p, 1)...)
			}
			stop := w.consume()
			w.eventually("all of them were tried", func() bool { return w.index.failures() >= stuck })
			w.produce(stuck, record(strings.Replace(message(0), ".N/0724", ".N/0725", 1)))
			w.eventually("the other one goes on", func() bool { return len(w.index.stored("0725000000")) == 1 })
			stop()
			w.index.refuse("", false)
			w.consume()
			w.waitCommitted(int64(stuck) + 1)
		})
	}
}

func TestAnotherMemberTakesOverWhereOneLeaves(t *testing.T) {
	w := newWorld(t, 6)
	produced := 0
	add := func() {
		for p := range 6 {
			w.produce(p, records(produced, 10)...)
			produced += 10
		}
	}
	add()
	first, second := w.door.NewConsumer(w.acceptor(), w.metrics), w.door.NewConsumer(w.acceptor(), w.metrics)
	stop := w.run(first)
	w.waitCommitted(int64(produced))
	w.run(second)
	w.eventually("both are members", func() bool { return first.Member() == nil && second.Member() == nil })
	add()
	w.waitCommitted(int64(produced))
	stop()
	add()
	w.waitCommitted(int64(produced))
	w.wantFiled(produced)
	if got := w.metrics.duplicate.Load(); got != 0 {
		t.Errorf("%d records came twice although everybody left in order", got)
	}
}

func TestNewPartitionsAreFound(t *testing.T) {
	w := newWorld(t, 1)
	w.produce(0, records(0, 5)...)
	w.consume()
	w.waitCommitted(5)
	w.grow(3)
	w.produce(2, records(5, 5)...)
	w.waitCommitted(10)
	w.wantFiled(10)
}

// Where messages come in bunches, there is one fetch for each, and none in vain.
func TestABunchTakesOneFetch(t *testing.T) {
	w := newBroker(t)
	w.needsFaults()
	w.conf.Partitions, w.kafka.Timing.Wait = 1, 2*time.Second
	w.open()
	if err := w.door.EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	const bunches, rounds = 8, 3
	fetches := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: w.conf.Topics.Raw, Observe: true, Count: -1})
	w.consume()
	pause := time.NewTicker(150 * time.Millisecond) // longer than between two commits
	defer pause.Stop()
	fewest := math.MaxInt
	for r := range rounds {
		before := fetches.Hits()
		for i := r * bunches; i < (r+1)*bunches; i++ {
			<-pause.C
			w.produce(0, records(10*i, 10)...)
		}
		w.waitCommitted(int64(10 * bunches * (r + 1)))
		fewest = min(fewest, fetches.Hits()-before)
	}
	if fewest >= 2*bunches { // some bunches come in two parts if the machine is busy
		t.Errorf("%d fetches for %d bunches, in the best of %d rounds", fewest, bunches, rounds)
	}
}
