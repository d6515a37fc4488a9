package kafkadoor_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/kafka"
	"bagtrail/parser"
)

func TestRebuildReadsEveryMessageAndWritesNothing(t *testing.T) {
	w := newWorld(t, 3)
	good, bad := w.mixed(3)
	var last kafkadoor.Progress
	calls := 0
	progress, err := w.door.Rebuild(t.Context(), w.rebuilder(), kafka.Start{}, func(p kafkadoor.Progress) { last = p; calls++ })
	if err != nil {
		t.Fatal(err)
	}
	w.wantFiled(good)
	if progress.Messages != int64(good+bad) || progress.Rejected != int64(bad) || progress.Records != progress.Total ||
		progress.Total != int64(good+bad) || progress.Offsets.String() != "0:22,1:22,2:22" || progress.Left() != 0 {
		t.Errorf("progress %+v", progress)
	}
	if calls == 0 || last.Messages != progress.Messages || last.Rate() <= 0 {
		t.Errorf("last report %+v of %d", last, calls)
	}
	if len(w.all(w.conf.Topics.Rejects)) != 0 {
		t.Error("rejects were written")
	}
	for p, offset := range w.committed() {
		if offset > 0 {
			t.Errorf("committed %d of partition %d", offset, p)
		}
	}
}

func TestRebuildOfAnEmptyTopicIsDoneAtOnce(t *testing.T) {
	w := newWorld(t, 2)
	progress, err := w.door.Rebuild(t.Context(), w.rebuilder(), kafka.Start{}, nil)
	if err != nil || progress.Total != 0 || progress.Offsets.String() != "0:0,1:0" {
		t.Errorf("progress %+v, error %v", progress, err)
	}
}

func TestRebuildBeginsWhereItIsTold(t *testing.T) {
	w := newWorld(t, 2)
	for i := range 20 {
		r := records(i, 1)[0]
		r.Time = received.Add(time.Duration(i) * time.Hour)
		w.produce(i%2, r)
	}
	for _, c := range []struct {
		start string
		want  int
	}{
		{"earliest", 20},
		{received.Add(10 * time.Hour).Format(time.RFC3339Nano), 10},
		{received.Add(1000 * time.Hour).Format(time.RFC3339), 0},
		{"0:7,1:10", 3},
		{"0:7", 13},
		{"0:999,1:999", 0},
	} {
		w.index = newIndex()
		start, err := kafka.ParseStart(c.start)
		if err != nil {
			t.Fatal(err)
		}
		progress, err := w.door.Rebuild(t.Context(), w.rebuilder(), start, nil)
		if err != nil {
			t.Fatal(err)
		}
		if w.index.plates() != c.want || progress.Total != int64(c.want) {
			t.Errorf("from %s: %d messages of %d, want %d", c.start, w.index.plates(), progress.Total, c.want)
		}
	}
}

// watched calls a function after each batch.
type watched struct {
	*ingestor.Acceptor
	after func(*ingestor.Batch)
}

func (w watched) Apply(ctx context.Context, batch *ingestor.Batch) error {
	defer w.after(batch)
	return w.Acceptor.Apply(ctx, batch)
}

func TestInterruptedRebuildGoesOnWhereItStood(t *testing.T) {
	w := newWorld(t, 3)
	const n = 30_000 // three fetches a partition
	for i := 0; i < n; i += 300 {
		w.produce(i/300%3, records(i, 300)...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var seen atomic.Int64
	progress, err := w.door.Rebuild(ctx, watched{w.rebuilder(), func(b *ingestor.Batch) {
		if seen.Add(int64(len(b.Outcomes))) >= n/3 {
			cancel()
		}
	}}, kafka.Start{}, nil)
	if !errors.Is(err, context.Canceled) || progress.Messages == 0 || progress.Messages == n {
		t.Fatalf("progress %+v, error %v", progress, err)
	}
	start, err := kafka.ParseStart(progress.Offsets.String())
	if err != nil {
		t.Fatal(err)
	}
	rest, err := w.door.Rebuild(t.Context(), w.rebuilder(), start, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rest.Messages+progress.Messages != n {
		t.Errorf("%d messages before, %d after, want %d in all", progress.Messages, rest.Messages, n)
	}
	w.wantFiled(n)
}

// stopping is an Acceptor whose caller stops while it waits for a server.
type stopping struct {
	kafkadoor.Acceptor
	stop func()
}

func (s stopping) Apply(ctx context.Context, _ *ingestor.Batch) error {
	s.stop()
	return fmt.Errorf("redis is not available: %w", ctx.Err())
}

func TestAnInterruptedRebuildBlamesNoServer(t *testing.T) {
	w := newWorld(t, 2)
	w.produce(0, records(0, 1)...)
	w.produce(1, records(1, 1)...)
	core, logs := observer.New(zap.WarnLevel)
	w.kafka.Logger = zap.New(core)
	w.open()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := w.door.Rebuild(ctx, stopping{w.rebuilder(), cancel}, kafka.Start{}, nil)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "stopped early") || strings.Contains(err.Error(), "redis") || logs.Len() > 0 {
		t.Errorf("%v, %+v", err, logs.All())
	}
}

func TestRebuildEndsWhereTheTopicEndedWhenItBegan(t *testing.T) {
	w := newWorld(t, 1)
	w.produce(0, records(0, 10)...)
	entered, leave := w.index.gate()
	done := make(chan kafkadoor.Progress)
	go func() {
		progress, err := w.door.Rebuild(context.Background(), w.rebuilder(), kafka.Start{}, nil)
		if err != nil {
			t.Error(err)
		}
		done <- progress
	}()
	<-entered
	w.produce(0, records(10, 10)...)
	close(leave)
	if progress := <-done; progress.Messages != 10 || progress.Offsets[0] != 10 {
		t.Errorf("progress %+v", progress)
	}
}

func TestRebuildTriesAgain(t *testing.T) {
	w := newWorld(t, 2)
	w.needsFaults()
	good, _ := w.mixed(2)
	w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.NotLeaderForPartition, Count: 4})
	w.index.setFail(true)
	done := make(chan error)
	go func() {
		_, err := w.door.Rebuild(context.Background(), w.rebuilder(), kafka.Start{}, nil)
		done <- err
	}()
	w.eventually("the index failed", func() bool { return w.index.failures() > 3 })
	w.index.setFail(false)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.wantFiled(good)
}

func TestStartIsReadAndWritten(t *testing.T) {
	for s, want := range map[string]kafka.Start{
		"":                     {},
		"earliest":             {},
		"2026-03-12T06:00:00Z": {Time: time.Date(2026, 3, 12, 6, 0, 0, 0, time.UTC)},
		"2026-03-12":           {Time: time.Date(2026, 3, 12, 0, 0, 0, 0, time.UTC)},
		"0:12":                 {Offsets: kafka.Offsets{0: 12}},
		"2:7, 0:12":            {Offsets: kafka.Offsets{0: 12, 2: 7}},
	} {
		got, err := kafka.ParseStart(s)
		if err != nil || !got.Time.Equal(want.Time) || !maps.Equal(got.Offsets, want.Offsets) {
			t.Errorf("%q: %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"latest", "0", "0:", ":1", "0:-1", "0:1,0:2", "0:1,", "1:x", "2026-03-32"} {
		if got, err := kafka.ParseStart(s); err == nil {
			t.Errorf("%q was read as %+v", s, got)
		}
	}
	if got := (kafka.Offsets{10: 3, 2: 5}).String(); got != "2:5,10:3" {
		t.Errorf("written %s", got)
	}
}

func TestProgressSaysHowLongItTakes(t *testing.T) {
	p := kafkadoor.Progress{Messages: 300, Records: 300, Total: 900, Elapsed: 3 * time.Second}
	if p.Rate() != 100 || p.Left() != 6*time.Second {
		t.Errorf("rate %v, left %v", p.Rate(), p.Left())
	}
	if p := (kafkadoor.Progress{Total: 5}); p.Rate() != 0 || p.Left() != 0 {
		t.Errorf("at the beginning: rate %v, left %v", p.Rate(), p.Left())
	}
}

// noneSettled says that nobody has decided on any reject.
func noneSettled(context.Context, []string) (map[string]bool, error) { return nil, nil }

// replayRejects judges the rejects topic again, for a world in which LX may post and nobody else.
func (w *world) replayRejects(decided func(origin string, outcome ingestor.Outcome)) error {
	conf := w.acceptorConf()
	conf.Log = w.door
	return w.door.ReplayRejects(w.t.Context(), kafkadoor.RejectReplay{
		Acceptor: ingestor.NewAcceptor(conf), Decided: decided,
		May:     func(sender string, _ *parser.Message) bool { return sender == "LX" },
		Settled: noneSettled,
	})
}

func TestReplayOfRejectsSaysWhatIsAcceptedNow(t *testing.T) {
	w := newWorld(t, 2)
	// Two that are right by now, one that is not, one of them rejected twice, one out of a
	// document, one whose sender may not.
	reject := func(value, origin string, headers ...string) kafkago.Record {
		return record(value, append([]string{"bagtrail-origin", origin, "bagtrail-codes", "SVCPRB023", "bagtrail-diagnostics", "[]",
			"bagtrail-received", "2026-03-11T10:00:00.500Z"}, headers...)...)
	}
	w.produceTo(w.conf.Topics.Rejects, 0, 0,
		reject(message(0), "bim.raw/0/7", "bagtrail-key", "LX"),
		reject(message(3), "http/def", "bagtrail-key", "BA"),
		reject("BSM", "bim.raw/0/8"),
		reject(message(0), "bim.raw/0/7"),
		reject(`{"bim_message":"`+`BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724000001001\nENDBSM\n`+`"}`, "http/abc", "content-type", "application/json"),
		reject(`{"record_reference":"ZRHLX00001","station":"ZRH","bags":["0724000002"]}`, "bim.raw/1/9", "bagtrail-kind", "delayed-bag-report"))
	replay := func() map[string]ingestor.Verdict {
		verdicts := make(map[string]ingestor.Verdict)
		if err := w.replayRejects(func(origin string, outcome ingestor.Outcome) {
			if _, again := verdicts[origin]; again {
				t.Errorf("origin %s came twice", origin)
			}
			verdicts[origin] = outcome.Verdict
		}); err != nil {
			t.Fatal(err)
		}
		return verdicts
	}
	want := map[string]ingestor.Verdict{
		"bim.raw/0/7": ingestor.Accepted, "bim.raw/0/8": ingestor.Rejected, "http/abc": ingestor.Accepted, "bim.raw/1/9": ingestor.Accepted, "http/def": ingestor.Unauthorised,
	}
	if got := replay(); !maps.Equal(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
	at := time.Date(2026, 3, 11, 10, 0, 0, 500e6, time.UTC)
	for i := range 3 {
		if s := w.index.stored(plate(i)); len(s) != 1 || s[0].Received != at {
			t.Errorf("message %d: %+v", i, s)
		}
	}

	for origin, v := range replay() {
		if before := want[origin]; v != before && (before != ingestor.Accepted || v != ingestor.Duplicate) {
			t.Errorf("the second time %s: %v", origin, v)
		}
	}
	before := w.index
	w.index = newIndex()
	if _, err := w.door.Rebuild(t.Context(), w.rebuilder(), kafka.Start{}, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if !slices.Equal(before.stored(plate(i)), w.index.stored(plate(i))) {
			t.Errorf("the log alone does not rebuild message %d: %+v", i, w.index.stored(plate(i)))
		}
	}
}

// Nobody knows any more what was decided on rejects that are older than the decisions. A message
// that was rejected long after it was received may be such a one, though its record is young. If it
// was too old even then, nobody could decide on it.
func TestReplayOfRejectsLeavesOutWhatIsOlderThanItsStart(t *testing.T) {
	w := newWorld(t, 1)
	old := record(message(0), "bagtrail-origin", "http/old")
	old.Time = received.Add(-time.Hour)
	of := func(age time.Duration) string { return received.Add(-age).Format(time.RFC3339) }
	w.produceTo(w.conf.Topics.Rejects, 0, 0, old, record(message(1), "bagtrail-origin", "http/new"),
		record(message(2), "bagtrail-origin", "http/late", "bagtrail-received", of(time.Minute)),
		record(message(3), "bagtrail-origin", "http/too late", "bagtrail-received", of(2*time.Hour)))
	var decided []string
	err := w.door.ReplayRejects(t.Context(), kafkadoor.RejectReplay{
		Acceptor: w.acceptor(), From: kafka.Start{Time: received}, Retention: time.Hour, Settled: noneSettled,
		Decided: func(origin string, _ ingestor.Outcome) { decided = append(decided, origin) },
	})
	if err != nil || !slices.Equal(decided, []string{"http/new", "http/too late"}) {
		t.Errorf("decided on %v, %v", decided, err)
	}
}

// taken collects rejections.
type taken struct{ list []ingestor.Rejection }

// Reject implements ingestor.Rejects.
func (k *taken) Reject(_ context.Context, rejections []ingestor.Rejection) error {
	k.list = append(k.list, rejections...)
	return nil
}

func TestRestoredRejectsHaveTheFaultsThatTheyHad(t *testing.T) {
	w := newWorld(t, 1)
	const faults = `[{"code":"SVCPRB015","description":"d","severity":"error","line":2,"column":4,"end_column":7,"element":".V","value":"ZRQ","expected":"an airport","suggestion":"ZRH","hint":"h"},{"code":"SVCPRB039","severity":"warning"}]`
	w.produceTo(w.conf.Topics.Rejects, 0, 0,
		record(message(0), "bagtrail-origin", "http/abc", "bagtrail-door", "http", "bagtrail-key", "LX", "bagtrail-diagnostics", faults,
			"bagtrail-received", "2026-03-11T10:00:00.500Z"), // accepted by now
		record("BSM", "bagtrail-origin", "bim.raw/0/8"),                                                   // of another program
		record("BSM", "bagtrail-door", "kafka\nx|y", "bagtrail-key", "a\nb", "bagtrail-diagnostics", "]")) // of a hostile one
	var k taken
	n, err := w.door.RestoreRejects(t.Context(), kafka.Start{}, "kafka", w.acceptorConf().Judge, &k)
	if err != nil || n != 3 || len(k.list) != 3 {
		t.Fatalf("%d, %+v, %v", n, k.list, err)
	}
	first := k.list[0]
	want := []ingestor.Diagnostic{
		{Code: "SVCPRB015", Description: "d", Line: 2, Column: 4, EndColumn: 7, Element: ".V", Value: "ZRQ", Expected: "an airport",
			Advice: parser.Advice{Suggestion: "ZRH", Hint: "h"}},
		{Code: "SVCPRB039", Warning: true},
	}
	if !reflect.DeepEqual(first.Errors, want) || first.Door != "http" || first.Sender != "LX" || first.Origin != "http/abc" || first.Airport != "ZRH" ||
		!first.Received.Equal(time.Date(2026, 3, 11, 10, 0, 0, 500e6, time.UTC)) {
		t.Errorf("%+v", first)
	}
	for _, r := range k.list[1:] {
		if r.Door != "kafka" || r.Sender != "" || len(r.Errors) == 0 || r.Errors[0].Code == "" || r.Origin == "" {
			t.Errorf("%+v", r)
		}
	}
}

func TestReplayOfRejectsStopsWhereTheIndexFails(t *testing.T) {
	w := newWorld(t, 1)
	w.produceTo(w.conf.Topics.Rejects, 0, 0, record(message(0), "bagtrail-origin", "bim.raw/0/7"))
	w.index.setFail(true)
	err := w.replayRejects(func(string, ingestor.Outcome) { t.Error("something was reported") })
	if !errors.Is(err, errAway) {
		t.Errorf("error %v, want %v", err, errAway)
	}
}
