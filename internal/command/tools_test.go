package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/command"
	"bagtrail/test/loopback"
)

// tools returns the variables with which a tool works on the data of its own in-process servers.
func tools(t *testing.T) []string {
	t.Helper()
	return []string{"BAGTRAIL_EMBEDDED_KAFKA_ADDR=" + loopback.Address(t), "BAGTRAIL_DATA_DIR=" + t.TempDir()}
}

func TestReplayTakesFilesInAndIsSafeToRepeat(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	write(t, dir, "a.txt", bsmOfToday())
	write(t, dir, "b.txt", bad)
	now := time.Now().UTC().Format(time.RFC3339)

	// While serve runs, the tool goes to its broker, also if its own settings have another address, and
	// serve takes over from there.
	for _, address := range []string{s.variable("BAGTRAIL_EMBEDDED_KAFKA_ADDR"), loopback.Address(t)} {
		got := run(t, "", append(s.env, "BAGTRAIL_EMBEDDED_KAFKA_ADDR="+address), "replay", "--received", now, dir)
		if got.code != command.Rejected || !strings.Contains(got.stdout, "b.txt:1: BSM rejected") || !strings.HasSuffix(got.stdout, "messages: 2, accepted: 1, known before: 0, rejected: 1\n") {
			t.Fatalf("%+v", got)
		}
	}
	var answer string
	s.until("the message is in the index", func() bool {
		_, answer = s.ask("GET", historyOfToday(), "")
		return strings.Contains(answer, "EXPECTED")
	})
	if strings.Count(answer, "EXPECTED") != 1 {
		t.Errorf("a repetition made a second event: %s", answer)
	}
}

func TestReplayWithoutAServiceLeavesItsMessagesInTheLog(t *testing.T) {
	env := tools(t)
	got := run(t, bsmOfToday(), env, "replay", "--split", "-")
	if got.code != command.Done || got.stdout != "messages: 1, accepted: 1, known before: 0, rejected: 0\n" {
		t.Fatalf("%+v", got)
	}
	s := serve(t, env...)
	if _, answer := s.ask("GET", historyOfToday(), ""); !strings.Contains(answer, "EXPECTED") {
		t.Error(answer)
	}
}

func TestReplaySaysWhatIsWrong(t *testing.T) {
	for _, tc := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"replay"}, command.Usage, "BAGTRAIL_REDIS_URL is missing"},
		{[]string{"replay", "--redis-url=redis://a", "--kafka-brokers=off"}, command.Usage, "BAGTRAIL_KAFKA_BROKERS is off"},
		{[]string{"replay", "--from=yesterday", "--redis-url=redis://a"}, command.Usage, "--from: "},
		{[]string{"replay", "--from=earliest", "x.txt"}, command.Usage, "not for files"},
		{[]string{"replay", "--rejects", "-"}, command.Usage, "not for files"},
		{[]string{"replay", "--rejects", "--from=2199-01-01"}, command.Usage, "not for the rejects"},
		{[]string{"replay", "--rejects", "--received=2026-03-14"}, command.Usage, "are for files"},
		{[]string{"replay", "--rejects", "--split"}, command.Usage, "are for files"},
		{[]string{"replay", "--received=2026-03-14", "--redis-url=redis://a", "--kafka-brokers=a:1"}, command.Usage, "are for files"},
		{[]string{"replay", "--split", "--redis-url=redis://a", "--kafka-brokers=a:1"}, command.Usage, "are for files"},
		{[]string{"replay", "--received=yesterday", "x.txt"}, command.Usage, "--received: "},
		{[]string{"replay", "--received=2999-01-01", "x.txt"}, command.Usage, "--received is in the future"},
		{[]string{"replay", "/no/such/file"}, command.Failed, "/no/such/file"},
	} {
		if got := run(t, "", tools(t), tc.args...); got.code != tc.code || !strings.Contains(got.stderr, tc.stderr) {
			t.Errorf("%q: %+v, want %d and %q", tc.args, got, tc.code, tc.stderr)
		}
	}
}

func TestSimulateIsAFunctionOfItsOptions(t *testing.T) {
	dir := t.TempDir()
	simulate := func(name, seed string) (feed, truth, summary string) {
		t.Helper()
		got := run(t, "", nil, "simulate", "--to", filepath.Join(dir, name), "--truth", filepath.Join(dir, name+".truth"),
			"--bags", "20", "--seed", seed, "--start", "2026-11-21T06:00:00Z")
		if got.code != command.Done {
			t.Fatalf("%+v", got)
		}
		return read(t, filepath.Join(dir, name)), read(t, filepath.Join(dir, name+".truth")), got.stdout
	}
	feed, truth, summary := simulate("a", "7")
	again, _, _ := simulate("b", "7")
	other, _, _ := simulate("c", "8")
	if feed != again || feed == other || feed == "" {
		t.Errorf("feeds of %d, %d, %d bytes", len(feed), len(again), len(other))
	}
	if strings.Count(truth, "\n") < 20 {
		t.Errorf("the truth about %d bags", strings.Count(truth, "\n"))
	}
	var said struct{ Messages int }
	if err := json.Unmarshal([]byte(summary), &said); err != nil || said.Messages < 100 {
		t.Errorf("%v %s", err, summary)
	}
	// What it writes is a capture.
	if got := run(t, feed, nil, "validate", "--split", "--json"); strings.Count(got.stdout, "\n") != said.Messages {
		t.Errorf("%d messages of %d", strings.Count(got.stdout, "\n"), said.Messages)
	}
	day := run(t, "", nil, "simulate", "--to=-", "--bags=20", "--seed=7", "--start=2026-11-21")
	if midnight := run(t, "", nil, "simulate", "--to=-", "--bags=20", "--seed=7", "--start=2026-11-21T00:00:00Z"); day.stdout != midnight.stdout || day.code != 0 || day.stdout == feed {
		t.Errorf("a day does not begin at midnight: %.200s", day.stderr)
	}
	if got := run(t, "", nil, "simulate", "--to=-", "--bags=20", "--seed=7", "--start=2026-11-21T06:00:00Z"); got.stdout != feed || got.stderr != summary {
		t.Errorf("to the standard output: %d bytes, %s", len(got.stdout), got.stderr)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSimulateSendsToARunningService(t *testing.T) {
	s := serve(t)
	for _, to := range []string{"kafka", "http"} {
		got := run(t, "", s.env, "simulate", "--to", to, "--bags=5", "--faults=none")
		if got.code != command.Done || !strings.Contains(got.stdout, `"bags":5`) {
			t.Errorf("to %s: %+v", to, got)
		}
	}
}

func TestSimulateSendsNothingFromTheFutureByDefault(t *testing.T) {
	for _, args := range [][]string{{"--bags=1"}, {"--bags=300"}, {"--bags=200", "--interval=10m", "--faults=none,late=30,rerouted=40,rush=40"}} {
		args = append([]string{"simulate", "--to=-"}, args...)
		got := run(t, "", nil, args...)
		var said struct{ Start, First, Last time.Time }
		if err := json.Unmarshal([]byte(got.stderr), &said); err != nil || got.code != command.Done {
			t.Fatalf("%v %+v", err, got)
		}
		if said.Last.IsZero() || said.Last.After(time.Now()) || said.First.Before(said.Start) {
			t.Errorf("%q: %+v", args, said)
		}
		// What it says is enough to make the same again.
		if again := run(t, "", nil, append(args, "--start", said.Start.Format(time.RFC3339))...); again.stdout != got.stdout || again.stderr != got.stderr {
			t.Errorf("%q: with --start %v another feed, %s", args, said.Start, again.stderr)
		}
	}
}

func TestAWrongFlagOfAToolIsWrongUsage(t *testing.T) {
	for _, tc := range []struct{ command, says string }{
		{"simulate --faults=some", "--faults"},
		{"simulate --start=now", "--start"},
		{"simulate --kafka-brokers=off", "BAGTRAIL_KAFKA_BROKERS is off"},
		{"simulate x", "unknown command"},
		{"simulate --to=- --bags=-1", "-1 bags"},
		{"simulate --to=- --interval=-1s", "interval -1s"},
		{"simulate --to=- --rate=-1", "--rate"},
		{"simulate --to=- --rate=NaN", "--rate"},
		{"simulate --to=- --rate=Inf", "--rate"},
		{"simulate --to=- --connections=0", "--connections"},
		{"simulate --to=http --url=localhost:8080", "--url"},
		{"simulate --to=http --url=ftp://a", "--url"},
		{"rejects list --url=localhost:8080", "--url"},
		{"rejects list --url=http://", "--url"},
		{"wtr-simulator --addr=x", "--addr"},
		{"wtr-simulator --addr=127.0.0.1:99999", "--addr"},
		{"webhook-receiver --addr=x --signing-secret=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "--addr"},
	} {
		if got := run(t, "", tools(t), strings.Fields(tc.command)...); got.code != command.Usage || got.stdout != "" || !strings.Contains(got.stderr, tc.says) {
			t.Errorf("%q: %+v", tc.command, got)
		}
	}
}

func TestSimulateNeedsFilesThatItCanWrite(t *testing.T) {
	for _, args := range [][]string{
		{"simulate", "--to=/no/such/directory/file"},
		{"simulate", "--to=-", "--truth=/no/such/directory/file"},
	} {
		if got := run(t, "", nil, args...); got.code != command.Failed || got.stderr == "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
}
