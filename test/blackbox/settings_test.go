package blackbox_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/loopback"
	"bagtrail/test/selfsigned"
	"bagtrail/test/service"
)

// After the retention nothing about a bag is left in any answer, nor comes back with a restart
// (rules §5).
func TestNothingOfABagRemainsAfterTheRetention(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t, "BAGTRAIL_RETENTION=3s", "BAGTRAIL_DUPLICATE_WINDOW=1s")
	day := today().Format(time.DateOnly)
	expect(t, "POST", s.Process("BSM\n.V/1LZRH\n.F/LX9100/"+ddmmm(today())+"/JFK\n.N/0724920001001\n.L/RETAIN\nENDBSM"), 200, processed)
	flight, passenger, history := service.FlightPath("ZRH", "D", "LX", "9100", day), service.PassengerPath("RETAIN", day), service.HistoryPath("0724920001", day)
	for _, target := range []string{flight, passenger, history} {
		if got := s.Get(target); !strings.Contains(got.Body, `"bagtag":"0724920001"`) {
			t.Errorf("%s within the retention: %s", target, got.Body)
		}
	}
	gone := func() {
		t.Helper()
		settleOn(t, s, history, failure("SVCGBH002", "No matching bag found"))
		settleOn(t, s, flight, failure("SVCGBF001", "No bags found for flight"))
		settleOn(t, s, passenger, failure("SVCGBH002", "No matching bags found"))
	}
	gone()
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.Up()
	gone()
}

// A message that is older than the retention when it is received leaves nothing; a younger one
// stays.
func TestNothingRemainsOfMessagesOlderThanTheRetention(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t, "BAGTRAIL_RETENTION=180s", "BAGTRAIL_DUPLICATE_WINDOW=10s")
	now := time.Now().UTC()
	ago := func(d time.Duration, plate string) record {
		return record{now.Add(-d).Format(time.RFC3339), bsmOn(plate, now)}
	}
	feed(t, s, ago(190*time.Second, "0724920002"), ago(30*time.Second, "0724920003"))
	historyOf(t, s, "0724920003", now.Format(time.DateOnly), "EXPECTED")
	settleOn(t, s, service.HistoryPath("0724920002", now.Format(time.DateOnly)), failure("SVCGBH002", "No matching bag found"))
	historyOf(t, s, "0724920003", now.Format(time.DateOnly), "EXPECTED")
}

// The window of duplicates and the topics are settings. An empty topic of changes turns changes off
// (service §2).
func TestWindowAndTopicsAreSettings(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t, forever, "BAGTRAIL_DUPLICATE_WINDOW=0s", "BAGTRAIL_KAFKA_TOPIC=my.raw", "BAGTRAIL_KAFKA_REJECTS_TOPIC=my.rejects",
		"BAGTRAIL_KAFKA_CHANGES_TOPIC=", "BAGTRAIL_KAFKA_GROUP=mine")
	text := []byte("BSM\n.V/1LZRH\n.F/LX9110/14MAR/JFK\n.N/0724920004001\nENDBSM")
	produce(t, s, "my.raw", kafka.Message{Value: text, Time: at(t, "2026-03-14T08:00:00Z")}, kafka.Message{Value: text, Time: at(t, "2026-03-14T08:00:01Z")},
		kafka.Message{Key: []byte("mine"), Value: []byte("nothing")})
	historyOf(t, s, "0724920004", "2026-03-14", "EXPECTED EXPECTED")
	consume(t, s, "my.rejects", 1, keyed("mine"))
	conn, err := kafka.Dial("tcp", s.Kafka)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	partitions, err := conn.ReadPartitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range partitions {
		if p.Topic != "my.raw" && p.Topic != "my.rejects" && !strings.HasPrefix(p.Topic, "__") {
			t.Errorf("topic %s", p.Topic)
		}
	}
}

// A certificate and its key turn TLS 1.2 and later on (service §2).
func TestACertificateTurnsTLSOn(t *testing.T) {
	ownServers(t)
	t.Parallel()
	certificate, err := selfsigned.New()
	if err != nil {
		t.Fatal(err)
	}
	s := service.Start(t, "BAGTRAIL_HTTP_TLS_CERT="+service.WriteFile(t, "cert.pem", string(certificate.PEM)), "BAGTRAIL_HTTP_TLS_KEY="+service.WriteFile(t, "key.pem", string(certificate.KeyPEM)))
	address := strings.TrimPrefix(s.URL, "http://")
	for version, want := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: certificate.Pool(), MinVersion: version, MaxVersion: version}}}
		res, err := client.Get("https://" + address + "/baggage/history/v1.0/" + historyTarget)
		if (err == nil) != want {
			t.Errorf("TLS %x: %v", version, err)
		}
		if err != nil {
			continue
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != 400 || string(body) != failure("SVCGBH003", keyMissing) {
			t.Errorf("%d %s", res.StatusCode, body)
		}
	}
}

// config shows where each value came from, and no secret (service §1, §2).
func TestConfigMasksSecrets(t *testing.T) {
	ownServers(t)
	t.Parallel()
	secret := service.WriteFile(t, "password", "hidden-in-a-file\n")
	stdout, stderr, code := run(t, "", []string{"config", "--log-level", "warn"},
		"BAGTRAIL_REDIS_URL=redis://user:hidden-in-a-url@127.0.0.1:6379/0", "BAGTRAIL_KAFKA_SASL_MECHANISM=PLAIN", "BAGTRAIL_KAFKA_SASL_USERNAME=me",
		"BAGTRAIL_KAFKA_SASL_PASSWORD_FILE="+secret, "BAGTRAIL_KAFKA_BROKERS=127.0.0.1:1")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if strings.Contains(stdout, "hidden-in-a-") {
		t.Errorf("a secret is shown:\n%s", stdout)
	}
	for _, words := range []string{"warn", "log-level", "BAGTRAIL_KAFKA_SASL_USERNAME", "bim.raw", "default"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("%q is not shown:\n%s", words, stdout)
		}
	}
}

// A signal ends a start that is waiting for servers, with a drain.
func TestSIGTERMEndsAStartThatWaits(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.New(t, []string{"serve"}, "BAGTRAIL_REDIS_URL=redis://"+loopback.Address(t))
	s.Launch()
	if !s.Until(patience, func() bool { status, _ := s.TryGet(s.Ops + "/livez"); return status == 200 }) {
		t.Fatal("no ops server while the start waits")
	}
	if !s.Until(patience, func() bool {
		status, body := s.TryGet(s.Ops + "/readyz")
		return status == 503 && strings.Contains(body, `{"name":"redis","ready":false`) && strings.Contains(body, "waiting for redis")
	}) {
		t.Error("/readyz does not name Redis while the start waits")
	}
	began := time.Now()
	s.Signal(syscall.SIGTERM)
	if code := s.Wait(patience); code != 0 || time.Since(began) > 5*time.Second {
		t.Errorf("exit code %d after %v", code, time.Since(began))
	}
}

// When Redis comes back, everything goes on by itself: POSTs that were answered 503 can be
// repeated, and records of the meantime are filed.
func TestTheServiceGoesOnWhenRedisComesBack(t *testing.T) {
	ownServers(t)
	t.Parallel()
	redis := startRedis(t)
	s := service.Start(t, "BAGTRAIL_REDIS_URL=redis://"+redis.Addr())
	day := today().Format(time.DateOnly)
	expect(t, "before", s.Process(bsmOn("0724920010", today())), 200, processed)
	redis.Close()
	expect(t, "POST meanwhile", s.Process(bsmOn("0724920011", today())), 503, failure("SVCSRV001", unavailable))
	feed(t, s, record{time.Now().UTC().Format(time.RFC3339), bsmOn("0724920012", today())})
	expect(t, "GET meanwhile", s.Get(service.HistoryPath("0724920010", day)), 503, failure("SVCSRV001", unavailable))
	if status, _ := s.TryGet(s.Ops + "/readyz"); status != 503 {
		t.Errorf("/readyz meanwhile: %d", status)
	}
	if err := redis.Restart(); err != nil {
		t.Fatal(err)
	}
	for _, plate := range []string{"0724920010", "0724920012"} {
		if !s.Until(patience, func() bool { return strings.Count(s.Get(service.HistoryPath(plate, day)).Body, "EXPECTED") == 1 }) {
			t.Errorf("%s is not there: %s", plate, s.Get(service.HistoryPath(plate, day)).Body)
		}
	}
	expect(t, "POST again", s.Process(bsmOn("0724920011", today())), 200, processed)
	historyOf(t, s, "0724920011", day, "EXPECTED")
	s.WaitReady(patience)
}

// Many callers that send one message at the same time make one event, and each gets the same
// success.
func TestOneMessageFromManyCallersIsOneEvent(t *testing.T) {
	t.Parallel()
	s := common(t)
	message := bsmOn("0724920020", today())
	var wg sync.WaitGroup
	answers := make([]string, 50)
	for i := range answers {
		wg.Go(func() {
			got, err := s.TryDo(http.MethodPost, service.ProcessPath, strings.NewReader(bim(message)), "Content-Type", "application/json")
			answers[i] = fmt.Sprint(got.Status, got.Body, err)
		})
	}
	wg.Wait()
	for _, a := range answers {
		if a != "200"+processed+"<nil>" {
			t.Errorf("answer %s", a)
		}
	}
	historyOf(t, s, "0724920020", today().Format(time.DateOnly), "EXPECTED")
}

// One log line for each part says what it is and which variable replaces it. Every line is one JSON
// object (service §2).
func TestLogNamesTheInProcessParts(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t)
	parts := map[string]string{}
	for line := range strings.Lines(s.Log()) {
		var entry struct {
			Message    string
			Part       string
			ReplacedBy string `json:"replaced_by"`
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		if entry.Message == "in-process part" {
			parts[entry.Part] = entry.ReplacedBy
		}
	}
	want := map[string]string{"redis": "BAGTRAIL_REDIS_URL", "kafka": "BAGTRAIL_KAFKA_BROKERS", "delayed-bag system": "BAGTRAIL_WTR_URL"}
	if !maps.Equal(parts, want) {
		t.Errorf("parts %v, want %v", parts, want)
	}
	if !strings.Contains(s.Log(), "development key") {
		t.Error("nothing is said about the development key")
	}
	for line := range strings.Lines(withoutRedis(t).Log()) { // also while a server is away
		if strings.HasSuffix(line, "\n") && !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}
