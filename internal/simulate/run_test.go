package simulate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bagtrail/ingestor"
	"bagtrail/ingestor/capture"
	"bagtrail/internal/simulate"
	"bagtrail/test/race"
)

// list is a Sink that keeps the messages.
type list struct {
	messages []simulate.Message
	fail     error
}

func (l *list) Send(_ context.Context, messages []simulate.Message) error {
	l.messages = append(l.messages, messages...)
	return l.fail
}

func ordinary(bags int) simulate.Options {
	return simulate.Options{Seed: 1, Start: start, Bags: bags, Faults: simulate.DefaultFaults()}
}

// run sends a feed, which must succeed.
func run(t *testing.T, opt simulate.Options, with simulate.Delivery) simulate.Summary {
	t.Helper()
	sum, err := simulate.Run(t.Context(), opt, with)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestTheTruthAboutABagIsReportedAfterItsLastMessage(t *testing.T) {
	sent := &list{}
	told := map[string]int{} // plate → messages sent when its truth was told
	var progress []simulate.Summary
	sum := run(t, ordinary(race.Less(2000, 200)), simulate.Delivery{
		Sink:     sent.Send,
		Truth:    func(b simulate.Bag) error { told[b.Plate] = len(sent.messages); return nil },
		Progress: func(s simulate.Summary) { progress = append(progress, s) },
	})
	rejected, positioned := 0, 0
	for i, m := range sent.messages {
		if m.Plate != "" && i >= told[m.Plate] {
			t.Fatalf("message %d about %s is sent after its truth", i, m.Plate)
		}
		if m.Code != "" {
			rejected++
		}
		if m.Plate == "" {
			positioned++
		}
	}
	if sum.Bags != len(told) || sum.Messages != len(sent.messages) || sum.Rejected != rejected || sum.Positioned != positioned {
		t.Errorf("summary %+v of %d bags, %d messages, %d rejected, %d positioned", sum, len(told), len(sent.messages), rejected, positioned)
	}
	if last := progress[len(progress)-1]; last.Bags != sum.Bags || last.Messages != sum.Messages {
		t.Errorf("the last progress is %+v", last)
	}
}

func TestTheTruthAboutABagComesAfterItsLastMessageWasYielded(t *testing.T) {
	told := map[string]bool{}
	for m := range simulate.Generate(ordinary(200), func(b simulate.Bag) { told[b.Plate] = true }) {
		if told[m.Plate] {
			t.Fatalf("the truth about %s comes before its last message", m.Plate)
		}
	}
}

// live is a Sink that ends the run after some messages that were waited for.
type live struct {
	t            *testing.T
	begun        time.Time
	stop         context.CancelFunc
	past, waited int // messages
}

const enoughLive = 15

func (l *live) Send(_ context.Context, messages []simulate.Message) error {
	for _, m := range messages {
		if now := time.Now(); m.Received.After(now) {
			l.t.Errorf("a message is sent %v before it is received", m.Received.Sub(now))
		}
		if m.Received.Before(l.begun) {
			l.past++
		} else if l.waited++; l.waited == enoughLive {
			l.stop()
		}
	}
	return nil
}

func TestRunByAClockSendsThePastAtOnceAndThenEachMessageAtItsTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sink := &live{t: t, begun: time.Now(), stop: cancel}
	opt := ordinary(1_000_000)
	opt.Start, opt.Interval = sink.begun.Add(-time.Minute), 10*time.Millisecond
	_, err := simulate.Run(ctx, opt, simulate.Delivery{Sink: sink.Send, Clock: time.Now})
	if !errors.Is(err, context.Canceled) || sink.past < 5000 || sink.waited < enoughLive {
		t.Errorf("%v, %d messages of the past, %d were waited for", err, sink.past, sink.waited)
	}
}

// The pictures of the README are of a demo whose clock stands still.
func TestRunSendsNothingOfTheFutureByAClockThatStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		now := start.Add(time.Hour)
		sent, past := &list{}, 0
		_, err := simulate.Run(ctx, ordinary(2000), simulate.Delivery{Sink: sent.Send, Clock: func() time.Time { return now }})
		for m := range simulate.Generate(ordinary(2000), nil) {
			if m.Received.After(now) {
				break
			}
			past++
		}
		if !errors.Is(err, context.DeadlineExceeded) || past == 0 || len(sent.messages) != past {
			t.Errorf("%v, %d messages are sent, %d are of the past", err, len(sent.messages), past)
		}
	})
}

func TestRunKeepsTheRate(t *testing.T) {
	sent, began := &list{}, time.Now()
	sum := run(t, ordinary(20), simulate.Delivery{Sink: sent.Send, Rate: 1000})
	if took, least := time.Since(began), time.Duration(sum.Messages-20)*time.Millisecond; took < least {
		t.Errorf("%d messages in %v, want %v and more", sum.Messages, took, least)
	}
}

func TestRunEndsWithItsContextOrItsSink(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := simulate.Run(ctx, ordinary(1000), simulate.Delivery{Sink: new(list).Send, Rate: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := errors.New("broken")
	if _, err := simulate.Run(t.Context(), ordinary(1000), simulate.Delivery{Sink: (&list{fail: broken}).Send}); !errors.Is(err, broken) {
		t.Errorf("the sink is broken: %v", err)
	}
}

func TestACaptureOfTheFeedReadsBackAsTheSameMessages(t *testing.T) {
	var file bytes.Buffer
	all := &list{}
	opt := ordinary(500)
	opt.Faults.Malformed = 20
	for _, sink := range []simulate.Sink{simulate.ToCapture(&file), all.Send} {
		run(t, opt, simulate.Delivery{Sink: sink})
	}
	reader := capture.NewReader(&file)
	for i, want := range all.messages {
		got, err := reader.Next()
		if err != nil || got.Text != want.Text {
			t.Fatalf("message %d is %q, %v, want %q", i, got.Text, err, want.Text)
		}
	}
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last message: %v", err)
	}
}

// log is a log of record in memory.
type log struct{ records []ingestor.Record }

func (l *log) Append(_ context.Context, records []ingestor.Record) error {
	l.records = append(l.records, records...)
	return nil
}

func TestTheLogHoldsEveryMessageOnce(t *testing.T) {
	written, all := &log{}, &list{}
	for _, sink := range []simulate.Sink{simulate.ToLog(written), all.Send} {
		run(t, ordinary(500), simulate.Delivery{Sink: sink})
	}
	var got, want []string
	for _, r := range written.records {
		got = append(got, fmt.Sprint(r.Received, r.Plate, r.Raw))
	}
	for _, m := range all.messages {
		want = append(want, fmt.Sprint(m.Received, m.Plate, m.Text))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d records of %d messages, or others, or in another order", len(got), len(want))
	}
}

func TestThePosterRetriesInTheOrderOfTheFeedForEachBag(t *testing.T) {
	var mu sync.Mutex
	var posted []string
	seen := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Message string `json:"bim_message"`
		}
		err := json.NewDecoder(r.Body).Decode(&body)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil || r.Header.Get("X-API-Key") != "secret":
			w.WriteHeader(http.StatusUnauthorized)
		case len(posted)%50 == 7 && !seen[body.Message]:
			seen[body.Message] = true
			w.WriteHeader(http.StatusServiceUnavailable)
		case strings.Contains(body.Message, "QQQ"):
			w.WriteHeader(http.StatusBadRequest)
		default:
			posted = append(posted, body.Message)
		}
	}))
	defer server.Close()

	all := []simulate.Message{{Text: "QQQ", Plate: "1", Code: "SVCPRB015"}}
	for i := range 200 {
		all = append(all, simulate.Message{Text: fmt.Sprintf("%d/%03d", i%5, i), Plate: fmt.Sprint(i % 5)})
	}
	poster := simulate.Poster{Client: server.Client(), URL: server.URL, Key: "secret", Connections: 8}
	if err := poster.Send(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if len(posted) != 200 {
		t.Errorf("%d messages are posted, want 200", len(posted))
	}
	if slices.SortStableFunc(posted, func(a, b string) int { return strings.Compare(a[:1], b[:1]) }); !slices.IsSorted(posted) {
		t.Error("the messages of a bag changed places")
	}
	poster.Key = "wrong"
	if err := poster.Send(t.Context(), all); !errors.Is(err, simulate.ErrAnswer) || strings.Contains(err.Error(), "\n") {
		t.Errorf("with the wrong key, which each connection is told: %v", err)
	}
}

func TestTheTruthIsWrittenAsLinesOfJSON(t *testing.T) {
	var file bytes.Buffer
	run(t, ordinary(50), simulate.Delivery{Sink: new(list).Send, Truth: simulate.Lines(&file)})
	lines := 0
	for line := range strings.Lines(file.String()) {
		var b simulate.Bag
		if err := json.Unmarshal([]byte(line), &b); err != nil || len(b.Plate) != 10 || len(b.Events) == 0 {
			t.Errorf("%q: %v", line, err)
		}
		lines++
	}
	if lines < 50 {
		t.Errorf("%d lines, want 50 and more", lines)
	}
}
