package browser_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The process that answers is killed, while another one ingests.
func TestEventSourceGoesOnAfterTheProcessWasKilled(t *testing.T) {
	needBrowser(t)
	s := startStation(t)
	t.Run("nginx passes events on as they come", s.passesOn)

	orders := http.NewServeMux() // of the script
	orders.HandleFunc("POST /send/{round}", func(w http.ResponseWriter, r *http.Request) {
		round, err := strconv.Atoi(r.PathValue("round"))
		if err == nil {
			err = s.send(r.Context(), round)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	orders.HandleFunc("POST /kill", func(http.ResponseWriter, *http.Request) { s.api.Kill() })
	orders.HandleFunc("POST /start", func(http.ResponseWriter, *http.Request) { s.api.Up() })
	control := httptest.NewServer(orders)
	defer control.Close()
	script(t, "stream.mjs", s.api, "SERVICE_KEY="+lxKey, "PROXY_URL="+s.nginx, "CONTROL_URL="+control.URL)
}

// passesOn opens two streams about one plate. An nginx that obeys the header of the answer passes
// its events on. One that ignores the header holds all of them back: this shows that nginx buffers.
func (s *station) passesOn(t *testing.T) {
	var held atomic.Int64
	go func() {
		answer := s.open(t, s.buffered)
		if answer == nil {
			return
		}
		defer func() { _ = answer.Body.Close() }()
		for buffer := make([]byte, 1<<10); ; {
			n, err := answer.Body.Read(buffer)
			held.Add(int64(n))
			if err != nil {
				return
			}
		}
	}()
	if !s.api.Until(30*time.Second, func() bool { return s.api.Metric("bagtrail_http_open_streams") == 1 }) {
		t.Fatal("the stream through the nginx that buffers is not open")
	}
	answer := s.open(t, s.nginx)
	if answer == nil {
		t.Fatal("no stream through nginx")
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	if !lines.Scan() || lines.Text() != "event: heartbeat" {
		t.Fatalf("the stream begins with %q", lines.Text())
	}
	if err := s.send(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for !strings.HasPrefix(lines.Text(), `data: {"id":"0724000000-`) {
		if !lines.Scan() {
			t.Fatal("the stream ends before the change is told")
		}
	}
	if n := held.Load(); n != 0 {
		t.Errorf("%d bytes came through an nginx that buffers", n)
	}
}

// open opens a stream. It returns nil if there is none before the end of the test.
func (s *station) open(t *testing.T, origin string) *http.Response {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, origin+"/v1/changes?plate=0724000000", http.NoBody)
	if err != nil {
		t.Error(err)
		return nil
	}
	r.Header.Set("X-Api-Key", lxKey)
	r.Header.Set("Accept", "text/event-stream")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	return answer
}
