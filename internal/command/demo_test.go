package command_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bagtrail/internal/command"
)

func TestADemoPlaysTrafficAndKeepsNothing(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	s := start(t, []string{"serve", "--demo"})
	s.untilReady()
	if line := `"message":"ready","page":"http://` + s.http + `/"`; !strings.Contains(s.stderr.String(), line) {
		t.Errorf("the log does not have %s", line)
	}
	var page string
	s.until("the page at the root asks about a simulated bag", func() bool {
		_, page = s.ask("GET", "/", "")
		return !strings.Contains(page, "ABC123")
	})
	if !strings.Contains(page, "This is a demo") || !strings.Contains(page, "The service is ready") || !strings.Contains(page, `href="/console/"`) {
		t.Error(page)
	}
	questions := regexp.MustCompile(`http://[^/]+(/baggage/[^<\s]+)</pre>`).FindAllStringSubmatch(page, -1)
	for _, question := range questions {
		if status, answer := s.ask("GET", question[1], ""); status != http.StatusOK {
			t.Errorf("%s: %d %s", question[1], status, answer)
		}
	}
	if len(questions) != 3 || !strings.Contains(s.metrics(), `bagtrail_messages_total{door="demo",verdict="accepted"}`) {
		t.Fatalf("%d questions", len(questions))
	}
	s.until("the feeds are those of the demo", func() bool {
		_, feeds := s.ask("GET", "/v1/feeds?door=demo", "")
		return strings.Contains(feeds, `"door":"demo"`)
	})
	departure := regexp.MustCompile(`/airport_code/(\w+)/arr_dep_indicator/D/.*/dep_flight_date/([\d-]+)`).FindStringSubmatch(questions[0][1])
	s.until("the flight of the bag has its time of departure", func() bool {
		_, flights := s.ask("GET", "/v1/flights?airport="+departure[1]+"&direction=D&date="+departure[2], "")
		return strings.Contains(flights, `"departure":{"scheduled"`)
	})
	if code := s.down(); code != command.Done {
		t.Errorf("exit code %d", code)
	}
	left, err := filepath.Glob(filepath.Join(temporary, "bagtrail-demo-*"))
	own, missing := os.ReadDir(s.variable("BAGTRAIL_DATA_DIR"))
	if err != nil || missing != nil || len(left)+len(own) > 0 {
		t.Errorf("it leaves %q and %v, %v, %v", left, own, err, missing)
	}
}

func TestADemoReachesNoOtherServer(t *testing.T) {
	for _, variable := range []string{"BAGTRAIL_REDIS_URL=redis://127.0.0.1:1", "BAGTRAIL_KAFKA_BROKERS=127.0.0.1:1", "BAGTRAIL_KAFKA_BROKERS=off", "BAGTRAIL_WTR_URL=http://127.0.0.1:1"} {
		name, _, _ := strings.Cut(variable, "=")
		if got := run(t, "", append(tools(t), variable), "serve", "--demo"); got.code != command.Usage || !strings.Contains(got.stderr, name+" must not be set for a demo") {
			t.Errorf("%s: %+v", variable, got)
		}
	}
	if got := run(t, "", tools(t), "api", "--demo"); got.code != command.Usage {
		t.Errorf("api: %+v", got)
	}
}
