package queryapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/pause"
	"bagtrail/internal/web"
	"bagtrail/internal/wtr"
	"bagtrail/queryapi"
)

// reportLog remembers the reports that were filed.
type reportLog struct {
	mutex   sync.Mutex
	reports []enricher.Report
	times   []time.Time
	err     error
}

func (f *reportLog) File(_ context.Context, report enricher.Report, received time.Time, _ string) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.err != nil {
		return f.err
	}
	f.reports, f.times = append(f.reports, report), append(f.times, received)
	return nil
}

// outcomes is an Outcomes in memory.
type outcomes struct {
	mutex sync.Mutex
	notes map[string]string
	asked int   // calls of Claim
	err   error // of Claim
	lost  error // of Note
}

func (o *outcomes) Claim(_ context.Context, id string) (note, claim string, err error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.err != nil {
		return "", "", o.err
	}
	o.asked++
	note, before := o.notes[id]
	if !before {
		o.notes[id], claim = "", "own"
	}
	return note, claim, nil
}

func (o *outcomes) Note(_ context.Context, id, note string) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.lost == nil {
		o.notes[id] = note
	}
	return o.lost
}

func (o *outcomes) Release(_ context.Context, id, _ string) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.notes, id)
	return nil
}

// desk is the operation with a real client and a simulated downstream system.
type desk struct {
	*web.Site
	client    *wtr.Client
	simulator *wtr.Simulator
	limit     time.Duration // of Downstream, for what waits for it
	reports   *reportLog
	outcomes  *outcomes
	trails    *answers
	now       time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{simulator: &wtr.Simulator{}, reports: &reportLog{}, outcomes: &outcomes{notes: map[string]string{}}, trails: &answers{}, now: time.Date(2026, 3, 15, 9, 0, 0, 0, time.UTC)}
	server := httptest.NewServer(d.simulator)
	t.Cleanup(server.Close)
	const limit = 700 * time.Millisecond
	d.client = wtr.NewClient(server.URL, limit, time.Now)
	d.Site = d.operation(d.client)
	return d
}

// operation returns the operation with another downstream system.
func (d *desk) operation(downstream queryapi.Downstream) *web.Site {
	operation := (&queryapi.DelayedBags{
		Trails: func(bag.Sight) queryapi.Trails { return d.trails }, Airports: airport.New(), Downstream: downstream, Limit: d.limit, Reports: d.reports,
		Outcomes: d.outcomes, Clock: func() time.Time { return d.now },
	}).Operation()
	return web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, []web.Operation{operation}, nil)
}

const delayedPath = "/baggage/delayedbags/v1.0/"

// bagged is a bag of a report, with its serial number.
const bagged = `{"ColorTypeDesc":{"ColorCode":"BK","TypeCode":"22","Descriptor":"XXX"},"BagTag":{"LicenseNumber":{"TagType":"0","IssuerCode":"724"},"TagSequence":"%06d"}}`

// request is a request by LX for two bags of MUELLER.
func request(changes ...string) string {
	text := `{"WTR_DelayedBagsCreateRQ":{"Version":0.1,"POS":{"Source":[{"AirlineVendorID":"LX"}]},"RefStationAirline":{"StationCode":"DEN","AirlineCode":"US"},` +
		`"DelayedBagGroup":{"DelayedBags":{"DelayedBag":[` + fmt.Sprintf(bagged, 100001) + `,` + fmt.Sprintf(bagged, 100002) + `]}},` +
		`"Passengers":{"Names":{"Name":["MUELLER"]},"Itinerary":{"FlightSegments":{"FlightSegmentOrARNK":[{}]}}},"AgentID":"AGENT1"}}`
	return strings.NewReplacer(changes...).Replace(text)
}

func (d *desk) post(key, target, contentType, body string) string {
	w := ask(context.Background(), d, "POST", target, body, "api_key", key, "Content-Type", contentType)
	return fmt.Sprint(w.Code, " ", w.Body)
}

func (d *desk) send(key, document string, header ...string) string {
	w := d.record(key, document, header...)
	return fmt.Sprint(w.Code, " ", w.Body)
}

func (d *desk) record(key, document string, header ...string) *httptest.ResponseRecorder {
	text, _ := json.Marshal(map[string]string{"Request": document})
	return ask(context.Background(), d, "POST", delayedPath, string(text), append(header, "api_key", key)...)
}

const (
	unknownBags = `[{"bagtag":"0724100001","passenger_last_name":"MUELLER","rush_bag_indicator":"N"},{"bagtag":"0724100002","passenger_last_name":"MUELLER","rush_bag_indicator":"N"}]`
	created     = `200 {"success":true,"bags":` + unknownBags + `,"record_reference":"DENUS10001"}`
)

func TestDelayedBagReportIsCreatedFromJSONAndForms(t *testing.T) {
	d := newDesk(t)
	if got := d.send("demo", request()); got != created {
		t.Errorf("JSON: %s, want %s", got, created)
	}
	form := url.Values{"Request": {request(`"AGENT1"`, `"AGENT2"`)}}.Encode()
	if got := d.post("demo", delayedPath, "application/x-www-form-urlencoded", form); got != strings.Replace(created, "10001", "10002", 1) {
		t.Errorf("form: %s", got)
	}
	text, _ := json.Marshal(map[string]string{"Request": request(`"AGENT1"`, `"AGENT3"`)})
	if got := d.post("demo", delayedPath+"?callback=a.b", "", string(text)); got != "200 /**/a.b("+strings.Replace(created[4:], "10001", "10003", 1)+");" {
		t.Errorf("script: %s", got)
	}
	want := enricher.Report{Reference: "DENUS10001", Station: "DEN", Plates: []bag.Plate{"0724100001", "0724100002"}}
	if d.simulator.Created() != 3 || len(d.reports.reports) != 3 || fmt.Sprint(d.reports.reports[0]) != fmt.Sprint(want) || !d.reports.times[0].Equal(d.now) {
		t.Errorf("%d records, filed %+v at %v", d.simulator.Created(), d.reports.reports, d.reports.times)
	}
}

func TestRequestMayBeAnObjectAndIsPassedOnAsItStands(t *testing.T) {
	asText, _ := json.Marshal(request())
	object := strings.Replace(request(), ":", " :\n", 1)
	for _, tc := range []struct{ contentType, body string }{
		{"application/json", `{"Request":` + string(asText) + `}`},
		{"application/json", `{"Request": ` + object + ` }`},
		{"application/x-www-form-urlencoded", ` {"Request":` + object + `}`},
	} {
		d := newDesk(t)
		if got := d.post("demo", delayedPath, tc.contentType, tc.body); got != created || d.simulator.Created() != 1 {
			t.Errorf("%s: %s", tc.body, got)
		}
	}
}

func TestDelayedBagReportChecksItsParameter(t *testing.T) {
	d := newDesk(t)
	quoted, _ := json.Marshal(request())
	for _, body := range []string{
		"", "{}", `{"Request":null}`, `{"Request":5}`, `{"Request":{}}`, `{"Request":[` + request() + `]}`, `{"Request":{"WTR_DelayedBagsCreateRQ":{}},"Request":{}}`, `{"Request":""}`, `{"Request":"x"}`, `{"Request":"{}"}`,
		`{"request":` + string(quoted) + `}`, `{"Request":` + string(quoted) + `,"Request":` + string(quoted) + `}`, `{"Request":` + string(quoted) + `}x`,
		`{"Request":"{\"WTR_DelayedBagsCreateRQ\":[]}"}`, `{"Request":"{\"WTR_DelayedBagsCreateRQ\":{}} x"}`, "Request=" + url.QueryEscape(request()),
	} {
		if got := d.post("demo", delayedPath, "application/json", body); got != refusal(fault.DelayedRequest) {
			t.Errorf("%.60s: %s", body, got)
		}
	}
	if got := d.post("demo", delayedPath+"?callback=(", "", "{}"); got != refusal(fault.DelayedRequest, fault.Callback) {
		t.Errorf("two faults: %s", got)
	}
	if got := d.post("demo", delayedPath, "", strings.Repeat(" ", 1<<20+1)); got != refusal(fault.TooLarge) {
		t.Errorf("too large: %s", got)
	}
	bags := func(n int) string {
		const first = `{"ColorTypeDesc":`
		var more strings.Builder
		for i := range n - 2 {
			fmt.Fprintf(&more, bagged+",", i)
		}
		return strings.Replace(request(), first, more.String()+first, 1)
	}
	if got := d.send("demo", bags(101)); got != refusal(fault.TooLarge) {
		t.Errorf("101 bags: %s", got)
	}
	if d.simulator.Created() != 0 {
		t.Error("something was forwarded")
	}
	if got := d.send("demo", bags(100)); !strings.Contains(got, `"4065"`) { // the simulator takes ten
		t.Errorf("100 bags: %s", got)
	}
	d.Site = d.operation(willingDownstream{})
	if got := d.send("demo", bags(100)); !strings.HasPrefix(got, `200 {"success":true`) || strings.Count(got, `"bagtag"`) != 100 ||
		len(d.reports.reports) != 1 || len(d.reports.reports[0].Plates) != 100 {
		t.Errorf("100 bags: %s, filed %v", got, d.reports.reports)
	}
}

// willingDownstream is a downstream system that creates a record of any report.
type willingDownstream struct{}

func (willingDownstream) Create(context.Context, string) (wtr.Reply, error) {
	return wtr.Reply{Reference: "DENUS10001", Station: "DEN"}, nil
}

func TestDelayedBagReportNeedsAKeyForEveryVendor(t *testing.T) {
	const second = `{"AirlineVendorID":"LX"},{"AirlineVendorID":"BA"}`
	for _, tc := range []struct{ name, key, document, want string }{
		{"no key", "", request(), refusal(fault.DelayedKeyMissing)},
		{"unknown key", "nobody", "spoilt", refusal(fault.DelayedKeyUnknown)},
		{"no customer is asked for", "no-customer", request(), created},
		{"airline in scope", "lx", request(), created},
		{"airport does not matter", "lhr", request(), created},
		{"airline out of scope", "ba", request(), refusal(fault.DelayedNotAuthorised)},
		{"one of two out of scope", "lx", request(`{"AirlineVendorID":"LX"}`, second), refusal(fault.DelayedNotAuthorised)},
		{"both in scope", "demo", request(`{"AirlineVendorID":"LX"}`, second), created},
		{"no vendor, limited key", "lx", request("AirlineVendorID", "Vendor"), refusal(fault.DelayedNotAuthorised)},
		{"vendor hidden in another case", "lx", request(`{"AirlineVendorID":"LX"}`, `{"AirlineVendorID":"LX","airlineVendorID":"BA"}`), refusal(fault.DelayedNotAuthorised)},
		{"no airline at all", "no-airline", request(), refusal(fault.DelayedNotAuthorised)},
		{"parameters before authorisation", "ba", "{}", refusal(fault.DelayedRequest)},
	} {
		d := newDesk(t)
		if got := d.send(tc.key, tc.document); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		if (d.simulator.Created() == 1) != (tc.want == created) {
			t.Errorf("%s: %d records", tc.name, d.simulator.Created())
		}
	}
	if got := newDesk(t).send("history-only", request()); got != refusal(fault.DelayedNotAuthorised) {
		t.Errorf("operation that the key may not use: %s", got)
	}
}

func TestErrorsOfTheDownstreamSystemAreRelayed(t *testing.T) {
	d := newDesk(t)
	const unknownAirline = `400 {"success":false,"errors":[{"error_code":"2004","error_description":"AIRLINE NOT FOUND"}],"WTR_BagsCreateRS":{"Errors":{"Error":[{"value":"AIRLINE NOT FOUND","Code":"2004"}]},"Version":0.1}}`
	if got := d.send("demo", request(`"AirlineVendorID":"LX"`, `"AirlineVendorID":"ZZ"`)); got != unknownAirline {
		t.Errorf("%s, want %s", got, unknownAirline)
	}
	d.simulator.Misbehave(wtr.Misbehaviour{Fault: wtr.NotFound}, 1)
	const notFound = `404 {"success":false,"errors":[{"error_code":"4001","error_description":"RECORD NOT FOUND"}],"WTR_BagsCreateRS":{"Errors":{"Error":[{"value":"RECORD NOT FOUND","Code":"4001"}]},"Version":0.1}}`
	if got := d.send("demo", request()); got != notFound {
		t.Errorf("%s, want %s", got, notFound)
	}
	d.simulator.Misbehave(wtr.Misbehaviour{Fault: wtr.Missing}, 1)
	if got := d.send("demo", request()); got != refusal(fault.DelayedNotFound) {
		t.Errorf("%s", got)
	}
	if len(d.reports.reports) != 0 {
		t.Errorf("filed %+v", d.reports.reports)
	}
}

func TestWrongAnswersOfTheDownstreamSystemLeaveTheOutcomeUnknown(t *testing.T) {
	for _, misbehave := range []wtr.Misbehaviour{
		{Fault: wtr.CutBefore}, {Fault: wtr.CutDuring}, {Fault: wtr.CutAfter}, {Fault: wtr.Truncated}, {Fault: wtr.NotJSON}, {Fault: wtr.Empty},
		{Fault: wtr.Oversized}, {Fault: wtr.Failing}, {Delay: 5 * time.Second},
	} {
		d := newDesk(t)
		d.simulator.Misbehave(misbehave, 0)
		if got := d.send("demo", request()); got != refusal(fault.DelayedNotKnown) || !strings.Contains(got, "not known") {
			t.Errorf("%+v: %s", misbehave, got)
		}
		if d.simulator.Created() > 1 || len(d.reports.reports) != 0 {
			t.Errorf("%+v: %d records, filed %v", misbehave, d.simulator.Created(), d.reports.reports)
		}
	}
}

func TestNothingIsForwardedWhileTheIndexIsAway(t *testing.T) {
	d := newDesk(t)
	d.trails.err = errors.New("index is away")
	if got := d.send("demo", request()); got != refusal(fault.Unavailable) || d.simulator.Created() != 0 {
		t.Errorf("%s, %d records", got, d.simulator.Created())
	}
}

func TestReportThatCouldNotBeFiledIsFiledWhenTheRequestComesAgain(t *testing.T) {
	d := newDesk(t)
	began := d.now
	d.reports.err = errors.New("log is away")
	for range 2 {
		if got := d.send("demo", request()); got != refusal(fault.Unavailable) || d.simulator.Created() != 1 {
			t.Fatalf("%s, %d records", got, d.simulator.Created())
		}
	}
	d.reports.err, d.now = nil, d.now.Add(time.Minute)
	if got := d.send("lx", request()); got != strings.Replace(created, "10001", "10002", 1) {
		t.Errorf("the same request of another key is another request: %s", got)
	}
	if got := d.send("demo", request()); got != created || d.simulator.Created() != 2 || len(d.reports.times) != 1 || !d.reports.times[0].Equal(began) {
		t.Errorf("%s, %d records, filed at %v", got, d.simulator.Created(), d.reports.times)
	}
	if got := d.send("demo", request()); got != created || len(d.reports.times) != 1 {
		t.Errorf("once it is filed, it is not filed again: %s, filed at %v", got, d.reports.times)
	}
}

func TestTheSameRequestGetsTheFirstAnswerAgain(t *testing.T) {
	d := newDesk(t)
	for range 3 {
		if got := d.send("demo", request()); got != created {
			t.Errorf("%s, want %s", got, created)
		}
	}
	if d.simulator.Created() != 1 || len(d.reports.reports) != 1 {
		t.Errorf("%d records, filed %v", d.simulator.Created(), d.reports.reports)
	}
	for i, other := range []string{request(`"AGENT1"`, `"AGENT2"`), request("MUELLER", "MEIER")} {
		if got := d.send("demo", other); !strings.Contains(got, fmt.Sprintf(`"DENUS1000%d"`, 2+i)) {
			t.Errorf("another request: %s", got)
		}
	}
}

func TestIdempotencyKeyTellsTwoEqualReportsApart(t *testing.T) {
	d := newDesk(t)
	for _, tc := range []struct{ key, reference string }{
		{"", "DENUS10001"}, {"a", "DENUS10002"}, {"b", "DENUS10003"}, {"a", "DENUS10002"}, {"", "DENUS10001"},
	} {
		if got := d.send("demo", request(), "Idempotency-Key", tc.key); !strings.Contains(got, `"`+tc.reference+`"`) {
			t.Errorf("Idempotency-Key %q: %s, want %s", tc.key, got, tc.reference)
		}
	}
}

func TestEqualReportsAreOneIfTheirKeysHaveTheSameCustomer(t *testing.T) {
	d := newDesk(t)
	for _, tc := range []struct{ key, reference string }{
		{"lx", "DENUS10001"}, {"concealing", "DENUS10001"}, // both of LX
		{"no-customer", "DENUS10002"}, {"none-either", "DENUS10003"}, {"no-customer", "DENUS10002"},
	} {
		if got := d.send(tc.key, request()); !strings.Contains(got, `"`+tc.reference+`"`) {
			t.Errorf("%s: %s, want %s", tc.key, got, tc.reference)
		}
	}
}

func TestWhatIsNotKnownIsNotSentOnAgain(t *testing.T) {
	d := newDesk(t)
	d.simulator.Misbehave(wtr.Misbehaviour{Fault: wtr.CutAfter}, 1)
	for range 3 {
		w := d.record("demo", request())
		if got := fmt.Sprint(w.Code, " ", w.Body); got != refusal(fault.DelayedNotKnown) || w.Header().Get("Retry-After") != "" {
			t.Errorf("%s, Retry-After %q", got, w.Header().Get("Retry-After"))
		}
	}
	if d.simulator.Created() != 1 {
		t.Errorf("%d records", d.simulator.Created())
	}
	if got := d.send("demo", request(), "Idempotency-Key", "a"); !strings.HasPrefix(got, "200 ") {
		t.Errorf("with another Idempotency-Key: %s", got)
	}
}

func TestWhatWasRefusedMayBeTriedAgain(t *testing.T) {
	d := newDesk(t)
	for _, misbehaviour := range []wtr.Fault{wtr.NotFound, wtr.Missing} {
		d.simulator.Misbehave(wtr.Misbehaviour{Fault: misbehaviour}, 1)
		if got := d.send("demo", request()); !strings.HasPrefix(got, "404 ") {
			t.Errorf("%v: %s", misbehaviour, got)
		}
	}
	if got := d.send("demo", request()); !strings.HasPrefix(got, `200 {"success":true`) {
		t.Errorf("%s", got)
	}
}

func TestWhatWasNotSentMayBeSentAgain(t *testing.T) {
	d := newDesk(t)
	d.Site = d.operation(unreachableDownstream{})
	for range 2 {
		w := d.record("demo", request())
		if got := fmt.Sprint(w.Code, " ", w.Body); got != refusal(fault.Unavailable) || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s, Retry-After %q", got, w.Header().Get("Retry-After"))
		}
	}
	d.Site = d.operation(d.client)
	if got := d.send("demo", request()); got != created {
		t.Errorf("%s, want %s", got, created)
	}
}

// unreachableDownstream is a downstream system to which there is no connection.
type unreachableDownstream struct{}

func (unreachableDownstream) Create(context.Context, string) (wtr.Reply, error) {
	return wtr.Reply{}, fmt.Errorf("create: %w", wtr.ErrBreakerOpen)
}

// heldDownstream is a downstream system that answers when the test releases it.
type heldDownstream struct {
	queryapi.Downstream
	asked, let chan struct{}
}

func (h heldDownstream) Create(ctx context.Context, document string) (wtr.Reply, error) {
	h.asked <- struct{}{}
	<-h.let
	return h.Downstream.Create(ctx, document)
}

func TestOfTwoEqualRequestsAtOnceOneIsSentOn(t *testing.T) {
	d := newDesk(t)
	slow := heldDownstream{d.client, make(chan struct{}, 2), make(chan struct{})}
	d.Site = d.operation(slow)
	first := make(chan string)
	go func() { first <- fmt.Sprint(d.record("demo", request()).Body) }()
	<-slow.asked
	if got := d.record("demo", request()); got.Code != 503 || !strings.Contains(got.Body.String(), "not known") {
		t.Errorf("while the first is under way: %d %s", got.Code, got.Body)
	}
	second := make(chan string)
	go func() { second <- fmt.Sprint(d.record("demo", request()).Body) }()
	close(slow.let)
	if got := <-first; "200 "+got != created {
		t.Errorf("the first: %s", got)
	}
	if got := <-second; "200 "+got != created {
		t.Errorf("who waits gets the first answer: %s", got)
	}
	if d.simulator.Created() != 1 {
		t.Errorf("%d records", d.simulator.Created())
	}
}

// holdFirst sends a request that the downstream system holds until slow.let is closed. Others may wait a
// minute for its outcome. first gets its answer.
func (d *desk) holdFirst() (slow heldDownstream, first chan string) {
	d.limit = time.Minute
	slow = heldDownstream{d.client, make(chan struct{}, 1), make(chan struct{})}
	d.Site = d.operation(slow)
	first = make(chan string)
	go func() { first <- d.send("demo", request()) }()
	<-slow.asked
	return slow, first
}

func TestAnEqualRequestWaitsAsLongAsTheFirstMayTake(t *testing.T) {
	d := newDesk(t)
	slow, first := d.holdFirst()
	second := make(chan string)
	gone, leave := context.WithCancel(t.Context())
	leave()
	text, _ := json.Marshal(map[string]string{"Request": request()})
	if ask(gone, d, "POST", delayedPath, string(text), "api_key", "demo"); d.outcomes.asked != 2 {
		t.Errorf("for a caller who has left, the outcome is asked for %d times", d.outcomes.asked-1)
	}
	enough := d.outcomes.asked + 25 // they take more than a second
	go func() { second <- d.send("demo", request()) }()
	err := pause.Until(t.Context(), 10*time.Millisecond, func() bool {
		d.outcomes.mutex.Lock()
		defer d.outcomes.mutex.Unlock()
		select {
		case got := <-second:
			t.Fatalf("while the first is in progress: %s", got)
		default:
		}
		return d.outcomes.asked > enough
	})
	if err != nil {
		t.Fatal(err)
	}
	close(slow.let)
	if one, two := <-first, <-second; one != created || two != created || d.simulator.Created() != 1 {
		t.Errorf("the first: %s, the second: %s, %d records", one, two, d.simulator.Created())
	}
}

func TestAnEqualRequestDoesNotWaitAtAStop(t *testing.T) {
	d := newDesk(t)
	slow, first := d.holdFirst()
	second := make(chan string)
	go func() { second <- d.send("demo", request()) }()
	d.Stop()
	select {
	case got := <-second:
		if !strings.HasPrefix(got, "503 ") {
			t.Errorf("while the process stops: %s", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("the request waits on")
	}
	close(slow.let)
	if got := <-first; got != created {
		t.Errorf("the first: %s", got)
	}
}

func TestNothingIsForwardedThatCannotBeNoted(t *testing.T) {
	d := newDesk(t)
	d.outcomes.err = errors.New("Redis is away")
	if got := d.send("demo", request()); got != refusal(fault.Unavailable) || d.simulator.Created() != 0 {
		t.Errorf("%s, %d records", got, d.simulator.Created())
	}
}

func TestReportThatIsCreatedButNotNotedIsASuccess(t *testing.T) {
	d := newDesk(t)
	d.outcomes.lost = errors.New("Redis is away")
	if got := d.send("demo", request()); got != created || len(d.reports.reports) != 1 {
		t.Errorf("%s, filed %v", got, d.reports.reports)
	}
	if got := d.send("demo", request()); got != refusal(fault.DelayedNotKnown) || d.simulator.Created() != 1 {
		t.Errorf("again: %s, %d records", got, d.simulator.Created())
	}
}

func TestReportReachesBagsInScopeOnly(t *testing.T) {
	day := func(b *bag.Bag) *bag.Bag { b.FirstDay, _ = bag.ParseDay("2026-03-14"); return b }
	swiss := day(newBag(t, "0724100001", "ABC123", "MEIER", "LX", "100", "ZRH", "JFK"))
	earlier := newBag(t, "0724100001", "ABC123", "MEIER", "LX", "100", "ZRH", "JFK")
	earlier.FirstDay = swiss.FirstDay - 4
	british := day(newBag(t, "0724100001", "DEF456", "SECRET", "BA", "1", "LHR", "ZRH"))
	for _, tc := range []struct {
		name, key string
		bags      []*bag.Bag
		reached   int
	}{
		{"its own", "lx", []*bag.Bag{swiss}, 1},
		{"another's", "lx", []*bag.Bag{british}, 0},
		{"its own and another's, which the event would meet too", "lx", []*bag.Bag{swiss, british}, 0},
		{"its own, though the event would meet a later one of another", "lx", []*bag.Bag{earlier, british}, 0},
		{"none", "lx", nil, 0},
		{"every key reaches all", "demo", []*bag.Bag{swiss, british}, 2},
		{"also of a bag that is not known yet", "demo", nil, 2},
	} {
		d := newDesk(t)
		d.trails.plate = tc.bags
		got := d.send(tc.key, request())
		reached := 0
		if len(d.reports.reports) > 0 {
			reached = len(d.reports.reports[0].Plates)
		}
		if !strings.HasPrefix(got, "200 ") || reached != tc.reached || tc.key == "lx" && strings.Contains(got, "SECRET") {
			t.Errorf("%s: %d plates are reached: %s", tc.name, reached, got)
		}
	}
}

// recordsAt is a delayed-bag system whose records belong to one station, whatever the request says.
type recordsAt string

func (s recordsAt) Create(context.Context, string) (wtr.Reply, error) {
	return wtr.Reply{Reference: string(s) + "LX10001", Station: string(s)}, nil
}

func TestReportReachesBagsInScopeByTheDayAtTheStationOfItsRecord(t *testing.T) {
	first := func(b *bag.Bag, date string) *bag.Bag { b.FirstDay, _ = bag.ParseDay(date); return b }
	swiss := first(newBag(t, "0724100001", "ABC123", "MEIER", "LX", "100", "ZRH", "JFK"), "2026-03-10")
	british := first(newBag(t, "0724100001", "DEF456", "SECRET", "BA", "1", "LHR", "ZRH"), "2026-03-15")
	for _, tc := range []struct {
		asked, record string
		now           time.Time
		reached       int
	}{
		{"HNL", "DEN", time.Date(2026, 3, 15, 9, 0, 0, 0, time.UTC), 0}, // 14 March in Honolulu, 15 March in Denver
		{"DEN", "HNL", time.Date(2026, 3, 15, 9, 0, 0, 0, time.UTC), 1},
		{"DEN", "AKL", time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), 0}, // 15 March in Auckland
		{"AKL", "DEN", time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), 1},
	} {
		d := newDesk(t)
		d.trails.plate, d.now = []*bag.Bag{swiss, british}, tc.now
		d.Site = d.operation(recordsAt(tc.record))
		got := d.send("lx", request(`"DEN"`, `"`+tc.asked+`"`))
		if !strings.HasPrefix(got, "200 ") || len(d.reports.reports) != tc.reached {
			t.Errorf("asked for %s, made at %s: %d reports are filed: %s", tc.asked, tc.record, len(d.reports.reports), got)
		}
	}
}

func TestReportOutlivesTheCallerWhoLeaves(t *testing.T) {
	d := newDesk(t)
	text, _ := json.Marshal(map[string]string{"Request": request()})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ask(ctx, d, "POST", delayedPath, string(text), "api_key", "demo")
	if d.simulator.Created() != 1 || len(d.reports.reports) != 1 {
		t.Errorf("%d records, filed %v", d.simulator.Created(), d.reports.reports)
	}
}

func TestReportShowsTheBagsOfItsPlates(t *testing.T) {
	first := func(b *bag.Bag, date string) *bag.Bag { b.FirstDay, _ = bag.ParseDay(date); return b }
	lx := func(pnr, surname, date string) *bag.Bag {
		return first(newBag(t, "0724100001", pnr, surname, "LX", "100", "ZRH", "JFK"), date)
	}
	one := request(`{"ColorTypeDesc":{"ColorCode":"BK","TypeCode":"22","Descriptor":"XXX"},"BagTag":{"LicenseNumber":{"TagType":"0","IssuerCode":"724"},"TagSequence":"100002"}}`,
		`{"ColorTypeDesc":{"ColorCode":"BK","TypeCode":"22","Descriptor":"XXX"}}`)
	tagged := lx("ABC123", "MEIER", "2026-03-14")
	tagged.RushTag = newBag(t, "2724100009", "ABC123", "MEIER", "BA", "16", "ZRH", "LHR")
	nameless := lx("", "MEIER", "2026-03-14")
	nameless.RushTag = newBag(t, "2724100009", "", "MEIER", "BA", "16", "ZRH", "LHR")
	another := first(newBag(t, "0724100001", "", "SECRET", "BA", "1", "LHR", "ZRH"), "2026-03-14")
	const unknown = `{"bagtag":"0724100001","passenger_last_name":"MUELLER","rush_bag_indicator":"N"}`
	shown := func(surname string) string {
		return `{"bagtag":"0724100001","passenger_first_name":"ANNA","passenger_last_name":"` + surname + `","rush_bag_indicator":"N"}`
	}
	for _, tc := range []struct {
		name, key string
		bags      []*bag.Bag
		want      string
	}{
		{"none", "demo", nil, unknown},
		{"one", "demo", []*bag.Bag{lx("", "MEIER", "2026-03-14")}, shown("MEIER")},
		{"the latest that has begun", "demo", []*bag.Bag{lx("", "HUBER", "2026-03-10"), lx("", "MEIER", "2026-03-15"), lx("", "KELLER", "2026-03-16")}, shown("MEIER")},
		{"fourteen days before", "demo", []*bag.Bag{lx("", "MEIER", "2026-03-01")}, shown("MEIER")},
		{"too old", "demo", []*bag.Bag{lx("", "MEIER", "2026-02-28")}, unknown},
		{"two of one day", "demo", []*bag.Bag{lx("A", "HUBER", "2026-03-14"), lx("B", "MEIER", "2026-03-14")}, unknown},
		{"out of scope", "lx", []*bag.Bag{another}, unknown},
		{"one, and a later one out of scope", "lx", []*bag.Bag{lx("", "MEIER", "2026-03-10"), another}, shown("MEIER")},
		{"one, and one of that day out of scope", "lx", []*bag.Bag{lx("", "MEIER", "2026-03-14"), another}, shown("MEIER")},
		{"with its rush tag", "demo", []*bag.Bag{tagged}, strings.Replace(shown("MEIER"), `"N"`, `"N","rushtag":"2724100009"`, 1)},
		{"with its rush tag, though no message names a PNR", "demo", []*bag.Bag{nameless}, strings.Replace(shown("MEIER"), `"N"`, `"N","rushtag":"2724100009"`, 1)},
		{"rush tag out of scope", "lx", []*bag.Bag{tagged}, shown("MEIER")},
	} {
		d := newDesk(t)
		d.trails.plate = tc.bags
		if got, want := d.send(tc.key, one), `200 {"success":true,"bags":[`+tc.want+`],"record_reference":"DENUS10001"}`; got != want {
			t.Errorf("%s: %s, want %s", tc.name, got, want)
		}
	}
	if got := newDesk(t).send("demo", request(`"BagTag"`, `"Tag"`)); got != `200 {"success":true,"bags":[],"record_reference":"DENUS10001"}` {
		t.Errorf("bags without plates: %s", got)
	}
}

func TestRushPlateOfAReportIsARushBagThoughNothingElseIsKnown(t *testing.T) {
	if got := newDesk(t).send("demo", request(`"TagType":"0"`, `"TagType":"2"`)); !strings.Contains(got, `{"bagtag":"2724100001","passenger_last_name":"MUELLER","rush_bag_indicator":"Y"}`) {
		t.Errorf("%s", got)
	}
}
