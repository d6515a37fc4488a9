// Package hostile_test attacks the running program: callers without rights, slow callers, invalid
// answers of the downstream system, callbacks that are scripts, key files that break during
// operation. The expected behaviour is written down here a second time, as plainly as possible, and
// compared. Services run without Kafka if a test does not need it.
package hostile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
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

// quoted returns a text as JSON.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can always be encoded
	return strings.TrimSpace(b.String())
}

// write writes a file into a folder of the test and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// entry returns the line of a key file for a key with that text.
func entry(name, text, members string) string {
	return fmt.Sprintf("  - {name: %s, digest: 'sha256:%x'%s}\n", name, sha256.Sum256([]byte(text)), members)
}

// delayedRequest returns a request to the downstream system, on behalf of the airlines, for the
// plates.
func delayedRequest(surname string, airlines, plates []string) string {
	var sources, bags []string
	for _, airline := range airlines {
		sources = append(sources, `{"AirlineVendorID":"`+airline+`"}`)
	}
	for _, p := range plates {
		bags = append(bags, `{"ColorTypeDesc":{"ColorCode":"BK","TypeCode":"22","Descriptor":"HWX"},"BagTag":{"LicenseNumber":{"TagType":"`+
			p[:1]+`","IssuerCode":"`+p[1:4]+`"},"TagSequence":"`+p[4:]+`"}}`)
	}
	return `{"WTR_DelayedBagsCreateRQ":{"Version":0.1,"POS":{"Source":[` + strings.Join(sources, ",") + `]},` +
		`"RefStationAirline":{"StationCode":"ZRH","AirlineCode":"LX"},"DelayedBagGroup":{"DelayedBags":{"DelayedBag":[` + strings.Join(bags, ",") +
		`]}},"Passengers":{"Itinerary":{"FlightSegments":{"FlightSegmentOrARNK":[{"FlightAndDate":{"AirlineCode":"LX","FlightNumber":"100","Date":"14MAR"},` +
		`"OriginDestination":{"Origin":"ZRH","Destination":"JFK"}}]}},"Names":{"Name":[` + quoted(surname) + `]}},"AgentID":"A1"}}`
}

// report posts a request for a delayed-bag report.
func report(t *testing.T, s *service.Service, document string, header ...string) service.Answer {
	t.Helper()
	return s.Do(http.MethodPost, delayedPath, strings.NewReader(`{"Request":`+quoted(document)+`}`), append([]string{"Content-Type", jsonType}, header...)...)
}

// percentile returns the duration below which that share of the durations lies.
func percentile(durations []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}
