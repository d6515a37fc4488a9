package command_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/command"
	"bagtrail/internal/redis/redistest"
	"bagtrail/test/loopback"
	"bagtrail/test/selfsigned"
	process "bagtrail/test/service"
)

// service is a bagtrail that runs inside the test.
type service struct {
	t         *testing.T
	env       []string
	http, ops string
	key       string
	stop      context.CancelFunc
	ended     chan int
	stdout    *process.Buffer
	stderr    *process.Buffer
}

// start runs `bagtrail serve`, or another command, with addresses and a data directory of its own.
func start(t *testing.T, args []string, env ...string) *service {
	t.Helper()
	s := &service{t: t, http: loopback.Address(t), ops: loopback.Address(t), key: apikey.DevelopmentKey}
	s.env = append([]string{
		"BAGTRAIL_HTTP_ADDR=" + s.http, "BAGTRAIL_OPS_ADDR=" + s.ops,
		"BAGTRAIL_EMBEDDED_KAFKA_ADDR=" + loopback.Address(t), "BAGTRAIL_DATA_DIR=" + t.TempDir(),
	}, env...)
	s.up(args)
	t.Cleanup(func() {
		s.down()
		if t.Failed() {
			t.Log(s.stderr.String())
		}
	})
	return s
}

// serve runs `bagtrail serve` as start does, and waits until it is ready.
func serve(t *testing.T, env ...string) *service {
	t.Helper()
	s := start(t, []string{"serve"}, env...)
	s.untilReady()
	return s
}

func (s *service) up(args []string) {
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	s.ended, s.stdout, s.stderr = make(chan int, 1), new(process.Buffer), new(process.Buffer)
	go func() {
		s.ended <- command.Run(ctx, args, s.env, strings.NewReader(""), s.stdout, s.stderr)
	}()
}

// down stops the service and returns its exit code.
func (s *service) down() int {
	s.t.Helper()
	s.stop()
	return s.wait()
}

// wait waits for the service to end by itself.
func (s *service) wait() int {
	s.t.Helper()
	select {
	case code := <-s.ended:
		s.ended <- code
		return code
	case <-time.After(30 * time.Second):
		s.t.Fatal("the service does not end")
		return -1
	}
}

func (s *service) readiness() (int, string) { return s.look("/readyz") }

func (s *service) metrics() string {
	_, body := s.look("/metrics")
	return body
}

// look returns status and body of a page of the ops server, or 0.
func (s *service) look(path string) (int, string) {
	resp, err := http.Get("http://" + s.ops + path)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, ""
	}
	return resp.StatusCode, string(body)
}

// until polls until condition holds.
func (s *service) until(what string, condition func() bool) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(30 * time.Second); ; {
		select {
		case <-deadline:
			s.t.Fatalf("%s: not within 30 s", what)
		case code := <-s.ended:
			s.ended <- code
			s.t.Fatalf("%s: the service has ended with %d", what, code)
		case <-tick.C:
			if condition() {
				return
			}
		}
	}
}

func (s *service) untilReady() {
	s.t.Helper()
	s.until("ready", func() bool { status, _ := s.readiness(); return status == http.StatusOK })
}

// ask sends a request with a key and returns status and body.
func (s *service) ask(method, path, body string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.http+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-API-Key", s.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// today is the day of the tests, read once: it may end while they run.
var today = time.Now().UTC()

// bsmOfToday returns a BSM for a flight of today.
func bsmOfToday() string {
	day := strings.ToUpper(today.Format("02Jan"))
	return "BSM\r\n.V/1LZRH\r\n.F/LX14/" + day + "/JFK/Y\r\n.N/0724123456001\r\nENDBSM\r\n"
}

// historyOfToday returns the path of the history of its bag.
func historyOfToday() string {
	return "/baggage/history/v1.0/tag/0724123456/flightdate/" + today.Format(time.DateOnly)
}

// post posts a message. The answer must have that status, and hold that text.
func (s *service) post(message string, status int, text string) {
	s.t.Helper()
	got, answer := s.ask("POST", "/baggage/processbim/v1.0/", fmt.Sprintf(`{"bim_message":%q}`, message))
	if got != status || !strings.Contains(answer, text) {
		s.t.Fatalf("%d %s, want %d and %q", got, answer, status, text)
	}
}

func TestChangesCanBeAskedForOnceServeIsReady(t *testing.T) {
	s := start(t, []string{"serve"})
	for range 3 {
		s.untilReady()
		if status, answer := s.ask("GET", "/v1/changes", ""); status != 200 {
			t.Errorf("%d %s", status, answer)
		}
		s.down()
		s.up([]string{"serve"})
	}
}

// The readers of topics end before the in-process broker.
func TestACleanStopWarnsOfNoTopic(t *testing.T) {
	s := start(t, []string{"serve"}, "BAGTRAIL_LOG_LEVEL=warn")
	for range 3 {
		s.untilReady()
		if code := s.down(); code != command.Done || strings.Contains(s.stderr.String(), "cannot be read") {
			t.Fatalf("exit code %d, %s", code, s.stderr)
		}
		s.up([]string{"serve"})
	}
}

// A service that shares a Redis is no trial, and its reports are meant to reach somebody.
func TestASimulatedDelayedBagSystemIsAWarningBesideASharedRedis(t *testing.T) {
	const warning = `"level":"warn","time":"`
	said := func(env ...string) bool {
		s := serve(t, append(env, "BAGTRAIL_KAFKA_BROKERS=off")...)
		for line := range strings.Lines(s.stderr.String()) {
			if strings.Contains(line, warning) && strings.Contains(line, `"replaced_by":"BAGTRAIL_WTR_URL"`) {
				return true
			}
		}
		return false
	}
	shared := "BAGTRAIL_REDIS_URL=" + redistest.StartServer(t).URL("")
	if !said(shared) || said(shared, "BAGTRAIL_WTR_URL=http://127.0.0.1:1/") || said() {
		t.Error("want a warning with a shared Redis and a simulator only")
	}
}

// With the development key, which everybody knows, a page of another name must not reach the service.
func TestWithoutAKeyFileNoPublicNameIsServed(t *testing.T) {
	s := serve(t, "BAGTRAIL_KAFKA_BROKERS=off")
	for host, want := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "localhost": http.StatusOK} {
		r, err := http.NewRequest(http.MethodGet, "http://"+s.http+"/v1/status", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("api_key", s.key)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, resp.StatusCode, want)
		}
	}
}

func TestAServiceThatStopsLingersUntilBalancersNotice(t *testing.T) {
	s := serve(t, "BAGTRAIL_KAFKA_BROKERS=off", "BAGTRAIL_HTTP_LINGER=2s")
	s.stop()
	s.until("readyz says no", func() bool { _, body := s.readiness(); return strings.Contains(body, `"lacks":"stopping"`) })
	resp, err := http.Get("http://" + s.http + historyOfToday())
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if !resp.Close {
		t.Error("the answer does not say that the connection ends")
	}
	if code := s.wait(); code != command.Done {
		t.Errorf("exit code %d", code)
	}
}

// lastRecord returns the last record of a log in JSON.
func lastRecord(t *testing.T, log string) (record struct {
	Level, Message, Error string
	Code                  int `json:"exit_code"`
}) {
	t.Helper()
	all := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	if err := json.Unmarshal([]byte(all[len(all)-1]), &record); err != nil {
		t.Errorf("the last line is no record: %v in %s", err, log)
	}
	return record
}

func TestWhatCannotBeUsedEndsWith3AndARecordOfTheLog(t *testing.T) {
	s := start(t, []string{"serve"}, "BAGTRAIL_DATA_DIR=/dev/null/x")
	code := s.wait()
	if got := lastRecord(t, s.stderr.String()); code != command.Failed || got.Level != "error" || got.Code != 3 || !strings.Contains(got.Error, "/dev/null") {
		t.Errorf("exit code %d, %+v", code, got)
	}
}

func TestFaultsOfFilesAreToldTogetherBeforeAnythingStarts(t *testing.T) {
	nonsense := write(t, t.TempDir(), "nonsense.yaml", "nonsense: true\n")
	variables := []string{"BAGTRAIL_AIRPORTS_FILE", "BAGTRAIL_AIRLINES_FILE", "BAGTRAIL_FLIGHTS_FILE", "BAGTRAIL_KEYS_FILE", "BAGTRAIL_HTTP_TLS_CERT"}
	named := regexp.MustCompile(`(?m)^bagtrail: BAGTRAIL_\w+`)
	for file, want := range map[string]int{nonsense: command.Usage, "/no/such/file": command.Failed} {
		env := []string{"BAGTRAIL_HTTP_TLS_KEY=" + file}
		for _, variable := range variables {
			env = append(env, variable+"="+file)
		}
		s := start(t, []string{"serve"}, env...)
		code, said := s.wait(), s.stderr.String()
		if got := named.FindAllString(said, -1); code != want || strings.Join(got, "\n") != "bagtrail: "+strings.Join(variables, "\nbagtrail: ") || strings.Contains(said, "{") {
			t.Errorf("exit code %d, %s", code, said)
		}
	}
}

// A named pipe can be read only once.
func TestTheFilesOfAServiceMayBeNamedPipes(t *testing.T) {
	pair, err := selfsigned.New()
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{"HTTP_TLS_CERT": string(pair.PEM), "HTTP_TLS_KEY": string(pair.KeyPEM), "KEYS_FILE": "keys: []\n", "FLIGHTS_FILE": "flights: []\n"}
	var env []string
	for setting := range text {
		pipe := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		go func() { _ = os.WriteFile(pipe, []byte(text[setting]), 0o600) }() // which waits for a reader
		env = append(env, "BAGTRAIL_"+setting+"="+pipe)
	}
	s := serve(t, env...)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pair.Pool()}}, Timeout: 10 * time.Second}
	answer, err := client.Get("https://" + s.http + "/codes.json")
	if err != nil {
		t.Fatal(err)
	}
	if _ = answer.Body.Close(); answer.StatusCode != http.StatusOK {
		t.Errorf("status %d", answer.StatusCode)
	}
	if code := s.down(); code != command.Done || strings.Contains(s.stderr.String(), `"error"`) {
		t.Errorf("exit code %d", code)
	}
}

func TestFaultsOfFilesAndOfSettingsAreToldTogether(t *testing.T) {
	got := run(t, "", []string{"BAGTRAIL_KEYS_FILE=/no/such/file", "BAGTRAIL_OPS_ADDR=x"}, "serve")
	if got.code != command.Usage || !strings.Contains(got.stderr, "BAGTRAIL_KEYS_FILE") || !strings.Contains(got.stderr, "BAGTRAIL_OPS_ADDR") {
		t.Errorf("%+v", got)
	}
}

// The settings that the file may hold are not called missing.
func TestAFileOfSettingsThatCannotBeReadIsTheOnlyFault(t *testing.T) {
	const want = "bagtrail: BAGTRAIL_CONFIG cannot be read: open /no/such/file: no such file or directory (environment BAGTRAIL_CONFIG)\n"
	if got := run(t, "", []string{"BAGTRAIL_CONFIG=/no/such/file"}, "ingest"); got.code != command.Usage || got.stderr != want {
		t.Errorf("%+v, want exit code 2 and %q", got, want)
	}
	broken := write(t, t.TempDir(), "broken.yaml", "redis_url: redis://a\nkafka_brokers: [a:1\n")
	if got := run(t, "", []string{"BAGTRAIL_CONFIG=" + broken}, "ingest"); got.code != command.Usage || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, broken+" line 3") {
		t.Errorf("a file that is no YAML: %+v", got)
	}
	unknown := write(t, t.TempDir(), "unknown.yaml", "redis-url: redis://a\n")
	if got := run(t, "", []string{"BAGTRAIL_CONFIG=" + unknown}, "ingest"); got.code != command.Usage || !strings.Contains(got.stderr, "redis-url: unknown member") || !strings.Contains(got.stderr, "BAGTRAIL_REDIS_URL") {
		t.Errorf("a file with an unknown member: %+v", got)
	}
	if got := run(t, "", []string{"BAGTRAIL_CONFIG=/no/such/file", "BAGTRAIL_HTTP_DRAIN=x"}, "ingest"); got.code != command.Usage || !strings.Contains(got.stderr, "BAGTRAIL_HTTP_DRAIN") {
		t.Errorf("with a malformed setting: %+v", got)
	}
}

func TestIngestNeedsNoFilesOfTheHTTPDoor(t *testing.T) {
	env := []string{"BAGTRAIL_KEYS_FILE=/no/such/file", "BAGTRAIL_FLIGHTS_FILE=/no/such/file", "BAGTRAIL_REDIS_URL=redis://a", "BAGTRAIL_KAFKA_BROKERS=a:1"}
	if got := run(t, "", env, "ingest"); got.code != command.Failed || strings.Contains(got.stderr, "KEYS") || !strings.Contains(got.stderr, "FLIGHTS") {
		t.Errorf("%+v", got)
	}
}

func TestAnAddressInUseNamesItsSetting(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for variable, flag := range map[string]string{
		"BAGTRAIL_HTTP_ADDR": "--http-addr", "BAGTRAIL_OPS_ADDR": "--ops-addr", "BAGTRAIL_EMBEDDED_KAFKA_ADDR": "--embedded-kafka-addr",
	} {
		s := start(t, []string{"serve"}, variable+"="+taken.Addr().String())
		code := s.wait()
		want := variable + " / " + flag + ": " + taken.Addr().String() + " is in use"
		if got := lastRecord(t, s.stderr.String()); code != command.Failed || got.Error != want {
			t.Errorf("exit code %d, %q, want %q", code, got.Error, want)
		}
	}
	s := start(t, []string{"wtr-simulator", "--addr", taken.Addr().String()})
	code := s.wait()
	if got := lastRecord(t, s.stderr.String()); code != command.Failed || got.Error != "--addr: "+taken.Addr().String()+" is in use" {
		t.Errorf("exit code %d, %+v", code, got)
	}
}

func TestTheErrorThatEndsAServiceHasTheFormatOfItsLog(t *testing.T) {
	s := start(t, []string{"serve"}, "BAGTRAIL_LOG_FORMAT=console", "BAGTRAIL_DATA_DIR=/dev/null/x")
	code := s.wait()
	all := strings.Split(strings.TrimSuffix(s.stderr.String(), "\n"), "\n")
	if last := strings.Split(all[len(all)-1], "\t"); code != command.Failed || len(last) < 4 || last[1] != "ERROR" || !strings.Contains(last[len(last)-1], `"exit_code": 3`) {
		t.Errorf("exit code %d, %q", code, last)
	}
}

func TestFilesThatSayNonsenseEndWith2(t *testing.T) {
	nonsense := write(t, t.TempDir(), "nonsense.yaml", "nonsense: true\n")
	for _, variable := range []string{"BAGTRAIL_KEYS_FILE", "BAGTRAIL_FLIGHTS_FILE", "BAGTRAIL_AIRPORTS_FILE", "BAGTRAIL_CONFIG"} {
		s := start(t, []string{"serve"}, variable+"="+nonsense)
		if code := s.wait(); code != command.Usage || !strings.Contains(s.stderr.String(), "nonsense: ") {
			t.Errorf("%s: exit code %d, %s", variable, code, s.stderr)
		}
	}
}

func TestPartsThatShareServersDemandThem(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"ingest"}, []string{"BAGTRAIL_REDIS_URL is missing", "BAGTRAIL_KAFKA_BROKERS is missing"}},
		{[]string{"ingest", "--redis-url=redis://a", "--kafka-brokers=off"}, []string{"BAGTRAIL_KAFKA_BROKERS is off"}},
		{[]string{"api"}, []string{"BAGTRAIL_REDIS_URL is missing", "BAGTRAIL_KAFKA_BROKERS is missing"}},
		{[]string{"serve", "--redis-url=http://u:hunter2@a"}, []string{"BAGTRAIL_REDIS_URL cannot be used"}},
		{[]string{"serve", "--redis-url=redis://a/0?prefix=b:"}, []string{"BAGTRAIL_REDIS_URL cannot be used: with the prefix \"b:\""}},
	} {
		got := run(t, "", nil, tc.args...)
		for _, want := range tc.want {
			if got.code != command.Usage || !strings.Contains(got.stderr, want) || strings.Contains(got.stderr, "hunter2") {
				t.Errorf("%q: %+v, want %q", tc.args, got, want)
			}
		}
	}
}
