package status_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/apikey"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/status"
	"bagtrail/internal/statusstore"
	"bagtrail/internal/web"
)

// keys knows one key, which has no rights.
type keys struct{}

func (keys) Lookup(text string, _ time.Time) (*apikey.Key, bool) {
	return &apikey.Key{Name: "none", Operations: apikey.Scope{}}, text == "none"
}

// ask returns the answer to GET /v1/status.
func ask(t *testing.T, m *status.Monitor, query string) string {
	t.Helper()
	site := web.New(web.Settings{Keys: keys{}, Log: zap.NewNop(), Clock: time.Now}, []web.Operation{m.Operation()}, nil)
	r, w := httptest.NewRequest("GET", "/v1/status"+query, nil), httptest.NewRecorder()
	r.Header.Set("api_key", "none")
	site.ServeHTTP(w, r)
	return w.Body.String()
}

var (
	now     = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	working = status.Parts{Kafka: status.OK, Redis: status.OK, DelayedBags: status.OK}
)

// process returns the monitor of a process that has this report.
func process(name string, in status.Reports, parts status.Parts, report status.Report) *status.Monitor {
	if report.At.IsZero() {
		report.At = now
	}
	return &status.Monitor{Reports: in, Process: name, Look: func(context.Context) (status.Report, status.Parts) { return report, parts }}
}

func TestAStatusJoinsTheReportsOfAllProcesses(t *testing.T) {
	store := statusstore.New(redistest.Open(t, ""))
	process("one", store, working, status.Report{
		Messages: 10.5, Consumer: &status.Backlog{Works: true, Reads: true, Records: 3, Seconds: 0.25}, Changes: &status.Backlog{Works: true, Reads: true, Seconds: 0.12345},
	}).Update(t.Context())
	process("two", store, working, status.Report{
		Messages: 20, Consumer: &status.Backlog{Works: true, Reads: true, Records: 4, Seconds: 1.5}, Changes: &status.Backlog{Seconds: 0.01},
	}).Update(t.Context())
	process("long dead", store, working, status.Report{
		At: now.Add(-status.MaxAge - time.Second), Messages: 1000, Consumer: &status.Backlog{Records: 1000},
	}).Update(t.Context())
	got := ask(t, process("asked", store, working, status.Report{Messages: 0.25}), "")
	const want = `{"messages_per_second":30.75,"lag_records":7,"lag_seconds":1.5,"changes_delay_seconds":0.123,` +
		`"parts":{"kafka":"ok","redis":"ok","consumer":"ok","changes":"failing","delayed_bags":"ok"}}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A consumer that reads no partition reports that nothing waits, and does not know it: so it is while
// Kafka is away.
func TestALagThatNobodyKnowsIsAbsent(t *testing.T) {
	report := status.Report{Consumer: &status.Backlog{Works: true}, Changes: &status.Backlog{}}
	got := ask(t, process("one", statusstore.New(redistest.Open(t, "")), working, report), "")
	const want = `{"messages_per_second":0,` +
		`"parts":{"kafka":"ok","redis":"ok","consumer":"ok","changes":"failing","delayed_bags":"ok"}}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// away implements status.Reports.
type away struct{}

func (away) Exchange(context.Context, string, status.Report) ([]status.Report, error) {
	return nil, errors.New("redis://10.0.0.1:6379 is away")
}

func TestTheStateOfEachPart(t *testing.T) {
	here := statusstore.New(redistest.Open(t, ""))
	for name, tc := range map[string]struct {
		in     status.Reports
		parts  status.Parts
		report status.Report
		want   status.Parts
	}{
		"no consumer reports": {here, working, status.Report{}, status.Parts{Kafka: "ok", Redis: "ok", Consumer: "failing", Changes: "failing", DelayedBags: "ok"}},
		"without Kafka": {
			here, status.Parts{Kafka: status.Off, Redis: status.OK, Consumer: status.Off, Changes: status.Off, DelayedBags: status.Failing},
			status.Report{}, status.Parts{Kafka: "off", Redis: "ok", Consumer: "off", Changes: "off", DelayedBags: "failing"},
		},
		"Redis is away": {
			away{}, working, status.Report{Consumer: &status.Backlog{Works: true}, Changes: &status.Backlog{Works: true}},
			status.Parts{Kafka: "ok", Redis: "failing", Consumer: "ok", Changes: "ok", DelayedBags: "ok"},
		},
		"a master that does not hold the reports is away": {
			statusstore.New(redistest.Open(t, "")), status.Parts{Kafka: status.OK, Redis: status.Failing, DelayedBags: status.OK},
			status.Report{Consumer: &status.Backlog{Works: true}, Changes: &status.Backlog{Works: true}},
			status.Parts{Kafka: "ok", Redis: "failing", Consumer: "ok", Changes: "ok", DelayedBags: "ok"},
		},
	} {
		text := ask(t, process(name, tc.in, tc.parts, tc.report), "")
		var got struct{ Parts status.Parts }
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Parts != tc.want {
			t.Errorf("%s: %s %v, want %+v", name, text, err, tc.want)
		}
	}
	if got := ask(t, process("one", here, working, status.Report{}), "?details=1"); !strings.HasPrefix(got, `{"type":"/docs/problems/invalid-request",`) {
		t.Error(got)
	}
}
