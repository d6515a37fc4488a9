package chaos_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/test/servers"
	"bagtrail/test/service"
)

// Three api and three ingest processes are restarted one after the other under load. Callers act as
// a load balancer does: they use the processes in turn, and ask the next one if a connection is
// refused. Any answer other than 200 and 503 is a failure, and so is a connection that is cut
// before the answer.
func TestARollingRestartFailsNoRequest(t *testing.T) {
	needsRealAlone(t)
	w := newWorld(t, servers.Kafka(t).URL, "redis://"+redis(t).Addr)
	var apis, ingests []*service.Service
	for range 3 {
		apis = append(apis, w.start("api"))
		ingests = append(ingests, w.start("ingest"))
	}
	watch := w.load(apis...)
	queries := w.startQueries(apis)
	w.goesOn(watch)
	rest(t.Context(), 2*time.Second)
	watch.longest() // the start does not count
	rest(t.Context(), 3*time.Second)
	usual := watch.longest()
	t.Logf("the longest that a partition stood still while nothing happened: %v", usual.Round(10*time.Millisecond))
	var pauses []time.Duration
	for i := range apis {
		if code := apis[i].Stop(); code != 0 {
			t.Errorf("an api process ended with exit code %d", code)
		}
		apis[i].Up()
		pauses = append(pauses, w.restartIngest(ingests[i], watch)...)
	}
	queries.stop()
	w.endLoad()
	t.Logf("rolling restart: %d messages by Kafka; queries: %d answered 200, %d times 503, %d times a process refused the connection, %d were cut, %d other answers; POSTs: %d times a process refused the connection, %d were cut",
		w.stream.sent.Load(), queries.good.Load(), queries.refused.Load(), queries.unheard.Load(), queries.cut.Load(), queries.wrong.Load(),
		w.posts.unheard.Load(), w.posts.cut.Load())
	w.check(watch)
	w.verify(apis[0])
	if failed := queries.wrong.Load() + queries.cut.Load() + w.posts.cut.Load(); failed > 0 || queries.good.Load() == 0 {
		t.Errorf("%d requests failed, %d queries were answered 200", failed, queries.good.Load())
	}
	// Unless the tests run at full size, other work on the machine may cause one long pause. But no
	// pause may be as long as a session timeout.
	slices.Sort(pauses)
	median, longest := pauses[len(pauses)/2], pauses[len(pauses)-1]
	if median > within+usual || longest > session || *full && longest > within {
		t.Errorf("partitions stood still for %v, as a rule for %v; while nothing happened for %v", longest, median, usual)
	}
}

// session is less than the session timeout, for which a process that ended without leaving the
// group keeps its partitions.
const session = 5 * time.Second

// restartIngest restarts a process. It returns how long a partition was not read when it left and
// when it came.
func (w *world) restartIngest(s *service.Service, watch *watch) []time.Duration {
	w.t.Helper()
	watch.longest()
	if code := s.Stop(); code != 0 {
		w.t.Errorf("an ingest process ended with exit code %d", code)
	}
	rest(w.t.Context(), 3*time.Second)
	left := watch.longest()
	s.Up()
	rest(w.t.Context(), 3*time.Second)
	came := watch.longest()
	w.t.Logf("the longest that a partition stood still: %v as a process left, %v as it came back",
		left.Round(10*time.Millisecond), came.Round(10*time.Millisecond))
	return []time.Duration{left, came}
}

// queries asks for histories all the time.
type queries struct {
	good, refused, unheard, cut, wrong atomic.Int64
	end, ended                         chan struct{}
}

func (w *world) startQueries(to []*service.Service) *queries {
	q := &queries{end: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(q.ended)
		c := newCaller()
		defer c.client.CloseIdleConnections()
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-q.end:
				return
			case <-ticker.C:
				q.ask(w, c, to)
			}
		}
	}()
	return q
}

func (q *queries) ask(w *world, c *caller, to []*service.Service) {
	target := service.HistoryPath(w.posts.any(), time.Now().UTC().Format(time.DateOnly))
	for range to {
		c.turn++
		switch status, _, err := c.ask(http.MethodGet, to[c.turn%len(to)].URL+target, nil); {
		case noConnection(err):
			q.unheard.Add(1)
			continue
		case err != nil:
			q.cut.Add(1)
		case status == http.StatusOK:
			q.good.Add(1)
		case status == http.StatusServiceUnavailable:
			q.refused.Add(1)
		default:
			q.wrong.Add(1)
		}
		return
	}
	q.wrong.Add(1) // no process answered
}

func (q *queries) stop() {
	close(q.end)
	<-q.ended
}
