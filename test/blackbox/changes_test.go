package blackbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"bagtrail/test/service"
)

// stream is a stream of changes, as a browser's EventSource reads it.
type stream struct {
	answer *http.Response
	lines  *bufio.Scanner
	lastID string
}

// startWithChanges starts a service, and waits until it tells changes.
func startWithChanges(t *testing.T, env ...string) *service.Service {
	t.Helper()
	s := service.Start(t, env...)
	waitForChanges(t, s)
	return s
}

func waitForChanges(t *testing.T, s *service.Service) {
	t.Helper()
	if !s.Until(patience, func() bool { status, _ := s.TryGet("/v1/changes"); return status == http.StatusOK }) {
		t.Fatal("no changes are told")
	}
}

// openStream opens a stream that follows an id; "" is from now on.
func openStream(t *testing.T, s *service.Service, key, lastID string) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/changes?airline=LX", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("a stream: %d %v", answer.StatusCode, answer.Header)
	}
	return &stream{answer, bufio.NewScanner(answer.Body), lastID}
}

// next returns the fields of the next block, or none at the end of the stream.
func (s *stream) next() map[string]string {
	fields := map[string]string{}
	for s.lines.Scan() && s.lines.Text() != "" {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		fields[name] = value
	}
	if id := fields["id"]; id != "" {
		s.lastID = id
	}
	return fields
}

// untilPlate reads on until a plate is told.
func (s *stream) untilPlate(t *testing.T, plate string) {
	t.Helper()
	for {
		e := s.next()
		if len(e) == 0 {
			t.Fatalf("the stream ends before %s is told", plate)
		}
		if e["event"] == "change" && strings.Contains(e["data"], `"plate":"`+plate+`"`) {
			return
		}
	}
}

func lxBag(plate string) string {
	return "BSM\n.V/1LZRH\n.F/LX8900/" + ddmmm(today()) + "/JFK\n.N/" + plate + "001\n.P/STREAM\n.L/STRM01\nENDBSM"
}

func TestAStreamGoesOnAfterTheProcessWasKilled(t *testing.T) {
	ownServers(t)
	t.Parallel()
	keys := keyFile(t, "lx: airlines: [LX], customer: LX", "other: customer: X")
	s := startWithChanges(t, "BAGTRAIL_KEYS_FILE="+keys)
	first := openStream(t, s, keyOf("lx"), "")
	if e := first.next(); e["event"] != "heartbeat" || e["data"] != `{"cursor":"`+e["id"]+`"}` {
		t.Errorf("first event %v", e)
	}
	expect(t, "POST", s.Process(lxBag("0724890001")), 200, processed)
	first.untilPlate(t, "0724890001")
	s.Kill()
	for len(first.next()) > 0 {
	}
	s.Up()
	expect(t, "POST", s.Process(lxBag("0724890002")), 200, processed)
	second := openStream(t, s, keyOf("lx"), first.lastID)
	second.untilPlate(t, "0724890002")

	text, err := os.ReadFile(keys)
	if err != nil {
		t.Fatal(err)
	}
	revoked := strings.Replace(string(text), "airlines: [LX]", "revoked: true", 1)
	if err := os.WriteFile(keys, []byte(revoked), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for len(second.next()) > 0 {
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the stream of a revoked key ends after %v", took)
	}

	third := openStream(t, s, keyOf("other"), "")
	third.next()
	s.Signal(syscall.SIGTERM)
	last := third.next()
	for last["event"] == "heartbeat" {
		last = third.next()
	}
	if last["retry"] == "" || len(last) != 1 || len(third.next()) != 0 {
		t.Errorf("at the stop: %v", last)
	}
	if code := s.Wait(patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestAQuestionForChangesWaitsForOne(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := startWithChanges(t)
	var answer struct {
		Changes []struct{ Plate string }
		Cursor  string
	}
	ask := func(query string) {
		t.Helper()
		got := s.Get("/v1/changes?" + query)
		if answer.Changes = nil; got.Status != 200 || json.Unmarshal([]byte(got.Body), &answer) != nil {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	for i := range 3 {
		ask("plate=0724890010")
		told, posted := make(chan time.Time, 1), make(chan struct{})
		go func() {
			defer close(posted)
			<-time.After(50 * time.Millisecond) // as a rule the question waits by then
			told <- time.Now()
			s.Process(strings.Replace(lxBag("0724890010"), "LX8900", fmt.Sprint("LX890", i), 1))
		}()
		ask("plate=0724890010&wait=60&cursor=" + url.QueryEscape(answer.Cursor))
		if took := time.Since(<-told); len(answer.Changes) != 1 || took > 15*time.Second {
			t.Errorf("told %v after %v", answer.Changes, took)
		}
		<-posted
	}
}
