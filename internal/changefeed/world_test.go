package changefeed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/changestore"
	"bagtrail/internal/flightref"
	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/telemetry"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
)

const (
	partitions = 3
	patience   = 20 * time.Second
)

// world is the way of a message from the door to the feed, with one owner of all partitions.
type world struct {
	t        testing.TB
	kafka    *kafka.Client
	brokers  []string
	redis    *redis.Client
	index    *changestore.Store
	door     ingestor.Config // of the acceptor
	acceptor *ingestor.Acceptor
	feed     *changefeed.Feed
	received time.Time // of the next message
	now      atomic.Int64
}

func newWorld(t *testing.T) *world { return newWorldOf(t, partitions, flightref.None()) }

// newWorldOf returns a world with so many partitions and a flight reference.
func newWorldOf(t testing.TB, partitions int, flights *flightref.Store) *world {
	cluster := kafkatest.Start(t)
	log := zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel))
	w := &world{t: t, brokers: cluster.ListenAddrs(), received: time.Date(2026, 3, 14, 6, 0, 0, 0, time.UTC)}
	w.kafka = kafkatest.Open(t, cluster, kafka.Config{
		Topics: []string{"bag.dirty", "bag.changes"}, Logger: log,
		Timing: kafka.Timing{Wait: 20 * time.Millisecond, RetryMin: 4 * time.Millisecond, RetryMax: 20 * time.Millisecond},
	})
	err := w.kafka.EnsureTopics(t.Context(),
		kafka.Topic{Name: "bag.dirty", Partitions: partitions}, kafka.Topic{Name: "bag.changes", Partitions: partitions})
	if err != nil {
		t.Fatal(err)
	}
	w.redis = redistest.Open(t, "")
	w.index = changestore.New(w.redis, 72*time.Hour, time.Now)
	library, bags := airport.New(), memory.New()
	enrich := enricher.New(library)
	w.now.Store(w.received.Unix())
	clock := func() time.Time { return time.Unix(w.now.Load(), 0) }
	trails := trail.New(bags, enrich, trail.Settings{
		Window: 10 * time.Minute, Airports: library, Departed: flights.Departed, Now: clock,
	})
	w.door = ingestor.Config{
		Judge: ingestor.NewJudge(library, enrich), Index: bags, Marks: changes.Marker{Kafka: w.kafka, Topic: "bag.dirty"},
	}
	w.acceptor = ingestor.NewAcceptor(w.door)
	brief := bagdoc.Writer{Airports: library, References: flights, Fields: bagdoc.Brief, MaxEvents: 100}
	stage := changes.New(changes.Config{
		Kafka: w.kafka, Group: "owners", Marks: "bag.dirty", Changes: "bag.changes", Index: w.index, Bags: trails,
		Departures: flights, Reloads: new(changes.Reloads),
		Append:  func(dst []byte, t trail.Traced) []byte { dst, _ = brief.Append(dst, t); return dst },
		Behind:  func() bool { return false },
		Metrics: telemetry.NewConsumer(telemetry.NewRegistry("test"), "changes", nil, time.Now), Logger: log, Now: clock,
	})
	tail := changes.NewTail(w.kafka, "bag.changes", log)
	w.run(stage.Run)
	w.run(tail.Run)
	w.feed = changefeed.New(changefeed.Config{
		Changes: &changes.Reader{Index: w.index, Kafka: w.kafka, Marks: "bag.dirty"}, Tail: tail,
		Trails: trails, Patient: trails, Airports: library, References: flights, Clock: clock,
	})
	w.settle()
	return w
}

// run runs a part of the world until the test ends.
func (w *world) run(part func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = part(ctx) // it ends with ctx
	}()
	w.t.Cleanup(func() { cancel(); <-done })
}

// eventually waits until something holds.
func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	redistest.Eventually(w.t, patience, "it did not come about that "+what, holds)
}

// settle waits until everything that is marked is told.
func (w *world) settle() {
	w.t.Helper()
	w.eventually("marks are told", func() bool {
		_, progress, err := w.index.State(w.t.Context())
		if err != nil || len(progress) == 0 {
			return false
		}
		for i, p := range progress {
			marks, err := w.kafka.Span(w.t.Context(), "bag.dirty", i, kafka.Start{})
			if err != nil || p.Floor < 0 || p.Told < marks.To-1 {
				return false
			}
		}
		return true
	})
}

// send files messages, a minute apart, and waits until they are told.
func (w *world) send(messages ...string) {
	w.t.Helper()
	for _, m := range messages {
		w.received = w.received.Add(time.Minute)
		w.now.Store(w.received.Unix())
		w.file(w.received, m)
	}
	w.settle()
}

// file files messages that were received at a time. Blanks stand for ends of lines.
func (w *world) file(received time.Time, messages ...string) {
	w.t.Helper()
	envelopes := make([]ingestor.Envelope, len(messages))
	for i, m := range messages {
		envelopes[i] = ingestor.Envelope{Raw: strings.ReplaceAll(m, " ", "\r\n"), Received: received}
	}
	for len(envelopes) > 0 {
		outcomes, err := w.acceptor.AcceptBatch(w.t.Context(), envelopes)
		if err != nil {
			w.t.Fatal(err)
		}
		for i, o := range outcomes {
			if o.Verdict != ingestor.Accepted {
				w.t.Fatalf("%s: %v", envelopes[i].Raw, o.Verdict)
			}
		}
		envelopes = envelopes[len(outcomes):]
	}
}

// told is a change as a reader knows it.
type told struct {
	ID       string
	Plate    string
	Sequence int64
	Bags     []struct {
		Passenger struct{ PNR string }
		Legs      []struct{ Airline, Flight, Status string }
		Events    []struct {
			ID, Code     string
			ReadLocation string `json:"read_location"`
		}
		EventsLeftOut int `json:"events_left_out"`
	}
}

// summary returns plate, PNRs and numbers of events: "0724100001 ABC123:2 DEF456:1".
func (c told) summary() string {
	text := c.Plate
	for _, b := range c.Bags {
		text += fmt.Sprintf(" %s:%d", b.Passenger.PNR, len(b.Events))
	}
	return text
}

// reader follows a cursor, as a caller does.
type reader struct {
	*world
	asker  changefeed.Asker
	cursor changes.Cursor
	limits changefeed.Limits
}

var everything = apikey.Scope{All: true}

// key returns a key that is limited to airlines and airports, each separated by blanks; "*" is all.
func key(airlines, airports string) *apikey.Key {
	scope := func(list string) apikey.Scope { return apikey.ScopeOf(append([]string{}, strings.Fields(list)...)) }
	return &apikey.Key{Name: "key", Customer: "X", Airlines: scope(airlines), Airports: scope(airports), Operations: everything}
}

// reader returns a reader from now on.
func (w *world) reader(k *apikey.Key, f changefeed.Filter) *reader {
	w.t.Helper()
	r := &reader{world: w, asker: changefeed.Asker{Key: k, Filter: f, Fields: bagdoc.Events}, limits: changefeed.Limits{Changes: 100, Bytes: 4 << 20}}
	var err error
	if r.cursor, err = w.feed.Now(w.t.Context(), r.asker); err != nil {
		w.t.Fatal(err)
	}
	return r
}

// parse reads what a key is told.
func (w *world) parse(c changefeed.Change) (t told) {
	w.t.Helper()
	w.unmarshal(c.Document, &t)
	if t.ID != c.ID || t.Plate != string(c.Plate) || t.Sequence != c.Sequence {
		w.t.Fatalf("%+v: %s", c, c.Document)
	}
	return t
}

func (w *world) unmarshal(text []byte, into any) {
	w.t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
}

// each calls take with each change that follows the cursor, and moves the cursor behind them.
func (r *reader) each(take func(changefeed.Change)) {
	r.t.Helper()
	for {
		b, err := r.feed.Next(r.t.Context(), r.asker, r.cursor, r.limits)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, c := range b.Changes {
			take(c)
		}
		if r.cursor = b.Cursor; !b.More {
			return
		}
	}
}

// all returns all changes that follow the cursor, and moves it behind them.
func (r *reader) all() (list []told) {
	r.t.Helper()
	r.each(func(c changefeed.Change) { list = append(list, r.parse(c)) })
	return list
}

// want fails unless these changes follow the cursor, in any order.
func (r *reader) want(when string, want ...string) {
	r.t.Helper()
	var got []string
	for _, c := range r.all() {
		got = append(got, c.summary())
	}
	if a, b := sorted(got), sorted(want); a != b {
		r.t.Errorf("%s: told %s, want %s", when, a, b)
	}
}

// sorted returns texts in order, as one.
func sorted(texts []string) string { return strings.Join(slices.Sorted(slices.Values(texts)), ", ") }

// listener is the other end of a stream.
type listener struct {
	*world
	key    atomic.Pointer[apikey.Key] // as it is now; nil: it is not valid any more
	events chan event
	beats  chan time.Time
	checks chan time.Time
	gone   atomic.Bool     // it takes nothing more
	sends  atomic.Int64    // how many events it was given, with the one that it has not taken yet
	ended  chan struct{}   // closed when the stream has ended
	over   <-chan struct{} // closed when the test ends

	open atomic.Int64 // reads that have not ended
	full atomic.Int64 // how often there is no memory yet
	held atomic.Int64 // bytes of the last Hold
}

// event is an event of a stream.
type event struct {
	name, id string
	data     []byte
}

func (l *listener) Send(name, id string, data []byte) error {
	l.sends.Add(1)
	if l.gone.Load() {
		return errors.New("gone")
	}
	select {
	case l.events <- event{name, id, slices.Clone(data)}:
	case <-l.over:
	}
	return nil
}

func (*listener) Flush() {}

func (l *listener) Renew(context.Context) (*apikey.Key, bool) {
	key := l.key.Load()
	return key, key != nil
}

func (l *listener) Ask(ctx context.Context) (context.Context, func()) {
	l.open.Add(1)
	return ctx, func() { l.open.Add(-1) }
}

func (l *listener) Hold(bytes int) bool {
	l.held.Store(0)
	if bytes > 0 && l.full.Add(-1) >= 0 {
		return false
	}
	l.held.Store(int64(bytes))
	return true
}

// ends waits until a stream has ended.
func ends(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the stream goes on")
	}
}

// listen opens a stream for a reader, behind its cursor. Its listener holds some events.
func (r *reader) listen(events int) *listener {
	l := &listener{world: r.world, events: make(chan event, events), beats: make(chan time.Time), checks: make(chan time.Time), ended: make(chan struct{})}
	l.key.Store(r.asker.Key)
	asker, cursor := r.asker, r.cursor
	ctx, cancel := context.WithCancel(context.Background())
	l.over = ctx.Done()
	go func() {
		defer close(l.ended)
		r.feed.Stream(ctx, asker, cursor, l, l.beats, l.checks)
	}()
	r.t.Cleanup(func() {
		cancel()
		if <-l.ended; l.open.Load() != 0 {
			r.t.Errorf("%d reads have not ended", l.open.Load())
		}
	})
	return l
}

// tail waits until the end of the topic of changes is read. Before that, streams read the index instead.
func (w *world) tail() {
	w.t.Helper()
	f := w.feed.Follow(changefeed.Asker{Key: key("*", "*")})
	defer f.Leave()
	for p, i := 0, 0; p < partitions; i++ {
		if plate := fmt.Sprintf("0125%06d", i); kafka.PartitionOf([]byte(plate), partitions) == p {
			p++
			w.eventually("the topic is read", func() bool {
				w.send(bsm(plate, "LX999", "TAIL", "TAIL00"), sorting(plate, "LX999"))
				published, _ := f.Take()
				return slices.ContainsFunc(published, func(c changes.Published) bool { return string(c.Plate) == plate })
			})
		}
	}
}

// stream opens a stream for a reader, and takes its first heartbeat.
func (r *reader) stream() *listener {
	r.t.Helper()
	l := r.listen(1000)
	l.next()
	return l
}

// next returns the next event.
func (l *listener) next() event {
	l.t.Helper()
	select {
	case e := <-l.events:
		return e
	case <-time.After(patience):
		l.t.Fatal("no event comes")
		return event{}
	}
}

// beat lets the stream beat, and returns the events up to its heartbeat.
func (l *listener) beat() (before []event) {
	l.t.Helper()
	select {
	case l.beats <- time.Time{}:
	case <-time.After(patience):
		l.t.Fatal("the stream does not beat")
	}
	for {
		e := l.next()
		if e.name == changefeed.EventHeartbeat {
			return before
		}
		before = append(before, e)
	}
}
