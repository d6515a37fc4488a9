package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bagtrail/internal/command"
)

// result is what a run of the command leaves behind.
type result struct {
	code           int
	stdout, stderr string
}

// run runs bagtrail with an input and variables.
func run(t *testing.T, stdin string, env []string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := command.Run(t.Context(), args, env, strings.NewReader(stdin), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWrongUsageEndsWith2AndSaysSoOnStderr(t *testing.T) {
	for _, tc := range []struct {
		args   []string
		env    []string
		stderr string
	}{
		{nil, nil, "bagtrail: no command is given\nSee bagtrail --help.\n"},
		{[]string{"vers"}, nil, "bagtrail: unknown command \"vers\" for \"bagtrail\"; did you mean version?\nSee bagtrail --help.\n"},
		{[]string{"version", "x"}, nil, "bagtrail: unknown command \"x\" for \"bagtrail version\"\nSee bagtrail version --help.\n"},
		{[]string{"validate", "--nope"}, nil, "bagtrail: unknown flag: --nope\nSee bagtrail validate --help.\n"},
		{[]string{"validate", "--received", "yesterday"}, nil, "bagtrail: --received: \"yesterday\" is not a time such as 2026-11-21T13:10:00Z\n"},
		{[]string{"keys"}, nil, "bagtrail: no subcommand is given: create, list or revoke\nSee bagtrail keys --help.\n"},
		{[]string{"help", "nope"}, nil, "bagtrail: unknown command \"nope\" for \"bagtrail\"\nSee bagtrail help --help.\n"},
		{[]string{"help", "keys", "lst"}, nil, "bagtrail: unknown command \"lst\" for \"bagtrail keys\"; did you mean list?\n"},
		{[]string{"completion"}, nil, "bagtrail: no subcommand is given: bash, fish, powershell or zsh\nSee bagtrail completion --help.\n"},
		{[]string{"completion", "tcsh"}, nil, "bagtrail: unknown command \"tcsh\" for \"bagtrail completion\""},
		{[]string{"rejects", "list", "--most=0"}, nil, "bagtrail: --most is less than 1\n"},
		{[]string{"rejects", "list", "--most=-1"}, nil, "bagtrail: --most is less than 1\n"},
		{[]string{"keys", "list"}, nil, "bagtrail: BAGTRAIL_KEYS_FILE is missing: it names the file to read or edit\n"},
		{[]string{"config", "--ops-addr=x", "--http-addr=y"}, []string{"BAGTRAIL_OPS_ADR=y"}, "bagtrail: BAGTRAIL_OPS_ADR is not a variable of bagtrail; did you mean BAGTRAIL_OPS_ADDR?\n" +
			"bagtrail: BAGTRAIL_HTTP_ADDR \"y\" is not host:port (flag --http-addr)\n" +
			"bagtrail: BAGTRAIL_OPS_ADDR \"x\" is not host:port (flag --ops-addr)\n"},
	} {
		got := run(t, "", tc.env, tc.args...)
		if got.code != command.Usage || got.stdout != "" || !strings.HasPrefix(got.stderr, tc.stderr) {
			t.Errorf("%q: %+v, want 2 and %q", tc.args, got, tc.stderr)
		}
	}
}

func TestWhatIsMistypedGetsASuggestion(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--redis-ulr", "x"}, "unknown flag: --redis-ulr; did you mean --redis-url?"},
		{[]string{"serve", "--http_addr=x"}, "unknown flag: --http_addr; did you mean --http-addr?"},
		{[]string{"serve", "-redis-url", "x"}, "unknown shorthand flag: 'r' in -redis-url; did you mean --redis-url?"},
		{[]string{"simulate", "--bag", "3"}, "unknown flag: --bag; did you mean --bags?"},
		{[]string{"keys", "create", "--airline=LX", "x"}, "unknown flag: --airline; did you mean --airlines?"},
		{[]string{"--vresion"}, "unknown flag: --vresion; did you mean --version?"},
		{[]string{"serv"}, `unknown command "serv" for "bagtrail"; did you mean serve?`},
		{[]string{"vlaidate", "x.txt"}, `unknown command "vlaidate" for "bagtrail"; did you mean validate?`},
		{[]string{"keys", "lst"}, `unknown command "lst" for "bagtrail keys"; did you mean list?`},
		{[]string{"fly"}, `unknown command "fly" for "bagtrail"`},
		{[]string{"serve", "--wings"}, "unknown flag: --wings"},
	} {
		got := run(t, "", nil, tc.args...)
		if first, _, _ := strings.Cut(got.stderr, "\n"); got.code != command.Usage || first != "bagtrail: "+tc.want {
			t.Errorf("%q: %+v, want %q", tc.args, got, tc.want)
		}
	}
}

func TestHelpIsAResult(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"validate", "-h"}, {"help", "keys", "list"}, {"help", "help"}, {"completion", "--help"}} {
		got := run(t, "", nil, args...)
		if got.code != command.Done || !strings.Contains(got.stdout, "Usage:") || got.stderr != "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if script := run(t, "", nil, "completion", "bash").stdout; !strings.Contains(script, "bash completion") {
		t.Errorf("a script for bash:\n%s", script)
	}
	if all := run(t, "", nil, "help").stdout; !strings.Contains(all, "BAGTRAIL_KAFKA_BROKERS") || !strings.Contains(all, "--redis-url-file") {
		t.Errorf("the help of bagtrail names every setting; got\n%s", all)
	}
}

func TestVersionShowsVersionCommitAndGoAlsoAsAFlag(t *testing.T) {
	got := run(t, "", nil, "version")
	if flag := run(t, "", nil, "--version"); flag != got {
		t.Errorf("--version: %+v, version: %+v", flag, got)
	}
	if want := regexp.MustCompile(`^bagtrail \S+\ncommit .+\ngo1\.\S+ \w+/\w+\n$`); got.code != command.Done || !want.MatchString(got.stdout) {
		t.Errorf("%+v", got)
	}
}

func TestAResultThatCannotBeWrittenEndsWith3(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}, {"help"}, {"keys", "--help"}, {"completion", "bash"}, {"config"}, {"validate"}, {"replay", "--kafka-brokers=off", "-"}} {
		for _, text := range []string{bsm, bad} {
			var stderr bytes.Buffer
			code := command.Run(t.Context(), args, tools(t), strings.NewReader(text), full{}, &stderr)
			if code != command.Failed || !strings.Contains(stderr.String(), "invalid argument") {
				t.Errorf("%q: %d %s", args, code, stderr.String())
			}
		}
	}
}
