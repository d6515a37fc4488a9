package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/pause"
	"bagtrail/internal/telemetry"
)

func get(t *testing.T, h http.Handler, path string) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func newOps(ready *telemetry.Readiness) *http.Server {
	return telemetry.NewOps(telemetry.NewRegistry("1.2.3"), ready, zap.NewNop())
}

func TestReadyzNamesThePartThatIsMissing(t *testing.T) {
	var (
		ready telemetry.Readiness
		index telemetry.State
	)
	ready.Add("kafka", true, func(context.Context) error { return nil })
	ready.Add("index", true, index.Check)
	ops := newOps(&ready).Handler

	for _, step := range []struct {
		do     func()
		status int
		body   string
	}{
		{func() {}, 503, `{"ready":false,"parts":[{"name":"kafka","ready":true},{"name":"index","ready":false,"lacks":"starting"}]}`},
		{func() { index.Set(errors.New("rebuilding, 12 of 100 messages")) }, 503, `{"ready":false,"parts":[{"name":"kafka","ready":true},{"name":"index","ready":false,"lacks":"rebuilding, 12 of 100 messages"}]}`},
		{func() { index.Set(nil) }, 200, `{"ready":true,"parts":[{"name":"kafka","ready":true},{"name":"index","ready":true}]}`},
		{func() { index.Set(errors.New("stopping")) }, 503, `{"ready":false,"parts":[{"name":"kafka","ready":true},{"name":"index","ready":false,"lacks":"stopping"}]}`},
	} {
		step.do()
		if status, body := get(t, ops, "/readyz"); status != step.status || body != step.body+"\n" {
			t.Errorf("got %d %s want %d %s", status, body, step.status, step.body)
		}
		if status, _ := get(t, ops, "/livez"); status != 200 {
			t.Errorf("/livez: %d", status)
		}
	}
}

func TestAPartThatCanBeMissedIsShownAndTakesNoWorkAway(t *testing.T) {
	var ready telemetry.Readiness
	ready.Add("redis", true, func(context.Context) error { return nil })
	ready.Add("kafka", false, func(context.Context) error { return errors.New("no broker answers") })
	want := `{"ready":true,"parts":[{"name":"redis","ready":true},{"name":"kafka","ready":false,"lacks":"no broker answers"}]}` + "\n"
	if status, body := get(t, newOps(&ready).Handler, "/readyz"); status != 200 || body != want {
		t.Errorf("%d %s", status, body)
	}
}

func TestReadyzGivesEveryPartOneSecondAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ready telemetry.Readiness
		for range 3 {
			ready.Add("slow", true, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		}
		begin := time.Now()
		if _, ok := ready.Check(t.Context()); ok {
			t.Error("a part that does not answer counts as ready")
		}
		if took := time.Since(begin); took != time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestMetricsAreServedAndTheCommandLineIsNot(t *testing.T) {
	ops := newOps(&telemetry.Readiness{}).Handler
	if status, body := get(t, ops, "/metrics"); status != 200 || !strings.Contains(body, `bagtrail_build_info{version="1.2.3"} 1`) || !strings.Contains(body, "go_goroutines") {
		t.Errorf("/metrics: %d %s", status, body)
	}
	for path, want := range map[string]int{"/debug/pprof/symbol": 200, "/other": 404, "/debug/pprof/cmdline": 404} { // the command line may hold a password
		if status, _ := get(t, ops, path); status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestServeAnswersUntilItsContextEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- telemetry.Serve(ctx, newOps(&telemetry.Readiness{}), l) }()
	resp, err := http.Get("http://" + l.Addr().String() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || string(body) != `{"ready":true,"parts":[]}`+"\n" {
		t.Errorf("%d %q %v", resp.StatusCode, body, err)
	}
	_ = resp.Body.Close()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServeReportsAListenerThatFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := telemetry.Serve(t.Context(), newOps(&telemetry.Readiness{}), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestTheLogIsOneJSONObjectALineWhenNoTerminalReadsIt(t *testing.T) {
	var out bytes.Buffer
	log := telemetry.NewLogger(&out, "info", "auto")
	log.Debug("too fine")
	log.Info("part", zap.String("part", "index"), zap.Duration("took", 1500*time.Millisecond))
	var entry struct {
		Level, Message, Part, Took string
		Time                       time.Time
	}
	if err := json.Unmarshal(out.Bytes(), &entry); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if entry.Level != "info" || entry.Message != "part" || entry.Part != "index" || entry.Took != "1.5s" || entry.Time.IsZero() {
		t.Errorf("got %s", out.String())
	}
	out.Reset()
	log = telemetry.NewLogger(&out, "warn", "console")
	log.Info("too fine")
	log.Warn("look here")
	if !strings.Contains(out.String(), "WARN\tlook here") || strings.Contains(out.String(), "too fine") {
		t.Errorf("got %s", out.String())
	}
}

// A server that is away for an hour must not fill the log, nor hide what else happens.
func TestWarningsThatRepeatAreCountedRatherThanLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := telemetry.NewLogger(&out, "info", "json")
		lines := func(text string) (n int, leftOut []int) {
			for line := range strings.Lines(out.String()) {
				var entry struct {
					Message string
					LeftOut int `json:"left_out"`
				}
				if err := json.Unmarshal([]byte(line), &entry); err != nil {
					t.Fatal(err)
				}
				if entry.Message != text {
					continue
				}
				n++
				if entry.LeftOut > 0 {
					leftOut = append(leftOut, entry.LeftOut)
				}
			}
			return n, leftOut
		}
		partition := log.With(zap.Int("partition", 7))
		for range 150 { // seconds
			log.Warn("a fetch failed", zap.Error(io.EOF))
			partition.Warn("a fetch failed", zap.Error(io.EOF))
			log.Error("a value is damaged")
			if err := pause.For(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
		}
		for range 30 { // airports, whose line is cut: each is told once
			log.Warn("a feed is silent")
			log.Warn("request", zap.Error(io.EOF))
		}
		if n, leftOut := lines("a fetch failed"); n != 30 || !slices.Equal(leftOut, []int{110, 110}) {
			t.Errorf("%d lines of 300 warnings, with left_out %v; want 10 each minute, and what the minutes before left out", n, leftOut)
		}
		if n, _ := lines("a value is damaged"); n != 150 {
			t.Errorf("%d of 150 errors", n)
		}
		if n, _ := lines("a feed is silent"); n != 30 {
			t.Errorf("%d of 30 warnings without an error", n)
		}
		if n, _ := lines("request"); n != 30 {
			t.Errorf("%d of 30 requests", n)
		}
	})
}

func TestTheConsumerAndRequestsAreCounted(t *testing.T) {
	registry := telemetry.NewRegistry("1")
	messages := telemetry.NewMessages(registry)
	now := time.Date(2026, 3, 12, 6, 0, 0, 0, time.UTC)
	consumer := telemetry.NewConsumer(registry, "kafka", []string{"index"}, func() time.Time { return now })
	requests := telemetry.NewRequests(registry)

	messages.WithLabelValues("kafka", "accepted").Add(3)
	consumer.Redelivered(4)
	consumer.Lost(5)
	consumer.Retry("index")
	consumer.Lag(7, 6, now.Add(-90*time.Second))
	consumer.Lag(8, 0, time.Time{})
	consumer.Lag(9, 10, now)
	consumer.Released(9)
	requests.Observe("history", "GET", 200, 3*time.Millisecond)

	if records, oldest, known := consumer.Backlog(); records != 6 || oldest != 90*time.Second || !known {
		t.Errorf("%d records, %v, %v", records, oldest, known)
	}
	_, body := get(t, telemetry.NewOps(registry, &telemetry.Readiness{}, zap.NewNop()).Handler, "/metrics")
	for _, line := range []string{
		`bagtrail_messages_total{door="kafka",verdict="accepted"} 3`,
		`bagtrail_kafka_redelivered_records_total 4`,
		`bagtrail_kafka_lost_records_total 5`,
		`bagtrail_kafka_retries_total{operation="index"} 1`,
		`bagtrail_kafka_retries_total{operation="join"} 0`,
		`bagtrail_kafka_lag_records{partition="7"} 6`,
		`bagtrail_kafka_lag_seconds{partition="7"} 90`,
		`bagtrail_kafka_lag_seconds{partition="8"} 0`,
		`bagtrail_http_request_duration_seconds_bucket{method="GET",route="history",status="200",le="0.005"} 1`,
		`bagtrail_http_request_duration_seconds_count{method="GET",route="history",status="200"} 1`,
	} {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("no %s in\n%s", line, body)
		}
	}
}
