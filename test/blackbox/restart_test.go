package blackbox_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/service"
)

// journey sends messages of all kinds through both doors. It returns queries about them with the
// answers that must hold from then on.
func journey(t testing.TB, s *service.Service) map[string]string {
	t.Helper()
	now := today()
	day := now.Format(time.DateOnly)
	for _, message := range []string{
		"BSM\n.V/1LZRH\n.F/LX8800/" + ddmmm(now) + "/JFK\n.O/AA8801/" + ddmmm(now) + "/LAX\n.N/0724800001003\n.W/K/3/41\n.P/1JOURNEY/ANNAMRS\n.L/JOUR01\nENDBSM",
		"BSM\nCHG\n.V/1LZRH\n.F/LX8800/" + ddmmm(now) + "/JFK\n.N/0724800001001\n.S/Y/12A/B\n.P/1JOURNEY/ANNAMRS\n.L/JOUR01\nENDBSM",
		"BSM\nDEL\n.V/1LZRH\n.F/LX8800/" + ddmmm(now) + "/JFK\n.N/0724800003001\n.P/1JOURNEY/ANNAMRS\n.L/JOUR01\nENDBSM",
		"BPM\n.V/1LZRH\n.J/R\n.F/LX8800/" + ddmmm(now) + "/JFK\n.U/AKE8800LX\n.N/0724800001002\nENDBPM",
		"BPM\n.V/1LZRH\n.J/R\n.F/LX8800/" + ddmmm(now) + "/JFK\n.U/AKE8800LX/32L\nENDBPM",
	} {
		expect(t, "POST", s.Process(message), 200, processed)
	}
	s.Process("BSM\n.V/1LZRH\nENDBSM") // rejected
	report, _ := delayedRequest("LX", "0724800002")
	if got := s.Do(http.MethodPost, "/baggage/delayedbags/v1.0/", strings.NewReader(report), "Content-Type", "application/json"); got.Status != 200 {
		t.Fatalf("report: %d %s", got.Status, got.Body)
	}
	var messages []kafka.Message
	for i := range 500 {
		messages = append(messages, kafka.Message{
			Time:  now.Add(time.Duration(i) * time.Second),
			Value: fmt.Appendf(nil, "BSM\n.V/1LZRH\n.F/LX8802/%s/JFK\n.N/0724801%03d001\n.P/%cBULK\nENDBSM", ddmmm(now), i, 'A'+i%26),
		})
	}
	messages = append(messages, kafka.Message{Value: []byte("no message at all")})
	produce(t, s, rawTopic, messages...)
	if !s.Until(patience, func() bool {
		return strings.Count(s.Get(service.FlightPath("ZRH", "D", "LX", "8802", day)).Body, `"bagtag"`) == 500
	}) {
		t.Fatal("the messages from Kafka did not come in")
	}
	answers := map[string]string{}
	for _, target := range []string{
		service.FlightPath("ZRH", "D", "LX", "8800", day), service.FlightPath("JFK", "A", "LX", "8800", day), service.FlightPath("JFK", "D", "AA", "8801", day),
		service.FlightPath("ZRH", "D", "LX", "8802", day), service.FlightPath("ZRH", "D", "LX", "8899", day),
		service.PassengerPath("JOUR01", day), service.PassengerPath("NONE01", day),
		service.HistoryPath("0724800001", day) + "?include_bim=true", service.HistoryPath("0724800002", day) + "?include_bim=true",
		service.HistoryPath("0724800003", day), service.HistoryPath("0724801499", day) + "?include_bim=true",
	} {
		answers[target] = s.Get(target).Body
	}
	if got := answers[service.HistoryPath("0724800001", day)+"?include_bim=true"]; strings.Count(got, `"event_code"`) != 4 {
		t.Fatalf("not the history that the test is about: %s", got)
	}
	return answers
}

func sameAnswers(t testing.TB, s *service.Service, when string, answers map[string]string) {
	t.Helper()
	for target, want := range answers {
		expect(t, when+" "+target, s.Get(target), 200, want)
	}
}

// After a restart every answer is the same, byte for byte, from the moment /readyz says yes
// (service §2): after SIGTERM, SIGINT and kill -9.
func TestRestartsLoseNothing(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t)
	answers := journey(t, s)
	told := 0
	if !s.Until(patience, func() bool { told = len(dump(t, s, changesTopic)); return told > 0 }) {
		t.Fatal("no change is told")
	}
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s.Signal(sig)
		if code := s.Wait(patience); code != 0 {
			t.Errorf("%v: exit code %d", sig, code)
		}
		s.Up()
		sameAnswers(t, s, "after "+sig.String(), answers)
	}
	s.Kill()
	s.Launch()
	list := service.FlightPath("ZRH", "D", "LX", "8802", today().Format(time.DateOnly))
	var first service.Answer
	s.Until(patience, func() bool { // callers that come too early wait or are refused: no answer comes from half an index
		var err error
		first, err = s.TryDo(http.MethodGet, list, nil)
		return err == nil
	})
	expect(t, "the first answer", first, 200, answers[list])
	s.WaitReady(patience)
	sameAnswers(t, s, "after kill -9", answers)
	if after := len(dump(t, s, changesTopic)); after < told {
		t.Errorf("%d changes on the topic, before %d", after, told)
	}

	// The service goes on.
	expect(t, "POST", s.Process(bsmOn("0724800009", today())), 200, processed)
	feed(t, s, record{time.Now().UTC().Format(time.RFC3339), bsmOn("0724800008", today())})
	historyOf(t, s, "0724800008", today().Format(time.DateOnly), "EXPECTED")
	historyOf(t, s, "0724800009", today().Format(time.DateOnly), "EXPECTED")
}

// A POST that was answered is never lost, even if the process is killed right then.
func TestAnsweredPostsSurviveKill(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t)
	for round := range 3 {
		plate := fmt.Sprintf("072481000%d", round)
		expect(t, "POST", s.Process(bsmOn(plate, today())), 200, processed)
		s.Kill()
		s.Up()
		for i := range round + 1 {
			plate := fmt.Sprintf("072481000%d", i)
			if got := s.Get(service.HistoryPath(plate, today().Format(time.DateOnly))); !strings.Contains(got.Body, `"event_code":"EXPECTED"`) {
				t.Errorf("round %d: %s is lost: %s", round, plate, got.Body)
			}
		}
	}
}

// slowPost begins a POST and returns its connection before the body is complete, with the rest of
// the body.
func slowPost(t testing.TB, s *service.Service, message string) (conn net.Conn, rest string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	body := bim(message)
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\napi_key: %s\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n",
		service.ProcessPath, service.DevelopmentKey, len(body))
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100") { // the service now reads the body
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := io.WriteString(conn, body[:len(body)/2]); err != nil {
		t.Fatal(err)
	}
	return conn, body[len(body)/2:]
}

func stopping(t testing.TB, s *service.Service) {
	t.Helper()
	if !s.Until(patience, func() bool { status, _ := s.TryGet(s.Ops + "/readyz"); return status != http.StatusOK }) {
		t.Fatal("the service does not stop")
	}
}

// SIGTERM drains: requests under way are completed, new ones are refused, the exit code is 0
// (service §1).
func TestSIGTERMDrains(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t)
	conn, rest := slowPost(t, s, bsmOn("0724820001", today()))
	s.Signal(syscall.SIGTERM)
	stopping(t, s)
	if !s.Until(patience, func() bool { status, _ := s.TryGet(s.URL + "/"); return status == 0 }) {
		t.Error("new callers are let in")
	}
	if _, err := io.WriteString(conn, rest); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != 200 || string(body) != processed {
		t.Errorf("the request under way: %d %s", res.StatusCode, body)
	}
	if code := s.Wait(patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.Up()
	historyOf(t, s, "0724820001", today().Format(time.DateOnly), "EXPECTED")
}

// A second signal stops at once (service §1).
func TestSecondSignalStopsAtOnce(t *testing.T) {
	ownServers(t)
	t.Parallel()
	for _, second := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s := service.Start(t)
		slowPost(t, s, bsmOn("0724820002", today()))
		s.Signal(syscall.SIGTERM)
		stopping(t, s)
		began := time.Now()
		s.Signal(second)
		code := s.Wait(patience)
		if took := time.Since(began); code == 0 || took > 5*time.Second {
			t.Errorf("%v: exit code %d after %v", second, code, took)
		}
	}
}

// /livez says that the process runs, /readyz which parts are ready, /metrics holds the metrics.
// None needs a key (service §2).
func TestTheOpsServerNeedsNoKey(t *testing.T) {
	t.Parallel()
	s := common(t)
	for path, want := range map[string]string{"/livez": "alive", "/readyz": `"ready":true`, "/metrics": "go_goroutines", "/debug/pprof/": "profile"} {
		status, body := s.TryGet(s.Ops + path)
		if status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.200s", path, status, body)
		}
	}
	for _, part := range []string{"redis", "kafka"} {
		if _, body := s.TryGet(s.Ops + "/readyz"); !strings.Contains(body, part) {
			t.Errorf("/readyz does not name %s: %s", part, body)
		}
	}
	if got := s.Get("/metrics"); got.Status != 404 {
		t.Errorf("metrics on the address of the operations: %d", got.Status)
	}
}
