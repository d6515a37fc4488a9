package chaos_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"go.uber.org/zap"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/flightref"
	"bagtrail/internal/pause"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
	"bagtrail/parser"
	"bagtrail/queryapi"
	"bagtrail/test/servers"
	"bagtrail/test/service"
)

// reference is an index into which one process has filed every message of the raw topic once, on
// a Redis of its own.
type reference struct {
	airports  *airport.Library
	site      *web.Site
	records   int
	rejected  map[string]bool // origins
	accepted  int
	texts     map[string]bool            // texts of POSTs, as the log has them
	questions map[string]bool            // targets of all queries that the messages suggest
	days      map[string]map[string]bool // days of its flights, by plate
}

// newReference files the content of the raw topic.
func (w *world) newReference() *reference {
	w.t.Helper()
	store, err := bagstore.Open(redistest.Open(w.t, "redis://"+servers.PrivateRedis(w.t, durable...).Addr), bagstore.Config{Retention: kept, Now: time.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(store.Close)
	airports := airport.New()
	enrich := enricher.New(airports)
	acceptor := ingestor.NewAcceptor(ingestor.Config{Judge: ingestor.NewJudge(airports, enrich), Index: store.Writer()})
	u := &reference{
		airports: airports,
		rejected: map[string]bool{}, texts: map[string]bool{}, questions: map[string]bool{}, days: map[string]map[string]bool{},
	}
	const together = 500
	var batch []ingestor.Envelope
	file := func() {
		for left := batch; len(left) > 0; {
			outcomes, err := acceptor.AcceptBatch(w.t.Context(), left)
			if err != nil {
				w.t.Fatalf("file into the reference: %v", err)
			}
			for i := range outcomes {
				u.note(left[i], &outcomes[i])
			}
			left = left[len(outcomes):]
		}
		batch = batch[:0]
	}
	w.read(w.name, func(m kafka.Message) {
		if batch = append(batch, u.envelope(m)); len(batch) == together {
			file()
		}
	})
	file()
	reader := trail.New(store.Reader(), enrich, trail.Settings{Window: 10 * time.Minute, Retention: kept, Airports: airports, Now: time.Now})
	queries := queryapi.Queries{Trails: func(seen bag.Sight) queryapi.Trails { return reader.For(seen) }, Airports: airports, Flights: flightref.None()}
	u.site = web.New(web.Settings{Keys: apikey.Development(), Log: zap.NewNop(), Clock: time.Now}, queries.Operations(), nil)
	return u
}

// envelope returns the envelope of a record of the raw topic.
func (u *reference) envelope(m kafka.Message) ingestor.Envelope {
	u.records++
	e := ingestor.Envelope{
		Raw: string(m.Value), Key: string(m.Key), Received: m.Time,
		Origin:   fmt.Sprintf("%s/%d/%d", m.Topic, m.Partition, m.Offset),
		Position: bag.Position{Known: true, Partition: int32(m.Partition), Offset: m.Offset},
	}
	for _, h := range m.Headers {
		if n, err := strconv.Atoi(string(h.Value)); h.Key == "bagtrail-number" && err == nil {
			e.Position = bag.InRequest(n)
		}
		if h.Key != "bagtrail-received" {
			continue
		}
		if posted, err := time.Parse(time.RFC3339, string(h.Value)); err == nil {
			e.Received = posted
			u.texts[e.Raw] = true
		}
	}
	return e
}

// note keeps the queries that a message suggests.
func (u *reference) note(e ingestor.Envelope, o *ingestor.Outcome) {
	if o.Verdict == ingestor.Rejected {
		u.rejected[e.Origin] = true
		return
	}
	u.accepted++
	var m parser.Message
	m.Parse(e.Raw, u.airports)
	for _, entry := range o.Filing.Entries {
		plate := string(entry.Plate)
		for _, f := range entry.Flights {
			day := f.Day.String()
			if u.days[plate] == nil {
				u.days[plate] = map[string]bool{}
			}
			u.days[plate][day] = true
			u.questions[service.HistoryPath(plate, day)+"?include_bim=true"] = true
			for _, pnr := range entry.PNRs {
				u.questions[service.PassengerPath(pnr, day)] = true
			}
			u.askFlight(&m, f, day)
		}
	}
}

// askFlight notes queries for a flight at the airport of the message and at its destination.
func (u *reference) askFlight(m *parser.Message, f bag.Flight, day string) {
	for _, at := range [...]string{m.Version.Airport, m.Groups[0].Outbound.Airport} {
		if at == "" {
			continue
		}
		for _, end := range [...]string{"D", "A"} {
			u.questions[service.FlightPath(at, end, f.Airline, f.Number, day)] = true
		}
	}
}

// patience is how long a question is asked again. A busy machine may take longer than the deadline of a
// query, and the answer 503 says that it may be asked again.
const patience = 30 * time.Second

// answer answers a query. Like a service, the reference is asked again if it is too slow.
func (u *reference) answer(target string) (status int, text string) {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		req := httptest.NewRequest(http.MethodGet, target, nil)
		req.Header.Set("api_key", apikey.DevelopmentKey)
		answer := httptest.NewRecorder()
		u.site.ServeHTTP(answer, req)
		if status, text = answer.Code, answer.Body.String(); status != http.StatusServiceUnavailable {
			break
		}
	}
	return status, text
}

// verify asks a service for everything and compares the answers, at the end of a test.
func (w *world) verify(s *service.Service) {
	w.t.Helper()
	began := time.Now()
	u := w.newReference()
	if w.stream != nil && int64(u.records) < w.stream.sent.Load() {
		w.t.Errorf("%d records on the raw topic, %d messages were sent", u.records, w.stream.sent.Load())
	}
	shown := w.compare(u, s)
	w.verifyPosts(u, shown)
	w.verifyRejects(u)
	w.verifyFollowers(u, s)
	w.t.Logf("verified in %v", time.Since(began).Round(time.Second))
}

// compare asks both for everything. It returns the messages in the histories of the service.
func (w *world) compare(u *reference, s *service.Service) (shown map[string]bool) {
	w.t.Helper()
	var (
		mu              sync.Mutex
		wg              sync.WaitGroup
		differ, withBag atomic.Int64
	)
	shown = make(map[string]bool)
	targets := make(chan string)
	for range 4 {
		wg.Go(func() {
			c := newCaller()
			defer c.client.CloseIdleConnections()
			for target := range targets {
				status, want := u.answer(target)
				got, text, err := c.ask(http.MethodGet, s.URL+target, nil)
				for end := time.Now().Add(patience); (err != nil || got == http.StatusServiceUnavailable) && time.Now().Before(end); {
					_ = pause.For(w.t.Context(), 100*time.Millisecond)
					got, text, err = c.ask(http.MethodGet, s.URL+target, nil)
				}
				if strings.HasPrefix(want, success) {
					withBag.Add(1)
				}
				if err != nil || status == http.StatusServiceUnavailable || got != status || text != want {
					if differ.Add(1) <= 3 {
						w.t.Errorf("GET %s\n   service   %d %s %v\n reference %d %s", target, got, text, err, status, want)
					}
				}
				if strings.Contains(target, "include_bim") {
					mu.Lock()
					noteShown(shown, text)
					mu.Unlock()
				}
			}
		})
	}
	for _, target := range slices.Sorted(maps.Keys(u.questions)) {
		targets <- target
	}
	close(targets)
	wg.Wait()
	w.t.Logf("answers: %d questions (%d about bags that are there) for %d messages, %d answered otherwise than by the reference",
		len(u.questions), withBag.Load(), u.records, differ.Load())
	if differ.Load() > 3 || withBag.Load() == 0 {
		w.t.Errorf("%d answers differ, %d are about bags that are there", differ.Load(), withBag.Load())
	}
	return shown
}

// noteShown keeps the messages of a history.
func noteShown(shown map[string]bool, history string) {
	const member = `"raw_bim_msg":`
	for {
		_, after, found := strings.Cut(history, member)
		if !found {
			return
		}
		var raw string
		if json.NewDecoder(strings.NewReader(after)).Decode(&raw) == nil {
			shown[raw] = true
		}
		history = after
	}
}

// verifyPosts looks for every message whose POST was answered 200.
func (w *world) verifyPosts(u *reference, shown map[string]bool) {
	w.t.Helper()
	if w.posts == nil {
		return
	}
	missing, unlogged := 0, 0
	for _, a := range w.posts.acked {
		if !u.texts[a.text] {
			unlogged++
		}
		if !shown[a.text] {
			if missing++; missing <= 3 {
				w.t.Errorf("answered 200, and not in the history of %s: %q", a.plate, a.text)
			}
		}
	}
	w.t.Logf("POSTs: %d answered 200, of them missing in the answers %d, on the raw topic %d; %d times 503, %d times no connection, %d times no answer, slowest answer %v",
		len(w.posts.acked), missing, unlogged, w.posts.refused.Load(), w.posts.unheard.Load(), w.posts.cut.Load(), w.posts.slowest.Round(time.Millisecond))
	allAcked.Add(int64(len(w.posts.acked)))
	allMissing.Add(int64(missing))
	if missing+unlogged > 0 || len(w.posts.acked) == 0 {
		w.t.Errorf("of %d messages that were answered 200 %d are lost", len(w.posts.acked), missing+unlogged)
	}
	for _, wrong := range w.posts.wrong[:min(3, len(w.posts.wrong))] {
		w.t.Errorf("%d POSTs were answered otherwise: %s", len(w.posts.wrong), wrong)
	}
}

// verifyRejects compares the rejects topic: at least one record for each message to be rejected, by
// its origin, and none for others.
func (w *world) verifyRejects(u *reference) {
	w.t.Helper()
	found := make(map[string]int)
	records := 0
	w.read(w.rejects(), func(m kafka.Message) {
		records++
		for _, h := range m.Headers {
			if h.Key == "bagtrail-origin" {
				found[string(h.Value)]++
			}
		}
	})
	for origin := range u.rejected {
		if found[origin] == 0 {
			w.t.Errorf("%s is to be rejected, and is not on the rejects topic", origin)
		}
	}
	for origin := range found {
		if !u.rejected[origin] {
			w.t.Errorf("%s is on the rejects topic, and was not to be rejected", origin)
		}
	}
	w.t.Logf("messages: %d records, %d accepted, %d rejected; the rejects topic has %d origins in %d records",
		u.records, u.accepted, len(u.rejected), len(found), records)
}
