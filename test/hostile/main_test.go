// Package hostile_test attacks the running program: callers without rights, slow callers, invalid
// answers of the downstream system, callbacks that are scripts, key files that break during
// operation. The expected behaviour is written down here a second time, as plainly as possible, and
// compared. Services run without Kafka if a test does not need it.
package hostile_test

import (
	"flag"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/test/service"
)

const (
	delayedPath = "/baggage/delayedbags/v1.0/"
	jsonType    = "application/json"
	noKafka     = "BAGTRAIL_KAFKA_BROKERS=off"

	// patience is the timeout of everything that takes moments on an idle machine.
	patience = 30 * time.Second
)

// The tests that run in parallel wait for limits, and for files that are read once a second: more of
// them may run at a time than there are processors.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const processed = `{"success":true,"success_code":"SVCPRB037","success_message":"Message processed successfully"}`

// Whole answers of refusals.
var (
	unavailable = failure("SVCSRV001", "System is unavailable, the request may be sent again")
	// outcomeUnknown is the answer about a report that may have been created. It is not sent again.
	outcomeUnknown = failure("SVCSRV001", "It is not known whether the delayed bag report was created, and the same request is not sent on again")

	notFound    = failure("SVCSRV005", "Resource not found")
	badCallback = failure("SVCSRV002", "Callback is not a JavaScript identifier")
	tooMany     = failure("SVCSRV007", "Too many requests for this API key")
	noBag       = failure("SVCGBH002", "No matching bag found")
)

func failure(code, text string) string {
	return `{"success":false,"errors":[{"error_code":"` + code + `","error_description":"` + text + `"}]}`
}

// date formats days as messages and as the interface do.
type date struct{ time.Time }

// day returns the date that many days from now, in UTC.
func day(fromNow int) date { return date{began.AddDate(0, 0, fromNow)} }

// began is when the tests began. It is their present, also if they run past midnight.
var began = time.Now().UTC()

func (d date) bim() string { return strings.ToUpper(d.Format("02Jan")) }
func (d date) iso() string { return d.Format(time.DateOnly) }

// send posts a message that must be accepted.
func send(t *testing.T, s *service.Service, lines ...string) {
	t.Helper()
	expect(t, strings.Join(lines, " "), s.Process(strings.Join(lines, "\r\n")), http.StatusOK, processed)
}

func expect(t *testing.T, what string, got service.Answer, status int, body string) {
	t.Helper()
	if got.Status != status || got.Body != body {
		t.Errorf("%s\n got %d %.600s\nwant %d %.600s", what, got.Status, got.Body, status, body)
	}
}

// report posts a request for a delayed-bag report.
func report(t *testing.T, s *service.Service, document string, header ...string) service.Answer {
	t.Helper()
	return s.Do(http.MethodPost, delayedPath, strings.NewReader(`{"Request":`+service.Quoted(document)+`}`), append([]string{"Content-Type", jsonType}, header...)...)
}

// percentile returns the duration below which that share of the durations lies.
func percentile(durations []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}
