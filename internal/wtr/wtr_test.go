package wtr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/wtr"
	"bagtrail/test/loopback"
)

// document is a request that the downstream system accepts.
const document = `{"WTR_DelayedBagsCreateRQ":{"Version":0.1,"POS":{"Source":[{"AirlineVendorID":"LX"}]},"RefStationAirline":{"StationCode":"ZRH","AirlineCode":"LX"},` +
	`"DelayedBagGroup":{"DelayedBags":{"DelayedBag":[{"ColorTypeDesc":{"ColorCode":"BK","TypeCode":"22","Descriptor":"XXX"},"BagTag":{"LicenseNumber":{"TagType":"0","IssuerCode":"724"},"TagSequence":"100001"}}]}},` +
	`"Passengers":{"Names":{"Name":["MUELLER"]},"PNR":"ABC123","Itinerary":{"FlightSegments":{"FlightSegmentOrARNK":[{"FlightAndDate":{"AirlineCode":"LX","FlightNumber":"100","Date":"2026-03-14"}}]}}},"AgentID":"AGENT1"}}`

func TestARequestIsReadAsFarAsAuthorisationAndTheAnswerNeed(t *testing.T) {
	for _, tc := range []struct {
		name, document string
		want           wtr.Request
		ok             bool
	}{
		{"whole", document, wtr.Request{Vendors: []string{"LX"}, Station: "ZRH", Plates: []bag.Plate{"0724100001"}, Surname: "MUELLER"}, true},
		{"empty root", `{"WTR_DelayedBagsCreateRQ":{}}`, wtr.Request{}, true},
		{"objects in place of arrays", `{"WTR_DelayedBagsCreateRQ":{"POS":{"Source":{"AirlineVendorID":"LX"}},"DelayedBagGroup":{"DelayedBags":{"DelayedBag":{"BagTag":{"LicenseNumber":{"IssuerCode":"724"},"TagSequence":"100001"}}}},"Passengers":{"Names":{"Name":"MEIER"}}}}`,
			wtr.Request{Vendors: []string{"LX"}, Plates: []bag.Plate{"0724100001"}, Surname: "MEIER"}, true},
		{"bags without a plate", `{"WTR_DelayedBagsCreateRQ":{"DelayedBagGroup":{"DelayedBags":{"DelayedBag":[{},{"BagTag":{"AirlineCode":"LX","TagSequence":"100001"}},{"BagTag":{"AirlineCode":"LX","LicenseNumber":{"IssuerCode":"724"},"TagSequence":"100001"}},{"BagTag":{"LicenseNumber":{"TagType":"0","IssuerCode":"724"},"TagSequence":"100XXX"}},` +
			`{"BagTag":{"LicenseNumber":{"TagType":0,"IssuerCode":724},"TagSequence":100002}},{"BagTag":{"LicenseNumber":{"TagType":"0","IssuerCode":"724"},"TagSequence":"100002"}},7]}}}}`,
			wtr.Request{Plates: []bag.Plate{"0724100002"}}, true},
		{"every vendor counts, wherever it stands", `{"WTR_DelayedBagsCreateRQ":{"POS":{"Source":[{"AirlineVendorID":"LX"},{"airlinevendorid":"BA"}]},"POS":{"Source":[{"AirlineVendorID":"AA","AirlineVendorID":"LH"},{"AirlineVendorID":[1]}]}}}`,
			wtr.Request{Vendors: []string{"LX", "BA", "AA", "LH", ""}}, true},
		{"no document", "", wtr.Request{}, false},
		{"no object", `["WTR_DelayedBagsCreateRQ"]`, wtr.Request{}, false},
		{"another root", `{"WTR_BagsCreateRQ":{}}`, wtr.Request{}, false},
		{"root of another case", `{"wtr_delayedbagscreaterq":{}}`, wtr.Request{}, false},
		{"root is no object", `{"WTR_DelayedBagsCreateRQ":[]}`, wtr.Request{}, false},
		{"two roots", `{"WTR_DelayedBagsCreateRQ":{},"WTR_DelayedBagsCreateRQ":{}}`, wtr.Request{}, false},
		{"more than the root", `{"WTR_DelayedBagsCreateRQ":{},"x":1}`, wtr.Request{}, false},
		{"more behind the end", document + "x", wtr.Request{}, false},
		{"cut off", document[:len(document)-1], wtr.Request{}, false},
		{"not UTF-8", strings.Replace(document, "MUELLER", "M\xdcLLER", 1), wtr.Request{}, false},
	} {
		got, ok := wtr.ReadRequest(tc.document)
		if ok != tc.ok || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, %v, want %+v", tc.name, got, ok, tc.want)
		}
	}
}

func TestAReplyIsARecordOrErrors(t *testing.T) {
	record := func(text string) string { return `{"WTR_BagsCreateRS":{"RecordID":{"RecordReference":` + text + `}}}` }
	for _, tc := range []struct {
		name, document string
		want           wtr.Reply
		ok             bool
	}{
		{"record", record(`{"StationCode":"DEN","AirlineCode":"US","ReferenceNumber":10031}`), wtr.Reply{Reference: "DENUS10031", Station: "DEN"}, true},
		{"number padded to five digits", record(`{"StationCode":"DEN","AirlineCode":"US","ReferenceNumber":"7"}`), wtr.Reply{Reference: "DENUS00007", Station: "DEN"}, true},
		{"number of six digits", record(`{"StationCode":"DEN","AirlineCode":"US","ReferenceNumber":999999}`), wtr.Reply{Reference: "DENUS999999", Station: "DEN"}, true},
		{"errors", `{"WTR_BagsCreateRS":{"Errors":{"Error":[{"value":"AIRLINE NOT FOUND","Code":"2004"},{"value":"X","Code":4065}]},"Version":0.2}}`,
			wtr.Reply{Errors: []wtr.Error{{Code: "2004", Value: "AIRLINE NOT FOUND"}, {Code: "4065", Value: "X"}}, Version: "0.2"}, true},
		{"one error in place of a list, no version", `{"WTR_BagsCreateRS":{"Errors":{"Error":{"value":"X","Code":"1"}}}}`, wtr.Reply{Errors: []wtr.Error{{Code: "1", Value: "X"}}, Version: "0.1"}, true},
		{"older form", `{"WTR_BagsCreateRS":{"Errors":{"Error":["AIRLINE NOT FOUND"]},"Version":"x"}}`, wtr.Reply{Errors: []wtr.Error{{Value: "AIRLINE NOT FOUND"}}, Version: "0.1"}, true},
		{"nothing said", `{"WTR_BagsCreateRS":{"Success":{}}}`, wtr.Reply{}, false},
		{"no errors in the list", `{"WTR_BagsCreateRS":{"Errors":{"Error":[]}}}`, wtr.Reply{}, false},
		{"no error in place of a list", `{"WTR_BagsCreateRS":{"Errors":{"Error":null}}}`, wtr.Reply{}, false},
		{"empty error in the list", `{"WTR_BagsCreateRS":{"Errors":{"Error":[{}]}}}`, wtr.Reply{}, false},
		{"number out of range", record(`{"StationCode":"DEN","AirlineCode":"US","ReferenceNumber":1000000}`), wtr.Reply{}, false},
		{"number is none", record(`{"StationCode":"DEN","AirlineCode":"US","ReferenceNumber":1.5}`), wtr.Reply{}, false},
		{"station is none", record(`{"StationCode":"den","AirlineCode":"US","ReferenceNumber":1}`), wtr.Reply{}, false},
		{"another root", `{"X":{}}`, wtr.Reply{}, false},
		{"not JSON", `<html>`, wtr.Reply{}, false},
		{"nothing", ``, wtr.Reply{}, false},
	} {
		got, err := wtr.ReadReply([]byte(tc.document))
		if (err == nil) != tc.ok || !reflect.DeepEqual(got, tc.want) || err != nil && !errors.Is(err, wtr.ErrReply) {
			t.Errorf("%s: %+v, %v, want %+v", tc.name, got, err, tc.want)
		}
	}
}

func TestErrorsAreWrittenAsTheInterfaceHasThem(t *testing.T) {
	r := wtr.Reply{Errors: []wtr.Error{{"2004", "AIRLINE NOT FOUND"}, {"", "<x>"}}, Version: "0.1"}
	const want = `{"Errors":{"Error":[{"value":"AIRLINE NOT FOUND","Code":"2004"},{"value":"\u003cx\u003e","Code":""}]},"Version":0.1}`
	if got := string(r.Append(nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// downstream starts a simulator and returns it with a client.
func downstream(t *testing.T, limit time.Duration) (*wtr.Simulator, *wtr.Client) {
	t.Helper()
	simulator := &wtr.Simulator{}
	server := httptest.NewServer(simulator)
	t.Cleanup(server.Close)
	return simulator, wtr.NewClient(server.URL, limit, time.Now)
}

func TestTheSimulatorNumbersItsRecordsAndChecksRequests(t *testing.T) {
	simulator, c := downstream(t, 5*time.Second)
	for i := 1; i <= 2; i++ {
		reply, err := c.Create(context.Background(), document)
		if want := fmt.Sprintf("ZRHLX%05d", 10_000+i); err != nil || reply.Reference != want || reply.Station != "ZRH" {
			t.Errorf("record %d: %+v, %v", i, reply, err)
		}
	}
	for change, code := range map[string]string{
		`"AirlineVendorID":"LX"` + "\n" + `"AirlineVendorID":"ZZ"`:                         "2004",
		`"AirlineVendorID":"LX"` + "\n" + `"AirlineVendorID":"lx"`:                         "2004",
		`"AirlineVendorID":"LX"` + "\n" + `"Vendor":"LX"`:                                  "4065",
		`"Version":0.1` + "\n" + `"Version":"a"`:                                           "4065",
		`"ColorCode":"BK",` + "\n":                                                         "4065",
		`"StationCode":"ZRH"` + "\n" + `"StationCode":"ZR"`:                                "4065",
		`"AgentID":"AGENT1"` + "\n" + `"AgentID":"AGENT1234567890"`:                        "4065",
		`"FlightSegmentOrARNK":[{` + "\n" + `"FlightSegmentOrARNK":[],"x":[{`:              "4065",
		`"DelayedBag":[{` + "\n" + `"DelayedBag":[{},{},{},{},{},{},{},{},{},{},{`:         "4065",
		`"Source":[{` + "\n" + `"Source":[{"AirlineVendorID":"ZZ"},{`:                      "2004",
		`"WTR_DelayedBagsCreateRQ"` + "\n" + `"WTR_DelayedBagsCreateRS"`:                   "4065",
		`"Source":[{"AirlineVendorID":"LX"}]` + "\n" + `"Source":[]`:                       "4065",
		`"Source":[{"AirlineVendorID":"LX"}]` + "\n" + `"Source":{"AirlineVendorID":"LX"}`: "",
	} {
		old, replacement, _ := strings.Cut(change, "\n")
		if !strings.Contains(document, old) {
			t.Fatalf("%s is not in the document", old)
		}
		reply, err := c.Create(context.Background(), strings.Replace(document, old, replacement, 1))
		if got := append(reply.Errors, wtr.Error{}); err != nil || got[0].Code != code {
			t.Errorf("%s: %+v, %v", change, reply, err)
		}
	}
	if got := simulator.Created(); got != 3 {
		t.Errorf("%d records, want 3", got)
	}
}

func TestEveryWrongAnswerIsAnErrorAndNothingIsSentTwice(t *testing.T) {
	for _, tc := range []struct {
		misbehave wtr.Misbehaviour
		want      string // part of the error
		created   int
	}{
		{wtr.Misbehaviour{Fault: wtr.CutBefore}, "EOF", 0},
		{wtr.Misbehaviour{Fault: wtr.CutDuring}, "unexpected EOF", 1},
		{wtr.Misbehaviour{Fault: wtr.CutAfter}, "EOF", 1},
		{wtr.Misbehaviour{Fault: wtr.Truncated}, "reply is not a WTR_BagsCreateRS", 1},
		{wtr.Misbehaviour{Fault: wtr.NotJSON}, "reply is not a WTR_BagsCreateRS", 1},
		{wtr.Misbehaviour{Fault: wtr.Empty}, "reply is not a WTR_BagsCreateRS", 1},
		{wtr.Misbehaviour{Fault: wtr.Oversized}, "longer than 1 MiB", 1},
		{wtr.Misbehaviour{Fault: wtr.Failing}, "status 500", 1},
		{wtr.Misbehaviour{Delay: 10 * time.Second}, "deadline exceeded", 1},
	} {
		simulator, c := downstream(t, 500*time.Millisecond)
		simulator.Misbehave(tc.misbehave, 0)
		reply, err := c.Create(context.Background(), document)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %+v, %v", tc.misbehave, reply, err)
		}
		if got := simulator.Created(); got != tc.created {
			t.Errorf("%+v: %d records, want %d", tc.misbehave, got, tc.created)
		}
	}
}

// The other side may send a part of the request back. No error may repeat it.
func TestErrorsRepeatNothingOfTheReply(t *testing.T) {
	for _, sent := range []string{
		"MUELLER", "HTTP/1.1 MUELLER\r\n\r\n", "HTTP/1.1 200 OK\r\nMUELLER\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: MUELLER\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: MUELLER\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nMUELLER\r\n",
		"HTTP/1.1 302 Found\r\nLocation: ://MUELLER\r\n\r\n", "HTTP/1.1 500 MUELLER\r\n\r\nMUELLER", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nMUELLER",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(connection, sent)
			_ = connection.Close()
		}))
		client := wtr.NewClient(server.URL, 5*time.Second, time.Now)
		if _, err := client.Create(t.Context(), document); err == nil || strings.Contains(err.Error(), "MUELLER") || strings.Contains(err.Error(), server.URL) {
			t.Errorf("%q: %v", sent, err)
		}
		server.Close()
	}
}

func TestStatus404IsAReplyWithErrorsOrWithout(t *testing.T) {
	simulator, c := downstream(t, 5*time.Second)
	simulator.Misbehave(wtr.Misbehaviour{Fault: wtr.NotFound}, 1)
	if reply, err := c.Create(context.Background(), document); err != nil || !reply.NotFound || len(reply.Errors) != 1 {
		t.Errorf("%+v, %v", reply, err)
	}
	simulator.Misbehave(wtr.Misbehaviour{Fault: wtr.Missing}, 1)
	if reply, err := c.Create(context.Background(), document); err != nil || !reply.NotFound || len(reply.Errors) != 0 {
		t.Errorf("%+v, %v", reply, err)
	}
	if reply, err := c.Create(context.Background(), document); err != nil || reply.Reference == "" {
		t.Errorf("misbehaved more often than told: %+v, %v", reply, err)
	}
}

func TestARequestIsForwardedByteForByteAndARedirectIsNotFollowed(t *testing.T) {
	var got []byte
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		got, _ = io.ReadAll(r.Body)
		http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	sent := " " + document + "\r\n\t"
	if reply, err := wtr.NewClient(server.URL, 5*time.Second, time.Now).Create(context.Background(), sent); err == nil {
		t.Errorf("a redirect is an answer: %+v", reply)
	}
	if string(got) != sent || calls.Load() != 1 {
		t.Errorf("%d calls, sent %q", calls.Load(), got)
	}
}

func TestAFailureToConnectIsRetriedOnce(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	var attempts atomic.Int32
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			attempts.Add(1)
			_ = conn.Close() // before the TLS handshake is over
		}
	}()
	c := wtr.NewClient("https://"+listener.Addr().String(), 5*time.Second, time.Now)
	if _, err := c.Create(t.Context(), document); !errors.Is(err, wtr.ErrNotSent) || attempts.Load() != 2 {
		t.Errorf("%d attempts: %v", attempts.Load(), err)
	}
}

// A report that was not sent may be sent again at once. What was sent, or may have been, is not known.
func TestARequestIsSentOnlyOverAWholeConnection(t *testing.T) {
	untrusted := httptest.NewTLSServer(&wtr.Simulator{})
	defer untrusted.Close()
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and answers nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	closing := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer closing.Close()
	for name, tc := range map[string]struct {
		address string
		notSent bool
	}{
		"a certificate that nobody trusts": {untrusted.URL, true},
		"no TLS handshake":                 {"https://" + silent.Addr().String(), true},
		"no answer":                        {"http://" + silent.Addr().String(), false},
		"a connection that is closed":      {closing.URL, false},
	} {
		_, err := wtr.NewClient(tc.address, 500*time.Millisecond, time.Now).Create(t.Context(), document)
		if err == nil || errors.Is(err, wtr.ErrNotSent) != tc.notSent {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheBreakerOpensAfterFailuresAndLetsOneRequestTry(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	simulator := &wtr.Simulator{}
	server := httptest.NewServer(simulator)
	defer server.Close()
	c := wtr.NewClient(server.URL, 5*time.Second, func() time.Time { return now })
	create := func() error { _, err := c.Create(context.Background(), document); return err }
	simulator.Misbehave(wtr.Misbehaviour{Fault: wtr.Failing}, 6)
	for i := range 5 {
		if err := create(); err == nil || errors.Is(err, wtr.ErrBreakerOpen) {
			t.Fatalf("failure %d: %v", i, err)
		}
	}
	if err := create(); !errors.Is(err, wtr.ErrBreakerOpen) || simulator.Created() != 5 {
		t.Fatalf("after five failures: %v", err)
	}
	if c.Answers() {
		t.Error("the system answers")
	}
	now = now.Add(10 * time.Second)
	if err := create(); err == nil || errors.Is(err, wtr.ErrBreakerOpen) {
		t.Fatalf("the one that tries: %v", err)
	}
	if err := create(); !errors.Is(err, wtr.ErrBreakerOpen) {
		t.Fatalf("behind the one that tries: %v", err)
	}
	now = now.Add(10 * time.Second)
	for i := range 3 {
		if err := create(); err != nil {
			t.Fatalf("the system is back, request %d: %v", i, err)
		}
	}
	if !c.Answers() {
		t.Error("the system does not answer")
	}
}

func TestAMisbehaviourThatDoesNotExistIsRefused(t *testing.T) {
	simulator := &wtr.Simulator{}
	server := httptest.NewServer(simulator)
	t.Cleanup(server.Close)
	post := func(query string) int {
		t.Helper()
		response, err := http.Post(server.URL+"/misbehave?"+query, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	for _, query := range []string{"fault=cutbefore", "delay=soon", "delay=-1s", "times=few", "times=-1"} {
		if status := post(query); status != http.StatusBadRequest {
			t.Errorf("%s: %d", query, status)
		}
	}
	for _, fault := range wtr.Faults {
		if status := post("fault=" + string(fault) + "&delay=1ms&times=1"); status != http.StatusOK {
			t.Errorf("%s: %d", fault, status)
		}
	}
}

func TestErrorRepliesDoNotOpenTheBreaker(t *testing.T) {
	_, c := downstream(t, 5*time.Second)
	for range 10 {
		if reply, err := c.Create(context.Background(), `{"WTR_DelayedBagsCreateRQ":{}}`); err != nil || reply.Errors[0].Code != "4065" {
			t.Fatalf("%+v, %v", reply, err)
		}
	}
}

func TestAClientKeepsItsAddressSecret(t *testing.T) {
	_, err := wtr.NewClient("http://user:secret@127.0.0.1:1/", time.Second, time.Now).Create(context.Background(), document)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func FuzzDocuments(f *testing.F) {
	f.Add(document)
	f.Add(`{"WTR_BagsCreateRS":{"Errors":{"Error":[{"value":"AIRLINE NOT FOUND","Code":"2004"}]},"Version":0.1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		request, _ := wtr.ReadRequest(text)
		for _, p := range request.Plates {
			if !p.Valid() {
				t.Fatalf("plate %q", p)
			}
		}
		if reply, err := wtr.ReadReply([]byte(text)); err == nil && (reply.Reference == "") == (len(reply.Errors) == 0) {
			t.Fatalf("reply %+v", reply)
		}
	})
}

// The body of an answer 101 is the connection itself, which no timeout ends.
func TestASystemThatSwitchesProtocolsHoldsNobody(t *testing.T) {
	c := wtr.NewClient(loopback.SwitchingServer(t), time.Second, time.Now)
	done := make(chan error, 1)
	go func() { _, err := c.Create(context.Background(), document); done <- err }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the request outlives its limit")
	}
}
