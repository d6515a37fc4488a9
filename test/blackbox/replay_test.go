package blackbox_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/service"
)

// captures writes a folder with two valid messages and a malformed one. It returns a query for
// their bag.
func captures(t testing.TB, plate string) (dir, target string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"1.txt":   "BSM\r\n.V/1LZRH\r\n.F/LX9000/14MAR/JFK\r\n.N/" + plate + "001\r\n.P/REPLAY/ANNA\r\n.L/REPL01\r\nENDBSM\r\n",
		"2.bim":   "BPM\n.V/1LZRH\n.J/S//S1/14MAR/0845L\n.F/LX9000/14MAR/JFK\n.N/" + plate + "001\nENDBPM\n",
		"3.txt":   "BSM\n.V/1LZRH\n.N/" + plate + "001\nENDBSM\n",
		"4.other": "BSM\n.V/1LZRH\n.F/LX9000/14MAR/JFK\n.N/" + plate + "001\nENDBSM\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, service.HistoryPath(plate, "2026-03-14")
}

// replay FILE accepts messages as a door does. Repeating it with the same --received changes
// nothing (service §1).
func TestReplayOfAFileAcceptsItsMessagesOnce(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t, forever)
	dir, target := captures(t, "0724910001")
	for range 2 {
		stdout, stderr, code := run(t, "", []string{"replay", "--received", "2026-03-14T08:00:00Z", dir}, forever, "BAGTRAIL_KAFKA_BROKERS="+s.Kafka)
		if code != 1 || !strings.Contains(stdout, "messages: 3, accepted: 2") || !strings.Contains(stdout, "rejected: 1") || !strings.Contains(stdout, "SVCPRB041") {
			t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
		}
		settle(t, s, target, `{"success":true,"bag":{"bagtag":"0724910001","passenger_first_name":"ANNA","passenger_last_name":"REPLAY"},"events":[
			{"airport":"ZRH","event_code":"SORTED","event_desc":"Bag Sorted","local_date_time":"2026-03-14T08:45:00+01:00","utc_date_time":"2026-03-14T07:45:00Z",
			 "flight_info":{"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"9000","airline":"LX"}},`+where["ZRH"]+`},
			{"airport":"ZRH","event_code":"EXPECTED","event_desc":"Bag Expected","local_date_time":"2026-03-14T09:00:00+01:00","utc_date_time":"2026-03-14T08:00:00Z",
			 "flight_info":{"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"9000","airline":"LX"}},"pnr":"REPL01",`+where["ZRH"]+`}]}`)
	}
	if _, _, code := run(t, "", []string{"replay", filepath.Join(dir, "5.txt")}, forever, "BAGTRAIL_KAFKA_BROKERS="+s.Kafka); code != 3 {
		t.Errorf("a file that is missing: exit code %d", code)
	}
}

// Messages that replay FILE writes into the data directory of a stopped service are there when it
// starts.
func TestReplayIntoADataDirectoryIsThereAtTheNextStart(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.New(t, []string{"serve"}, forever)
	dir, target := captures(t, "0724910002")
	capture := ""
	for _, name := range []string{"1.txt", "2.bim"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		capture += string(text)
	}
	stdout, stderr, code := run(t, capture, []string{"replay", "--split", "--received", "2026-03-14T08:00:00Z", "-"}, forever,
		"BAGTRAIL_DATA_DIR="+s.Dir, "BAGTRAIL_EMBEDDED_KAFKA_ADDR="+s.Kafka)
	if code != 0 || !strings.Contains(stdout, "messages: 2, accepted: 2") {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	s.Up()
	if got := s.Get(target); strings.Count(got.Body, `"event_code"`) != 2 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// replay without files rebuilds an empty Redis from the raw topic, with byte-identical answers
// (service §1), also by `api` on that Redis.
func TestReplayRebuildsAnEmptyRedis(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t)
	answers := journey(t, s)
	redis := "redis://" + startRedis(t).Addr()
	stdout, stderr, code := run(t, "", []string{"replay"}, "BAGTRAIL_KAFKA_BROKERS="+s.Kafka, "BAGTRAIL_REDIS_URL="+redis)
	if code != 1 || !strings.Contains(stdout, "messages: 507, rejected: 1") {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	api := service.StartCommand(t, []string{"api"}, "BAGTRAIL_KAFKA_BROKERS="+s.Kafka, "BAGTRAIL_REDIS_URL="+redis)
	sameAnswers(t, api, "after replay", answers)
	if _, _, code := run(t, "", []string{"replay", "--from", "2026-03-14T08:00:00Z"}, "BAGTRAIL_KAFKA_BROKERS="+s.Kafka, "BAGTRAIL_REDIS_URL="+redis); code != 1 {
		t.Errorf("exit code %d", code)
	}
	sameAnswers(t, api, "after another replay", answers)

	// A POST to `api` is in its answers at once, and in those of every process that reads the raw
	// topic.
	day := today().Format(time.DateOnly)
	expect(t, "POST", api.Process(bsmOn("0724910003", today())), 200, processed)
	if got := api.Get(service.HistoryPath("0724910003", day)); !strings.Contains(got.Body, "EXPECTED") {
		t.Errorf("api after its POST: %s", got.Body)
	}
	historyOf(t, s, "0724910003", day, "EXPECTED")
	// Records of Kafka reach `api` by way of `ingest`.
	service.StartCommand(t, []string{"ingest"}, "BAGTRAIL_KAFKA_BROKERS="+s.Kafka, "BAGTRAIL_REDIS_URL="+redis, "BAGTRAIL_KAFKA_GROUP=another")
	feed(t, s, record{time.Now().UTC().Format(time.RFC3339), bsmOn("0724910005", today())})
	historyOf(t, api, "0724910005", day, "EXPECTED")
}

// replay --rejects reads the rejects topic again after a correction, and reports the messages that
// are accepted now (service §1).
func TestReplayOfRejectsAcceptsThemAfterACorrection(t *testing.T) {
	ownServers(t)
	t.Parallel()
	list := service.WriteFile(t, "airports.yaml", "airports: []\n")
	settings := []string{forever, "BAGTRAIL_AIRPORTS_FILE=" + list, "BAGTRAIL_KAFKA_BROKERS=" + startKafka(t), "BAGTRAIL_REDIS_URL=redis://" + startRedis(t).Addr()}
	s := service.Start(t, settings...)
	message := "BSM\n.V/1LXQZ\n.F/LX9010/" + ddmmm(today()) + "/JFK\n.N/0724910004001\nENDBSM"
	if got := s.Process(message); got.Status != 400 || !strings.Contains(got.Body, "SVCPRB015") {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	s.Process("XYZ\n.V/1LXQZ\nENDXYZ")
	before := time.Now()
	if code := s.Stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	retry := func(want string) {
		t.Helper()
		if stdout, stderr, code := run(t, "", []string{"replay", "--rejects"}, settings...); code != 1 || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
		}
	}
	retry("messages: 2, accepted: 0, known before: 0, rejected: 2")
	if err := os.WriteFile(list, []byte("airports: [{code: XQZ, timezone: Europe/Zurich, latitude: 47, longitude: 8}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	retry("messages: 2, accepted: 1, known before: 0, rejected: 1")
	retry("messages: 2, accepted: 1, known before: 1, rejected: 1")
	s.Up()
	h := historyOf(t, s, "0724910004", today().Format(time.DateOnly), "EXPECTED")
	if len(h.Events) == 1 && at(t, h.Events[0].UTC).After(before) {
		t.Errorf("happened %s, but the message was received before %s", h.Events[0].UTC, before)
	}
}

// replay brings the workbench of rejects back into an empty Redis: with the same answers, and with what
// was resubmitted.
func TestReplayBringsRejectsBackIntoAnEmptyRedis(t *testing.T) {
	ownServers(t)
	t.Parallel()
	broker := startKafka(t)
	brokers := "BAGTRAIL_KAFKA_BROKERS=" + broker
	s := service.Start(t, brokers, "BAGTRAIL_REDIS_URL=redis://"+startRedis(t).Addr())
	s.Kafka = broker
	for _, plate := range []string{"0724910011", "0724910012"} {
		if got := s.Process(strings.Replace(bsmOn(plate, today()), "/JFK/", "/JFQ/", 1)); got.Status != 400 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	produce(t, s, rawTopic, kafka.Message{Value: []byte("BSM\n.V/1LZRH\nENDBSM"), Time: time.Now()})
	open := func(s *service.Service) string { return s.Get("/v1/rejects").Body }
	if !s.Until(patience, func() bool { return strings.Count(open(s), `"id"`) == 3 }) {
		t.Fatalf("open: %s", open(s))
	}
	var listed struct {
		Rejects []struct{ ID, Door string }
	}
	if err := json.Unmarshal([]byte(open(s)), &listed); err != nil {
		t.Fatal(err)
	}
	id := listed.Rejects[slices.IndexFunc(listed.Rejects, func(r struct{ ID, Door string }) bool { return r.Door == "http" })].ID
	mended, err := json.Marshal(map[string]string{"text": bsmOn("0724910011", today())})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Do("POST", "/v1/rejects/"+id+"/resubmit", strings.NewReader(string(mended)), "Content-Type", "application/json"); got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	left, done := open(s), s.Get("/v1/rejects/"+id).Body

	empty := "BAGTRAIL_REDIS_URL=redis://" + startRedis(t).Addr()
	for range 2 {
		if stdout, stderr, code := run(t, "", []string{"replay"}, brokers, empty); code != 1 {
			t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
		}
		api := service.StartCommand(t, []string{"api"}, brokers, empty)
		if got := open(api); got != left {
			t.Errorf("open: %s\nbefore: %s", got, left)
		}
		if got := api.Get("/v1/rejects/" + id).Body; got != done {
			t.Errorf("resubmitted: %s\nbefore: %s", got, done)
		}
	}
}

// Each malformed message in a file is a rejection of its own. The same file at the same time is the
// same rejection (service §3).
func TestRejectsOfFilesAreToldApart(t *testing.T) {
	ownServers(t)
	t.Parallel()
	settings := []string{forever, "BAGTRAIL_KAFKA_BROKERS=" + startKafka(t), "BAGTRAIL_REDIS_URL=redis://" + startRedis(t).Addr()}
	replay := func(text string, args ...string) string {
		t.Helper()
		stdout, stderr, code := run(t, text, append([]string{"replay"}, args...), settings...)
		if code != 1 {
			t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
		}
		return stdout
	}
	replay("XYZ one\nENDXYZ", "-", "--received", "2026-03-12T09:00:00Z")
	replay("XYZ two\nENDXYZ", "-", "--received", "2026-03-13T09:00:00Z")
	replay("XYZ two\nENDXYZ", "-", "--received", "2026-03-13T09:00:00Z")
	if stdout := replay("", "--rejects"); !strings.Contains(stdout, "messages: 2, accepted: 0, known before: 0, rejected: 2") {
		t.Errorf("%s", stdout)
	}
}
