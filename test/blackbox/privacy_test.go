package blackbox_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/service"
)

// After all kinds of traffic, neither the log, at any level, nor the metrics nor the states of
// parts hold a passenger name, a PNR, a plate, a key or a raw message (rules §5, service §6).
func TestNothingOfPassengersReachesLogsOrMetrics(t *testing.T) {
	ownServers(t)
	t.Parallel()
	secrets := []string{
		"SECRETSURNAME", "SECRETGIVEN", "SECR01", "SECR02", "0724909001", "0724909002", "2724909003", "SECRETFQTV", "SECRETTEXT", "SECRETSEAT",
		"SECRETDEVICE", "SECRETLOCATION", "SECRETKAFKAKEY", "SECRETHEADER", "SECRETPATH", "SECRETQUERY", "SECRETCALLBACK", "SECRETMETHOD", "SECRETBODY",
		"SECRETGARBAGE", "SECRETREQUEST", "secret-key-of-nobody", keyOf("private"), service.DevelopmentKey, "SECRETFAULT", "SECRETAGENT",
	}
	s := service.Start(t, "BAGTRAIL_LOG_LEVEL=debug", "BAGTRAIL_KEYS_FILE="+keyFile(t, "private: customer: ME, airlines: [LX]"))
	now, day := ddmmm(today()), today().Format(time.DateOnly)
	good := "BSM\n.V/1LZRH\n.F/LX8900/" + now + "/JFK\n.N/0724909001001\n.S/Y/SECRETSEAT/C\n.P/1SECRETSURNAME/SECRETGIVENMR\n.L/SECR01\n.Y/SECRETFQTV\n.R/SECRETTEXT\nENDBSM"
	loaded := "BPM\n.V/1LZRH\n.J/R/SECRETAGENT//" + now + "/0001L/SECRETLOCATION\n.F/LX8900/" + now + "/JFK\n.U/SECRETDEVICE\n.N/0724909001001\nENDBPM"
	rush := "BSM\n.V/1LZRH\n.F/LX8901/" + now + "/JFK\n.N/2724909003001\n.E/RUSH\n.R/0724909001\n.P/SECRETSURNAME\n.L/SECR01\nENDBSM"
	faulty := strings.Replace(good, "JFK", "SECRETFAULT", 1)

	for _, message := range []string{good, loaded, rush, good} {
		expect(t, "POST", s.Process(message), 200, processed)
	}
	for _, message := range []string{faulty, "SECRETBODY", "BSM\n.N/SECRETFAULT\n" + strings.Repeat("SECRETTEXT", 10_000)} {
		s.Process(message)
	}
	for _, body := range []string{"SECRETBODY", `{"bim_message":"SECRETBODY`, `{"SECRETBODY":1}`} {
		s.Do(http.MethodPost, service.ProcessPath, strings.NewReader(body))
	}
	s.Process(good, "api_key", "secret-key-of-nobody")
	s.Process(strings.Replace(good, "LX8900", "BA8900", 1), "api_key", keyOf("private"))
	s.Process(good, "X-Request-Id", "SECRET HEADER", "User-Agent", "SECRETHEADER", "Referer", "http://SECRETHEADER/")

	produce(t, s, rawTopic,
		kafka.Message{Key: []byte("SECRETKAFKAKEY"), Value: []byte(strings.ReplaceAll(good, "0724909001", "0724909002"))},
		kafka.Message{Key: []byte("SECRETKAFKAKEY"), Value: []byte(faulty)},
		kafka.Message{Key: []byte("SECRETKAFKAKEY"), Value: []byte("SECRETBODY"), Headers: []kafka.Header{{Key: "content-type", Value: []byte("application/json; SECRETHEADER")}}},
		kafka.Message{Key: []byte("SECRETKAFKAKEY"), Value: []byte(strings.Repeat("SECRETTEXT", 10_000))})
	consume(t, s, rejectsTopic, 3, keyed("SECRETKAFKAKEY"))
	historyOf(t, s, "0724909002", day, "EXPECTED")

	report, _ := delayedRequest("LX", "0724909001")
	report = strings.ReplaceAll(strings.ReplaceAll(report, "MUELLER", "SECRETSURNAME"), `\"A1\"`, `\"SECRETAGENT\"`)
	for _, body := range []string{report, strings.Replace(report, `\"LX\"`, `\"ZZ\"`, 1), "SECRETREQUEST", `{"Request":"SECRETREQUEST"}`} {
		s.Do(http.MethodPost, "/baggage/delayedbags/v1.0/", strings.NewReader(body), "Content-Type", "application/json")
	}

	for _, target := range []string{
		service.HistoryPath("0724909001", day) + "?include_bim=true&pnr=SECR01&pax_surname=SECRETSURNAME", service.HistoryPath("0724909001", day) + "?pnr=SECR02",
		service.HistoryPath("2724909003", day), service.PassengerPath("SECR01", day), service.PassengerPath("SECR02", day), service.FlightPath("ZRH", "D", "LX", "8900", day),
		"/baggage/history/v1.0/0724909001/SECR01", "/SECRETPATH/0724909001", "/baggage/processbim/SECRETPATH", "/x?SECRETQUERY=" + url.QueryEscape(good),
		service.HistoryPath("0724909001", day) + "?callback=SECRETCALLBACK", service.HistoryPath("0724909001", day) + "?callback=SECRETCALLBACK(",
		service.HistoryPath("SECRETPATH", "SECRETPATH"), service.PassengerPath("SECRETPATH", "SECRETPATH"), "/docs/SECRETPATH", "/openapi.json/SECRETPATH",
	} {
		for _, key := range []string{service.DevelopmentKey, keyOf("private"), "secret-key-of-nobody", ""} {
			s.Get(target, "api_key", key)
		}
		s.Do("SECRETMETHOD", target, nil)
		_, _ = s.TryDo(http.MethodGet, s.Ops+target, nil)
	}
	for _, garbage := range []string{"SECRETGARBAGE\r\n\r\n", "GET /SECRETPATH HTTP/1.1\r\nHost: SECRETGARBAGE\r\nSECRETGARBAGE\r\n\r\n", "GET /SECRETPATH HTTP/9.9\r\n\r\n", "\x16\x03\x01SECRETGARBAGE",
		"POST " + service.ProcessPath + " HTTP/1.1\r\nHost: x\r\napi_key: " + service.DevelopmentKey + "\r\nContent-Length: 9\r\n\r\nSECRET",
		"GET /" + strings.Repeat("SECRETPATH", 3000) + " HTTP/1.1\r\nHost: x\r\n\r\n"} {
		for _, address := range []string{s.URL, s.Ops} {
			shout(t, strings.TrimPrefix(address, "http://"), garbage)
		}
	}

	_, metrics := s.TryGet(s.Ops + "/metrics")
	_, ready := s.TryGet(s.Ops + "/readyz")
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.Up() // a rebuild reads every message again
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	log := s.Log()
	if !strings.Contains(log, `"route":"/baggage/history/v1.0/tag/{bagtag}/flightdate/{flight_date}"`) || !strings.Contains(metrics, `{flight_date}`) {
		t.Fatal("the test looks at the wrong places")
	}
	for _, secret := range secrets {
		for place, text := range map[string]string{"log": log, "metrics": metrics, "/readyz": ready} {
			if at := strings.Index(strings.ToUpper(text), strings.ToUpper(secret)); at >= 0 {
				t.Errorf("%s is in the %s: …%s…", secret, place, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
	for line := range strings.SplitSeq(good, "\n") {
		if len(line) > 6 && strings.Contains(log, line) {
			t.Errorf("a line of a message is in the log: %s", line)
		}
	}
	if !strings.Contains(log, `"key":"private"`) {
		t.Error("the access log does not name the key")
	}
}

// shout writes bytes to an address and waits for an answer, if there is one.
func shout(t testing.TB, address, text string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprint(conn, text)
	_ = conn.(*net.TCPConn).CloseWrite()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	_, _ = io.Copy(io.Discard, conn)
}
