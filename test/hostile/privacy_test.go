package hostile_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/service"
)

// Values that must not be visible from outside. Each has a mark that occurs nowhere else, of five
// characters at least: the bytes of an execution trace may hold a shorter one by accident.
const (
	secretKey     = "bagtrail_QZKEY-secret-key-of-this-test"
	secretSurname = "QZSURNAME"
	secretPNR     = "QZPNR1"
	secretPlate   = "0724590591"
)

var secrets = []string{
	secretKey, "bagtrail_QZ", "QZKEY", secretSurname, "QZGIVEN", secretPNR, secretPlate, "724590591", "590591", "QZFREQUENT", "QZTEXT", "QZCLAIMANT", "QZPATH", "QZMETHOD", "QZQUERY",
	"QZHEADER", "QZBODY", "QZCALLBACK", "QZPASSWORD", "QZKAFKA", "QZFAULT",
}

// After traffic of every kind over HTTP and Kafka, with every kind of fault, no data of a
// passenger, no plate and no key is in the log at its finest level, the metrics, the probes, the
// profiles, an execution trace, or the stacks of a process that dies.
func TestNothingPersonalIsSeenFromOutside(t *testing.T) {
	s := service.Start(t, "BAGTRAIL_LOG_LEVEL=debug", "BAGTRAIL_KEYS_FILE="+service.WriteFile(t, "keys.yaml", "keys:\n"+service.KeyEntry("full", secretKey, ", customer: QZ-not-secret")+
		service.KeyEntry("narrow", secretKey+"-narrow", ", customer: NARROW, airlines: [ZZ]")))
	observed := make(chan string, 1)
	go func() {
		trace, profile := observe(s, "/debug/pprof/trace?seconds=2"), observe(s, "/debug/pprof/profile?seconds=1")
		if trace == "" || profile == "" {
			t.Errorf("a trace of %d bytes, a profile of %d", len(trace), len(profile))
		}
		observed <- trace + profile
	}()
	produceSecrets(t, s)
	for range 3 {
		exerciseSecrets(t, s)
	}
	seen := <-observed
	for _, page := range []string{
		"/metrics", "/livez", "/readyz", "/debug/pprof/", "/debug/pprof/goroutine?debug=2", "/debug/pprof/goroutine", "/debug/pprof/heap?debug=1",
		"/debug/pprof/heap", "/debug/pprof/allocs", "/debug/pprof/block?debug=1", "/debug/pprof/mutex?debug=1", "/debug/pprof/threadcreate?debug=1",
	} {
		text := observe(s, page)
		if text == "" {
			t.Errorf("%s: nothing", page)
		}
		seen += text
	}
	s.Signal(syscall.SIGQUIT) // prints the stacks of all goroutines, as a panic does
	s.Wait(patience)
	if !strings.Contains(s.Log(), "SIGQUIT: quit") {
		t.Error("the process has left no stacks")
	}
	if n := strings.Count(s.Log(), `"message":"request"`); n < 60 {
		t.Errorf("only %d requests in the log", n)
	}
	seen += s.Log()
	for _, secret := range secrets {
		if i := strings.Index(seen, secret); i >= 0 {
			t.Errorf("%s is seen: …%q…", secret, seen[max(0, i-300):min(len(seen), i+100)])
		}
	}
}

// observe returns what a page shows, unpacked, or "".
func observe(s *service.Service, page string) string {
	got, err := s.TryDo(http.MethodGet, s.Ops+page, nil, "api_key", "")
	if err != nil || got.Status != http.StatusOK {
		return ""
	}
	packed, err := gzip.NewReader(strings.NewReader(got.Body))
	if err != nil {
		return got.Body
	}
	text, err := io.ReadAll(packed)
	if err != nil {
		return ""
	}
	return string(text)
}

// secretMessage returns a message with personal data in every place.
func secretMessage(flight string) string {
	return strings.Join([]string{
		"BSM", ".V/1LZRH", ".F/" + flight + "/" + day(1).bim() + "/JFK", ".N/" + secretPlate + "001", ".S/Y/12A/C/001//N//A", ".P/1" + secretSurname + "/QZGIVENMR", ".L/" + secretPNR,
		".Y/QZFREQUENT", ".R/QZTEXT", "ENDBSM",
	}, "\r\n")
}

func produceSecrets(t *testing.T, s *service.Service) {
	t.Helper()
	w := &kafka.Writer{Addr: kafka.TCP(s.Kafka), Topic: "bim.raw", RequiredAcks: kafka.RequireAll, BatchTimeout: time.Millisecond, Transport: &kafka.Transport{}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := w.WriteMessages(ctx,
		kafka.Message{Key: []byte(secretPlate), Value: []byte(secretMessage("LX5900"))},
		kafka.Message{Key: []byte("QZKAFKA"), Value: []byte(strings.Replace(secretMessage("LX5900"), "JFK", "QZFAULT", 1))},
		kafka.Message{Key: []byte("QZKAFKA"), Value: []byte("QZKAFKA\x00\xff"), Headers: []kafka.Header{{Key: "QZKAFKA", Value: []byte("QZKAFKA")}}},
		kafka.Message{Value: []byte(`{"bim_message": "QZKAFKA`), Headers: []kafka.Header{{Key: "content-type", Value: []byte(jsonType)}}},
		kafka.Message{Value: []byte(strings.Repeat("QZKAFKA ", 10000))})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	history := service.HistoryPath(secretPlate, day(1).iso())
	if !s.Until(patience, func() bool { return strings.Contains(s.Get(history, "api_key", secretKey).Body, secretSurname) }) {
		t.Fatal("the record on the raw topic does not become a bag")
	}
}

// exerciseSecrets calls every operation, validly and wrongly, with the secrets in every place.
func exerciseSecrets(t *testing.T, s *service.Service) {
	t.Helper()
	do := func(method, target, body string, header ...string) service.Answer {
		t.Helper()
		got, err := s.TryDo(method, target, strings.NewReader(body), append([]string{"api_key", secretKey, "Content-Type", jsonType}, header...)...)
		if err != nil {
			t.Errorf("%s: %v", target, err)
		}
		return got
	}
	bim := func(text string) string { return `{"bim_message":` + service.Quoted(text) + `}` }
	history, passenger := service.HistoryPath(secretPlate, day(1).iso()), service.PassengerPath(secretPNR, day(1).iso())
	flight := service.FlightPath("ZRH", "D", "LX", "5900", day(1).iso())
	for _, target := range []string{history + "?include_bim=true&pax_surname=" + secretSurname, passenger, flight, "/v1/bags/" + secretPlate + "?fields=raw"} {
		if got := do(http.MethodGet, target, ""); !strings.Contains(got.Body, secretSurname) {
			t.Errorf("%s: %s", target, got.Body)
		}
	}
	do(http.MethodPost, service.ProcessPath, bim(secretMessage("LX5900")))
	do(http.MethodPost, service.ProcessPath+"?details=true", bim(strings.Replace(secretMessage("LX5900"), "JFK", "QZFAULT", 1)))
	do(http.MethodPost, service.ProcessPath, bim(secretMessage("LX5900")), "api_key", secretKey+"-narrow")
	do(http.MethodPost, service.ProcessPath, "bim_message="+url.QueryEscape(secretMessage("LX5900")), "Content-Type", "application/x-www-form-urlencoded; QZHEADER")
	do(http.MethodPost, service.ProcessPath, `{"QZBODY":"QZBODY"`)
	do(http.MethodPost, service.ProcessPath, bim(strings.Repeat("QZBODY", 20000)))
	do(http.MethodPost, "/v1/bags/search", `{"last_name":"`+secretSurname+`","airport":"ZRH","date":"`+day(1).iso()+`"}`)
	for _, target := range []string{"/v1/messages", "/v1/messages/validate"} {
		if got := do(http.MethodPost, target, `{"messages":[{"text":"QZBODY"},{"text":`+service.Quoted(secretMessage("LX5900"))+`}]}`); got.Status != http.StatusOK {
			t.Errorf("%s: %d %s", target, got.Status, got.Body)
		}
	}
	do(http.MethodPost, "/v1/webhooks", `{"url":"https://QZBODY.example/","QZBODY":1}`)
	document := service.DelayedBagReport("QZCLAIMANT", []string{"LX"}, []string{secretPlate})
	for _, body := range []string{document, strings.Replace(document, `"LX"`, `"ZZ"`, 1), strings.Replace(document, "WTR_", "QZBODY_", 1)} {
		do(http.MethodPost, delayedPath, `{"Request":`+service.Quoted(body)+`}`)
	}
	for _, target := range []string{
		history + "?callback=QZCALLBACK", history + "?callback=QZCALLBACK(", history + "?QZQUERY=QZQUERY&pnr=QZQUERY*", passenger + "/QZPATH", "/QZPATH/" + secretPlate,
		"/baggage/processbim/QZPATH", "/docs/QZPATH", "/%2e%2e/QZPATH", service.PassengerPath(secretPNR, "QZPATH"), service.HistoryPath("QZPATH", secretPlate),
		"/v1/bags?pnr=" + secretPNR + "&date=" + day(1).iso(), "/v1/bags/QZPATH", "/v1/rejects?q=" + secretSurname, "/v1/rejects/QZPATH", "/v1/changes?cursor=QZQUERY",
		"/v1/webhooks/QZPATH", "/v1/airports/QZPATH", "/console/bags/" + secretPlate, "/console/QZPATH",
	} {
		do(http.MethodGet, target, "")
		do("QZMETHOD", target, "QZBODY")
		do(http.MethodGet, target, "", "api_key", "QZHEADER-unknown-key", "X-API-Key", secretKey+"QZHEADER", "User-Agent", "QZHEADER", "Referer", "http://QZHEADER/", "Cookie", "a=QZHEADER",
			"Authorization", "Bearer QZHEADER", "X-Forwarded-For", "QZHEADER", "X-Request-Id", "QZHEADER not sane", "Traceparent", "QZHEADER")
	}
	ctx, cancel := context.WithCancel(t.Context()) // a caller that disconnects during the answer
	reader, writer := io.Pipe()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+service.ProcessPath, reader)
	if err != nil {
		t.Fatal(err)
	}
	request.Header["api_key"] = []string{secretKey}
	go func() {
		_, _ = io.WriteString(writer, `{"bim_message":"QZBODY`)
		cancel()
		_ = writer.CloseWithError(context.Canceled) // else the transport waits for the rest of the body
	}()
	if response, err := http.DefaultTransport.RoundTrip(request); err == nil {
		_ = response.Body.Close()
	}
	_ = reader.Close()
}

// Neither the log of a service that cannot reach its servers nor bagtrail config shows their
// passwords.
func TestPasswordsOfServersAreNotShown(t *testing.T) {
	t.Parallel()
	settings := []string{
		"BAGTRAIL_REDIS_URL=redis://user:QZPASSWORD@127.0.0.1:1/0", "BAGTRAIL_WTR_URL=http://user:QZPASSWORD@127.0.0.1:1/", "BAGTRAIL_KAFKA_BROKERS=127.0.0.1:1",
		"BAGTRAIL_KAFKA_SASL_MECHANISM=PLAIN", "BAGTRAIL_KAFKA_SASL_USERNAME=user", "BAGTRAIL_KAFKA_SASL_PASSWORD=QZPASSWORD",
	}
	stdout, stderr, code := service.Run(t.Context(), t, "", []string{"config"}, settings...)
	if code != 0 || strings.Contains(stdout+stderr, "QZPASSWORD") || !strings.Contains(stdout, "127.0.0.1:1") {
		t.Errorf("bagtrail config: exit code %d\n%s%s", code, stdout, stderr)
	}
	_, stderr, code = service.Run(t.Context(), t, "", []string{"config"}, "BAGTRAIL_REDIS_URL=QZPASSWORD://QZPASSWORD@x", "BAGTRAIL_WTR_URL=://QZPASSWORD@x")
	if code != 2 || strings.Contains(stderr, "QZPASSWORD") {
		t.Errorf("faulty settings: exit code %d\n%s", code, stderr)
	}
	for _, away := range [][]string{settings, settings[1:]} { // both are away, and Kafka alone
		s := service.New(t, []string{"serve"}, append(away, "BAGTRAIL_LOG_LEVEL=debug")...)
		s.Launch()
		if !s.Until(patience, func() bool { return strings.Contains(s.Log(), `"waiting for a server"`) }) {
			t.Errorf("the log does not say which server is away:\n%s", s.Log())
		}
		if strings.Contains(s.Log(), "QZPASSWORD") {
			t.Errorf("the log holds a password:\n%s", s.Log())
		}
	}
}
