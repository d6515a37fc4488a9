package ingestor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// journal is a log and a rejects topic in memory.
type journal struct {
	mu         sync.Mutex
	err        error
	records    []ingestor.Record
	rejections []ingestor.Rejection
	appends    int
}

func (j *journal) Append(_ context.Context, records []ingestor.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.appends++
	if j.err != nil {
		return j.err
	}
	for i := range records {
		records[i].Position = bag.Position{Known: true, Partition: 7, Offset: int64(len(j.records))}
		j.records = append(j.records, records[i])
	}
	return nil
}

func (j *journal) Reject(_ context.Context, rejections []ingestor.Rejection) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	j.rejections = append(j.rejections, rejections...)
	return nil
}

func TestAcceptedMessageIsInTheLogBeforeTheIndex(t *testing.T) {
	x, j := newIndex(), &journal{}
	x.enter, x.leave = make(chan struct{}), make(chan struct{})
	a := ingestor.NewAcceptor(newPipeline(x), j, j, ingestor.NewClock(time.Now), time.Minute)
	done := make(chan ingestor.Outcome)
	go func() {
		outcome, err := a.Accept(context.Background(), envelope(bsm), nil)
		if err != nil {
			t.Error(err)
		}
		done <- outcome
	}()
	<-x.enter
	want := ingestor.Record{Raw: bsm, Received: received, Plate: "0724123456", Position: bag.Position{Known: true, Partition: 7}}
	if len(j.records) != 1 || j.records[0] != want {
		t.Errorf("when the index is asked, the log holds %+v, want %+v", j.records, want)
	}
	close(x.leave)
	if outcome := <-done; outcome.Verdict != ingestor.Accepted {
		t.Errorf("verdict %v", outcome.Verdict)
	}
}

func TestAMessageIsFiledWithThePositionThatTheLogGaveIt(t *testing.T) {
	x, j := newIndex(), &journal{}
	p := newPipeline(x)
	a := ingestor.NewAcceptor(p, j, j, ingestor.NewClock(time.Now), time.Minute)
	for offset, raw := range []string{bsm, bpm} {
		outcome, err := a.Accept(t.Context(), envelope(raw), nil)
		want := bag.Position{Known: true, Partition: 7, Offset: int64(offset)}
		if err != nil || outcome.Filing.Position != want || x.calls[offset][0].Position != want {
			t.Errorf("filed at %+v, want %+v (%v)", x.calls[offset][0].Position, want, err)
		}
		again := envelope(raw) // from the log
		again.Position = want
		if outcome := process(t, p, again); outcome.Verdict != ingestor.Duplicate {
			t.Errorf("the record is another message than the one that was accepted: %v", outcome.Verdict)
		}
		x.calls = x.calls[:offset+1]
	}
}

func TestReportIsLoggedAsSuch(t *testing.T) {
	j := &journal{}
	env := envelope(`{"record_reference":"ZRHLX00001","station":"ZRH","bags":["0724123456"]}`)
	env.Report = true
	if _, err := ingestor.NewAcceptor(newPipeline(newIndex()), j, j, ingestor.NewClock(time.Now), 0).Accept(t.Context(), env, nil); err != nil {
		t.Fatal(err)
	}
	if len(j.records) != 1 || !j.records[0].Report || j.records[0].Raw != env.Raw {
		t.Errorf("log %+v", j.records)
	}
}

func TestMessageThatTheLogDoesNotHoldIsNotFiled(t *testing.T) {
	x, j := newIndex(), &journal{err: errors.New("the log is away")}
	_, err := ingestor.NewAcceptor(newPipeline(x), j, j, ingestor.NewClock(time.Now), 0).Accept(t.Context(), envelope(bsm), nil)
	if !errors.Is(err, j.err) || x.filed() != 0 {
		t.Errorf("error %v, filed %d", err, x.filed())
	}
}

func TestRejectedMessageIsKeptWithItsOrigin(t *testing.T) {
	x, j := newIndex(), &journal{}
	a := ingestor.NewAcceptor(newPipeline(x), j, j, ingestor.NewClock(time.Now), 0)
	outcome, err := a.Accept(t.Context(), envelope("BSM"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Verdict != ingestor.Rejected || len(j.records) != 0 || x.filed() != 0 {
		t.Errorf("verdict %v, log %v, filed %d", outcome.Verdict, j.records, x.filed())
	}
	if len(j.rejections) != 1 || j.rejections[0].Origin != "http/1" || j.rejections[0].Raw != "BSM" ||
		j.rejections[0].Received != received || codes(j.rejections[0].Errors) != codes(outcome.Errors) {
		t.Errorf("rejections %+v", j.rejections)
	}
	j.err = errors.New("the rejects are away")
	if _, err := a.Accept(t.Context(), envelope("BSM"), nil); !errors.Is(err, j.err) {
		t.Errorf("error %v, want %v", err, j.err)
	}
	nameless := envelope("BSM")
	nameless.Origin = ""
	j.err = nil
	if _, err := a.Accept(t.Context(), nameless, nil); err == nil {
		t.Error("a rejection without origin was kept")
	}
}

// count is a counter that can fail.
type count struct {
	next int64
	err  error
}

func (c *count) Count(_ context.Context, n int) (first int64, err error) {
	first, c.next = c.next, c.next+int64(n)
	return first, c.err
}

func TestWithoutALogACounterGivesThePosition(t *testing.T) {
	x, counter := newIndex(), &count{next: 40}
	a := ingestor.NewAcceptor(newPipeline(x), ingestor.NewNumbering(counter), nil, ingestor.NewClock(time.Now), time.Minute)
	for i, raw := range []string{bsm, bpm, bsm} {
		outcome, err := a.Accept(t.Context(), envelope(raw), nil)
		if want := (bag.Position{Known: true, Offset: 40 + int64(i)}); err != nil || outcome.Filing.Position != want || outcome.Verdict != ingestor.Accepted {
			t.Errorf("%v at %+v, want %+v (%v)", outcome.Verdict, outcome.Filing.Position, want, err)
		}
	}
	counter.err = errors.New("the counter is away")
	other := ingestor.NewAcceptor(newPipeline(x), ingestor.NewNumbering(counter), nil, ingestor.NewClock(time.Now), time.Minute)
	if _, err := other.Accept(t.Context(), envelope(bsm), nil); !errors.Is(err, counter.err) || x.filed() != 3 {
		t.Errorf("error %v, filed %d", err, x.filed())
	}
}

func TestNoNumberIsGivenTwiceAndLaterOnesAreHigher(t *testing.T) {
	counter := &count{}
	one, other := ingestor.NewNumbering(counter), ingestor.NewNumbering(counter)
	given := make(map[bag.Position]bool)
	for _, n := range []*ingestor.Numbering{one, other} {
		last := int64(-1)
		for _, size := range []int{1, 700, 299, 1, 5000, 3} {
			records := make([]ingestor.Record, size)
			if err := n.Append(t.Context(), records); err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if p := r.Position; given[p] || !p.Known || p.Offset <= last {
					t.Fatalf("%+v behind %d, given before: %v", p, last, given[p])
				}
				given[r.Position], last = true, r.Position.Offset
			}
		}
	}
	if want := int64(2 * (1000 + 1000 + 5000 + 1000)); counter.next != want {
		t.Errorf("%d are counted, want %d", counter.next, want)
	}
}

func TestWithoutLogTheIndexIsTheOnlyCopy(t *testing.T) {
	x := newIndex()
	a := ingestor.NewAcceptor(newPipeline(x), nil, nil, ingestor.NewClock(time.Now), 0)
	for raw, want := range map[string]ingestor.Verdict{bsm: ingestor.Accepted, "BSM": ingestor.Rejected} {
		if outcome, err := a.Accept(t.Context(), envelope(raw), nil); err != nil || outcome.Verdict != want {
			t.Errorf("verdict %v, error %v, want %v", outcome.Verdict, err, want)
		}
	}
}

func TestAuthorisationIsJudgedOnTheParsedMessageBeforeAnythingIsWritten(t *testing.T) {
	x, j := newIndex(), &journal{}
	a := ingestor.NewAcceptor(newPipeline(x), j, j, ingestor.NewClock(time.Now), 0)
	refused := errors.New("not this airline")
	_, err := a.Accept(t.Context(), envelope(bsm), func(m *parser.Message) error {
		if m.Groups[0].Outbound.Airline != "LX" || m.Version.Airport != "ZRH" {
			t.Errorf("message %+v", m)
		}
		return refused
	})
	if err != refused || len(j.records) != 0 || x.filed() != 0 { //nolint:errorlint // it is to be the very error
		t.Errorf("error %v, log %v, filed %d", err, j.records, x.filed())
	}
	asked := false
	if _, err := a.Accept(t.Context(), envelope("BSM"), func(*parser.Message) error { asked = true; return nil }); err != nil || asked {
		t.Errorf("a message with errors was put to the key (error %v)", err)
	}
}

func TestWhatArrivesWhileTheIndexIsBusyGoesTogether(t *testing.T) {
	const callers = 40
	x, j := newIndex(), &journal{}
	x.enter, x.leave = make(chan struct{}, callers), make(chan struct{})
	a := ingestor.NewAcceptor(newPipeline(x), j, j, ingestor.NewClock(time.Now), time.Minute)
	var started, ended sync.WaitGroup
	for i := range callers {
		started.Add(1)
		ended.Go(func() {
			env := envelope(bsm)
			env.Received = received.Add(time.Duration(i) * time.Second)
			started.Done()
			if outcome, err := a.Accept(context.Background(), env, nil); err != nil || outcome.Verdict != ingestor.Accepted {
				t.Errorf("caller %d: %v, %v", i, outcome.Verdict, err)
			}
		})
	}
	started.Wait()
	<-x.enter
	close(x.leave)
	ended.Wait()
	if x.filed() != callers || len(j.records) != callers {
		t.Errorf("filed %d, logged %d, want %d", x.filed(), len(j.records), callers)
	}
	if j.appends > callers || len(x.calls) != j.appends {
		t.Errorf("%d appends, %d calls of the index", j.appends, len(x.calls))
	}
}

func TestAcceptGivesUpInTimeWhileTheIndexHangs(t *testing.T) {
	x := newIndex()
	x.enter, x.leave = make(chan struct{}, 100), make(chan struct{})
	a := ingestor.NewAcceptor(newPipeline(x), nil, nil, ingestor.NewClock(time.Now), 20*time.Millisecond)
	var ended sync.WaitGroup
	for i := range 30 {
		ended.Go(func() {
			env := envelope(bsm)
			env.Received = received.Add(time.Duration(i) * time.Second)
			if _, err := a.Accept(context.Background(), env, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want that the time is up", err)
			}
		})
	}
	ended.Wait()
	close(x.leave) // the index answers again: those who have gone are left alone
	a = ingestor.NewAcceptor(newPipeline(x), nil, nil, ingestor.NewClock(time.Now), time.Minute)
	if outcome, err := a.Accept(t.Context(), envelope(bsm), nil); err != nil {
		t.Errorf("afterwards %v, %v", outcome.Verdict, err)
	}
}

func BenchmarkAcceptorAtOnce(b *testing.B) {
	a := ingestor.NewAcceptor(newPipeline(discard{}), nil, nil, ingestor.NewClock(time.Now), time.Minute)
	b.SetParallelism(32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := a.Accept(context.Background(), envelope(bsm), nil); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkProcessSome(b *testing.B) {
	p := newPipeline(discard{})
	envelopes := make([]ingestor.Envelope, 500)
	for i := range envelopes {
		envelopes[i] = envelope(fmt.Sprintf("BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724%06d001\nENDBSM\n", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.ProcessSome(context.Background(), envelopes); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(envelopes)), "ns/message")
}

// discard is an index that takes no time.
type discard struct{}

func (discard) File(_ context.Context, filings []bag.Filing) ([]bool, error) {
	fresh := make([]bool, len(filings))
	for i := range fresh {
		fresh[i] = true
	}
	return fresh, nil
}
