package chaos_test

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bagtrail/test/servers"
	"bagtrail/test/servers/program"
	"bagtrail/test/service"
)

const (
	frozen = 10 * time.Second // how long a server is frozen
	within = time.Second      // most time until a 503
)

// Redis is stopped (SIGSTOP) under load. Callers get 503 within a second, no process leaves the
// consumer group, and everything goes on by itself.
func TestCallersGet503SoonWhileRedisIsFrozen(t *testing.T) {
	needsReal(t)
	index := redis(t)
	w := newWorld(t, servers.Kafka(t).URL, "redis://"+index.Addr)
	f := w.freeze(index)
	f.expect(t, "POST", http.StatusServiceUnavailable)
	f.expect(t, "GET", http.StatusServiceUnavailable)
	f.names(t, "redis")
	if f.joins != 0 {
		t.Errorf("the group was shuffled %d times", f.joins)
	}
}

// Kafka is stopped. POSTs are answered 503 within a second, queries go on.
func TestQueriesGoOnWhileKafkaIsFrozen(t *testing.T) {
	needsReal(t)
	broker := servers.PrivateKafka(t)
	w := newWorld(t, broker.Addr, "redis://"+redis(t).Addr)
	f := w.freeze(broker)
	f.expect(t, "POST", http.StatusServiceUnavailable)
	f.expect(t, "GET", http.StatusOK)
	f.names(t, "kafka")
}

// A process is stopped for longer than the session timeout, so that others take its partitions of
// messages and of marks over, and then goes on.
func TestAnOwnerThatStoodStillTellsNothingOld(t *testing.T) {
	needsReal(t)
	n := size()
	w := newWorld(t, servers.Kafka(t).URL, "redis://"+redis(t).Addr)
	api, still, watch := w.startTwoOwners()
	for range max(1, n.deaths/4) {
		w.goesOn(watch)
		rest(t.Context(), 2*time.Second)
		still.Signal(syscall.SIGSTOP)
		rest(t.Context(), n.still)
		still.Signal(syscall.SIGCONT)
	}
	rest(t.Context(), 2*time.Second)
	w.endLoad()
	t.Logf("a process stood still for %v; %d messages came by Kafka", n.still, w.stream.sent.Load())
	w.check(watch)
	w.verify(api)
}

// startTwoOwners starts an api process and two ingest processes, of which one may stand still, with
// followers, a stream and POSTs.
func (w *world) startTwoOwners() (api, still *service.Service, watch *watch) {
	w.t.Helper()
	api, still = w.start("api"), w.start("ingest")
	w.start("ingest")
	return api, still, w.load(api)
}

// freeze holds what was observed while a server was frozen.
type freeze struct {
	mu    sync.Mutex
	seen  map[string][]answer // by kind of request
	ready []string            // texts of /readyz
	joins int                 // how often the group was joined again
}

type answer struct {
	status int
	took   time.Duration
}

// freeze freezes a server under load, sends requests meanwhile, and waits until everything works
// again.
func (w *world) freeze(server *program.Process) *freeze {
	w.t.Helper()
	s := w.start("serve", "BAGTRAIL_LOG_LEVEL=info") // logs when the process joins the group
	watch := w.load(s)
	w.goesOn(watch)
	rest(w.t.Context(), 2*time.Second)

	f := &freeze{seen: map[string][]answer{}, joins: -joins(s)}
	target := historyOf(s, w.posts.any())
	if err := server.Stop(); err != nil {
		w.t.Fatal(err)
	}
	f.ask(w, s, target)
	if err := server.Cont(); err != nil {
		w.t.Fatal(err)
	}
	w.recovers(s)
	w.goesOn(watch)
	w.endLoad()
	f.joins += joins(s)
	w.t.Logf("%s stood still for %v: the group was joined again %d times; %d messages came by Kafka", server.Name, frozen, f.joins, w.stream.sent.Load())
	w.check(watch)
	w.verify(s)
	return f
}

func joins(s *service.Service) int { return strings.Count(s.Log(), "joined the consumer group") }

// ask sends requests of each kind, one after the other, while the server is frozen. Those by GET
// have the given target, which finds a bag.
func (f *freeze) ask(w *world, s *service.Service, target string) {
	ctx, cancel := context.WithTimeout(w.t.Context(), frozen)
	defer cancel()
	var wg sync.WaitGroup
	n := 0
	for kind, request := range map[string]func() (method, url string, body []byte){
		"GET": func() (string, string, []byte) { return http.MethodGet, target, nil },
		"POST": func() (string, string, []byte) {
			n++
			return http.MethodPost, s.URL + service.ProcessPath, own(n)
		},
		"readyz": func() (string, string, []byte) { return http.MethodGet, s.Ops + "/readyz", nil },
		"livez":  func() (string, string, []byte) { return http.MethodGet, s.Ops + "/livez", nil },
	} {
		wg.Go(func() {
			c := newCaller()
			defer c.client.CloseIdleConnections()
			for ctx.Err() == nil {
				method, url, body := request()
				began := time.Now()
				status, text, err := c.ask(method, url, body)
				took := time.Since(began)
				if err != nil || kind == "GET" && status == http.StatusOK && !strings.HasPrefix(text, success) {
					w.t.Errorf("%s: %v %s", kind, err, text)
				}
				f.mu.Lock()
				f.seen[kind] = append(f.seen[kind], answer{status, took})
				if kind == "readyz" {
					f.ready = append(f.ready, text)
				}
				f.mu.Unlock()
				rest(ctx, 100*time.Millisecond)
			}
		})
	}
	wg.Wait()
}

// any returns the plate of a message that was accepted.
func (p *posts) any() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.acked) == 0 {
		return "0724999999"
	}
	return p.acked[len(p.acked)-1].plate
}

// own returns a message that is in no feed.
func own(n int) []byte {
	text := "BSM\r\n.V/1LZRH\r\n.F/LX8999/14MAR/JFK\r\n.N/" + strconv.Itoa(1724000000+n) + "001\r\nENDBSM\r\n"
	body, _ := json.Marshal(map[string]string{"bim_message": text}) // a string can always be encoded
	return body
}

// expect checks that every request of a kind had that answer in time. Unless the tests run at full
// size, other work on the machine may add as much as the slowest answer that needs no server.
func (f *freeze) expect(t *testing.T, kind string, status int) {
	t.Helper()
	var slowest, machine time.Duration
	other := map[int]int{}
	for _, a := range f.seen["livez"] {
		if !*full {
			machine = max(machine, a.took)
		}
	}
	for _, a := range f.seen[kind] {
		slowest = max(slowest, a.took)
		if a.status != status {
			other[a.status]++
		}
	}
	took := func(a, b answer) int { return cmp.Compare(a.took, b.took) }
	median := slices.SortedFunc(slices.Values(f.seen[kind]), took)[len(f.seen[kind])/2].took
	t.Logf("%s meanwhile: %d requests, median %v, slowest %v (allowed for the machine %v), other answers than %d: %v", kind, len(f.seen[kind]),
		median.Round(time.Millisecond), slowest.Round(time.Millisecond), machine.Round(time.Millisecond), status, other)
	if len(other) > 0 {
		t.Errorf("%s: answers other than %d: %v", kind, status, other)
	}
	if slowest > within+machine {
		t.Errorf("%s: an answer took %v", kind, slowest)
	}
}

// names checks that /readyz named the missing part, once it had noticed.
func (f *freeze) names(t *testing.T, part string) {
	t.Helper()
	last := f.ready[len(f.ready)-1]
	if status := f.seen["readyz"][len(f.ready)-1].status; status != http.StatusServiceUnavailable || !strings.Contains(last, `"`+part+`","ready":false`) {
		t.Errorf("/readyz at the end: %d %s", status, last)
	}
	t.Logf("/readyz meanwhile: %s", strings.TrimSpace(last))
}

// recovers waits until the service is ready and accepts a POST.
func (w *world) recovers(s *service.Service) {
	w.t.Helper()
	began, c, n := time.Now(), newCaller(), 0
	defer c.client.CloseIdleConnections()
	if !until(w.t.Context(), time.Minute, 20*time.Millisecond, func(context.Context) bool {
		n++
		status, _, _ := c.ask(http.MethodPost, s.URL+service.ProcessPath, own(1_000_000+n))
		isReady, _ := ready(s)
		return status == http.StatusOK && isReady == http.StatusOK
	}) {
		w.t.Fatal("no POST is taken a minute after the server goes on")
	}
	w.t.Logf("takes POSTs again, and is ready, %v after the server goes on", time.Since(began).Round(10*time.Millisecond))
}
