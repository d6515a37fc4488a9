package hostile_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/test/service"
)

// keyring is a key file and the service that uses it.
type keyring struct {
	*service.Service
	t    *testing.T
	path string
	told []string // texts of all keys

	asked atomic.Int32
}

// keys runs a subcommand of "bagtrail keys" on the file.
func (k *keyring) keys(args ...string) string {
	k.t.Helper()
	stdout, stderr, code := service.Run(k.t.Context(), k.t, "", append([]string{"keys"}, args...), "BAGTRAIL_KEYS_FILE="+k.path)
	if code != 0 {
		k.t.Fatalf("bagtrail keys %s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

var keyText = regexp.MustCompile(`^bagtrail_[A-Za-z0-9_-]{43}\n$`)

func (k *keyring) create(args ...string) string {
	k.t.Helper()
	text := k.keys(append([]string{"create"}, args...)...)
	if !keyText.MatchString(text) {
		k.t.Fatalf("bagtrail keys create printed %q", text)
	}
	text = strings.TrimSpace(text)
	k.told = append(k.told, text)
	return text
}

// Queries for two bags, and their answers.
var (
	swiss, british = service.HistoryPath("0724490001", day(1).iso()), service.HistoryPath("0125490001", day(1).iso())
	unknown        = failure("SVCGBH004", "Customer Service API Key does not exist")
	refused        = notAuthorised("SVCGBH014", "get this bag history")
)

const shown = "" // any history

// answers waits until a key gets that answer.
func (k *keyring) answers(key, target, body string) {
	k.t.Helper()
	var got service.Answer
	var err error
	if !k.Until(patience, func() bool { got, err = k.ask(key, target); return err == nil && is(got, body) }) {
		k.t.Fatalf("%s: %d %s %v, want %s", target, got.Status, got.Body, err, body)
	}
}

// ask asks from another address each time, if the service trusts the proxy 127.0.0.1: an address may
// not send many unknown keys.
func (k *keyring) ask(key, target string) (service.Answer, error) {
	n := k.asked.Add(1)
	return k.TryDo(http.MethodGet, target, nil, "api_key", key, "X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", n>>8&255, n&255))
}

// is reports whether an answer is the wanted one.
func is(got service.Answer, body string) bool {
	return got.Body == body || body == shown && strings.HasPrefix(got.Body, `{"success":true,"bag":`)
}

// always repeats a request until stop is called, and expects the same answer each time.
func (k *keyring) always(what, key, target, body string) (stop func()) {
	ctx, cancel := context.WithCancel(k.t.Context())
	var group sync.WaitGroup
	asked := 0
	group.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			<-tick.C
			asked++
			if got, err := k.ask(key, target); err != nil || !is(got, body) {
				k.t.Errorf("%s, request %d: %d %s %v", what, asked, got.Status, got.Body, err)
				return
			}
		}
	})
	return func() {
		cancel()
		group.Wait()
		if asked < 10 {
			k.t.Errorf("%s: only %d requests", what, asked)
		}
	}
}

func newKeyring(t *testing.T, env ...string) *keyring {
	k := &keyring{t: t, path: filepath.Join(t.TempDir(), "keys.yaml")}
	steady := k.create("steady", "--customer", "STEADY")
	k.Service = service.New(t, []string{"serve"}, append(env, noKafka, "BAGTRAIL_KEYS_FILE="+k.path)...)
	k.Up()
	for _, bag := range []string{"LX4900/%/JFK .N/0724490001001 .P/SWISS", "BA4901/%/JFK .N/0125490001001 .P/BRITISH"} {
		lines := strings.ReplaceAll("BSM .V/1LZRH .F/"+strings.ReplaceAll(bag, "%", day(1).bim())+" ENDBSM", " ", "\r\n")
		expect(t, bag, k.Process(lines, "api_key", steady), http.StatusOK, processed)
	}
	return k
}

// While requests run, keys are created, used, scoped, rotated with overlap, expired and revoked,
// without a restart (service §4).
func TestKeysChangeWhileRequestsRun(t *testing.T) {
	t.Parallel()
	k := newKeyring(t, "BAGTRAIL_TRUSTED_PROXIES=127.0.0.1")
	steady := k.told[0]
	defer k.always("the key that stays", steady, swiss, shown)()
	defer k.always("a key that never was", "bagtrail_"+strings.Repeat("A", 43), swiss, unknown)()
	defer k.always("the digest in place of the key", regexp.MustCompile(`sha256:[0-9a-f]{64}`).FindString(k.text()), swiss, unknown)()

	// created, used, scoped
	first := k.create("app-2026", "--customer", "APP", "--airlines", "LX,WK", "--airports", "ZRH")
	k.answers(first, swiss, shown)
	stopFirst := k.always("the first key", first, swiss, shown)
	k.answers(first, british, refused)
	narrow := k.create("flights-only", "--customer", "APP", "--operations", "bagsforflight")
	k.answers(narrow, service.FlightPath("ZRH", "D", "XX", "1", day(1).iso()), failure("SVCGBF001", "No bags found for flight"))
	k.answers(narrow, swiss, refused)
	nobody := k.create("nobody")
	k.answers(nobody, swiss, failure("SVCGBH015", "No customer id is associated with the API key, the customer setup must be completed with the operator"))

	// rotated with overlap: both work until the old one is revoked
	second := k.create("app-2027", "--customer", "APP", "--airlines", "LX,WK", "--airports", "ZRH")
	k.answers(second, swiss, shown)
	defer k.always("the second key", second, swiss, shown)()
	defer k.always("the second key, out of scope", second, british, refused)()
	stopFirst()
	k.keys("revoke", "app-2026")
	k.answers(first, swiss, unknown)
	defer k.always("the revoked key", first, swiss, unknown)()

	// expired, on time and without a change of the file
	expires := time.Now().Add(6 * time.Second)
	short := k.create("short", "--customer", "SHORT", "--expires", expires.UTC().Format(time.RFC3339))
	k.answers(short, swiss, shown)
	k.answers(short, swiss, unknown)
	if early := time.Until(expires.Truncate(time.Second)); early > 0 {
		t.Errorf("the key ended %v early", early)
	}
	listed := k.keys("list")
	for name, state := range map[string]string{"steady": "active", "app-2026": "revoked", "app-2027": "active", "short": "expired"} {
		if !regexp.MustCompile(`(?m)^` + name + ` +` + state).MatchString(listed) {
			t.Errorf("%s is not listed as %s:\n%s", name, state, listed)
		}
	}
	k.secretive(listed)
}

func (k *keyring) text() string {
	k.t.Helper()
	text, err := os.ReadFile(k.path)
	if err != nil {
		k.t.Fatal(err)
	}
	return string(text)
}

// secretive checks that file, log and list hold no key, and log and list no digest.
func (k *keyring) secretive(listed string) {
	k.t.Helper()
	for _, key := range k.told {
		if strings.Contains(k.text(), key) || strings.Contains(k.Log(), key) || strings.Contains(listed, key) {
			k.t.Errorf("the key %s stands in the file, the log or the list", key)
		}
	}
	for line := range strings.SplitSeq(k.text(), "\n") {
		if _, digest, found := strings.Cut(line, "sha256:"); found {
			if digest = strings.Trim(digest, `"`); strings.Contains(k.Log()+listed, digest) {
				k.t.Errorf("the log or the list holds the digest %s", digest)
			}
		}
	}
	info, err := os.Stat(k.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		k.t.Errorf("the key file has mode %v, %v", info.Mode(), err)
	}
}

// A key file is written in place, half of it first; it is broken; it is removed. No request is
// judged by half a file. The old keys remain until a complete file is there, and the log says so.
func TestNoRequestIsJudgedByHalfAFile(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	last := k.create("last", "--customer", "LAST", "--airlines", "LX")
	k.answers(last, swiss, shown)
	steady := k.told[0]
	defer k.always("first in the file", steady, british, shown)()
	defer k.always("last in the file", last, swiss, shown)()
	defer k.always("last in the file, out of scope", last, british, refused)()

	whole := k.text()
	half := whole[:strings.LastIndex(whole, "  - name")] // a valid file without the last key
	next := k.create("next", "--customer", "NEXT")       // shows when a change is in force
	more := k.text()
	inPlace := func(text string) {
		t.Helper()
		if err := os.WriteFile(k.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pause := time.NewTicker(150 * time.Millisecond) // between the two halves
	defer pause.Stop()
	for range 8 {
		for _, text := range []string{"", half, whole} {
			inPlace(text)
			<-pause.C
		}
	}
	inPlace(more)
	k.answers(next, swiss, shown)

	for name, broken := range map[string]string{
		"cut in a digest":     more[:strings.LastIndex(more, "sha256:")+20],
		"empty":               "",
		"no YAML":             "keys: [}",
		"unknown member":      more + "    airline: LX\n",
		"one name twice":      more + more[strings.Index(more, "  - name"):],
		"airline of no shape": strings.Replace(more, `["LX"]`, `["lx"]`, 1),
	} {
		complaints := strings.Count(k.Log(), "a changed file cannot be loaded")
		inPlace(broken)
		if !k.Until(patience, func() bool { return strings.Count(k.Log(), "a changed file cannot be loaded") > complaints }) {
			t.Errorf("%s: the log does not say that the file is not taken over", name)
		}
		expect(t, name, k.Get(british, "api_key", last), http.StatusBadRequest, refused)
		if got := k.Get(british, "api_key", next); !is(got, shown) {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	refuses := func(want string) {
		t.Helper()
		if _, metrics := k.TryGet(k.Ops + "/metrics"); !strings.Contains(metrics, `bagtrail_file_refused{setting="keys-file"} `+want+"\n") {
			t.Errorf("the metrics do not say %s of the key file", want)
		}
	}
	refuses("1")
	if err := os.Remove(k.path); err != nil {
		t.Fatal(err)
	}
	if !k.Until(patience, func() bool { return strings.Contains(k.Log(), "no such file") }) {
		t.Error("the log does not say that the file is gone")
	}
	beside := &keyring{t: t, path: filepath.Join(t.TempDir(), "keys.yaml")}
	mended := beside.create("mended", "--customer", "MENDED")
	inPlace(more + beside.text()[strings.Index(beside.text(), "  - name"):])
	k.answers(mended, swiss, shown)
	refuses("0")
	k.secretive("")
}

// A key with a rate gets headers with the rest of it, then 429 with the time to wait. A change of
// the file adds nothing (service §6).
func TestAKeyPastItsRateIsTurnedAway(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	slow := k.create("slow", "--customer", "SLOW", "--rate", "0.01", "--burst", "3")
	other := k.create("other", "--customer", "OTHER", "--rate", "1000")
	k.answers(other, swiss, shown)
	check := func(key string, status, limit, remaining int) {
		t.Helper()
		got := k.Get(swiss, "api_key", key)
		if got.Status != status || got.Header.Get("RateLimit-Limit") != strconv.Itoa(limit) || got.Header.Get("RateLimit-Remaining") != strconv.Itoa(remaining) {
			t.Errorf("%d %v, want %d, limit %d, remaining %d", got.Status, got.Header, status, limit, remaining)
		}
		if reset, err := strconv.Atoi(got.Header.Get("RateLimit-Reset")); err != nil || reset < 0 || reset > 300 {
			t.Errorf("RateLimit-Reset %q", got.Header.Get("RateLimit-Reset"))
		}
		if status == http.StatusTooManyRequests {
			expect(t, "too many", got, status, tooMany)
			if wait, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 100 {
				t.Errorf("Retry-After %q", got.Header.Get("Retry-After"))
			}
		}
	}
	for remaining := 2; remaining >= 0; remaining-- {
		check(slow, http.StatusOK, 3, remaining)
	}
	check(slow, http.StatusTooManyRequests, 3, 0)
	check(other, http.StatusOK, 1000, 999)
	// Every operation counts, and a JSONP request gets a script.
	expect(t, "as a script", k.Get(swiss+"?callback=cb", "api_key", slow), http.StatusTooManyRequests, "/**/cb("+tooMany+");")
	expect(t, "a message", k.Process("BSM", "api_key", slow), http.StatusTooManyRequests, tooMany)
	k.answers(k.create("another", "--customer", "X"), swiss, shown) // the file was read again
	check(slow, http.StatusTooManyRequests, 3, 0)
	if got := k.Get(swiss, "api_key", k.told[0]); got.Header.Get("RateLimit-Limit") != "" {
		t.Errorf("a key without rate: %v", got.Header)
	}
}

// After 20 unknown keys an address is refused with 429; a trusted proxy names the address. Valid
// keys and other addresses are not refused.
func TestGuessesOfKeysAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	k := newKeyring(t, "BAGTRAIL_TRUSTED_PROXIES=192.0.2.0/24, 127.0.0.1")
	valid := k.told[0]
	k.answers(valid, swiss, shown)
	for n := range 20 {
		expect(t, "guess "+strconv.Itoa(n), k.Get(swiss, "api_key", "guess"+strconv.Itoa(n), "X-Forwarded-For", "198.51.100.1"), http.StatusBadRequest, unknown)
	}
	for range 5 {
		got := k.Get(swiss, "api_key", "guess", "X-Forwarded-For", "198.51.100.1, 192.0.2.7")
		expect(t, "one more", got, http.StatusTooManyRequests, tooMany)
		if wait, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 3 {
			t.Errorf("Retry-After %q", got.Header.Get("Retry-After"))
		}
		if got := k.Get(swiss, "api_key", valid, "X-Forwarded-For", "198.51.100.1"); !is(got, shown) {
			t.Errorf("valid key: %d %s", got.Status, got.Body)
		}
	}
	expect(t, "another address", k.Get(swiss, "api_key", "guess", "X-Forwarded-For", "198.51.100.1, 198.51.100.2"), http.StatusBadRequest, unknown)
}

// Without a key file the key is public, so the service listens on loopback only. On other addresses
// serve makes a key of its own (service §4).
func TestDevelopmentKeyRefusesEveryAddressButLoopback(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0"} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, stderr, code := service.Run(ctx, t, "", []string{"api"}, "BAGTRAIL_HTTP_ADDR="+address, "BAGTRAIL_OPS_ADDR=127.0.0.1:0",
			"BAGTRAIL_REDIS_URL=redis://127.0.0.1:1", noKafka)
		cancel()
		if code != 2 || !strings.Contains(stderr, "BAGTRAIL_KEYS_FILE") {
			t.Errorf("%s: exit code %d\n%s", address, code, stderr)
		}
	}
}
