// Package blackbox_test asks the running program for everything that its interface promises, over
// HTTP and Kafka, as users do. It uses nothing of the program except its binary and its register of
// codes. One service answers most tests; each test uses plates, flights and PNRs of its own.
// Messages with a fixed received time come in through Kafka, whose records carry it.
package blackbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/service"
)

var suite service.Suite

func TestMain(m *testing.M) {
	code := m.Run()
	suite.End(code != 0)
	os.Exit(code)
}

// keyFile writes a key file with entries "name: members". The text of each key is "key-of-" and its
// name.
func keyFile(t service.T, entries ...string) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("keys:\n" + service.KeyEntry("demo", service.DevelopmentKey, ", customer: DEMO"))
	for _, entry := range entries {
		name, members, _ := strings.Cut(entry, ": ")
		text.WriteString(service.KeyEntry(name, keyOf(name), ", "+members))
	}
	return service.WriteFile(t, "keys.yaml", text.String())
}

func keyOf(name string) string { return "key-of-" + name }

// keys are the keys of the shared service, beside the one with every right.
var keys = []string{
	"other-airline: customer: OTHER, airlines: [ZZ], airports: [NRT]",
	"no-customer: airlines: ['*']",
	"swiss: customer: SWISS, airlines: [LX, WK]",
	"zurich: customer: AIRPORT, airports: [ZRH]",
	"nothing: customer: NOBODY, airlines: [], airports: []",
	"queries: customer: ASKER, operations: [bagsforflight, history, bagsforpassenger]",
	"sender: customer: SENDER, operations: [processbim]",
	"expired: customer: LATE, expires: 2020-01-01T00:00:00Z",
	"revoked: customer: GONE, revoked: true",
	"slow-bagsforflight: customer: SLOW, rate: 0.001, burst: 1",
	"slow-history: customer: SLOW, rate: 0.001, burst: 1",
	"slow-bagsforpassenger: customer: SLOW, rate: 0.001, burst: 1",
	"slow-delayedbags: customer: SLOW, rate: 0.001, burst: 1",
	"slow-processbim: customer: SLOW, rate: 0.001, burst: 1",
	"slow: customer: SLOW, rate: 0.001, burst: 3",
}

const (
	airports = `
airports:
  - {code: XQZ, timezone: Asia/Kathmandu, latitude: 27.5, longitude: 85.25}
b_codes: {ZRH: [LCK]}
`
	flights = `
flights:
  - {airline: LX, flight: "8100", origin: ZRH, destination: JFK, date: 2199-03-14, paxinquiry_subscription: true,
     blackout_start: 2199-03-14T11:10:00+01:00,
     departure: {scheduled: 2199-03-14T13:10:00+01:00, estimated: 2199-03-14T13:25:00+01:00},
     arrival: {scheduled: 2199-03-14T16:15:00-04:00}}
  - {airline: LX, flight: "8101", origin: ZRH, destination: JFK, date: 2026-03-14,
     departure: {scheduled: 2026-03-14T13:10:00+01:00, actual: 2026-03-14T13:31:00+01:00},
     arrival: {scheduled: 2026-03-14T16:15:00-04:00, actual: 2026-03-14T16:02:00-04:00}}
`
	forever = "BAGTRAIL_RETENTION=876000h" // so that fixed dates never grow too old
)

var shared struct {
	sync.Mutex
	service    *service.Service
	downstream *downstream
	seen       map[string]testing.TB // tests that have used the service
}

// common returns the service that tests share. If tests are repeated (-count), they get a new one.
func common(t testing.TB) *service.Service {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	before, met := shared.seen[t.Name()]
	if shared.service == nil || met && before != t {
		startShared()
	}
	shared.seen[t.Name()] = t
	return shared.service.For(t)
}

func startShared() {
	if shared.service != nil {
		shared.service.Kill()
	}
	shared.service, shared.seen = nil, map[string]testing.TB{}
	if shared.downstream == nil {
		shared.downstream = newDownstream(&suite)
	}
	settings, broker := servers(&suite)
	shared.service = service.Start(&suite, append(settings, forever,
		"BAGTRAIL_KEYS_FILE="+keyFile(&suite, keys...),
		"BAGTRAIL_AIRPORTS_FILE="+service.WriteFile(&suite, "airports.yaml", airports),
		"BAGTRAIL_FLIGHTS_FILE="+service.WriteFile(&suite, "flights.yaml", flights),
		"BAGTRAIL_WTR_URL="+shared.downstream.URL)...)
	if broker != "" {
		shared.service.Kafka = broker
	}
}

// patience is the timeout of everything that takes moments on an idle machine.
const patience = 30 * time.Second

// compact removes the layout of a JSON document, as the service writes it.
func compact(t testing.TB, document string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(document)); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	return b.String()
}

// record is a message for the raw topic: its received time (RFC 3339) and its text.
type record struct{ received, text string }

func at(t testing.TB, moment string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, moment)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// feed writes messages to the raw topic.
func feed(t testing.TB, s *service.Service, records ...record) {
	t.Helper()
	messages := make([]kafka.Message, len(records))
	for i, r := range records {
		messages[i] = kafka.Message{Time: at(t, r.received), Value: []byte(r.text)}
	}
	produce(t, s, "bim.raw", messages...)
}

func produce(t testing.TB, s *service.Service, topic string, messages ...kafka.Message) {
	t.Helper()
	w := &kafka.Writer{
		Addr: kafka.TCP(s.Kafka), Topic: topic, RequiredAcks: kafka.RequireAll, BatchTimeout: time.Millisecond,
		Transport: &kafka.Transport{}, Balancer: kafka.Murmur2Balancer{},
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := w.WriteMessages(ctx, messages...); err != nil {
		t.Fatalf("write to %s: %v", topic, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// settle asks until the service answers with 200 and that JSON document.
func settle(t testing.TB, s *service.Service, target, document string) {
	t.Helper()
	settleOn(t, s, target, compact(t, document))
}

// settleOn asks until the service answers with 200 and that body.
func settleOn(t testing.TB, s *service.Service, target, body string) {
	t.Helper()
	var got service.Answer
	if !s.Until(patience, func() bool {
		got = s.Get(target)
		return got.Status == http.StatusOK && got.Body == body
	}) {
		report(t, "GET "+target, got, http.StatusOK, body)
	}
}

// expect compares an answer.
func expect(t testing.TB, what string, got service.Answer, status int, body string) {
	t.Helper()
	if got.Status != status || got.Body != body {
		report(t, what, got, status, body)
	}
}

// report reports the differences between an answer and the wanted one.
func report(t testing.TB, what string, got service.Answer, status int, body string) {
	t.Helper()
	from := 0
	for from < min(len(got.Body), len(body)) && got.Body[from] == body[from] {
		from++
	}
	from = max(0, from-100)
	t.Errorf("%s\n got %d …%s\nwant %d …%s", what, got.Status, excerpt(got.Body, from), status, excerpt(body, from))
}

func excerpt(s string, from int) string { return s[min(from, len(s)):min(from+500, len(s))] }

// failure returns the answer with one fault.
func failure(code, text string) string {
	return `{"success":false,"errors":[` + faultObject(code, text) + `]}`
}

func faultObject(code, text string) string {
	return `{"error_code":"` + code + `","error_description":` + service.Quoted(text) + `}`
}

const processed = `{"success":true,"success_code":"SVCPRB037","success_message":"Message processed successfully"}`
