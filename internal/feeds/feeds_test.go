package feeds_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/ingestor"
	"bagtrail/internal/feeds"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
)

// world is a store with a clock that stands still.
type world struct {
	*testing.T
	client  *redis.Client
	store   *feeds.Store
	counter *feeds.Counter
	now     time.Time
}

func newWorld(t *testing.T) *world {
	// Keys expire by the real clock, so that the one of the test is near it: a whole hour.
	w := &world{T: t, client: redistest.Open(t, ""), now: time.Now().UTC().Truncate(time.Hour)}
	w.store = feeds.NewStore(w.client)
	w.counter = feeds.NewCounter(w.store, func() time.Time { return w.now })
	return w
}

// message is a message that was decided on.
func message(text string, at time.Time, o ingestor.Outcome) *ingestor.Batch {
	return &ingestor.Batch{Envelopes: []ingestor.Envelope{{Raw: text, Received: at}}, Outcomes: []ingestor.Outcome{o}}
}

func accepted(airport string) ingestor.Outcome {
	return ingestor.Outcome{Verdict: ingestor.Accepted, Airport: airport}
}

// send counts n different messages from an airport that come by a door, one at each interval.
func (w *world) send(airport string, at time.Time, n int, interval time.Duration) {
	w.Helper()
	for range n {
		w.counter.Count("kafka", message(airport+at.String(), at, accepted(airport)))
		at = at.Add(interval)
	}
	w.flush()
}

func (w *world) flush() {
	w.Helper()
	if err := w.counter.Flush(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// read returns all feeds with their last hours.
func (w *world) read(hours int) []feeds.Feed {
	w.Helper()
	names, err := w.store.Names(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	found, err := w.store.Read(w.Context(), names, hours, w.now)
	if err != nil {
		w.Fatal(err)
	}
	return found
}

func TestMessagesAreCountedByAirportDoorAndHour(t *testing.T) {
	w := newWorld(t)
	hour := w.now.Add(-time.Hour)
	faulty := ingestor.Outcome{Verdict: ingestor.Rejected, Airport: "ZRH", Errors: []ingestor.Diagnostic{
		{Code: "SVCPRB022"}, {Code: "SVCPRB022"}, {Code: "SVCPRB023"},
	}}
	late := accepted("ZRH")
	late.Happened = hour
	w.counter.Count("kafka", message("a", hour.Add(time.Minute), late))
	w.counter.Count("kafka", message("a", hour.Add(2*time.Minute), accepted("ZRH"))) // a copy
	w.counter.Count("kafka", message("b", hour.Add(3*time.Minute), faulty))
	faulty.Errors = faulty.Errors[:2]
	w.counter.Count("kafka", message("c", hour.Add(59*time.Minute), faulty))
	w.counter.Count("http", message("d", hour, accepted("ZRH")))
	w.counter.Count("http", message("e", hour, ingestor.Outcome{Verdict: ingestor.Rejected, Errors: []ingestor.Diagnostic{{Code: "SVCPRB004"}}}))
	w.flush()
	w.counter.Count("kafka", message("a", w.now.Add(time.Hour), accepted("ZRH"))) // its producer's clock is ahead
	w.flush()

	found := w.read(2)
	if len(found) != 3 || found[0].String() != "/http" || found[1].String() != "ZRH/http" || found[2].String() != "ZRH/kafka" {
		t.Fatalf("%+v", found)
	}
	f := found[2]
	if len(f.Hours) != 2 || !f.Hours[0].Start.Equal(hour) || !f.Hours[1].Start.Equal(w.now) ||
		!f.First.Equal(hour.Add(time.Minute)) || !f.Last.Equal(w.now) || f.State != feeds.New {
		t.Fatalf("%+v", f)
	}
	h := f.Hours[0]
	if h.Accepted != 1 || h.Duplicate != 1 || h.Rejected != 2 || h.Code() != "SVCPRB022" || h.Codes["SVCPRB022"] != 2 || h.Codes["SVCPRB023"] != 1 {
		t.Errorf("%+v", h)
	}
	if delay, ok := h.Delays.Quantile(0.5); !ok || delay < 45*time.Second || delay > 65*time.Second {
		t.Errorf("%v %t, want about a minute", delay, ok)
	}
	if h := f.Hours[1]; h.Accepted != 1 || h.Messages() != 1 { // the copy before is more than ten minutes ago
		t.Errorf("%+v", h)
	}
	if none := w.read(1); len(none[0].Hours) != 0 || len(none[2].Hours) != 1 {
		t.Errorf("%+v", none)
	}
}

func TestAMessageCountsOnceAtTheDoorByWhichItCame(t *testing.T) {
	for name, c := range map[string]struct {
		env     ingestor.Envelope
		verdict ingestor.Verdict
		refiled bool
		counts  int64
	}{
		"a record":                         {ingestor.Envelope{Logged: true}, ingestor.Accepted, false, 1},
		"a record that was read before":    {ingestor.Envelope{Logged: true}, ingestor.Duplicate, false, 0},
		"one whose filing failed at first": {ingestor.Envelope{Logged: true}, ingestor.Duplicate, true, 1},
		"a record of another door":         {ingestor.Envelope{Logged: true, Relayed: true}, ingestor.Accepted, false, 0},
		"a POST":                           {ingestor.Envelope{}, ingestor.Accepted, false, 1},
		"a POST that the consumer filed":   {ingestor.Envelope{}, ingestor.Duplicate, false, 1},
		"a replayed message":               {ingestor.Envelope{NoPosition: true}, ingestor.Accepted, false, 0},
		"a report":                         {ingestor.Envelope{Report: true}, ingestor.Accepted, false, 0},
		"one that may not be sent":         {ingestor.Envelope{}, ingestor.Unauthorised, false, 0},
	} {
		w := newWorld(t)
		c.env.Received = w.now
		o := accepted("ZRH")
		o.Verdict = c.verdict
		w.counter.Count("door", &ingestor.Batch{Envelopes: []ingestor.Envelope{c.env}, Outcomes: []ingestor.Outcome{o}, Refiled: c.refiled})
		w.flush()
		got := int64(0)
		for _, f := range w.read(1) {
			got += f.Hours[0].Accepted
		}
		if got != c.counts {
			t.Errorf("%s counts %d times", name, got)
		}
	}
}

func TestCountsOfSeveralProcessesAddUp(t *testing.T) {
	w := newWorld(t)
	w.send("ZRH", w.now, 3, 0)
	w.counter = feeds.NewCounter(w.store, func() time.Time { return w.now })
	w.send("ZRH", w.now, 2, 0)
	if h := w.read(1)[0].Hours[0]; h.Messages() != 5 || h.Duplicate != 3 { // each process knows its own copies
		t.Errorf("%+v", h)
	}
}

// A consumer that catches up reads the messages of several hours at once, and those of each partition
// in their own order.
func TestAFeedBeginsWithItsEarliestMessage(t *testing.T) {
	w := newWorld(t)
	earliest := w.now.Add(-25 * time.Hour)
	w.send("ZRH", w.now, 1, 0)
	w.send("ZRH", earliest, 1, 0)
	w.send("ZRH", earliest.Add(time.Hour), 1, 0)
	if f := w.read(26)[0]; !f.First.Equal(earliest) || len(f.Hours) != 3 || !f.Last.Equal(w.now) {
		t.Errorf("%+v, want it to begin at %v", f, earliest)
	}
}

// A feed with a message a minute for two hours, none for six, and again for one, every week.
func TestAFeedIsSilentAfterTenUsualGaps(t *testing.T) {
	w := newWorld(t)
	today := w.now
	for weeks := 4; weeks > 0; weeks-- { // what is usual is known by the same hour of the week
		day := today.Add(-time.Duration(weeks) * 7 * 24 * time.Hour)
		w.now = day.Add(10 * time.Hour)
		w.send("ZRH", day, 120, time.Minute)
		w.send("ZRH", day.Add(8*time.Hour), 60, time.Minute)
	}
	w.now = today
	w.send("ZRH", today, 1, 0)
	for _, c := range []struct {
		after time.Duration
		state feeds.State
		gap   time.Duration
	}{
		{time.Minute, feeds.Flowing, time.Minute},
		{10 * time.Minute, feeds.Flowing, time.Minute},
		{10*time.Minute + 2*time.Second, feeds.Silent, time.Minute},
		{3 * time.Hour, feeds.Silent, 0},
	} {
		w.now = today.Add(c.after)
		if f := w.read(0)[0]; f.State != c.state || f.Gap != c.gap || len(f.Hours) > 0 {
			t.Errorf("after %v: %s, gap %v", c.after, f.State, f.Gap)
		}
	}
	w.now = today.Add(119 * time.Minute)
	w.send("ZRH", w.now, 1, 0) // the last before the pause
	for after, want := range map[time.Duration]feeds.State{
		119 * time.Minute: feeds.Flowing, 7 * time.Hour: feeds.Flowing,
		8*time.Hour + 8*time.Minute: feeds.Flowing, 8*time.Hour + 10*time.Minute: feeds.Silent,
	} {
		w.now = today.Add(after)
		if f := w.read(0)[0]; f.State != want {
			t.Errorf("%v after the pause began: %s", after, f.State)
		}
	}
}

// The watch asks for the states of all feeds each minute.
func TestAStateIsToldWithoutTheCountsOfToday(t *testing.T) {
	w := newWorld(t)
	w.now = w.now.Truncate(24 * time.Hour)
	w.send("ZRH", w.now, 1, 0)
	today := "feed:ZRH/kafka:" + w.now.Format("20060102")
	if err := w.client.WriteClient().Set(t.Context(), today, "no hash", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if f := w.read(0)[0]; f.State != feeds.New {
		t.Errorf("%+v", f)
	}
	if found, err := w.store.Read(t.Context(), []feeds.Name{{Airport: "ZRH", Door: "kafka"}}, 1, w.now); !errors.Is(err, redis.ErrUnavailable) {
		t.Errorf("with the counts of today: %+v, %v", found, err)
	}
}

func TestFiveMinutesAreNoSilence(t *testing.T) {
	w := newWorld(t)
	today := w.now
	w.now = today.Add(-6 * 24 * time.Hour)
	w.send("ZRH", today.Add(-7*24*time.Hour), 3600, time.Second)
	w.send("LHR", today.Add(-6*24*time.Hour), 1, time.Second)
	w.now = today
	w.send("ZRH", today, 1, 0)
	w.send("LHR", today, 1, 0)
	for after, want := range map[time.Duration]feeds.State{5 * time.Minute: feeds.Flowing, 5*time.Minute + time.Second: feeds.Silent} {
		w.now = today.Add(after)
		if found := w.read(0); found[1].State != want || found[1].Gap != time.Second || found[0].State != feeds.New {
			t.Errorf("after %v: %+v", after, found)
		}
	}
}

func TestAFeedIsForgottenAfterAMonth(t *testing.T) {
	w := newWorld(t)
	w.send("ZRH", w.now, 1, 0)
	w.now = w.now.Add(24 * time.Hour)
	w.send("LHR", w.now, 1, 0)
	w.counter.Count("kafka", message("old", w.now.Add(-32*24*time.Hour), accepted("JFK")))
	w.flush()
	if err := w.store.Forget(t.Context(), w.now.Add(30*24*time.Hour+time.Hour)); err != nil {
		t.Fatal(err)
	}
	if found := w.read(24 * 31); len(found) != 1 || found[0].Airport != "LHR" {
		t.Errorf("%+v", found)
	}
}

func TestQuantilesOfDelays(t *testing.T) {
	w := newWorld(t)
	if _, ok := new(feeds.Delays).Quantile(0.5); ok {
		t.Error("no delays have a quantile")
	}
	for i := range 100 {
		delay := time.Duration(i) * time.Second
		if i == 99 {
			delay = 30 * 24 * time.Hour
		}
		o := accepted("ZRH")
		o.Happened = w.now.Add(-delay)
		w.counter.Count("kafka", message(delay.String(), w.now, o))
	}
	w.flush()
	delays := w.read(1)[0].Hours[0].Delays
	for q, want := range map[float64]time.Duration{0: 0, 0.01: time.Second, 0.5: 50 * time.Second, 0.95: 95 * time.Second, 1: 52 * time.Hour} {
		if got, _ := delays.Quantile(q); got < want*7/10 || got > max(time.Second, want*14/10) {
			t.Errorf("quantile %v is %v, want about %v", q, got, want)
		}
	}
}

func TestWhatCannotBeWrittenIsLostAndReported(t *testing.T) {
	proxy := redistest.StartProxy(t, "127.0.0.1:1")
	store := feeds.NewStore(redistest.Open(t, proxy.URL("")))
	counter := feeds.NewCounter(store, time.Now)
	counter.Count("kafka", message("a", time.Now(), accepted("ZRH")))
	if err := counter.Flush(t.Context()); !errors.Is(err, redis.ErrUnavailable) || strings.Contains(err.Error(), "ZRH") {
		t.Errorf("%v", err)
	}
	if err := counter.Flush(t.Context()); err != nil {
		t.Errorf("with nothing to write: %v", err)
	}
	if _, err := store.Names(t.Context()); !errors.Is(err, redis.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

// A feed that was removed is left out. A refusal is an error, and not a feed that was removed.
func TestARefusalIsNoRemovedFeed(t *testing.T) {
	server := miniredis.RunT(t)
	store := feeds.NewStore(redistest.Open(t, "redis://"+server.Addr()))
	names := []feeds.Name{{Airport: "ZRH", Door: "kafka"}}
	if found, err := store.Read(t.Context(), names, 1, time.Now()); err != nil || len(found) != 0 {
		t.Errorf("removed: %+v, %v", found, err)
	}
	for _, refusal := range []string{"LOADING Redis is loading the dataset in memory", "NOPERM this user has no permissions"} {
		server.SetError(refusal)
		if found, err := store.Read(t.Context(), names, 1, time.Now()); !errors.Is(err, redis.ErrUnavailable) {
			t.Errorf("%s: %+v, %v", refusal, found, err)
		}
	}
}

// The clock of a process was ten days ahead when a message came. Its feed is silent before these ten
// days are over.
func TestAFeedIsSilentThoughAClockWasAhead(t *testing.T) {
	w := newWorld(t)
	today := w.now
	for week := range 3 {
		w.send("ZRH", today.Add(-7*24*time.Hour*time.Duration(week+1)), 3600, time.Second)
	}
	w.send("ZRH", today, 1, 0)
	w.now = today.Add(10 * 24 * time.Hour)
	w.send("ZRH", w.now, 1, 0)
	w.now = today
	if err := w.store.Forget(t.Context(), w.now); err != nil {
		t.Fatal(err)
	}
	w.now = today.Add(30 * time.Minute)
	if found := w.read(0); len(found) != 1 || found[0].State != feeds.Silent {
		t.Errorf("after 30 minutes without a message: %+v", found)
	}
}
