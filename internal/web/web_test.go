package web_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/internal/apikey"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/web"
	"bagtrail/test/service"
)

// keys is a key store for tests.
type keys map[string]*apikey.Key

func (k keys) Lookup(text string, _ time.Time) (*apikey.Key, bool) {
	key, ok := k[text]
	return key, ok
}

var testKeys = keys{
	"secret-of-demo": {Name: "demo", Customer: "DEMO"},
	"secret-of-none": {Name: "none"},
}

// storeOf returns a key store from a file with one key, whose other members are given.
func storeOf(t *testing.T, key, members string) *apikey.Store {
	t.Helper()
	text := fmt.Sprintf("keys: [{%s, digest: 'sha256:%x'}]", members, sha256.Sum256([]byte(key)))
	store, err := apikey.Open(service.WriteFile(t, "keys.yaml", text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// history answers with what it was called with.
func history(serve func(context.Context, *web.Call) web.Answer) web.Operation {
	if serve == nil {
		serve = func(_ context.Context, c *web.Call) web.Answer {
			if faults := c.Faults(nil); len(faults) > 0 {
				return c.Refuse(faults...)
			}
			text, _ := json.Marshal(c.Values)
			return c.OK(fmt.Appendf(c.Buffer, `{"success":true,"values":%s}`, text))
		}
	}
	return web.Operation{
		Operation: operation.ByID("history"), Limit: time.Second, Serve: serve,
		Refusals: web.Refusals{
			KeyMissing: fault.HistoryKeyMissing, KeyUnknown: fault.HistoryKeyUnknown, NoCustomer: fault.HistoryNoCustomer,
			NotAuthorised: fault.HistoryNotAuthorised, Unavailable: fault.Unavailable,
		},
	}
}

// bim answers with its body.
func bim() web.Operation {
	return web.Operation{
		Operation: operation.ByID("processbim"), Limit: time.Second,
		Refusals: web.Refusals{KeyMissing: fault.BIMKeyMissing, KeyUnknown: fault.BIMKeyUnknown, NotAuthorised: fault.BIMNotAuthorised, Unavailable: fault.Unavailable},
		Serve: func(_ context.Context, c *web.Call) web.Answer {
			if c.TooLarge {
				return c.Refuse(fault.TooLarge)
			}
			return c.OK(fmt.Appendf(c.Buffer, `{"success":true,"length":%d,"cut":%v}`, len(c.Body), c.Body == nil))
		},
	}
}

func page() web.Page {
	return web.Page{Path: "/docs/", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<p>docs</p>")
	})}
}

func site(log *zap.Logger, operations ...web.Operation) *web.Site {
	return web.New(web.Settings{Keys: testKeys, Log: log, Clock: time.Now}, operations, []web.Page{page()})
}

func ask(t *testing.T, s http.Handler, method, target string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, body)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := answer(s, r)
	if w.Header().Get("X-Request-Id") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(w.Header().Get("Content-Type"), "charset=") {
		t.Errorf("%s %s: headers %v", method, target, w.Header())
	}
	return w
}

const demo = "secret-of-demo"

func failure(id fault.ID) string {
	return fmt.Sprintf(`{"success":false,"errors":[{"error_code":%q,"error_description":"%s"}]}`, id.Code, id.Text)
}

func TestPathsGiveTheValueBehindEachName(t *testing.T) {
	s := site(zap.NewNop(), history(nil), bim())
	for _, tc := range []struct{ path, want string }{
		{"tag/0724100001/flightdate/2026-03-14", `["0724100001","2026-03-14"]`},
		{"tag/0724100001/flightdate/2026-03-14/", `["0724100001","2026-03-14"]`},
		{"tag/0724100001/flightdate/2026-03-14//", `["0724100001","2026-03-14"]`},
		{"tag/0724100001/flightdate/", `["0724100001",""]`},
		{"tag/0724100001/flightdate", `["0724100001",""]`},
		{"tag/0724100001/", `["0724100001",""]`},
		{"tag/0724100001", `["0724100001",""]`},
		{"tag/", `["",""]`},
		{"tag", `["",""]`},
		{"", `["",""]`},
		{"tag//flightdate/2026-03-14", `["","2026-03-14"]`},
		{"tag/%20/flightdate/%09%0A", `["",""]`},
		{"tag/%C2%A0/flightdate/2026-03-14", `["","2026-03-14"]`},
		{"tag/flightdate/2026-03-14", `["","2026-03-14"]`},
		{"flightdate/2026-03-14", `["","2026-03-14"]`},
		{"//flightdate/2026-03-14", `["","2026-03-14"]`},
		{"/0724100001/flightdate/2026-03-14", `["","2026-03-14"]`},
		{"tag/0724100001//2026-03-14", `["0724100001",""]`},
		{"tag//0724100001/flightdate/2026-03-14", `["","2026-03-14"]`},
		{"/tag/0724100001/flightdate/2026-03-14", `["0724100001","2026-03-14"]`},
		{"tag/07241%2F0001/flightdate/2026-03-14", `["07241/0001","2026-03-14"]`},
		{"tag/%2F/flightdate/2026-03-14", `["/","2026-03-14"]`},
		{"%74ag/%30724100001/flightdate/2026-03-14", `["0724100001","2026-03-14"]`},
		{"tag/0724100001%20/flightdate/2026-03-14", `["0724100001 ","2026-03-14"]`},
		{"tag/../flightdate/2026-03-14", `["..","2026-03-14"]`},
		{"tag/a%252Fb/flightdate/x+y", `["a%2Fb","x+y"]`},
	} {
		w := ask(t, s, "GET", "/baggage/history/v1.0/"+tc.path, nil, "api_key", demo)
		if want := `{"success":true,"values":` + tc.want + `}`; w.Code != 200 || w.Body.String() != want {
			t.Errorf("%q: %d %s, want %s", tc.path, w.Code, w.Body, want)
		}
	}
	w := ask(t, s, "GET", "/baggage/history/v1.0", nil, "api_key", demo)
	if w.Code != 200 || w.Body.String() != `{"success":true,"values":["",""]}` {
		t.Errorf("path cut off behind the version: %d %s", w.Code, w.Body)
	}
}

func TestUnknownPathsAre404AndUnderProcessBIM402(t *testing.T) {
	s := site(zap.NewNop(), history(nil), bim())
	for _, tc := range []struct {
		method, path string
		want         fault.ID
	}{
		{"GET", "/", fault.UnknownPath},
		{"GET", "//", fault.UnknownPath},
		{"GET", "/baggage", fault.UnknownPath},
		{"GET", "/baggage/history", fault.UnknownPath},
		{"GET", "/baggage/history/v2.0/tag/0724100001/flightdate/2026-03-14", fault.UnknownPath},
		{"GET", "/baggage/history/v1.0/foo", fault.UnknownPath},
		{"GET", "/baggage/history/v1.0/Tag/0724100001/flightdate/2026-03-14", fault.UnknownPath},
		{"GET", "/baggage/history/v1.0/tag/0724100001/2026-03-14", fault.UnknownPath},
		{"GET", "/baggage/history/v1.0/tag/0724100001/flightdate/2026-03-14/events", fault.UnknownPath},
		{"GET", "/baggage/history/v1.0/tag/0724100001/flightdate/2026-03-14//events", fault.UnknownPath},
		{"GET", "/baggage//history/v1.0/tag/0724100001/flightdate/2026-03-14", fault.UnknownPath},
		{"GET", "/baggage%2Fhistory/v1.0/tag/0724100001/flightdate/2026-03-14", fault.UnknownPath},
		{"GET", "/baggage/history/v1.0tag/0724100001/flightdate/2026-03-14", fault.UnknownPath},
		{"POST", "/baggage/history/v1.0/foo", fault.UnknownPath},
		{"GET", "/document", fault.UnknownPath},
		{"POST", "/baggage/processbimx/v1.0/", fault.UnknownPath},
		{"POST", "/baggage/processbim", fault.BIMUnknownPath},
		{"POST", "/baggage/processbim/", fault.BIMUnknownPath},
		{"POST", "/baggage/processbim/v2.0/", fault.BIMUnknownPath},
		{"POST", "/baggage/processbim/v1.0/foo", fault.BIMUnknownPath},
		{"GET", "/baggage/processbim/v1.0/foo", fault.BIMUnknownPath},
		{"DELETE", "/baggage/history/v1.0/tag/0724100001/flightdate/2026-03-14", fault.WrongMethod},
		{"HEAD", "/baggage/history/v1.0/tag/0724100001/flightdate/2026-03-14", fault.WrongMethod},
		{"OPTIONS", "/baggage/history/v1.0/tag//flightdate/", fault.WrongMethod},
		{"BREW", "/baggage/history/v1.0/", fault.WrongMethod},
		{"GET", "/baggage/processbim/v1.0/", fault.WrongMethod},
		{"GET", "/baggage/processbim/v1.0", fault.WrongMethod},
		{"POST", "/docs", fault.WrongMethod},
		{"POST", "/docs/index.html", fault.WrongMethod},
	} {
		w := ask(t, s, tc.method, tc.path, nil)
		if w.Code != tc.want.Status || w.Body.String() != failure(tc.want) {
			t.Errorf("%s %s: %d %s, want %s", tc.method, tc.path, w.Code, w.Body, failure(tc.want))
		}
		if (tc.want == fault.WrongMethod) != (w.Header().Get("Allow") != "") {
			t.Errorf("%s %s: Allow %q", tc.method, tc.path, w.Header().Get("Allow"))
		}
	}
}

func TestPagesNeedNoKey(t *testing.T) {
	s := site(zap.NewNop(), history(nil))
	for _, path := range []string{"/docs", "/docs/", "/docs/a.css"} {
		if w := ask(t, s, "GET", path, nil); w.Code != 200 || w.Body.String() != "<p>docs</p>" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestKeyIsCheckedFirst(t *testing.T) {
	s := site(zap.NewNop(), history(nil), bim())
	const spoilt = "/baggage/history/v1.0/tag//flightdate/?callback=1"
	for _, tc := range []struct {
		name, method, path string
		headers            []string
		status             int
		body               string
	}{
		{"missing", "GET", spoilt, nil, 400, failure(fault.HistoryKeyMissing)},
		{"blank", "GET", spoilt, []string{"api_key", "  "}, 400, failure(fault.HistoryKeyMissing)},
		{"unknown", "GET", spoilt, []string{"api_key", "x"}, 400, failure(fault.HistoryKeyUnknown)},
		{"no customer", "GET", spoilt, []string{"api_key", "secret-of-none"}, 400, failure(fault.HistoryNoCustomer)},
		{"known", "GET", spoilt, []string{"api_key", demo}, 400, failure(fault.Callback)},
		{"other name", "GET", spoilt, []string{"X-API-Key", demo}, 400, failure(fault.Callback)},
		{"blank, then other name", "GET", spoilt, []string{"api_key", " ", "X-API-Key", demo}, 400, failure(fault.Callback)},
		{"api_key goes before the other name", "GET", spoilt, []string{"api_key", "x", "X-API-Key", demo}, 400, failure(fault.HistoryKeyUnknown)},
		{"POST missing", "POST", "/baggage/processbim/v1.0/", nil, 401, failure(fault.BIMKeyMissing)},
		{"POST unknown", "POST", "/baggage/processbim/v1.0/", []string{"api_key", "x"}, 401, failure(fault.BIMKeyUnknown)},
		{"POST asks for no customer", "POST", "/baggage/processbim/v1.0/", []string{"api_key", "secret-of-none"}, 200, `{"success":true,"length":0,"cut":false}`},
	} {
		if w := ask(t, s, tc.method, tc.path, nil, tc.headers...); w.Code != tc.status || w.Body.String() != tc.body {
			t.Errorf("%s: %d %s, want %d %s", tc.name, w.Code, w.Body, tc.status, tc.body)
		}
	}
}

func TestTwoKeysAreRefused(t *testing.T) {
	s := site(zap.NewNop(), history(nil), bim())
	for _, tc := range []struct {
		headers http.Header
		known   bool
	}{
		{http.Header{"Api_key": {demo}}, true},
		{http.Header{"Api_key": {demo}, "X-Api-Key": {demo}}, true},
		{http.Header{"Api_key": {demo}, "X-Api-Key": {" "}}, true},
		{http.Header{"Api_key": {demo, demo}}, false},
		{http.Header{"Api_key": {demo, "x"}}, false},
		{http.Header{"Api_key": {"", demo}}, false},
		{http.Header{"X-Api-Key": {demo, ""}}, false},
		{http.Header{"Api_key": {demo}, "X-Api-Key": {"x"}}, false},
		{http.Header{"Api_key": {"x"}, "X-Api-Key": {demo}}, false},
		{http.Header{"Api_key": {demo}, "X-Api-Key": {demo, demo}}, false},
	} {
		for target, unknown := range map[string]fault.ID{"GET /baggage/history/v1.0/tag/1/flightdate/2": fault.HistoryKeyUnknown, "POST /baggage/processbim/v1.0/": fault.BIMKeyUnknown} {
			method, path, _ := strings.Cut(target, " ")
			r := httptest.NewRequest(method, path, nil)
			r.Header = tc.headers
			w := answer(s, r)
			status := 200
			if !tc.known {
				status = unknown.Status
			}
			if w.Code != status || !tc.known && w.Body.String() != failure(unknown) {
				t.Errorf("%s %v: %d %s", target, tc.headers, w.Code, w.Body)
			}
		}
	}
}

// guess presents a key from an address, perhaps on behalf of others.
func guess(s http.Handler, key, from string, forwarded ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "/baggage/history/v1.0/tag/1/flightdate/2", nil)
	r.RemoteAddr = from
	r.Header = http.Header{"Api_key": {key}, "X-Forwarded-For": forwarded}
	return answer(s, r)
}

func TestGuessesOfKeysAreLimitedByAddressAndValidKeysNever(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: func() time.Time { return now }}, []web.Operation{history(nil)}, nil)
	for i := range 20 {
		if w := guess(s, fmt.Sprint("guess", i), "192.0.2.1:1000"); w.Code != 400 || w.Body.String() != failure(fault.HistoryKeyUnknown) {
			t.Fatalf("guess %d: %d %s", i, w.Code, w.Body)
		}
	}
	for range 3 {
		w := guess(s, "guess", "192.0.2.1:1001")
		if w.Code != 429 || w.Body.String() != failure(fault.RateLimit) || w.Header().Get("Retry-After") != "3" {
			t.Errorf("guess too many: %d %s, Retry-After %s", w.Code, w.Body, w.Header().Get("Retry-After"))
		}
		if w := guess(s, demo, "192.0.2.1:1000"); w.Code != 200 {
			t.Errorf("valid key from there: %d %s", w.Code, w.Body)
		}
	}
	// If no proxy is trusted, X-Forwarded-For is ignored.
	if w := guess(s, "guess", "192.0.2.1:1000", "198.51.100.1"); w.Code != 429 {
		t.Errorf("with a header of its own: %d", w.Code)
	}
	if w := guess(s, "guess", "192.0.2.2:1000"); w.Code != 400 {
		t.Errorf("from another address: %d", w.Code)
	}
	now = now.Add(3 * time.Second)
	if first, second := guess(s, "guess", "192.0.2.1:1"), guess(s, "guess", "192.0.2.1:1"); first.Code != 400 || second.Code != 429 {
		t.Errorf("three seconds later: %d, then %d", first.Code, second.Code)
	}
}

func TestGuessesBehindTrustedProxiesCountForTheRightmostUntrustedAddress(t *testing.T) {
	settings := web.Settings{
		Keys: testKeys, Log: zap.NewNop(), Clock: func() time.Time { return time.Unix(1_800_000_000, 0) },
		Proxies: web.Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")},
	}
	for _, tc := range []struct {
		name, from string
		forwarded  []string
		same       bool // as 192.0.2.1
	}{
		{"itself", "192.0.2.1:1", nil, true},
		{"by a proxy", "10.1.2.3:1", []string{"192.0.2.1"}, true},
		{"by a proxy over IPv6", "[2001:db8:1::5]:1", []string{"192.0.2.1"}, true},
		{"by two proxies", "10.1.2.3:1", []string{"192.0.2.1, 10.9.9.9"}, true},
		{"by two proxies with a header each", "10.1.2.3:1", []string{"192.0.2.1", "10.9.9.9"}, true},
		{"with a port", "10.1.2.3:1", []string{"192.0.2.1:4711"}, true},
		{"as IPv6", "10.1.2.3:1", []string{"[::ffff:192.0.2.1]"}, true},
		{"with words of its own before", "10.1.2.3:1", []string{"198.51.100.7, nonsense, 192.0.2.1"}, true},
		{"by nobody known", "192.0.2.9:1", []string{"192.0.2.1"}, false},
		{"left of another", "10.1.2.3:1", []string{"192.0.2.1, 198.51.100.7"}, false},
		{"left of nonsense", "10.1.2.3:1", []string{"192.0.2.1, nonsense"}, false},
		{"proxy itself", "10.1.2.3:1", nil, false},
	} {
		s := web.New(settings, []web.Operation{history(nil)}, nil)
		for range 20 {
			guess(s, "guess", "192.0.2.1:1")
		}
		if w := guess(s, "guess", tc.from, tc.forwarded...); (w.Code == 429) != tc.same {
			t.Errorf("%s: %d", tc.name, w.Code)
		}
	}
}

func TestRateLimitTellsWhatIsLeft(t *testing.T) {
	store := storeOf(t, "secret-of-slow", "name: slow, customer: S, rate: 0.5, burst: 2")
	now := time.Unix(1_800_000_000, 0)
	s := web.New(web.Settings{Keys: store, Log: zap.NewNop(), Clock: func() time.Time { return now }}, []web.Operation{history(nil)}, nil)
	for i, want := range []string{"200 [2] [1] [2] []", "200 [2] [0] [4] []", "429 [2] [0] [4] [2]", "429 [2] [0] [4] [2]"} {
		w := ask(t, s, "GET", "/baggage/history/v1.0/tag/1/flightdate/2", nil, "api_key", "secret-of-slow")
		h := w.Header()
		if got := fmt.Sprint(w.Code, h["Ratelimit-Limit"], h["Ratelimit-Remaining"], h["Ratelimit-Reset"], h["Retry-After"]); got != want {
			t.Errorf("request %d: %s, want %s", i, got, want)
		}
	}
	if w := ask(t, s, "GET", "/baggage/history/v1.0/?callback=f", nil, "api_key", "secret-of-slow"); w.Body.String() != "/**/f("+failure(fault.RateLimit)+");" {
		t.Errorf("refused by rate: %s", w.Body)
	}
}

func TestCallbackIsADottedIdentifierOrRefused(t *testing.T) {
	s := site(zap.NewNop(), history(nil))
	long := strings.Repeat("a", 128)
	for query, want := range map[string]string{
		"x=1&callback=cb&callbacks=2": "cb",
		"callback=_a.$b.c9":           "_a.$b.c9",
		"call%62ack=c%62":             "cb",
		"callback=" + long:            long,
		"callback=" + long + "a":      "",
		"callback=a.delete":           "",
		"callback=a&callback=a":       "",
		"callback=</script><script>":  "",
	} {
		r := httptest.NewRequest("GET", "/baggage/history/v1.0/tag/1/flightdate/2", nil)
		r.URL.RawQuery = query
		r.Header.Set("api_key", demo)
		w := answer(s, r)
		status, body, kind := 200, `/**/`+want+`({"success":true,"values":["1","2"]});`, "application/javascript; charset=utf-8"
		if want == "" {
			status, body, kind = 400, failure(fault.Callback), "application/json; charset=utf-8"
		}
		if w.Code != status || w.Body.String() != body || w.Header().Get("Content-Type") != kind || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %s %v, want %d %s", query, w.Code, w.Body, w.Header(), status, body)
		}
	}
}

func TestCallbackNeverChangesStatusOrCode(t *testing.T) {
	s := site(zap.NewNop(), history(nil), bim())
	w := ask(t, s, "GET", "/baggage/history/v1.0/?callback=f", nil)
	if w.Code != 400 || w.Body.String() != "/**/f("+failure(fault.HistoryKeyMissing)+");" {
		t.Errorf("missing key: %d %s", w.Code, w.Body)
	}
	w = ask(t, s, "GET", "/baggage/history/v1.0/foo?callback=f", nil)
	if w.Code != 404 || w.Body.String() != failure(fault.UnknownPath) {
		t.Errorf("no operation, so no JSONP: %d %s", w.Code, w.Body)
	}
	w = ask(t, s, "POST", "/baggage/processbim/v1.0/?callback=(", nil)
	if w.Code != 401 || w.Body.String() != failure(fault.BIMKeyMissing) {
		t.Errorf("process BIM knows no callback: %d %s", w.Code, w.Body)
	}
}

func TestBodyIsReadWholeOrNotAtAll(t *testing.T) {
	s := site(zap.NewNop(), bim())
	const path = "/baggage/processbim/v1.0/"
	for _, tc := range []struct {
		name   string
		body   io.Reader
		status int
		want   string
	}{
		{"one MiB", strings.NewReader(strings.Repeat("x", 1<<20)), 200, `{"success":true,"length":1048576,"cut":false}`},
		{"announced too large", strings.NewReader(strings.Repeat("x", 1<<20+1)), 413, failure(fault.TooLarge)},
		{"chunked too large", io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20)), strings.NewReader("x")), 413, failure(fault.TooLarge)},
		{"cut off", io.MultiReader(strings.NewReader("x"), iotest.ErrReader(io.ErrUnexpectedEOF)), 200, `{"success":true,"length":0,"cut":true}`},
	} {
		if w := ask(t, s, "POST", path, tc.body, "api_key", demo); w.Code != tc.status || w.Body.String() != tc.want {
			t.Errorf("%s: %d %s, want %d %s", tc.name, w.Code, w.Body, tc.status, tc.want)
		}
	}
}

func TestUnavailableIs503WithRetryAfter(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	s := site(zap.New(core), history(func(ctx context.Context, c *web.Call) web.Answer {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("no deadline")
		}
		return c.Unavailable(errors.New("read index: connection refused"))
	}))
	w := ask(t, s, "GET", "/baggage/history/v1.0/tag/1/flightdate/2", nil, "api_key", demo)
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" || w.Body.String() != failure(fault.Unavailable) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if got := logs.All()[0].ContextMap()["error"]; got != "read index: connection refused" {
		t.Errorf("logged cause %v", got)
	}
}

func TestPanicIsAnInternalErrorAndItsValueIsNotLogged(t *testing.T) {
	core, logs := observer.New(zapcore.DebugLevel)
	s := site(zap.New(core), history(func(context.Context, *web.Call) web.Answer { panic("MUELLER") }))
	w := ask(t, s, "GET", "/baggage/history/v1.0/tag/1/flightdate/2?callback=f", nil, "api_key", demo, "X-Request-Id", "r1")
	if w.Code != 500 || w.Body.String() != "/**/f("+failure(fault.Internal)+");" || w.Header().Get("X-Request-Id") != "r1" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	fields := logs.All()[0].ContextMap()
	if fields["error"] != "panic: string" || fields["request_id"] != "r1" || !strings.Contains(fmt.Sprint(fields["stack"]), "web_test.go") || strings.Contains(fmt.Sprint(fields), "MUELLER") {
		t.Errorf("log %v", fields)
	}
}

// A stream and a page run outside of the operation. A panic there is logged like any other.
func TestAPanicInAStreamOrAPageIsLoggedWithoutItsValue(t *testing.T) {
	core, logs := observer.New(zapcore.DebugLevel)
	stream := web.Operation{Operation: operation.ByID("getChanges"), Serve: func(_ context.Context, c *web.Call) web.Answer {
		return c.Stream(func(context.Context, *web.Stream) { panic("MUELLER") })
	}}
	broken := web.Page{Path: "/console/", Forms: true, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("MUELLER") })}
	s := web.New(web.Settings{Keys: testKeys, Log: zap.New(core), Clock: time.Now}, []web.Operation{stream}, []web.Page{broken})
	for target, want := range map[string]string{"/v1/changes": "200 /v1/changes", "/console/flights": "500 /console/"} {
		w := answer(s, request("GET", target, "", "api_key", demo))
		entries := logs.TakeAll()
		if len(entries) != 1 {
			t.Fatalf("%s: %d lines in the log", target, len(entries))
		}
		fields := entries[0].ContextMap()
		got := fmt.Sprint(w.Code, " ", fields["route"])
		if got != want || entries[0].Level != zapcore.ErrorLevel || fields["error"] != "panic: string" || strings.Contains(fmt.Sprint(fields)+w.Body.String(), "MUELLER") {
			t.Errorf("%s: %s, log %v", target, got, fields)
		}
	}
	if s.OpenStreams() != 0 {
		t.Error("the stream counts as open")
	}
}

func TestAccessLogNamesTheRouteAndNeverThePath(t *testing.T) {
	core, logs := observer.New(zapcore.DebugLevel)
	s := site(zap.New(core), history(nil))
	for _, target := range []string{
		"/baggage/history/v1.0/tag/0724100001/flightdate/2026-03-14?pnr=ABC123", "/baggage/history/v1.0/0724100001/ABC123", "/ABC123", "/docs/ABC123",
	} {
		ask(t, s, "GET", target, nil, "api_key", demo)
	}
	ask(t, s, "ABC123", "/", nil)
	var routes []string
	for _, entry := range logs.All() {
		text := fmt.Sprint(entry.Message, entry.ContextMap())
		for _, secret := range []string{"0724100001", "ABC123", demo} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is in the log: %s", secret, text)
			}
		}
		fields := entry.ContextMap()
		routes = append(routes, fmt.Sprint(fields["method"], " ", fields["route"], " ", fields["status"], " ", fields["key"]))
		if _, ok := fields["duration"].(time.Duration); !ok || fields["request_id"] == "" {
			t.Errorf("fields %v", fields)
		}
	}
	want := []string{
		"GET /baggage/history/v1.0/tag/{bagtag}/flightdate/{flight_date} 200 demo",
		"GET unmatched 404 ", "GET unmatched 404 ", "GET /docs/ 200 ", "other unmatched 404 ",
	}
	if !slices.Equal(routes, want) {
		t.Errorf("routes %q, want %q", routes, want)
	}
}

func TestCallerWhoLeftIsNoFailureOfTheService(t *testing.T) {
	for name, answer := range map[string]func(c *web.Call, err error) web.Answer{
		"for which it failed": func(c *web.Call, err error) web.Answer { return c.Unavailable(err) },
		"that gets no answer": func(c *web.Call, _ error) web.Answer { return c.OK([]byte(`{}`)) },
	} {
		core, logs := observer.New(zapcore.DebugLevel)
		ctx, cancel := context.WithCancel(context.Background())
		s := site(zap.New(core), history(func(ctx context.Context, c *web.Call) web.Answer {
			cancel()
			return answer(c, ctx.Err())
		}))
		r := httptest.NewRequestWithContext(ctx, "GET", "/baggage/history/v1.0/", nil)
		r.Header.Set("api_key", demo)
		s.ServeHTTP(httptest.NewRecorder(), r)
		if entry := logs.All()[0]; entry.ContextMap()["status"] != int64(499) || entry.Level != zapcore.InfoLevel {
			t.Errorf("%s: %v %v", name, entry.Level, entry.ContextMap())
		}
	}
}
