package blackbox_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bagtrail/test/service"
)

func run(t testing.TB, stdin string, args []string, env ...string) (stdout, stderr string, code int) {
	t.Helper()
	return service.Run(t.Context(), t, stdin, args, env...)
}

// All faults of a configuration are reported together, before anything starts; the exit code is 2
// (service §1, §2).
func TestWrongConfigurationIsReportedWhole(t *testing.T) {
	ownServers(t)
	t.Parallel()
	config := service.WriteFile(t, "bagtrail.yaml", "kafka_group: ' '\nno_such_setting: 1\n")
	for _, command := range []string{"serve", "api", "ingest", "config"} {
		_, stderr, code := run(t, "", []string{command, "--log-level", "loud", "--config", config},
			"BAGTRAIL_HTTP_ADDR=nonsense", "BAGTRAIL_REDIS_URL=ftp://user:secret@x", "BAGTRAIL_RETENTION=soon", "BAGTRAIL_KAFKA_BROKERS=a:1,b",
			"BAGTRAIL_WTR_URL=::", "BAGTRAIL_KAFKA_SASL_MECHANISM=ROT13", "BAGTRAIL_HTTP_TLS_CERT=x", "BAGTRAIL_NO_SUCH_VARIABLE=1")
		if code != 2 {
			t.Errorf("%s: exit code %d: %s", command, code, stderr)
		}
		for _, name := range []string{
			"BAGTRAIL_HTTP_ADDR", "BAGTRAIL_REDIS_URL", "BAGTRAIL_RETENTION", "BAGTRAIL_KAFKA_BROKERS", "BAGTRAIL_WTR_URL",
			"BAGTRAIL_KAFKA_SASL_MECHANISM", "BAGTRAIL_HTTP_TLS_KEY", "BAGTRAIL_LOG_LEVEL", "BAGTRAIL_KAFKA_GROUP", "no_such_setting", "BAGTRAIL_NO_SUCH_VARIABLE",
		} {
			if !strings.Contains(stderr, name) {
				t.Errorf("%s does not name %s:\n%s", command, name, stderr)
			}
		}
		if strings.Contains(stderr, "secret") {
			t.Errorf("%s shows a password:\n%s", command, stderr)
		}
	}
}

// Wrong usage and invalid files are 2; files and addresses that cannot be used are 3 (service §1).
func TestEachFailureHasItsExitCode(t *testing.T) {
	ownServers(t)
	t.Parallel()
	taken := common(t)
	missing := filepath.Join(t.TempDir(), "missing")
	broken := service.WriteFile(t, "broken.yaml", "keys: [{name: a}]")
	for _, tc := range []struct {
		name string
		args []string
		env  []string
		code int
	}{
		{"no command", nil, nil, 2},
		{"unknown command", []string{"fly"}, nil, 2},
		{"unknown flag", []string{"serve", "--fly"}, nil, 2},
		{"argument too many", []string{"serve", "fly"}, nil, 2},
		{"api without Redis", []string{"api", "--kafka-brokers", "127.0.0.1:1"}, nil, 2},
		{"ingest without Kafka", []string{"ingest", "--redis-url", "redis://127.0.0.1:1"}, nil, 2},
		{"ingest with Kafka off", []string{"ingest", "--redis-url", "redis://127.0.0.1:1", "--kafka-brokers", "off"}, nil, 2},
		{"not on loopback without keys", []string{"api", "--redis-url", "redis://127.0.0.1:1", "--kafka-brokers", "127.0.0.1:1"}, []string{"BAGTRAIL_HTTP_ADDR=0.0.0.0:0"}, 2},
		{"configuration that is missing", []string{"serve", "--config", missing}, nil, 2},
		{"keys file that is missing", []string{"serve", "--keys-file", missing}, nil, 3},
		{"keys file that is wrong", []string{"serve", "--keys-file", broken}, nil, 2},
		{"airports file that is wrong", []string{"serve", "--airports-file", broken}, nil, 2},
		{"airlines file that is missing", []string{"serve", "--airlines-file", missing}, nil, 3},
		{"flights file that is wrong", []string{"serve", "--flights-file", broken}, nil, 2},
		{"address that is taken", []string{"serve"}, []string{"BAGTRAIL_HTTP_ADDR=" + strings.TrimPrefix(taken.URL, "http://")}, 3},
		{"broker's address that is taken", []string{"serve"}, []string{"BAGTRAIL_EMBEDDED_KAFKA_ADDR=" + taken.Kafka}, 3},
		{"data directory that another process uses", []string{"serve"}, []string{"BAGTRAIL_DATA_DIR=" + taken.Dir}, 3},
		{"data directory that is a file", []string{"serve"}, []string{"BAGTRAIL_DATA_DIR=" + broken}, 3},
		{"version", []string{"version"}, nil, 0},
		{"help", []string{"--help"}, nil, 0},
		{"config", []string{"config"}, nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := append([]string{"BAGTRAIL_HTTP_ADDR=127.0.0.1:0", "BAGTRAIL_OPS_ADDR=127.0.0.1:0", "BAGTRAIL_EMBEDDED_KAFKA_ADDR=127.0.0.1:0", "BAGTRAIL_DATA_DIR=" + t.TempDir()}, tc.env...)
			stdout, stderr, code := run(t, "", tc.args, env...)
			if code != tc.code {
				t.Errorf("exit code %d, want %d\n%s", code, tc.code, stderr)
			}
			if code != 0 && (stdout != "" || stderr == "") {
				t.Errorf("stdout %q, stderr %q", stdout, stderr)
			}
			if file, _, found := strings.Cut(tc.name, " file that is "); found && !strings.Contains(stderr, "--"+file+"-file: ") {
				t.Errorf("its setting is not named: %s", stderr)
			}
		})
	}
}

// The log of a command may lead to another program. If that ends, the command goes on.
func TestACommandOutlivesTheReaderOfItsLog(t *testing.T) {
	ownServers(t)
	t.Parallel()
	for _, tc := range []struct {
		args  []string
		until string // in the log
		code  int
		end   func(cmd *exec.Cmd, stdin io.WriteCloser) error // after which more is logged
	}{
		{[]string{"serve"}, `"message":"ready"`, 0, func(cmd *exec.Cmd, _ io.WriteCloser) error { return cmd.Process.Signal(syscall.SIGTERM) }},
		{[]string{"replay", "-"}, "BAGTRAIL_REDIS_URL", 1, func(_ *exec.Cmd, stdin io.WriteCloser) error {
			_, err := io.WriteString(stdin, "no message")
			return errors.Join(err, stdin.Close())
		}},
	} {
		cmd := exec.CommandContext(t.Context(), service.Binary(t), tc.args...)
		cmd.Env = append(service.WithoutSettings(os.Environ()), "BAGTRAIL_DATA_DIR="+t.TempDir(),
			"BAGTRAIL_HTTP_ADDR=127.0.0.1:0", "BAGTRAIL_OPS_ADDR=127.0.0.1:0", "BAGTRAIL_EMBEDDED_KAFKA_ADDR=127.0.0.1:0")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		log, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(log)
		for lines.Scan() && !strings.Contains(lines.Text(), tc.until) {
			continue
		}
		log.Close()
		if err := tc.end(cmd, stdin); err != nil {
			t.Errorf("%v: %v", tc.args, err)
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != tc.code {
			t.Errorf("%v: %v", tc.args, err)
		}
	}
}

// The real messages get the codes that are known for them.
func TestValidateGivesTheExpectedCodesOfTheSamples(t *testing.T) {
	ownServers(t)
	t.Parallel()
	samples := "../../../shared/samples"
	expected, err := os.ReadFile(filepath.Join(samples, "expected.tsv"))
	if err != nil {
		t.Skip("the samples are not here")
	}
	stdout, stderr, code := run(t, "", []string{"validate", "--json", samples})
	if code != 1 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	type diagnostic struct{ Code string }
	var got strings.Builder
	for line := range strings.Lines(stdout) {
		var m struct {
			File, Kind       string
			Accepted         bool
			Errors, Warnings []diagnostic
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list := func(found []diagnostic) string {
			var numbers []string
			for _, d := range found {
				numbers = append(numbers, strings.TrimPrefix(d.Code, "SVCPRB"))
			}
			if len(numbers) == 0 {
				return "-"
			}
			return strings.Join(numbers, ",")
		}
		got.WriteString(strings.TrimSuffix(filepath.Base(m.File), ".txt") + "\t" + m.Kind + "\t" + list(m.Errors) + "\t" + list(m.Warnings) + "\n")
		if m.Accepted != (len(m.Errors) == 0) {
			t.Errorf("%s", line)
		}
	}
	if _, want, _ := strings.Cut(string(expected), "\n"); got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// A key that the command creates works once the file is read again. A key that it revokes no longer
// works (service §4).
func TestKeysAreMadeAndRevokedWhileTheServiceRuns(t *testing.T) {
	ownServers(t)
	t.Parallel()
	path := keyFile(t)
	s := service.Start(t, "BAGTRAIL_KEYS_FILE="+path)
	target := service.HistoryPath("0724999991", "2026-03-14")
	stdout, stderr, code := run(t, "", []string{"keys", "create", "app", "--customer", "APP", "--keys-file", path})
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	key := strings.TrimSpace(stdout)
	text, err := os.ReadFile(path)
	if err != nil || key == "" || strings.Contains(string(text), key) {
		t.Fatalf("key %q, file %s", key, text)
	}
	answers := func(body string) bool {
		return s.Until(patience, func() bool { return s.Get(target, "api_key", key).Body == body })
	}
	if !answers(failure("SVCGBH002", "No matching bag found")) {
		t.Error("the new key does not open the service")
	}
	if err := os.WriteFile(path, append(text, "  - nonsense"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if !s.Until(patience, func() bool { return strings.Contains(s.Log(), "cannot be loaded") }) || s.Get(target, "api_key", key).Status != 200 {
		t.Error("a broken file does not keep the old keys, or nothing is said about it")
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := run(t, "", []string{"keys", "revoke", "app", "--keys-file", path}); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if !answers(failure("SVCGBH004", keyUnknown)) {
		t.Error("the revoked key opens the service")
	}
	if strings.Contains(s.Log(), key) {
		t.Error("the key is in the log")
	}
}

// validate prints one object for each message, with every member (service §1). Its exit code is 1
// if a message is rejected.
func TestValidatePrintsOneObjectAMessage(t *testing.T) {
	ownServers(t)
	t.Parallel()
	const faulty = "BSM\n.V/1LZRH\n.F/LX14/31FEB/JFK\n.N/0724123456001\n.W/K/A/20\nENDBSM\n"
	const want = `{"file":"-","message":1,"kind":"BSM","accepted":false,"errors":[{"code":"SVCPRB022","description":"Invalid date in the flight element (line 3, element .F): found \"31FEB\", expected a calendar date DDMMM.",` +
		`"severity":"error","line":3,"column":9,"end_column":14,"element":".F","value":"31FEB","expected":"a calendar date DDMMM"}],` +
		`"warnings":[{"code":"SVCPRB025","description":".W not IATA compliant for Weight Indicator and/or Number of Checked Bags and/or Checked Weight (line 5, element .W): found \"A\", expected a number of checked bags, 1-3 digits.",` +
		`"severity":"warning","line":5,"column":6,"end_column":7,"element":".W","value":"A","expected":"a number of checked bags, 1-3 digits"}]}` + "\n"
	for _, tc := range []struct {
		args   []string
		stdin  string
		stdout string
		code   int
	}{
		{[]string{"validate", "--json", "-"}, faulty, want, 1},
		{[]string{"validate", "--json", "-"}, bsm("0724123456"), `{"file":"-","message":1,"kind":"BSM","accepted":true,"errors":[],"warnings":[]}` + "\n", 0},
		{[]string{"validate", "--json", "--split", "-"}, bsm("0724123456") + faulty, `{"file":"-","message":1,"kind":"BSM","accepted":true,"errors":[],"warnings":[]}` + "\n" + strings.Replace(want, `"message":1`, `"message":2`, 1), 1},
	} {
		stdout, stderr, code := run(t, tc.stdin, tc.args)
		if code != tc.code || stdout != tc.stdout || stderr != "" {
			t.Errorf("%v: exit code %d\n got %s\nwant %s\n%s", tc.args, code, stdout, tc.stdout, stderr)
		}
	}
	stdout, _, code := run(t, faulty, []string{"validate", "-"})
	if code != 1 || !strings.Contains(stdout, ".F/LX14/31FEB/JFK") || !strings.Contains(stdout, "^") || !strings.Contains(stdout, "SVCPRB022") {
		t.Errorf("text: exit code %d\n%s", code, stdout)
	}
	stdout, _, _ = run(t, bsm("0724123456"), []string{"validate", "--json", "--events", "--received", "2026-12-31T23:00:00Z", "-"})
	if !strings.Contains(stdout, "EXPECTED") || !strings.Contains(stdout, "2027-03-14") {
		t.Errorf("events: %s", stdout)
	}
}
