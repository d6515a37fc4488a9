package ingestor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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
		if !records[i].NoPosition {
			records[i].Position = bag.Position{Known: true, Partition: 7, Offset: int64(len(j.records))}
		}
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
	a := newAcceptor(x, ingestor.Config{Log: j, Rejects: j, Patience: time.Minute})
	done := make(chan ingestor.Outcome)
	go func() {
		outcome, err := a.Accept(context.Background(), envelope(bsm))
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
	p := newAcceptor(x)
	a := newAcceptor(x, ingestor.Config{Log: j, Rejects: j, Patience: time.Minute})
	for offset, raw := range []string{bsm, bpm} {
		outcome, err := a.Accept(t.Context(), envelope(raw))
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

// The Kafka door reads the record of a posted message, and may file it before the door that has
// appended it.
func TestANewMessageIsAcceptedThoughTheKafkaDoorFiledItFirst(t *testing.T) {
	faster := func(env ingestor.Envelope) ingestor.Verdict {
		x, j := newIndex(), &journal{}
		x.enter, x.leave = make(chan struct{}), make(chan struct{})
		a := newAcceptor(x, ingestor.Config{Log: j, Rejects: j, Patience: time.Minute})
		done := make(chan ingestor.Verdict)
		go func() {
			outcomes, err := a.AcceptBatch(context.Background(), []ingestor.Envelope{env})
			if err != nil {
				t.Error(err)
			}
			done <- outcomes[0].Verdict
		}()
		<-x.enter
		record := env
		record.Position, record.Logged = j.records[0].Position, true
		other := newIndex()
		other.Index = x.Index
		if outcome := process(t, newAcceptor(other), record); outcome.Verdict != ingestor.Accepted {
			t.Errorf("the Kafka door: %v", outcome.Verdict)
		}
		close(x.leave)
		return <-done
	}
	posted, resubmitted, replayed := envelope(bsm), envelope(bsm), envelope(bsm)
	resubmitted.NoPosition, resubmitted.Reject = true, "r1"
	replayed.NoPosition = true
	if v := faster(posted); v != ingestor.Accepted {
		t.Errorf("posted: %v", v)
	}
	if v := faster(resubmitted); v != ingestor.Accepted {
		t.Errorf("resubmitted: %v", v)
	}
	if v := faster(replayed); v != ingestor.Duplicate { // it may have been replayed before
		t.Errorf("replayed: %v", v)
	}
}

func TestReportIsLoggedAsSuch(t *testing.T) {
	j := &journal{}
	env := envelope(`{"record_reference":"ZRHLX00001","station":"ZRH","bags":["0724123456"]}`)
	env.Report = true
	if _, err := newAcceptor(newIndex(), ingestor.Config{Log: j, Rejects: j}).Accept(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	if len(j.records) != 1 || !j.records[0].Report || j.records[0].Raw != env.Raw {
		t.Errorf("log %+v", j.records)
	}
}

func TestMessageThatTheLogDoesNotHoldIsNotFiled(t *testing.T) {
	x, j := newIndex(), &journal{err: errors.New("the log is away")}
	_, err := newAcceptor(x, ingestor.Config{Log: j, Rejects: j}).Accept(t.Context(), envelope(bsm))
	if !errors.Is(err, j.err) || x.filed() != 0 {
		t.Errorf("error %v, filed %d", err, x.filed())
	}
}

func TestRejectedMessageIsKeptWithItsOrigin(t *testing.T) {
	x, j := newIndex(), &journal{}
	a := newAcceptor(x, ingestor.Config{Log: j, Rejects: j})
	outcome, err := a.Accept(t.Context(), envelope("BSM"))
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
	if _, err := a.Accept(t.Context(), envelope("BSM")); !errors.Is(err, j.err) {
		t.Errorf("error %v, want %v", err, j.err)
	}
	nameless := envelope("BSM")
	nameless.Origin = ""
	j.err = nil
	if _, err := a.Accept(t.Context(), nameless); err == nil {
		t.Error("a rejection without origin was kept")
	}
}

// A packed record may hold much more than its topic seems to allow. What is kept of it must not be a
// message by itself.
func TestALongRejectIsCutOffAndStillRejected(t *testing.T) {
	document, report := envelope(`{"bim_message":"`+strings.ReplaceAll(bsm, "\r\n", `\r\n`)+`"}`), envelope(`{"record_reference":"ZRHLX00001","station":"ZRH","bags":["0724123456"]}`)
	document.JSON, report.Report = true, true
	for what, env := range map[string]ingestor.Envelope{"text": envelope(bsm), "document": document, "report": report} {
		if outcome := process(t, newAcceptor(newIndex()), env); outcome.Verdict != ingestor.Accepted {
			t.Fatalf("%s: %+v", what, outcome)
		}
		env.Raw += strings.Repeat(" ", 8<<20)
		env.Key = strings.Repeat("k", 8<<20)
		j := &journal{}
		a := newAcceptor(newIndex(), ingestor.Config{Rejects: j})
		process(t, a, env)
		kept := j.rejections[0].Envelope
		if kept.Raw != env.Raw[:ingestor.MaxDocument+1] || kept.Key != env.Key[:ingestor.MaxMessage] {
			t.Errorf("%s: %d bytes are kept, and %d of the key", what, len(kept.Raw), len(kept.Key))
		}
		if outcome := process(t, a, kept); codes(outcome.Errors) != "SVCSRV003" {
			t.Errorf("%s: what is kept is %v with %q, want SVCSRV003", what, outcome.Verdict, codes(outcome.Errors))
		}
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
	a := newAcceptor(x, ingestor.Config{Log: ingestor.NewNumbering(counter.Count), Patience: time.Minute})
	for i, raw := range []string{bsm, bpm, bsm} {
		outcome, err := a.Accept(t.Context(), envelope(raw))
		if want := (bag.Position{Known: true, Offset: 40 + int64(i)}); err != nil || outcome.Filing.Position != want || outcome.Verdict != ingestor.Accepted {
			t.Errorf("%v at %+v, want %+v (%v)", outcome.Verdict, outcome.Filing.Position, want, err)
		}
	}
	counter.err = errors.New("the counter is away")
	other := newAcceptor(x, ingestor.Config{Log: ingestor.NewNumbering(counter.Count), Patience: time.Minute})
	if _, err := other.Accept(t.Context(), envelope(bsm)); !errors.Is(err, counter.err) || x.filed() != 3 {
		t.Errorf("error %v, filed %d", err, x.filed())
	}
}

func TestNoNumberIsGivenTwiceAndLaterOnesAreHigher(t *testing.T) {
	counter := &count{}
	one, other := ingestor.NewNumbering(counter.Count), ingestor.NewNumbering(counter.Count)
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
	if want := int64(2 * 7000); counter.next != want {
		t.Errorf("%d are counted, want %d", counter.next, want)
	}
}

func TestAuthorisationIsJudgedOnTheParsedMessageBeforeAnythingIsWritten(t *testing.T) {
	x, j := newIndex(), &journal{}
	a := newAcceptor(x, ingestor.Config{Log: j, Rejects: j, Observe: func(b *ingestor.Batch) { t.Errorf("observed %v", b) }})
	env := envelope(bsm)
	env.Authorise = func(m *parser.Message) bool {
		if m.Groups[0].Outbound.Airline != "LX" || m.Version.Airport != "ZRH" {
			t.Errorf("message %+v", m)
		}
		return false
	}
	outcome, err := a.Accept(t.Context(), env)
	if err != nil || outcome.Verdict != ingestor.Unauthorised || len(j.records)+len(j.rejections) != 0 || x.filed() != 0 {
		t.Errorf("verdict %v, error %v, log %v, rejections %v, filed %d", outcome.Verdict, err, j.records, j.rejections, x.filed())
	}
	asked := false
	faulty := envelope("BSM")
	faulty.Authorise = func(*parser.Message) bool { asked = true; return true }
	if _, err := newAcceptor(x).Accept(t.Context(), faulty); err != nil || asked {
		t.Errorf("a message with errors was put to the key (error %v)", err)
	}
}

func TestApplyGoesOnWithTheStepThatFailed(t *testing.T) {
	x, j := newIndex(), &journal{}
	rejects := &journal{err: errors.New("the rejects are away")}
	a := newAcceptor(x, ingestor.Config{Door: "kafka", Log: j, Rejects: rejects})
	batch := a.JudgeBatch([]ingestor.Envelope{envelope(bsm), envelope("BSM"), envelope(bpm)})
	x.setFail(true)
	for _, want := range []struct {
		step           string
		appends, files int
		last           bool // the rejects come back
	}{{"index", 1, 1, false}, {"rejects", 1, 2, false}, {"rejects", 1, 2, true}, {"", 1, 2, false}} {
		err := a.Apply(t.Context(), batch)
		var failed *ingestor.StepError
		if errors.As(err, &failed) != (want.step != "") || failed != nil && failed.Step != want.step {
			t.Errorf("error %v, want one of step %q", err, want.step)
		}
		if j.appends != want.appends || len(x.calls) != want.files {
			t.Errorf("%d appends, %d calls of the index; want %+v", j.appends, len(x.calls), want)
		}
		x.setFail(false)
		if want.last {
			rejects.err = nil
		}
	}
	if r := rejects.rejections; len(r) != 1 || r[0].Raw != "BSM" || r[0].Door != "kafka" {
		t.Errorf("rejections %+v", r)
	}
	for i, want := range []ingestor.Verdict{ingestor.Accepted, ingestor.Rejected, ingestor.Accepted} {
		if got := batch.Outcomes[i].Verdict; got != want {
			t.Errorf("message %d is %v, want %v", i, got, want)
		}
	}
}

func TestAMessageFromTheLogIsNotAppendedAgainAndAReplayedOneIsMarked(t *testing.T) {
	x, j := newIndex(), &journal{}
	logged, replayed := envelope(bsm), envelope(bpm)
	logged.Logged, logged.Position = true, bag.Position{Known: true, Partition: 1, Offset: 2}
	replayed.NoPosition = true
	outcomes, err := newAcceptor(x, ingestor.Config{Log: j}).AcceptBatch(t.Context(), []ingestor.Envelope{logged, replayed})
	if err != nil {
		t.Fatal(err)
	}
	if len(j.records) != 1 || j.records[0].Raw != bpm || !j.records[0].NoPosition {
		t.Errorf("log %+v", j.records)
	}
	if outcomes[0].Filing.Position != logged.Position || outcomes[1].Filing.Position != (bag.Position{}) {
		t.Errorf("filed at %+v and %+v", outcomes[0].Filing.Position, outcomes[1].Filing.Position)
	}
}

// acceptAll accepts messages at the same time, each received a second after the one before. Every one
// must have the error that is wanted, or none if it is nil.
func acceptAll(t *testing.T, a *ingestor.Acceptor, want error, texts ...string) (ended *sync.WaitGroup) {
	t.Helper()
	ended = new(sync.WaitGroup)
	for i, text := range texts {
		ended.Go(func() {
			env := envelope(text)
			env.Received = received.Add(time.Duration(i) * time.Second)
			if _, err := a.Accept(context.Background(), env); !errors.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
		})
	}
	return ended
}

func TestWhatArrivesWhileTheIndexIsBusyGoesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers = 40
		x, j := newIndex(), &journal{}
		x.enter, x.leave = make(chan struct{}, callers), make(chan struct{})
		a := newAcceptor(x, ingestor.Config{Log: j, Rejects: j, Patience: time.Minute})
		ended := acceptAll(t, a, nil, slices.Repeat([]string{bsm}, callers)...)
		synctest.Wait()
		close(x.leave)
		ended.Wait()
		if x.filed() != callers || len(j.records) != callers {
			t.Errorf("filed %d, logged %d, want %d", x.filed(), len(j.records), callers)
		}
		if j.appends > 8 || len(x.calls) != j.appends { // four batches hang, and four go on with what waits
			t.Errorf("%d appends, %d calls of the index", j.appends, len(x.calls))
		}
	})
}

// A batch has time for some bags only.
func TestMessagesOfManyBagsDoNotGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many := slices.Repeat([]string{bags(1, 999, "")}, 12)
		one := func(x *index, how string) {
			for i, call := range x.calls {
				if len(call) > 1 {
					t.Errorf("%s: call %d of the index files %d messages", how, i, len(call))
				}
			}
			if x.filed() != len(many) {
				t.Errorf("%s: %d are filed", how, x.filed())
			}
		}
		x := newIndex()
		a := newAcceptor(x)
		envelopes, outcomes := make([]ingestor.Envelope, len(many)), make([]ingestor.Outcome, len(many))
		for i, text := range many {
			envelopes[i] = envelope(text)
			envelopes[i].Position = bag.InRequest(i)
			outcomes[i] = a.Judge(envelopes[i])
		}
		if err := a.ApplyAll(t.Context(), envelopes, outcomes); err != nil {
			t.Error(err)
		}
		one(x, "of one caller")
		x = newIndex()
		x.enter, x.leave = make(chan struct{}, len(many)), make(chan struct{})
		ended := acceptAll(t, newAcceptor(x, ingestor.Config{Patience: time.Minute}), nil, many...)
		synctest.Wait()
		close(x.leave)
		ended.Wait()
		one(x, "of several callers")
	})
}

// A bag on many flights has an index entry under each of them.
func TestBatchesOfBagsOnManyFlightsAreSmaller(t *testing.T) {
	x := newIndex()
	a := newAcceptor(x)
	envelopes, outcomes := make([]ingestor.Envelope, 300), make([]ingestor.Outcome, 300)
	for i := range envelopes {
		envelopes[i] = envelope(bags(1, 1, onward(97)))
		envelopes[i].Position = bag.InRequest(i)
		outcomes[i] = a.Judge(envelopes[i])
	}
	if err := a.ApplyAll(t.Context(), envelopes, outcomes); err != nil || x.filed() != len(envelopes) {
		t.Fatalf("%d are filed, %v", x.filed(), err)
	}
	for i, call := range x.calls {
		if len(call) > 100 {
			t.Errorf("call %d of the index files %d messages of 98 flights", i, len(call))
		}
	}
}

// A rejected message is found by each of its codes.
func TestBatchesOfMessagesWithManyCodesAreSmaller(t *testing.T) {
	const text = "BSM\n.V/9QXXX\n.F/LX14/31FEB/XXX\n.N/0724123456\nENDBSM\n" // six codes
	envelopes := slices.Repeat([]ingestor.Envelope{envelope(text)}, 500)
	a := newAcceptor(newIndex())
	batch := a.JudgeBatch(envelopes)
	if codes := ingestor.Codes(batch.Outcomes[0].Errors); len(codes) < 6 || len(batch.Envelopes) > 200 {
		t.Errorf("a batch has %d messages with the codes %v", len(batch.Envelopes), codes)
	}
}

func TestAcceptGivesUpInTimeWhileTheIndexHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newIndex()
		x.enter, x.leave = make(chan struct{}, 100), make(chan struct{})
		a := newAcceptor(x, ingestor.Config{Patience: 20 * time.Millisecond})
		began := time.Now()
		acceptAll(t, a, context.DeadlineExceeded, slices.Repeat([]string{bsm}, 30)...).Wait()
		if took := time.Since(began); took != 20*time.Millisecond {
			t.Errorf("gave up after %v", took)
		}
		hanging := len(x.enter)
		close(x.leave) // the index answers again: those who have gone are left alone
		synctest.Wait()
		if outcome, err := a.Accept(t.Context(), envelope(bpm)); err != nil || outcome.Verdict != ingestor.Accepted {
			t.Errorf("afterwards %v, %v", outcome.Verdict, err)
		}
		if last := x.calls[len(x.calls)-1]; len(x.calls) != hanging+1 || len(last) != 1 || last[0].Raw != bpm {
			t.Errorf("%d calls of the index, %d of them hung; the last one files %d messages", len(x.calls), hanging, len(last))
		}
	})
}

func BenchmarkAcceptorAtOnce(b *testing.B) {
	a := newAcceptor(discard{}, ingestor.Config{Patience: time.Minute})
	b.SetParallelism(32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := a.Accept(context.Background(), envelope(bsm)); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkAcceptBatch(b *testing.B) {
	p := newAcceptor(discard{})
	envelopes := make([]ingestor.Envelope, 500)
	for i := range envelopes {
		envelopes[i] = envelope(fmt.Sprintf("BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724%06d001\nENDBSM\n", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.AcceptBatch(context.Background(), envelopes); err != nil {
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

func TestABatchIsObservedOnceItHasTakenEffect(t *testing.T) {
	x := newIndex()
	var seen []string
	a := newAcceptor(x, ingestor.Config{Observe: func(b *ingestor.Batch) {
		for i, o := range b.Outcomes {
			line := fmt.Sprint(o.Verdict, " ", o.Airport)
			if !o.Happened.IsZero() {
				line += " " + b.Envelopes[i].Received.Sub(o.Happened).String()
			}
			seen = append(seen, line)
		}
	}})
	x.setFail(true)
	faulty := strings.Replace(bsm, "12MAR", "31FEB", 1)
	b := a.JudgeBatch([]ingestor.Envelope{envelope(bpm), envelope(bsm), envelope(faulty), envelope("BUM")})
	if err := a.Apply(t.Context(), b); err == nil || len(seen) > 0 {
		t.Fatalf("%v, observed %q", err, seen)
	}
	x.setFail(false)
	if err := a.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Accept(t.Context(), envelope(bsm)); err != nil {
		t.Fatal(err)
	}
	want := []string{"accepted ZRH 59m0.123s", "accepted ZRH", "rejected ZRH", "rejected ", "duplicate ZRH"}
	if !slices.Equal(seen, want) {
		t.Errorf("observed %q, want %q", seen, want)
	}
}
