package queryapi_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/enricher"
	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/flightref"
	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/pause"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/internal/web"
	"bagtrail/queryapi"
)

// changeIndex is an index of changes.
type changeIndex struct {
	epoch    changes.Epoch
	progress changes.Progress // of every partition
	err      error
	found    []changes.Candidate // of partition 0
	read     func()              // if not nil: is called after State was asked
	hangs    bool                // State does not answer
	lost     bool                // there is no epoch since State was asked
}

func (x *changeIndex) Epoch(context.Context) (changes.Epoch, error) {
	if x.lost {
		return changes.Epoch{}, nil
	}
	return x.epoch, x.err
}

func (x *changeIndex) State(ctx context.Context) (changes.Epoch, []changes.Progress, error) {
	if x.hangs {
		<-ctx.Done()
		return changes.Epoch{}, nil, ctx.Err()
	}
	if x.read != nil {
		defer x.read()
	}
	progress := make([]changes.Progress, x.epoch.Partitions)
	for i := range progress {
		progress[i] = x.progress
	}
	return x.epoch, progress, x.err
}

func (x *changeIndex) Between(_ context.Context, _ changes.Epoch, _ []changes.Scope, _, told []int64, _ int) ([][]changes.Candidate, []int64, error) {
	byPartition := make([][]changes.Candidate, len(told))
	byPartition[0] = x.found
	return byPartition, told, x.err
}

func (x *changeIndex) Sequences(_ context.Context, _ changes.Epoch, plates []bag.Plate, _, _ []int64) ([]int64, error) {
	return make([]int64, len(plates)), x.err
}

// changeSite returns a site over an index of changes.
func changeSite(index *changeIndex) *web.Site {
	return changeSiteOver(index, memory.New(), nil, web.Settings{Keys: testKeys, Log: zap.NewNop()})
}

// changeSiteOver returns a site over an index of changes and one of messages. Without a tail,
// nothing is published.
func changeSiteOver(index *changeIndex, bags trail.Index, tail *changes.Tail, settings web.Settings) *web.Site {
	library := airport.New()
	trails := trail.New(bags, enricher.New(library), trail.Settings{Airports: library, Now: time.Now})
	feed := changefeed.New(changefeed.Config{
		Changes: &changes.Reader{Index: index}, Tail: cmp.Or(tail, changes.NewTail(nil, "", zap.NewNop())),
		Trails: trails, Patient: trails, Airports: library, References: flightref.None(), Clock: time.Now,
	})
	queries := queryapi.Queries{
		Trails:   func(s bag.Sight) queryapi.Trails { return trails.For(s) },
		Airports: library, Airlines: airline.New(), Flights: flightref.None(), Changes: feed, ChangesRetention: 72 * time.Hour, Clock: time.Now,
	}
	settings.Clock = time.Now
	return web.New(settings, queries.Operations(), nil)
}

func newChangeIndex() *changeIndex {
	return &changeIndex{epoch: changes.Epoch{Begun: 1773480000, Partitions: 12}, progress: changes.Progress{Told: 184467}}
}

// cursorOf returns the member cursor of an answer.
func cursorOf(t *testing.T, body string) string {
	t.Helper()
	var answer struct{ Cursor string }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Cursor == "" {
		t.Fatalf("no cursor in %s", body)
	}
	return answer.Cursor
}

func TestAWrongSinceIsToldTheRetention(t *testing.T) {
	for retention, want := range map[time.Duration]string{
		72 * time.Hour: "72 hours", 72*time.Hour + 30*time.Minute: "72.5 hours", 100 * time.Minute: "1.66667 hours", 4320 * time.Hour: "4320 hours",
		time.Minute: "60 seconds",
	} {
		queries := queryapi.Queries{Airports: airport.New(), Airlines: airline.New(), Changes: &changefeed.Feed{}, ChangesRetention: retention, Clock: time.Now}
		s := web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, queries.Operations(), nil)
		if w := askV1(s, "lx", "/v1/changes?since=yesterday", ""); !strings.Contains(w.Body.String(), "within the last "+want+`"`) {
			t.Errorf("%v: %s", retention, w.Body)
		}
	}
}

func TestChangesAreNotCachedAndACursorLeadsOn(t *testing.T) {
	s := changeSite(newChangeIndex())
	first := askV1(s, "lx", "/v1/changes", "")
	cursor := cursorOf(t, first.Body.String())
	second := askV1(s, "lx", "/v1/changes?wait=0&limit=1000&fields=list&cursor="+cursor, "")
	if first.Body.String() != `{"changes":[],"cursor":"`+cursor+`","more":false}` || second.Body.String() != first.Body.String() {
		t.Errorf("%s\n%s", first.Body, second.Body)
	}
	for _, w := range []http.Header{first.Header(), second.Header()} {
		if w.Get("Cache-Control") != "no-store" || w.Get("ETag") != "" {
			t.Errorf("headers %v", w)
		}
	}
	for _, other := range []string{"airline=LX", "airport=ZRH", "plate=0724100001", "pnr=ABC123&date=2026-03-14", "flight=ZRH/D/LX/14/2026-03-14"} {
		if got := faultsV1(t, askV1(s, "lx", "/v1/changes?cursor="+cursor+"&"+other, "")); got != "cursor cursor" {
			t.Errorf("%s with the cursor of no filter: %s", other, got)
		}
		own := cursorOf(t, askV1(s, "lx", "/v1/changes?"+other, "").Body.String())
		if w := askV1(s, "lx", "/v1/changes?"+other+"&cursor="+own, ""); w.Code != http.StatusOK {
			t.Errorf("%s with its own cursor: %d %s", other, w.Code, w.Body)
		}
	}
	same := []string{"plate=0724100001&plate=0724100002", "plate=0724100002&plate=0724100001&plate=0724100001"}
	if w := askV1(s, "lx", "/v1/changes?"+same[1]+"&cursor="+cursorOf(t, askV1(s, "lx", "/v1/changes?"+same[0], "").Body.String()), ""); w.Code != http.StatusOK {
		t.Errorf("the same plates in another order: %d %s", w.Code, w.Body)
	}
}

// countedReads is an index that counts the plates whose messages are read.
type countedReads struct {
	*memory.Index
	plates int
}

func (x *countedReads) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	x.plates += len(w.PlateMessages)
	return x.Index.Read(ctx, w)
}

// siteOfChanges returns a site that tells so many plates, each with one message, and the target of a
// question for all of them.
func siteOfChanges(t *testing.T, bags *countedReads, answerBytes int64, plates int, message func(plate string) string) (s *web.Site, target string) {
	t.Helper()
	library, index := airport.New(), newChangeIndex()
	acceptor := ingestor.NewAcceptor(ingestor.Config{Judge: ingestor.NewJudge(library, enricher.New(library)), Index: bags})
	s = changeSiteOver(index, bags, nil, web.Settings{Keys: testKeys, Log: zap.NewNop(), AnswerBytes: answerBytes})
	target = "/v1/changes?limit=1000&cursor=" + cursorOf(t, askV1(s, "lx", "/v1/changes", "").Body.String())
	for i := range plates {
		plate := fmt.Sprintf("0724%06d", i)
		outcome, err := acceptor.Accept(t.Context(), ingestor.Envelope{Raw: message(plate), Received: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)})
		if err != nil || outcome.Verdict != ingestor.Accepted {
			t.Fatal(outcome, err)
		}
		index.progress.Told++
		index.found = append(index.found, changes.Candidate{Plate: bag.Plate(plate), Sequence: index.progress.Told})
	}
	return s, target
}

func TestNoMoreBagsAreReadForAnAnswerThatFindsNoMemory(t *testing.T) {
	const plates = 600
	bags := &countedReads{Index: memory.New()}
	s, target := siteOfChanges(t, bags, 100<<10, plates, func(plate string) string {
		return "BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/" + plate + "001\r\n.P/1MUELLER/HANS\r\n.L/ABC123\r\nENDBSM\r\n"
	})
	if w := askV1(s, "lx", target, ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%d %.200s", w.Code, w.Body)
	}
	if bags.plates == 0 || bags.plates > plates/2 {
		t.Errorf("%d of %d plates were read", bags.plates, plates)
	}
}

// stalledReader reads a stream up to its first change.
type stalledReader struct {
	*httptest.ResponseRecorder
	stalled, leave chan struct{}
}

func (w stalledReader) Write(p []byte) (int, error) {
	if strings.HasPrefix(string(p), "event: change") {
		close(w.stalled)
		<-w.leave
		return 0, io.ErrClosedPipe
	}
	return w.ResponseRecorder.Write(p)
}

func TestAStreamThatStallsTakesMemoryFromTheLargeAnswersOfItsKey(t *testing.T) {
	location := strings.Repeat("A", 50<<10)
	s, target := siteOfChanges(t, &countedReads{Index: memory.New()}, 700<<10, 4, func(plate string) string {
		return "BPM\r\n.V/1LZRH\r\n.J/S///14MAR/120000Z/" + location + "\r\n.F/LX100/14MAR/JFK\r\n.N/" + plate + "001\r\nENDBPM\r\n"
	})
	stream := func(ctx context.Context, key, target string) *http.Request {
		r := httptest.NewRequestWithContext(ctx, "GET", target, http.NoBody)
		r.Header.Set("api_key", key)
		r.Header.Set("Accept", "text/event-stream")
		return r
	}
	reader := stalledReader{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.ServeHTTP(reader, stream(t.Context(), "lx", strings.Replace(target, "limit=1000&", "", 1)))
	}()
	<-reader.stalled
	for key, want := range map[string]int{"lx": http.StatusServiceUnavailable, "concealing": http.StatusOK} { // both see the same
		if w := askV1(s, key, target, ""); w.Code != want {
			t.Errorf("a large answer to %s: %d %.200s", key, w.Code, w.Body)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, stream(ctx, "ba", "/v1/changes"))
	if !strings.HasPrefix(w.Body.String(), "event: heartbeat\n") {
		t.Errorf("a small stream: %d %.200s", w.Code, w.Body)
	}
	close(reader.leave)
	<-over
	if w := askV1(s, "lx", target, ""); w.Code != http.StatusOK {
		t.Errorf("a large answer after the stream: %d %.200s", w.Code, w.Body)
	}
}

func TestAnAnswerOfChangesHasAtMost4MiB(t *testing.T) {
	location := strings.Repeat("A", 50<<10)
	s, target := siteOfChanges(t, &countedReads{Index: memory.New()}, 0, 100, func(plate string) string {
		return "BPM\r\n.V/1LZRH\r\n.J/S///14MAR/120000Z/" + location + "\r\n.F/LX100/14MAR/JFK\r\n.N/" + plate + "001\r\nENDBPM\r\n"
	})
	w := askV1(s, "lx", target, "")
	if n := w.Body.Len(); w.Code != http.StatusOK || n > 4<<20 || n < 4<<20-100<<10 || !strings.HasSuffix(w.Body.String(), `"more":true}`) {
		t.Errorf("%d: %d bytes: %.200s", w.Code, n, w.Body)
	}
}

func TestWhoMayNotFollowChanges(t *testing.T) {
	s := changeSite(newChangeIndex())
	for key, want := range map[string]int{
		"demo": 200, "lx": 200, "no-airline": 200, "no-customer": 403, "history-only": 403, "posts": 403, "nobody": 401,
	} {
		if w := askV1(s, key, "/v1/changes", ""); w.Code != want {
			t.Errorf("%s: %d %s", key, w.Code, w.Body)
		}
	}
}

func TestACursorThatCannotBeFollowedDrawsAReset(t *testing.T) {
	index := newChangeIndex()
	s := changeSite(index)
	cursor := cursorOf(t, askV1(s, "lx", "/v1/changes", "").Body.String())
	ask := func(key, reason string) {
		t.Helper()
		w := askV1(s, key, "/v1/changes?wait=5&cursor="+cursor, "")
		text := w.Body.String()
		if w.Code != http.StatusGone || !strings.Contains(text, `"type":"/docs/problems/reset"`) || !strings.Contains(text, `"reason":"`+reason+`"`) {
			t.Fatalf("%d %s", w.Code, text)
		}
		if w := askV1(s, key, "/v1/changes?cursor="+cursorOf(t, text), ""); w.Code != http.StatusOK {
			t.Errorf("the new cursor: %d %s", w.Code, w.Body)
		}
	}
	ask("ba", "what the key may see was changed")
	index.progress.Floor = index.progress.Told + 2
	index.progress.Told += 10
	ask("lx", "the cursor is older than the changes that are kept")
	index.epoch.Begun++
	ask("lx", "the numbering of changes has begun anew")
}

func TestWithoutChangesTheReasonIsTold(t *testing.T) {
	queries := queryapi.Queries{Airports: airport.New(), Flights: flightref.None(), NoChanges: "Kafka is off"}
	s := web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, queries.Operations(), nil)
	if w := askV1(s, "demo", "/v1/changes", ""); w.Code != http.StatusNotImplemented || !strings.Contains(w.Body.String(), `"detail":"Kafka is off"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for name, index := range map[string]*changeIndex{
		"lost": {}, "being built": {epoch: changes.Epoch{Begun: 1, Partitions: 2}, progress: changes.Progress{Told: -1, Floor: -1}}, "away": {err: errors.New("away")},
	} {
		seen, lines := observer.New(zap.ErrorLevel)
		if w := askV1(changeSiteOver(index, memory.New(), nil, web.Settings{Keys: testKeys, Log: zap.New(seen)}), "demo", "/v1/changes", ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
			t.Errorf("an index that is %s: %d %s", name, w.Code, w.Body)
		}
		if n := lines.Len(); (n > 0) != (name == "away") { // an index is built now and then, which is no error
			t.Errorf("an index that is %s: %d errors in the log", name, n)
		}
	}
}

func TestAWaitEndsAfterItsTimeAndWhenTheSiteStops(t *testing.T) {
	s := changeSite(newChangeIndex())
	began := time.Now()
	w := askV1(s, "demo", "/v1/changes?wait=1", "")
	if took := time.Since(began); w.Code != http.StatusOK || took < time.Second || !strings.Contains(w.Body.String(), `{"changes":[],`) {
		t.Errorf("%d %s after %v", w.Code, w.Body, took)
	}
	s.Stop()
	began = time.Now()
	w = askV1(s, "demo", "/v1/changes?wait=60", "")
	if took := time.Since(began); w.Code != http.StatusOK || took > 10*time.Second {
		t.Errorf("%d %s after %v", w.Code, w.Body, took)
	}
}

// Each change wakes a request that waits, as it wakes a stream. So the two have one limit.
func TestARequestThatWaitsCountsAsAStream(t *testing.T) {
	s := changeSiteOver(newChangeIndex(), memory.New(), nil, web.Settings{Keys: testKeys, Log: zap.NewNop(), Streams: 1})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if w := askV1(s, "lx", "/v1/changes?wait=60", ""); w.Code != http.StatusOK {
			t.Errorf("the first: %d %s", w.Code, w.Body)
		}
	})
	t.Cleanup(func() { s.Stop(); waiting.Wait() })
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if pause.Until(soon, time.Millisecond, func() bool { return s.OpenStreams() == 1 }) != nil {
		t.Fatal("a request that waits does not count")
	}
	if w := askV1(s, "lx", "/v1/changes?wait=1", ""); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
		t.Errorf("one more: %d %s", w.Code, w.Body)
	}
	if status, first := openStream(t, s, "/v1/changes", ""); status != http.StatusTooManyRequests {
		t.Errorf("a stream: %d %s", status, first)
	}
	if w := askV1(s, "lx", "/v1/changes", ""); w.Code != http.StatusOK {
		t.Errorf("without wait: %d %s", w.Code, w.Body)
	}
	if w := askV1(s, "demo", "/v1/changes?wait=1", ""); w.Code != http.StatusOK {
		t.Errorf("another key: %d %s", w.Code, w.Body)
	}
	if n := s.OpenStreams(); n != 1 {
		t.Errorf("%d count as streams", n)
	}
}

// changingKey is a key that is changed while requests are under way; nil: it is revoked.
type changingKey struct{ atomic.Pointer[apikey.Key] }

func (k *changingKey) Lookup(string, time.Time) (*apikey.Key, bool) {
	key := k.Load()
	return key, key != nil
}

// newBroker returns a client of a broker with a topic of one partition.
func newBroker(t *testing.T, topic string) *kafka.Client {
	t.Helper()
	return kafkatest.Open(t, kafkatest.Start(t, kfake.SeedTopics(1, topic)), kafka.Config{Topics: []string{topic}})
}

// runningTail returns a tail that tells its followers again and again that something has changed.
func runningTail(t *testing.T) *changes.Tail {
	t.Helper()
	client := newBroker(t, "bag.changes")
	tail := changes.NewTail(client, "bag.changes", zap.NewNop())
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = tail.Run(ctx) }) // it ends with ctx
	running.Go(func() {
		record := []kafka.Record{{Key: []byte("0724100001"), Value: []byte(`{"data":{"plate":"0724100001"}}`)}}
		for ctx.Err() == nil {
			_ = client.Produce(ctx, "bag.changes", record) // fails only if ctx has ended
			_ = pause.For(ctx, 20*time.Millisecond)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return tail
}

func TestAWaitTellsNothingToAKeyThatIsRevokedOrNarrowedMeanwhile(t *testing.T) {
	tail := runningTail(t)
	again, unlicensed := *testKeys["demo"], *testKeys["demo"]
	unlicensed.Customer = ""
	for name, tc := range map[string]struct {
		key  *apikey.Key
		want string
	}{
		"read again":  {&again, `200 {"changes":[{"id":"0724100001-`},
		"revoked":     {nil, `200 {"changes":[],`},
		"no right":    {testKeys["bags-only"], `200 {"changes":[],`},
		"no customer": {&unlicensed, `200 {"changes":[],`},
		"narrowed":    {testKeys["lx"], `410 `},
	} {
		keys, index := new(changingKey), newChangeIndex()
		keys.Store(testKeys["demo"])
		s := changeSiteOver(index, memory.New(), tail, web.Settings{Keys: keys, Log: zap.NewNop()})
		cursor := cursorOf(t, askV1(s, "demo", "/v1/changes", "").Body.String())
		index.read = func() {
			keys.Store(tc.key)
			index.progress.Told++
			index.found = []changes.Candidate{{Plate: "0724100001", Sequence: index.progress.Told}}
			index.read = nil
		}
		w := askV1(s, "demo", "/v1/changes?wait=30&cursor="+cursor, "")
		if got := fmt.Sprint(w.Code, " ", w.Body); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// openStream opens a stream and returns its first event, or the answer that refuses it.
func openStream(t *testing.T, s *web.Site, target, lastEvent string) (status int, first string) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer lx")
	r.Header.Set("Accept", "text/event-stream")
	if lastEvent != "" {
		r.Header.Set("Last-Event-ID", lastEvent)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() && lines.Text() != "" {
		first += lines.Text() + "|"
	}
	return answer.StatusCode, first
}

func TestAStreamBeginsAtTheLastEventOfTheCaller(t *testing.T) {
	s := changeSite(newChangeIndex())
	now := cursorOf(t, askV1(s, "lx", "/v1/changes", "").Body.String())
	earlier := changes.Cursor{Epoch: 1773480000, Sequences: make([]int64, 12)}
	parsed, err := changes.ParseCursor(now)
	if err != nil {
		t.Fatal(err)
	}
	earlier.Filter, earlier.Rights = parsed.Filter, parsed.Rights
	for _, tc := range []struct {
		target, lastEvent, cursor string
	}{
		{"/v1/changes", "", now},
		{"/v1/changes?cursor=" + earlier.String(), "", earlier.String()},
		{"/v1/changes?cursor=" + now, earlier.String(), earlier.String()},
		{"/v1/changes?since=" + url.QueryEscape(time.Now().Format(time.RFC3339)), earlier.String(), earlier.String()},
	} {
		status, first := openStream(t, s, tc.target, tc.lastEvent)
		if want := "event: heartbeat|id: " + tc.cursor + `|data: {"cursor":"` + tc.cursor + `"}|`; status != http.StatusOK || first != want {
			t.Errorf("%s after %q: %d %s", tc.target, tc.lastEvent, status, first)
		}
	}
	for target, want := range map[string]string{
		"/v1/changes?limit=1&wait=2": `"parameter":"limit"`, "/v1/changes?plate=0724100001": `"parameter":"Last-Event-ID"`,
	} {
		if status, first := openStream(t, s, target, now); status != http.StatusBadRequest || !strings.Contains(first, want) {
			t.Errorf("%s: %d %s", target, status, first)
		}
	}
}

// A process knows that a key is revoked after two seconds, and its stream must end within five.
func TestAStreamEndsWithinThreeSecondsOnceItsKeyIsKnownToBeRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := new(changingKey)
		keys.Store(testKeys["demo"])
		s := changeSiteOver(newChangeIndex(), memory.New(), nil, web.Settings{Keys: keys, Log: zap.NewNop()})
		time.AfterFunc(time.Millisecond, func() { keys.Store(nil) })
		began := time.Now()
		w := ask(t.Context(), s, "GET", "/v1/changes", "", "api_key", "demo", "Accept", "text/event-stream")
		if took := time.Since(began); took >= 3*time.Second || strings.Count(w.Body.String(), "event: heartbeat") != 1 {
			t.Errorf("after %v: %d %s", took, w.Code, w.Body)
		}
	})
}

func TestTheChangesOfAListAreFollowedFromItsCursor(t *testing.T) {
	index := newChangeIndex()
	s := changeSite(index)
	const day = "date=2026-03-14"
	for _, tc := range []struct{ list, body, filter string }{
		{"/v1/bags/0724100001", "", "plate=0724100001"},
		{"/v1/bags?plate=0724100002&plate=0724100001&plate=0724100002", "", "plate=0724100001&plate=0724100002"},
		{"/v1/bags?pnr=abc123&" + day, "", "pnr=ABC123&" + day},
		{"/v1/bags/search", `{"pnr":"ABC123","date":"2026-03-14"}`, "pnr=ABC123&" + day},
		{"/v1/bags/search", `{"last_name":"MUELLER","airport":"ZRH","date":"2026-03-14"}`, "airport=ZRH"},
		{"/v1/bags/search", `{"last_name":"MUELLER","airline":"SWR","flight":"100","date":"2026-03-14"}`, "airline=LX"},
		{"/v1/flights/ZRH/D/SWR/0100/2026-03-14", "", "flight=ZRH/D/LX/100/2026-03-14"},
		{"/v1/flights?airport=ZRH&direction=A&" + day, "", "airport=ZRH"},
	} {
		list := askV1(s, "lx", tc.list, tc.body)
		var answer struct {
			Cursor string `json:"changes_cursor"`
		}
		if err := json.Unmarshal(list.Body.Bytes(), &answer); err != nil || answer.Cursor == "" {
			t.Errorf("%s %s: %d %s", tc.list, tc.body, list.Code, list.Body)
		}
		if w := askV1(s, "lx", "/v1/changes?"+tc.filter+"&cursor="+answer.Cursor, ""); w.Code != http.StatusOK {
			t.Errorf("%s %s, %s: %d %s", tc.list, tc.body, tc.filter, w.Code, w.Body)
		}
	}
	const list = "/v1/bags/0724100001"
	tag := askV1(s, "demo", list, "").Header().Get("ETag")
	index.progress.Told++
	later := changeSite(index)
	if w := askV1(later, "demo", list, ""); w.Header().Get("ETag") != tag {
		t.Errorf("the ETag depends on what else has changed: %s %s", tag, w.Body)
	}
	index.lost = true
	if w := askV1(later, "demo", list, ""); w.Code != http.StatusOK || w.Body.String() != `{"bags":[]}` {
		t.Errorf("after Redis has lost everything since the cursor was read: %d %s", w.Code, w.Body)
	}
	index.lost, index.err = false, errors.New("away")
	if w := askV1(changeSite(index), "demo", list, ""); w.Code != http.StatusOK || w.Body.String() != `{"bags":[]}` {
		t.Errorf("without the index of changes: %d %s", w.Code, w.Body)
	}
	if w := askV1(changeSite(newChangeIndex()), "bags-only", list, ""); w.Code != http.StatusOK || w.Body.String() != `{"bags":[]}` {
		t.Errorf("a key without the right: %d %s", w.Code, w.Body)
	}
}

func TestAListIsAnsweredSoonThoughTheIndexOfChangesHangs(t *testing.T) {
	index := newChangeIndex()
	index.hangs = true
	s := changeSite(index)
	for list, want := range map[string]string{
		"/v1/bags/0724100001": `{"bags":[]}`,
		"/v1/flights?airport=ZRH&direction=A&date=2026-03-14": `{"flights":[]}`,
	} {
		began := time.Now()
		w := askV1(s, "lx", list, "")
		if took := time.Since(began); w.Code != http.StatusOK || w.Body.String() != want || took > 700*time.Millisecond {
			t.Errorf("%s: %d %s after %v", list, w.Code, w.Body, took)
		}
	}
}
