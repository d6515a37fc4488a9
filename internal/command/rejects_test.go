package command_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"bagtrail/internal/apikey"
	"bagtrail/internal/command"
	"bagtrail/test/loopback"
)

func TestRejectsAreListedShownMendedAndDismissedOverHTTP(t *testing.T) {
	s := serve(t, "BAGTRAIL_KAFKA_BROKERS=off")
	bad := strings.Replace(bsmOfToday(), "/JFK/", "/JFQ/", 1)
	for _, text := range []string{bad, strings.Replace(bad, "0724123456", "0724123457", 1)} {
		s.post(text, http.StatusBadRequest, "SVCPRB023")
	}
	rejects := func(args ...string) result {
		return run(t, "", nil, append([]string{"rejects", "--url", "http://" + s.http}, args...)...)
	}
	listed := rejects("list", "--airport", "ZRH", "--code", "SVCPRB023")
	lines := strings.Split(strings.TrimSpace(listed.stdout), "\n")
	if listed.code != command.Done || len(lines) != 3 || !regexp.MustCompile(`^[0-9a-f]{20}  open +\S+Z  http +ZRH +SVCPRB023$`).MatchString(lines[1]) {
		t.Fatalf("%+v", listed)
	}
	newest, oldest := lines[1][:20], lines[2][:20]
	shown := rejects("show", oldest)
	if !strings.Contains(shown.stdout, ".N/0724123456001") { // both were received in one millisecond
		newest, oldest = oldest, newest
		shown = rejects("show", oldest)
	}
	if shown.code != command.Done || !strings.Contains(shown.stdout, "^^^") || !strings.Contains(shown.stdout, ".N/0724123456001") || !strings.Contains(shown.stdout, "key development") {
		t.Errorf("%+v", shown)
	}
	if again := rejects("resubmit", oldest); again.code != command.Rejected || !strings.Contains(again.stdout, "SVCPRB023") {
		t.Errorf("%+v", again)
	}
	mended := rejects("resubmit", oldest, "--text", write(t, t.TempDir(), "mended.txt", bsmOfToday()))
	if mended.code != command.Done || mended.stdout != oldest+": accepted\n" {
		t.Errorf("%+v", mended)
	}
	if missing := rejects("dismiss", newest); missing.code != command.Usage || !strings.Contains(missing.stderr, "/reason") {
		t.Errorf("%+v", missing)
	}
	if dismissed := rejects("dismiss", newest, "--reason", "a test"); dismissed.code != command.Done || dismissed.stdout != newest+": dismissed\n" {
		t.Errorf("%+v", dismissed)
	}
	if twice := rejects("dismiss", newest, "--reason", "a test"); twice.code != command.Failed || !strings.Contains(twice.stderr, "The reject is dismissed") {
		t.Errorf("%+v", twice)
	}
	if done := rejects("list", "--state", "resubmitted", "--json"); done.code != command.Done || !strings.Contains(done.stdout, `"verdict":"accepted"`) {
		t.Errorf("%+v", done)
	}
	if left := rejects("list"); left.stdout != lines[0]+"\n" && strings.Count(left.stdout, "\n") != 1 {
		t.Errorf("%+v", left)
	}
	if wrong := rejects("--key", "nobody", "list"); wrong.code != command.Failed || wrong.stderr == "" {
		t.Errorf("%+v", wrong)
	}
	key := write(t, t.TempDir(), "key", apikey.DevelopmentKey+"\r\n")
	if left := rejects("--key", "@"+key, "list"); left.code != command.Done || strings.Count(left.stdout, "\n") != 1 {
		t.Errorf("%+v", left)
	}
	if wrong := rejects("--key", "@"+key+".gone", "list"); wrong.code != command.Usage || !strings.Contains(wrong.stderr, "no such file") {
		t.Errorf("%+v", wrong)
	}
	if nowhere := run(t, "", nil, "rejects", "--url", "http://127.0.0.1:1", "list"); nowhere.code != command.Failed {
		t.Errorf("%+v", nowhere)
	}
}

func TestMarksOfAMessageThatCameInADocumentStandUnderItsLines(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reject := `{"id": "0123456789abcdef0123", "state": "open", "form": "json", "text": "{\"bim_message\": \"BSM\\r\\n.V/1Lzrh\\r\\n\"}", "diagnostics": [` +
			`{"code": "SVCPRB015", "severity": "error", "line": 2, "column": 6, "end_column": 9, "description": "x"}]}`
		if r.Method == http.MethodPost {
			reject = `{"verdict": "rejected", "diagnostics": [{"code": "SVCPRB015", "severity": "error", "line": 2, "column": 6, "end_column": 9, "description": "x"}], "reject": ` + reject + `}`
		}
		_, _ = w.Write([]byte(reject))
	}))
	defer service.Close()
	for _, command := range []string{"show", "resubmit"} {
		got := run(t, "", nil, "rejects", "--url", service.URL, command, "0123456789abcdef0123")
		if !strings.Contains(got.stdout, "     2 | .V/1Lzrh\n       |      ^^^\n") {
			t.Errorf("%s: %+v", command, got)
		}
	}
}

// JSON cannot carry the bytes of another encoding, and a message must not be filed with other bytes.
func TestAMendedMessageThatIsNotUTF8IsNotSent(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s", r.Method, r.URL) }))
	defer service.Close()
	mended := write(t, t.TempDir(), "mended.txt", strings.Replace(bsmOfToday(), "ENDBSM", ".P/1M\xdcLLER\nENDBSM", 1))
	got := run(t, "", nil, "rejects", "--url", service.URL, "resubmit", "0123456789abcdef0123", "--text", mended)
	if got.code != command.Failed || !strings.Contains(got.stderr, "mended.txt is not UTF-8") {
		t.Errorf("%+v", got)
	}
}

func TestADecisionThatCannotBeShownEndsWith3(t *testing.T) {
	for _, verdict := range []string{"accepted", "rejected"} {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"verdict": "`+verdict+`"}`)
		}))
		defer service.Close()
		for _, args := range []string{"show x", "resubmit x", "dismiss x --reason y"} {
			var stderr bytes.Buffer
			code := command.Run(t.Context(), append([]string{"rejects", "--url", service.URL}, strings.Fields(args)...), nil, strings.NewReader(""), full{}, &stderr)
			if code != command.Failed || !strings.Contains(stderr.String(), "invalid argument") {
				t.Errorf("%s, %s: %d %s", args, verdict, code, stderr.String())
			}
		}
	}
}

// The file of settings may change meanwhile, or be a named pipe, which can be read only once.
func TestEachRequestOfAJobGoesToTheServiceOfTheFirst(t *testing.T) {
	dir := t.TempDir()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write(t, dir, "settings.yaml", "http_addr: 127.0.0.1:1\n")
		state := map[string]string{http.MethodPost: "running", http.MethodGet: "done"}[r.Method]
		_, _ = io.WriteString(w, `{"id": "job", "state": "`+state+`"}`)
	}))
	defer service.Close()
	settings := write(t, dir, "settings.yaml", "http_addr: "+strings.TrimPrefix(service.URL, "http://")+"\n")
	if got := run(t, "", nil, "rejects", "--config", settings, "dismiss", "x", "y", "--reason", "z"); got.code != command.Done {
		t.Errorf("%+v", got)
	}
}

func TestManyRejectsAreDecidedOverHTTP(t *testing.T) {
	s := serve(t, "BAGTRAIL_KAFKA_BROKERS=off")
	for _, plate := range []string{"0724123451", "0724123452", "0724123453"} {
		s.post(strings.NewReplacer("/JFK/", "/JFQ/", "0724123456", plate).Replace(bsmOfToday()), http.StatusBadRequest, "")
	}
	for _, tc := range []struct {
		args string
		code int
		out  string // of stdout, or of stderr if the code is that of a wrong usage
	}{
		{"resubmit --state open --dry-run", command.Rejected, "looked at: 3, accepted: 0, rejected: 3, not authorised: 0, skipped: 0 (dry run)\n"},
		{"dismiss --q 0724123451 --reason x --dry-run", command.Done, "looked at: 3, dismissed: 1, skipped: 0 (dry run)\n"},
		{"dismiss --q 0724123451 --reason x", command.Done, "looked at: 3, dismissed: 1, skipped: 0\n"},
		{"resubmit --airport ZRH --code SVCPRB023", command.Rejected, "looked at: 2, accepted: 0, rejected: 2, not authorised: 0, skipped: 0\n"},
		{"resubmit 0123456789abcdef0123 0123456789abcdef0124", command.Rejected, "looked at: 2, accepted: 0, rejected: 0, not authorised: 0, skipped: 2\n"},
		{"dismiss 0123456789abcdef0123 0123456789abcdef0124 --reason x", command.Rejected, "looked at: 2, dismissed: 0, skipped: 2\n"},
		{"--json dismiss --state open --reason x", command.Done, `"state":"done"`},
		{"dismiss --state open --reason x", command.Done, "looked at: 0, dismissed: 0, skipped: 0\n"},
		{"dismiss --state open", command.Usage, "/reason"},
		{"resubmit", command.Usage, "no rejects are named"},
		{"dismiss --reason x", command.Usage, "no rejects are named"},
		{"resubmit --state open --text x", command.Usage, "--text"},
		{"resubmit --state dismissed", command.Usage, "/state"},
	} {
		got := run(t, "", nil, append([]string{"rejects", "--url", "http://" + s.http}, strings.Fields(tc.args)...)...)
		out := got.stdout
		if tc.code == command.Usage {
			out = got.stderr
		}
		if got.code != tc.code || !strings.Contains(out, tc.out) {
			t.Errorf("%s: %+v", tc.args, got)
		}
	}
}

// The service may be of somebody else.
func TestAnAnswerDoesNotControlTheTerminal(t *testing.T) {
	const (
		fault  = `{"code":"RED","description":"RED","suggestion":"RED","hint":"RED"}`
		reject = `{"id":"RED","state":"RED","received":"RED","door":"RED","key":"RED","airport":"RED","codes":["RED"],"text":"RED",
			"diagnostics":[` + fault + `],"history":[{"at":"RED","action":"RED","key":"RED","verdict":"RED","reason":"RED"}]}`
		verdict = `{"verdict":"RED","reject":` + reject + `}`
	)
	answers := map[string]string{"/v1/rejects": `{"rejects":[` + reject + `]}`, "/v1/rejects/x": reject, "/v1/rejects/x/resubmit": verdict}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.ReplaceAll(answers[r.URL.Path], "RED", `\u001b[31m`))
	}))
	defer s.Close()
	for _, args := range []string{"list", "show x", "resubmit x"} {
		got := run(t, "", nil, append([]string{"rejects", "--url", s.URL}, strings.Fields(args)...)...)
		if !strings.Contains(got.stdout, `\x1b[31m`) || strings.Contains(got.stdout+got.stderr, "\x1b") {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// A redirect must not carry the key to another host.
func TestTheKeyOfRejectsFollowsNoRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("it gets %v", r.Header) }))
	defer elsewhere.Close()
	login := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer login.Close()
	if got := run(t, "", nil, "rejects", "list", "--url", login.URL, "--key", "secret"); got.code != command.Failed || !strings.Contains(got.stderr, "302") {
		t.Errorf("%+v", got)
	}
}

// A service that listens on all addresses is asked as localhost, which no proxy is asked for.
func TestRejectsOfAServiceOnAllAddressesAreAskedOfLocalhost(t *testing.T) {
	_, port, _ := strings.Cut(loopback.Address(t), ":")
	for _, host := range []string{"0.0.0.0", "[::]", ""} {
		got := run(t, "", []string{"BAGTRAIL_HTTP_ADDR=" + host + ":" + port}, "rejects", "list", "--key", "secret")
		if got.code != command.Failed || !strings.Contains(got.stderr, "http://localhost:"+port+"/") {
			t.Errorf("%s: %+v", host, got)
		}
	}
}
