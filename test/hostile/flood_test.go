package hostile_test

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/test/service"
)

// Time limits of a connection, and the delay that a busy machine may add.
const (
	headerLimit = 5 * time.Second
	bodyLimit   = 15 * time.Second
	slack       = 5 * time.Second
)

// 1,000 connections send their headers byte by byte, and 1,000 their body. The p99 of ordinary
// requests stays under 50 ms, or on a busy machine under three times what it is without them. Memory
// grows by less than 64 MiB, and all connections are closed within the limits.
func TestSlowConnectionsHarmNobody(t *testing.T) {
	const each = 1000
	s := service.Start(t, noKafka, "BAGTRAIL_LOG_LEVEL=warn")
	send(t, s, "BSM", ".V/1LZRH", ".F/LX2900/"+day(1).bim()+"/JFK", ".N/0724290001001", ".P/ORDINARY", ".L/ORD123", "ENDBSM")
	target := service.HistoryPath("0724290001", day(1).iso())
	undisturbed := ordinary(t, s, target, time.Second)
	before := memory(t, s)

	stop := make(chan struct{})
	slow := &slowness{address: strings.TrimPrefix(s.URL, "http://"), stop: stop}
	for range each {
		slow.open("header", "GET "+target+" HTTP/1.1\r\nHost: x\r\napi_key: "+service.DevelopmentKey+"\r\nX-Slow: ")
		slow.open("body", "POST "+service.ProcessPath+" HTTP/1.1\r\nHost: x\r\napi_key: "+service.DevelopmentKey+
			"\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{\"bim_message\":\"")
	}
	if !s.Until(patience, func() bool { return slow.opened.Load() >= 2*each || slow.failed.Load() > 0 }) || slow.failed.Load() > 0 {
		t.Fatalf("%d connections open, %d failed", slow.opened.Load(), slow.failed.Load())
	}
	peak := before
	during := ordinary(t, s, target, bodyLimit+slack, func() bool {
		peak = max(peak, memory(t, s))
		return slow.closed.Load() == 2*each
	})
	close(stop)
	slow.group.Wait()
	after := ordinary(t, s, target, time.Second)

	t.Logf("ordinary requests: %d alone, p50 %v, p99 %v; %d beside %d slow connections, p50 %v, p99 %v; memory %d KiB, at most %d KiB",
		len(undisturbed), percentile(undisturbed, .5), percentile(undisturbed, .99), len(during), 2*each,
		percentile(during, .5), percentile(during, .99), before>>10, peak>>10)
	t.Logf("closed after: headers %v, bodies %v", slow.slowest("header"), slow.slowest("body"))
	alone := max(percentile(undisturbed, .99), percentile(after, .99)) // it shows how busy the machine is
	if p99 := percentile(during, .99); p99 > max(50*time.Millisecond, 3*alone) {
		t.Errorf("p99 of ordinary requests: %v, without slow connections %v", p99, alone)
	}
	if grown := peak - before; grown >= 64<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
	if n := slow.closed.Load(); n != 2*each {
		t.Errorf("%d connections of %d were closed", n, 2*each)
	}
	for kind, limit := range map[string]time.Duration{"header": headerLimit, "body": bodyLimit} {
		if took := slow.slowest(kind); took > limit+slack {
			t.Errorf("%s: closed after %v", kind, took)
		}
	}
}

// ordinary sends requests over four connections for a while, or until it has enough, and returns
// the duration of each.
func ordinary(t *testing.T, s *service.Service, target string, atMost time.Duration, enough ...func() bool) []time.Duration {
	t.Helper()
	end := time.Now().Add(atMost)
	var mu sync.Mutex
	var group sync.WaitGroup
	var all []time.Duration
	var done atomic.Bool
	for range 4 {
		group.Go(func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for range tick.C {
				if done.Load() || time.Now().After(end) {
					return
				}
				began := time.Now()
				got, err := s.TryDo(http.MethodGet, target, nil)
				took := time.Since(began)
				if err != nil || got.Status != http.StatusOK {
					t.Errorf("ordinary request: %d %v", got.Status, err)
					return
				}
				mu.Lock()
				all = append(all, took)
				mu.Unlock()
			}
		})
	}
	for _, is := range enough {
		s.Until(atMost, is)
		done.Store(true)
	}
	group.Wait()
	return all
}

// slowness holds many slow connections.
type slowness struct {
	address                string
	stop                   <-chan struct{}
	opened, closed, failed atomic.Int64
	group                  sync.WaitGroup
	mu                     sync.Mutex
	took                   map[string]time.Duration
}

// open opens a connection that begins a request and then sends a byte per second, until the other
// side closes it.
func (w *slowness) open(kind, beginning string) {
	w.group.Go(func() {
		c, err := net.Dial("tcp", w.address)
		if err != nil {
			w.failed.Add(1)
			return
		}
		defer func() { _ = c.Close() }()
		began := time.Now()
		if _, err := io.WriteString(c, beginning); err != nil {
			w.failed.Add(1)
			return
		}
		w.opened.Add(1)
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = io.Copy(io.Discard, c)
		}()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-w.stop:
				return
			case <-gone:
				w.close(kind, time.Since(began))
				return
			case <-tick.C:
				_, _ = io.WriteString(c, "a") // reading reports the error
			}
		}
	})
}

func (w *slowness) close(kind string, took time.Duration) {
	w.closed.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.took == nil {
		w.took = map[string]time.Duration{}
	}
	w.took[kind] = max(w.took[kind], took)
}

func (w *slowness) slowest(kind string) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.took[kind].Round(time.Millisecond)
}

// memory returns the resident memory of the service, in bytes.
func memory(t *testing.T, s *service.Service) int {
	t.Helper()
	kB, err := strconv.Atoi(strings.TrimSuffix(s.Status("VmRSS"), " kB"))
	if err != nil {
		t.Skip("without /proc nobody knows the memory of the service")
	}
	return kB << 10
}
