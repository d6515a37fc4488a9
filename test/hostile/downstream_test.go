package hostile_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/test/service"
)

// downstream is a delayed-bag system with a chosen behaviour. It counts connections and the files
// that it creates.
type downstream struct {
	net.Listener
	behave      atomic.Pointer[behaviour]
	connections atomic.Int64
	created     atomic.Int64
	strayed     atomic.Int64 // requests for a wrong path
}

// behaviour handles a connection whose request has not been read.
type behaviour func(d *downstream, c *net.TCPConn)

// newDownstream listens on an address; port 0 is any.
func newDownstream(t *testing.T, address string) *downstream {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	d := &downstream{Listener: listener}
	d.will(answering(http.StatusOK, record))
	t.Cleanup(func() { _ = listener.Close() })
	go d.serve()
	return d
}

func (d *downstream) serve() {
	for {
		c, err := d.Accept()
		if err != nil {
			return
		}
		d.connections.Add(1)
		go func() {
			defer func() { _ = c.Close() }()
			(*d.behave.Load())(d, c.(*net.TCPConn))
		}()
	}
}

func (d *downstream) will(b behaviour) { d.behave.Store(&b) }

// take reads a whole request and creates a file. The number of the file is in its record.
func (d *downstream) take(c *net.TCPConn) (document string) {
	request, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return ""
	}
	if request.URL.Path != "/wtr" {
		d.strayed.Add(1)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return ""
	}
	d.created.Add(1)
	return string(body)
}

const (
	record      = `{"WTR_BagsCreateRS":{"Version":0.1,"Success":{},"RecordID":{"RecordType":"DELAYED","RecordReference":{"StationCode":"DEN","AirlineCode":"US","ReferenceNumber":100}}}}`
	noAirline   = `{"WTR_BagsCreateRS":{"Errors":{"Error":[{"value":"AIRLINE NOT FOUND","Code":"2004"}]},"Version":0.1}}`
	twoErrors   = `{"WTR_BagsCreateRS":{"Version":0.2,"Errors":{"Error":[{"value":"A \"B\" </script>","Code":"4065","Type":"9"},"OLDER TEXT"]}}}`
	singleError = `{"WTR_BagsCreateRS":{"Errors":{"Error":{"value":"RECORD NOT FOUND","Code":4001}}}}`
)

// reply formats an HTTP answer with a body; the connection is closed after it.
func reply(status int, body string, headers ...string) string {
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Length: %d\r\n", status, http.StatusText(status), len(body))
	for _, h := range headers {
		head += h + "\r\n"
	}
	return head + "\r\n" + body
}

// answering returns a behaviour that reads the request and answers.
func answering(status int, body string, headers ...string) behaviour {
	return saying(reply(status, body, headers...))
}

// saying returns a behaviour that reads the request and sends these bytes, with the number of its
// record.
func saying(text string) behaviour {
	return func(d *downstream, c *net.TCPConn) {
		d.take(c)
		_, _ = io.WriteString(c, strings.Replace(text, "100}", fmt.Sprint(100+d.created.Load())+"}", 1))
	}
}

// reset makes the connection close with a reset.
func reset(c *net.TCPConn) { _ = c.SetLinger(0) }

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text) // a buffer never fails
	_ = w.Close()
	return b.String()
}

// relayed returns the answer to errors of the downstream system (interface 4.4), in its shape and
// in that of all other errors.
func relayed(version string, errors ...string) string {
	var ours, theirs []string
	for i := 0; i < len(errors); i += 2 {
		ours = append(ours, `{"error_code":"`+errors[i]+`","error_description":`+errors[i+1]+`}`)
		theirs = append(theirs, `{"value":`+errors[i+1]+`,"Code":"`+errors[i]+`"}`)
	}
	return `{"success":false,"errors":[` + strings.Join(ours, ",") + `],"WTR_BagsCreateRS":{"Errors":{"Error":[` + strings.Join(theirs, ",") + `]},"Version":` + version + `}}`
}

const (
	anyPort = "127.0.0.1:0"
	limit   = time.Second // of the downstream system in these tests
)

// fault is a behaviour of the downstream system, and the service's answer to it.
type fault struct {
	name   string
	will   behaviour
	status int
	body   string
}

func faults() []fault {
	missing := relayed("0.1", "2004", `"AIRLINE NOT FOUND"`)
	gone := func(name string, will behaviour) fault {
		return fault{name, will, http.StatusServiceUnavailable, outcomeUnknown}
	}
	all := []fault{
		gone("cut before the request is read", func(*downstream, *net.TCPConn) {}),
		// A reset before the first byte may come before connect has returned; then nothing was sent,
		// and the answer says so (TestAFailureToConnectIsRetriedOnce of internal/wtr).
		gone("reset at the first byte of the request", func(_ *downstream, c *net.TCPConn) {
			_, _ = c.Read(make([]byte, 1))
			reset(c)
		}),
		gone("cut while the request is read", func(_ *downstream, c *net.TCPConn) { _, _ = io.ReadFull(c, make([]byte, 500)) }),
		gone("cut after the request was taken", func(d *downstream, c *net.TCPConn) { d.take(c) }),
		gone("reset after the request was taken", func(d *downstream, c *net.TCPConn) { d.take(c); reset(c) }),
		gone("cut in the status line", saying("HTTP/1.1 20")),
		gone("cut in the headers", saying("HTTP/1.1 200 OK\r\nContent-")),
		gone("cut in the document", saying(reply(200, record)[:200])),
		gone("cut in a chunk", saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n"+record[:90])),
		gone("slower than the limit", func(d *downstream, c *net.TCPConn) { d.take(c); _, _ = io.Copy(io.Discard, c) }),
		gone("slower than the limit, byte by byte", func(d *downstream, c *net.TCPConn) {
			d.take(c)
			_, _ = io.WriteString(c, reply(200, record)[:100])
			for tick := time.NewTicker(50 * time.Millisecond); ; <-tick.C {
				if _, err := io.WriteString(c, " "); err != nil {
					return
				}
			}
		}),
		gone("truncated, ended properly", answering(200, record[:100])),
		gone("oversized", answering(200, strings.Repeat(" ", 1<<20)+record)),
		gone("without end", func(d *downstream, c *net.TCPConn) {
			d.take(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			for {
				if _, err := io.WriteString(c, strings.Repeat(" ", 64<<10)); err != nil {
					return
				}
			}
		}),
		gone("oversized once unpacked", answering(200, zipped(strings.Repeat(" ", 64<<20)+record), "Content-Encoding: gzip")),
		gone("oversized headers", saying("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("a", 128<<10)+"\r\n\r\n")),
		gone("no HTTP", saying("220 mail.example.com ESMTP\r\n")),
		gone("a page for people", answering(200, "<html><body>WTR_BagsCreateRS</body></html>", "Content-Type: text/html")),
		gone("nothing", answering(200, "")),
		gone("no content", saying("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")),
		gone("another root", answering(200, `{"WTR_DelayedBagsCreateRS":{"Success":{}}}`)),
		gone("success without a record", answering(200, `{"WTR_BagsCreateRS":{"Version":0.1,"Success":{}}}`)),
		gone("no errors in the list", answering(200, `{"WTR_BagsCreateRS":{"Errors":{"Error":[]},"Version":0.1}}`)),
		gone("a record without number", answering(200, strings.Replace(record, "100", "0", 1))),
		gone("a record of too high a number", answering(200, strings.Replace(record, "100", "1000000", 1))),
		gone("a record of no station", answering(200, strings.Replace(record, "DEN", "<b>", 1))),
		gone("two documents", answering(200, record+record)),
		gone("a failure without document", answering(500, "no document at all")),
		gone("authentication is asked for", answering(401, "", "WWW-Authenticate: Basic")),
		{"the record, packed", answering(200, zipped(strings.Replace(record, "100", "999", 1)), "Content-Encoding: gzip"), 200, ""},
		{"the record, status 500", answering(500, record), 200, ""},
		{"errors", answering(200, noAirline), 400, missing},
		{"errors, status 500", answering(500, noAirline), 400, missing},
		{"errors, new and old", answering(400, twoErrors), 400, relayed("0.2", "4065", `"A \"B\" \u003c/script\u003e"`, "", `"OLDER TEXT"`)},
		{"one error without list", answering(404, singleError), 404, relayed("0.1", "4001", `"RECORD NOT FOUND"`)},
		{"404 with errors", answering(404, noAirline), 404, missing},
		{"404 without", answering(404, "404 page not found"), 404, notFound},
		{"404 with nothing", answering(404, ""), 404, notFound},
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		all = append(all, gone(fmt.Sprintf("redirect %d", status), answering(status, "", "Location: /elsewhere")))
	}
	return all
}

// Each fault of the downstream system has its answer. It is met once, and never creates a second
// file (rules §4, delayed bags).
func TestEveryFaultOfTheDownstreamSystemHasItsAnswer(t *testing.T) {
	d := newDownstream(t, anyPort)
	s := service.Start(t, noKafka, "BAGTRAIL_LOG_LEVEL=debug", "BAGTRAIL_WTR_TIMEOUT="+limit.String(),
		"BAGTRAIL_WTR_URL=http://wtr-user:wtr-secret@"+d.Addr().String()+"/wtr")
	send(t, s, "BSM", ".V/1LZRH", ".F/LX1900/"+day(-1).bim()+"/JFK", ".N/0724190001001", ".P/QVXSURNAME/QVXGIVEN", ".L/QVX123", "ENDBSM")
	document := service.DelayedBagReport("QVXCLAIMANT", []string{"LX"}, []string{"0724190001"})
	success := `{"success":true,"bags":[{"bagtag":"0724190001","passenger_first_name":"QVXGIVEN","passenger_last_name":"QVXSURNAME","rush_bag_indicator":"N"}],"record_reference":"DENUS00%d"}`
	created := func(number int64) string { return fmt.Sprintf(success, number) }

	reports := 0
	for _, f := range faults() {
		met, before := d.connections.Load(), d.created.Load()
		d.will(f.will)
		if f.status == http.StatusOK {
			reports++
			if f.body = created(101 + before); strings.Contains(f.name, "packed") {
				f.body = created(999)
			}
		}
		began := time.Now()
		got := report(t, s, document, "Idempotency-Key", f.name)
		expect(t, f.name, got, f.status, f.body)
		if took := time.Since(began); took > limit+4*time.Second {
			t.Errorf("%s: answered after %v", f.name, took)
		}
		if after := got.Header.Get("Retry-After"); after != "" {
			t.Errorf("%s: Retry-After %s", f.name, after)
		}
		if n := d.connections.Load() - met; n != 1 {
			t.Errorf("%s: the system was asked %d times", f.name, n)
		}
		if n := d.created.Load() - before; n > 1 {
			t.Errorf("%s: %d files", f.name, n)
		}
		d.will(answering(http.StatusOK, record)) // so that faults do not add up and open the circuit breaker
		before = d.created.Load()
		again := report(t, s, document, "Idempotency-Key", f.name)
		if f.status == http.StatusOK || f.status == http.StatusServiceUnavailable {
			expect(t, "again: "+f.name, again, f.status, f.body)
			if n := d.created.Load(); n != before {
				t.Errorf("%s: the same request was sent on again", f.name)
			}
			again = report(t, s, document, "Idempotency-Key", "after: "+f.name)
		}
		expect(t, "after: "+f.name, again, http.StatusOK, created(100+d.created.Load()))
		reports++
	}
	if n := d.strayed.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
	history := s.Get(service.HistoryPath("0724190001", day(-1).iso()))
	if got := strings.Count(history.Body, `"event_code":"MISHANDLED"`); got != reports {
		t.Errorf("%d MISHANDLED events of %d reports", got, reports)
	}
	flight := s.Get(service.FlightPath("ZRH", "D", "LX", "1900", day(-1).iso()))
	if !strings.Contains(flight.Body, `"loading_status":"Delayed"`) {
		t.Errorf("the leg is not Delayed: %s", flight.Body)
	}
	log := randomID.ReplaceAllString(s.Log(), "") // some in a hundred runs have an id with the letters QVX
	for _, secret := range []string{"QVX", "0724190001", "190001", "WTR_DelayedBagsCreateRQ", "AIRLINE NOT FOUND", "wtr-secret", service.DevelopmentKey} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

// randomID matches a request id that the service has made.
var randomID = regexp.MustCompile(`"request_id":"[A-Z2-7]{26}"`)

// The reply of the downstream system may repeat the request.
func TestDownstreamSystemThatRepeatsTheRequestDoesNotReachTheLog(t *testing.T) {
	d := newDownstream(t, anyPort)
	s := service.Start(t, noKafka, "BAGTRAIL_LOG_LEVEL=debug", "BAGTRAIL_WTR_TIMEOUT="+limit.String(), "BAGTRAIL_WTR_URL=http://"+d.Addr().String()+"/wtr")
	document := service.DelayedBagReport("QVXCLAIMANT", []string{"LX"}, []string{"0724190002"})
	for name, frame := range map[string]string{
		"as HTTP":             "%s",
		"as status":           "HTTP/1.1 %s\r\n\r\n",
		"as header":           "HTTP/1.1 200 OK\r\n%s\r\n\r\n",
		"as length":           "HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n",
		"as coding":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: %s\r\n\r\n",
		"as chunk":            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n",
		"as place":            "HTTP/1.1 302 Found\r\nLocation: http://%s\r\n\r\n",
		"as document":         "HTTP/1.1 200 OK\r\n\r\n%s",
		"as packed document":  "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n%s",
		"as failure":          "HTTP/1.1 500 %[1]s\r\n\r\n%[1]s",
		"as interim response": "HTTP/1.1 1%s\r\n\r\n",
	} {
		d.will(func(d *downstream, c *net.TCPConn) { _, _ = fmt.Fprintf(c, frame, d.take(c)) })
		expect(t, name, report(t, s, document, "Idempotency-Key", name), http.StatusServiceUnavailable, outcomeUnknown)
		if strings.Contains(s.Log(), "QVXCLAIMANT") {
			t.Errorf("%s: the log holds the passenger's name", name)
		}
		d.will(answering(http.StatusOK, record))
		report(t, s, document, "Idempotency-Key", "after "+name)
	}
}

// A system that cannot be reached is tried twice, since nothing can have been sent. Then callers
// are answered at once, until one request finds the system again.
func TestCircuitOpensAndClosesAgain(t *testing.T) {
	t.Parallel()
	d := newDownstream(t, anyPort)
	address := d.Addr().String()
	_ = d.Close()
	s := service.Start(t, noKafka, "BAGTRAIL_WTR_TIMEOUT=5s", "BAGTRAIL_WTR_URL=http://"+address+"/wtr")
	document := service.DelayedBagReport("NAME", []string{"LX"}, nil)
	document = strings.Replace(document, `"DelayedBag":[]`, `"DelayedBag":[{}]`, 1)
	for range 5 {
		expect(t, "connection refused", report(t, s, document), http.StatusServiceUnavailable, unavailable)
	}
	opened := time.Now()

	back := newDownstream(t, address)
	for range 20 {
		began := time.Now()
		expect(t, "circuit open", report(t, s, document), http.StatusServiceUnavailable, unavailable)
		if took := time.Since(began); took > time.Second {
			t.Errorf("open circuit: answered after %v", took)
		}
	}
	if n := back.connections.Load(); n != 0 {
		t.Errorf("%d connections while the circuit was open", n)
	}
	// The first request that passes is slow; others do not pass meanwhile.
	release := make(chan struct{})
	back.will(func(d *downstream, c *net.TCPConn) {
		d.take(c)
		<-release
		_, _ = io.WriteString(c, reply(http.StatusOK, record))
	})
	trial := make(chan service.Answer)
	go func() {
		for {
			got, err := s.TryDo(http.MethodPost, delayedPath, strings.NewReader(`{"Request":`+service.Quoted(document)+`}`), "Content-Type", jsonType)
			if err != nil || got.Status == http.StatusOK {
				trial <- got
				return
			}
		}
	}()
	if !s.Until(patience, func() bool { return back.connections.Load() > 0 }) {
		t.Fatal("nobody tries whether the system is back")
	}
	if rested := time.Since(opened); rested < 8*time.Second {
		t.Errorf("tried after %v", rested)
	}
	for i := range 5 {
		expect(t, "while one tries", report(t, s, document, "Idempotency-Key", fmt.Sprint("other ", i)), http.StatusServiceUnavailable, unavailable)
	}
	same := make(chan service.Answer)
	go func() {
		got, _ := s.TryDo(http.MethodPost, delayedPath, strings.NewReader(`{"Request":`+service.Quoted(document)+`}`), "Content-Type", jsonType)
		same <- got
	}()
	close(release)
	if got, again := <-trial, <-same; got.Status != http.StatusOK || again.Body != got.Body {
		t.Errorf("trial: %d %s, the same request while it is tried: %d %s", got.Status, got.Body, again.Status, again.Body)
	}
	for i := range 5 {
		if got := report(t, s, document, "Idempotency-Key", fmt.Sprint("closed ", i)); got.Status != http.StatusOK {
			t.Errorf("circuit closed: %d %s", got.Status, got.Body)
		}
	}
	if n := back.created.Load(); n != 6 {
		t.Errorf("%d files of 6 reports", n)
	}
}

var simulatorURL = regexp.MustCompile(`BAGTRAIL_WTR_URL=(http://[0-9.:]+/)`)

// The simulator runs as a process of its own and answers most requests with a fault. There are
// never more files than requests, and every success has its own file.
func TestNeverMoreFilesThanRequests(t *testing.T) {
	t.Parallel()
	simulator := service.New(t, []string{"wtr-simulator", "--addr", "127.0.0.1:0"})
	simulator.Launch()
	if !simulator.Until(patience, func() bool { return simulatorURL.MatchString(simulator.Log()) }) {
		t.Fatal("the simulator does not start")
	}
	address := simulatorURL.FindStringSubmatch(simulator.Log())[1]
	s := service.Start(t, noKafka, "BAGTRAIL_WTR_TIMEOUT=300ms", "BAGTRAIL_WTR_URL="+address)
	send(t, s, "BSM", ".V/1LZRH", ".F/LX100/"+day(-1).bim()+"/JFK", ".N/0724191001001", "ENDBSM")
	body := `{"Request":` + service.Quoted(service.DelayedBagReport("NAME", []string{"LX"}, []string{"0724191001"})) + `}`
	expect(t, "no such airline", report(t, s, service.DelayedBagReport("NAME", []string{"ZZ"}, []string{"0724191001"})), 400, relayed("0.1", "2004", `"AIRLINE NOT FOUND"`))

	const rounds, together = 60, 4
	faults := []string{"", "cut-before", "cut-during", "cut-after", "truncated", "not-json", "empty", "oversized", "failing", "", ""}
	random := rand.New(rand.NewPCG(3, 4)) // a fixed sequence of faults
	var mu sync.Mutex
	statuses, references, wanted := map[int]int{}, map[string]bool{}, 0
	for range rounds {
		q := url.Values{"fault": {faults[random.IntN(len(faults))]}, "times": {strconv.Itoa(1 + random.IntN(together-1))}}
		if random.IntN(6) == 0 {
			q.Set("delay", "400ms")
		}
		if got := s.Do(http.MethodPost, address+"misbehave?"+q.Encode(), nil); got.Status/100 != 2 {
			t.Fatalf("misbehave: %d %s", got.Status, got.Body)
		}
		var group sync.WaitGroup
		for range together {
			wanted++
			idempotency := strconv.Itoa(wanted)
			group.Go(func() {
				got, err := s.TryDo(http.MethodPost, delayedPath, strings.NewReader(body), "Content-Type", jsonType, "Idempotency-Key", idempotency)
				if err == nil && got.Status != http.StatusOK { // the client may repeat the request, and no second file is created
					again, err := s.TryDo(http.MethodPost, delayedPath, strings.NewReader(body), "Content-Type", jsonType, "Idempotency-Key", idempotency)
					if err == nil && got.Header.Get("Retry-After") == "" && again.Body != got.Body {
						t.Errorf("what is not known is told otherwise later: %s", again.Body)
					}
					got = again
				}
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				statuses[got.Status]++
				var answer struct {
					Reference string `json:"record_reference"`
				}
				if json.Unmarshal([]byte(got.Body), &answer) == nil && answer.Reference != "" {
					if references[answer.Reference] {
						t.Errorf("%s was given twice", answer.Reference)
					}
					references[answer.Reference] = true
				}
			})
		}
		group.Wait()
	}
	var records struct{ Created int }
	if err := json.Unmarshal([]byte(s.Get(address+"records").Body), &records); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d requests, statuses %v: %d files, %d references", rounds*together, statuses, records.Created, len(references))
	if records.Created > rounds*together || len(references) > records.Created || statuses[http.StatusOK] != len(references) || len(references) == 0 {
		t.Error("the numbers do not fit")
	}
	if statuses[http.StatusOK]+statuses[http.StatusServiceUnavailable] != rounds*together {
		t.Errorf("other statuses: %v", statuses)
	}
	if got := strings.Count(s.Get(service.HistoryPath("0724191001", day(-1).iso())).Body, `"event_code":"MISHANDLED"`); got != len(references) {
		t.Errorf("%d MISHANDLED events of %d reports", got, len(references))
	}
	if code := simulator.Stop(); code != 0 {
		t.Errorf("the simulator ends with %d", code)
	}
}
