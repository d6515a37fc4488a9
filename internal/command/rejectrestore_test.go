package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/command"
	"bagtrail/internal/redis/redistest"
)

// rejectIDs returns the ids of the rejects in a state, the newest first.
func (s *service) rejectIDs(state string) (ids []string) {
	s.t.Helper()
	status, text := s.ask("GET", "/v1/rejects?state="+state, "")
	var answer struct{ Rejects []struct{ ID string } }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 200 {
		s.t.Fatalf("%d %s", status, text)
	}
	for _, r := range answer.Rejects {
		ids = append(ids, r.ID)
	}
	return ids
}

// decide decides on a reject.
func (s *service) decide(id, action, body, want string) {
	s.t.Helper()
	if status, answer := s.ask("POST", "/v1/rejects/"+id+"/"+action, body); status != 200 || !strings.Contains(answer, want) {
		s.t.Fatalf("%s: %d %s", action, status, answer)
	}
}

// mendedAirports returns a service that has rejected the BSMs of plates, by HTTP and by Kafka in turn,
// since their airport was not known. It was started again after the file of airports was mended.
func mendedAirports(t *testing.T, plates []string, env ...string) *service {
	t.Helper()
	list := write(t, t.TempDir(), "airports.yaml", "airports: []\n")
	s := serve(t, append(env, "BAGTRAIL_AIRPORTS_FILE="+list)...)
	for i, plate := range plates {
		text := strings.NewReplacer("0724123456", plate, ".V/1LZRH", ".V/1LXQZ").Replace(bsmOfToday())
		if i%2 == 0 {
			s.post(text, http.StatusBadRequest, "SVCPRB015")
		} else {
			sendTo(t, s, text)
		}
		s.until("it is rejected", func() bool { return len(s.rejectIDs("open")) > i })
	}
	s.down()
	if err := os.WriteFile(list, []byte("airports: [{code: XQZ, timezone: Europe/Zurich, latitude: 47, longitude: 8}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.up([]string{"serve"})
	s.untilReady()
	if open := s.rejectIDs("open"); len(open) != len(plates) {
		t.Fatalf("open: %v", open)
	}
	for _, plate := range plates {
		if status, text := s.ask("GET", "/v1/bags/"+plate, ""); status != 200 || !strings.HasPrefix(text, `{"bags":[]`) {
			t.Errorf("nobody has resubmitted it: %d %s", status, text)
		}
	}
	return s
}

// What the log says of rejects is there again after a restart with the servers in the process: the
// rejects, and which of them were resubmitted.
func TestRejectsOutliveARestart(t *testing.T) {
	s := serve(t)
	bad := strings.Replace(bsmOfToday(), "/JFK/", "/JFQ/", 1)
	for _, plate := range []string{"0724123456", "0724123457"} {
		s.post(strings.Replace(bad, "0724123456", plate, 1), http.StatusBadRequest, "")
	}
	broken := write(t, t.TempDir(), "broken.txt", bad)
	if got := run(t, "", s.env, "replay", broken); got.code != command.Rejected {
		t.Fatalf("%+v", got)
	}
	type reject struct {
		ID, State, Received, Door, Key, Airport, Form, Text string
		Diagnostics                                         json.RawMessage
		History                                             []struct{ At, Action, Key, Verdict, Text string }
	}
	list := func(state string) (answer struct{ Rejects []reject }) {
		status, text := s.ask("GET", "/v1/rejects?state="+state, "")
		if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 200 {
			t.Fatalf("%d %s", status, text)
		}
		for i := range answer.Rejects {
			if status, text := s.ask("GET", "/v1/rejects/"+answer.Rejects[i].ID, ""); status != 200 || json.Unmarshal([]byte(text), &answer.Rejects[i]) != nil {
				t.Fatalf("%d %s", status, text)
			}
		}
		return answer
	}
	posted := list("open").Rejects
	if len(posted) != 2 {
		t.Fatalf("open: %+v", posted)
	}
	body, err := json.Marshal(map[string]string{"text": bsmOfToday()})
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := s.ask("POST", "/v1/rejects/"+posted[1].ID+"/resubmit", string(body)); status != 200 || !strings.Contains(answer, `"accepted"`) {
		t.Fatalf("%d %s", status, answer)
	}
	resubmitted := list("resubmitted").Rejects
	for range 2 {
		if code := s.down(); code != command.Done {
			t.Fatalf("exit code %d", code)
		}
		s.up([]string{"serve"})
		s.untilReady()
		left := list("open").Rejects
		slices.SortFunc(left, func(a, b reject) int { return strings.Compare(a.Door, b.Door) }) // they may be of one millisecond
		if len(left) != 2 || left[0].Door != "file" || left[0].Airport != "ZRH" || !reflect.DeepEqual(left[1], posted[0]) {
			t.Errorf("open: %+v, before: %+v", left, posted)
		}
		if again := list("resubmitted").Rejects; len(again) != 1 || !reflect.DeepEqual(again, resubmitted) {
			t.Errorf("resubmitted: %+v, before: %+v", again, resubmitted)
		}
	}
}

// A message that would be accepted by now was rejected all the same, and is there to be resubmitted.
func TestARejectIsThereAfterTheAirportsFileIsMended(t *testing.T) {
	s := mendedAirports(t, []string{"0724123456"})
	id := s.rejectIDs("open")[0]
	s.decide(id, "resubmit", "{}", `"accepted"`)
	s.down()
	s.up([]string{"serve"})
	s.untilReady()
	_, text := s.ask("GET", "/v1/rejects/"+id, "")
	var reject struct {
		State       string
		Diagnostics []struct{ Code string }
		History     []struct{ Text string }
	}
	if err := json.Unmarshal([]byte(text), &reject); err != nil || reject.State != "resubmitted" ||
		len(reject.History) != 1 || reject.History[0].Text != "" || len(reject.Diagnostics) != 1 || reject.Diagnostics[0].Code != "SVCPRB015" {
		t.Errorf("it was resubmitted as it is: %s", text)
	}
}

// Otherwise nobody would notice that the airports file is missing, without which messages are
// rejected that were accepted before.
func TestTheLogOfARebuildSaysHowManyMessagesAreRejected(t *testing.T) {
	s := serve(t, "BAGTRAIL_AIRPORTS_FILE="+write(t, t.TempDir(), "airports.yaml", "airports: [{code: XQZ, timezone: Europe/Zurich, latitude: 47, longitude: 8}]\n"))
	s.post(bsmOfToday(), http.StatusOK, "")
	s.post(strings.Replace(bsmOfToday(), ".V/1LZRH", ".V/1LXQZ", 1), http.StatusOK, "")
	s.down()
	s.up([]string{"serve", "--airports-file="})
	s.untilReady()
	if log := s.stderr.String(); !strings.Contains(log, `"message":"index rebuilt from the log","messages":2,"rejected":1,`) {
		t.Errorf("log:\n%s", log)
	}
}

func TestWhatWasDecidedIsNotFiledOnceMoreAfterALoss(t *testing.T) {
	redis := redistest.StartServer(t)
	s := mendedAirports(t, []string{"0724123456", "0724123457"}, "BAGTRAIL_REDIS_URL="+redis.URL(""))
	ids := s.rejectIDs("open")
	s.decide(ids[1], "resubmit", "{}", `"accepted"`)
	s.decide(ids[0], "dismiss", `{"reason":"it never existed"}`, `"dismissed"`)
	bag := func(plate string) string {
		_, text := s.ask("GET", "/v1/bags/"+plate, "")
		text, _, _ = strings.Cut(text, `,"changes_cursor"`) // there is none until changes can be followed
		return strings.TrimSuffix(text, "}")
	}
	resubmitted, dismissed := bag("0724123456"), bag("0724123457")
	if err := redis.Client(t).FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if got := run(t, "", s.env, "replay"); got.code != command.Rejected || !strings.Contains(got.stdout, "messages: 2, rejected: 1") {
		t.Fatalf("%+v", got)
	}
	if again := bag("0724123456"); again != resubmitted || !strings.Contains(again, "EXPECTED") {
		t.Errorf("resubmitted: %s, before the loss %s", again, resubmitted)
	}
	if again := bag("0724123457"); again != dismissed {
		t.Errorf("dismissed: %s, before the loss %s", again, dismissed)
	}
	if again := s.rejectIDs("resubmitted"); len(again) != 1 || again[0] != ids[1] {
		t.Errorf("resubmitted: %v, before the loss %s", again, ids[1])
	}
	if again := s.rejectIDs("open"); len(again) != 1 || again[0] != ids[0] {
		t.Errorf("open: %v, and %s was dismissed", again, ids[0])
	}
}

// Otherwise nobody would notice that Redis lacks what is older.
func TestAReplayFromATimeIntoAnEmptyRedisBringsBackNoEpochOfChanges(t *testing.T) {
	redis := redistest.StartServer(t)
	s := serve(t, "BAGTRAIL_REDIS_URL="+redis.URL(""))
	s.post(bsmOfToday(), http.StatusOK, "")
	ago := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	changes := func() (status int, text string) { return s.ask("GET", "/v1/changes?since="+ago, "") }
	s.until("the bag is told", func() bool { _, text := changes(); return strings.Contains(text, "0724123456") })
	if err := redis.Client(t).FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	got := run(t, "", s.env, "replay", "--from", ago)
	if got.code != command.Done || !strings.Contains(got.stderr, "--from earliest") {
		t.Errorf("%+v", got)
	}
	if status, text := changes(); status != 503 {
		t.Errorf("after a replay from a time: %d %s", status, text)
	}
	if got := run(t, "", s.env, "replay"); got.code != command.Done || strings.Contains(got.stderr, "--from earliest") {
		t.Errorf("%+v", got)
	}
	s.until("the bag is told again", func() bool { _, text := changes(); return strings.Contains(text, "0724123456") })
}

func TestReplayOfRejectsLeavesOutWhatIsDecided(t *testing.T) {
	plates := []string{"0724123456", "0724123457", "0724123458"}
	t.Run("beside a Redis", func(t *testing.T) {
		s := mendedAirports(t, plates, "BAGTRAIL_REDIS_URL="+redistest.StartServer(t).URL(""))
		ids := s.rejectIDs("open")
		s.decide(ids[2], "resubmit", "{}", `"accepted"`)
		s.decide(ids[1], "dismiss", `{"reason":"it never existed"}`, `"dismissed"`)
		if got := run(t, "", s.env, "replay", "--rejects"); !strings.HasPrefix(got.stdout, "messages: 1, accepted: 1,") {
			t.Errorf("one is open, two are decided: %+v", got)
		}
	})
	t.Run("in process", func(t *testing.T) { // only the topics say what was resubmitted
		s := mendedAirports(t, plates)
		s.decide(s.rejectIDs("open")[2], "resubmit", "{}", `"accepted"`)
		if got := run(t, "", s.env, "replay", "--rejects"); !strings.HasPrefix(got.stdout, "messages: 2, accepted: 2,") {
			t.Errorf("two are open, one is resubmitted: %+v", got)
		}
	})
}

// A file that is mended and still faulty is another reject.
func TestTwoRejectedMessagesOfOneFileNameAreTwoRejects(t *testing.T) {
	s := serve(t)
	for i := range 2 {
		text := fmt.Sprintf("BSM\r\n.V/1LZRH\r\n.F/LX14/14MAR/JFQ\r\n.N/072412345%d001\r\nENDBSM\r\n", i)
		if got := run(t, text, s.env, "replay", "--received", time.Now().UTC().Format("2006-01-02T00:00:00Z"), "-"); got.code != command.Rejected {
			t.Fatalf("%+v", got)
		}
	}
	s.down()
	s.up([]string{"serve"})
	s.untilReady()
	if open := s.rejectIDs("open"); len(open) != 2 {
		t.Errorf("open: %v", open)
	}
}
