package web_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/web"
)

// bagsV1 answers with the plate that it was called with.
func bagsV1(serve func(context.Context, *web.Call) web.Answer) web.Operation {
	if serve == nil {
		serve = func(_ context.Context, c *web.Call) web.Answer {
			text, _ := json.Marshal(c.Values)
			return c.OK(fmt.Appendf(c.Buffer, `{"values":%s}`, text))
		}
	}
	return web.Operation{Operation: operation.ByID("listBagsOfPlate"), Limit: time.Second, Serve: serve}
}

// searchV1 answers with the length of its body.
func searchV1() web.Operation {
	return web.Operation{
		Operation: operation.ByID("searchBags"), MaxBody: 1000,
		Serve: func(_ context.Context, c *web.Call) web.Answer {
			return c.OK(fmt.Appendf(c.Buffer, `{"length":%d}`, len(c.Body)))
		},
	}
}

// request makes a request with headers, each of which may be repeated.
func request(method, target, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func answer(s http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// problem returns the status of an answer and the name of its problem, or its body if it is not a
// problem.
func problem(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	if w.Header().Get("Content-Type") != "application/problem+json; charset=utf-8" {
		return fmt.Sprint(w.Code, " ", w.Body)
	}
	var p struct {
		Type, Title, Detail, Code string
		Status                    int
		RequestID                 string `json:"request_id"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if p.Status != w.Code || p.Title == "" || p.Detail == "" || p.RequestID != w.Header().Get("X-Request-Id") || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	return fmt.Sprint(w.Code, " ", strings.TrimPrefix(p.Type, "/docs/problems/"), " ", p.Code)
}

func TestAKeyOfV1StandsInOneOfThreeHeaders(t *testing.T) {
	s := site(zap.NewNop(), bagsV1(nil), history(nil))
	const done, missing, unknown = `200 {"values":["1"]}`, "401 key-missing SVCGBH003", "401 key-unknown SVCGBH004"
	for _, tc := range []struct {
		headers []string
		want    string
	}{
		{[]string{"api_key", demo}, done},
		{[]string{"X-API-Key", demo}, done},
		{[]string{"Authorization", "Bearer " + demo}, done},
		{[]string{"Authorization", "bearer  " + demo + " "}, done},
		{[]string{"Authorization", "Bearer " + demo, "api_key", demo, "X-API-Key", demo}, done},
		{nil, missing},
		{[]string{"Authorization", "Bearer "}, missing},
		{[]string{"Authorization", "Basic " + demo}, missing},
		{[]string{"api_key", "nobody"}, unknown},
		{[]string{"Authorization", "Bearer nobody", "api_key", demo}, unknown},
		{[]string{"Authorization", "Bearer " + demo, "X-API-Key", "nobody"}, unknown},
		{[]string{"Authorization", "Bearer " + demo, "Authorization", "Bearer " + demo}, unknown},
		{[]string{"api_key", demo, "api_key", demo}, unknown},
	} {
		w := answer(s, request("GET", "/v1/bags/1", "", tc.headers...))
		if got := problem(t, w); got != tc.want {
			t.Errorf("%q: %s, want %s", tc.headers, got, tc.want)
		}
		if challenge := w.Header().Get("WWW-Authenticate"); (challenge == "Bearer") != (w.Code == http.StatusUnauthorized) { // RFC 9110, 15.5.2
			t.Errorf("%q: %d with WWW-Authenticate %q", tc.headers, w.Code, challenge)
		}
	}
	if w := answer(s, request("GET", "/baggage/history/v1.0/tag/1", "", "Authorization", "Bearer "+demo)); w.Body.String() != failure(fault.HistoryKeyMissing) {
		t.Errorf("the five operations take a key from Authorization: %s", w.Body)
	}
}

func TestPathsOfV1AreExact(t *testing.T) {
	s := site(zap.NewNop(), bagsV1(nil), searchV1())
	for target, want := range map[string]string{
		"GET /v1/bags/1":            `200 {"values":["1"]}`,
		"GET /v1/bags/%20":          `200 {"values":[" "]}`,
		"GET /v1/bags/1/":           "404 not-found SVCSRV005",
		"GET /v1/bags/1%2F2":        "404 not-found SVCSRV005",
		"GET /v1/bags/":             "404 not-found SVCSRV005",
		"GET /v1":                   "404 not-found SVCSRV005",
		"GET /v1/":                  "404 not-found SVCSRV005",
		"GET /v1/nothing":           "404 not-found SVCSRV005",
		"DELETE /v1/bags/1":         "405 method-not-allowed SVCSRV006",
		"OPTIONS /v1/bags/1":        "405 method-not-allowed SVCSRV006",
		"GET /v1/bags/search":       "405 method-not-allowed SVCSRV006",
		"DELETE /v1/bags/search":    "405 method-not-allowed SVCSRV006",
		"GET /v1beta/bags/1":        "404 " + failure(fault.UnknownPath),
		"GET /v1.0/baggage/history": "404 " + failure(fault.UnknownPath),
	} {
		method, path, _ := strings.Cut(target, " ")
		w := answer(s, request(method, path, "", "api_key", demo))
		if got := problem(t, w); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
		allow := map[string]string{"DELETE /v1/bags/1": "GET", "OPTIONS /v1/bags/1": "GET", "GET /v1/bags/search": "POST", "DELETE /v1/bags/search": "POST"}[target]
		if got := w.Header().Get("Allow"); got != allow {
			t.Errorf("%s: Allow %q, want %q", target, got, allow)
		}
	}
}

func TestAnAnswerOfV1HasATagThatIsAHashOfItsBytes(t *testing.T) {
	large := bytes.Repeat([]byte("x"), 200<<10)
	s := site(zap.NewNop(), bagsV1(func(_ context.Context, c *web.Call) web.Answer {
		if c.Values[0] == "missing" {
			return c.Problem(fault.NotFoundV1, "")
		}
		dst := append(c.Buffer, `{"values":"`...)
		for part := range bytes.Lines(large) {
			dst = c.Part(append(dst, part...))
		}
		return c.OK(append(append(dst, c.Values[0]...), `"}`...))
	}))
	ask := func(plate string, headers ...string) *httptest.ResponseRecorder {
		return answer(s, request("GET", "/v1/bags/"+plate, "", append(headers, "api_key", demo)...))
	}
	whole := ask("1")
	tag := whole.Header().Get("ETag")
	if sum := sha256.Sum256(whole.Body.Bytes()); tag != fmt.Sprintf(`"%x"`, sum[:16]) || whole.Header().Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("%v", whole.Header())
	}
	if other := ask("2").Header().Get("ETag"); other == tag || ask("1").Header().Get("ETag") != tag {
		t.Errorf("%s and %s", other, tag)
	}
	for _, sent := range [][]string{{tag}, {"W/" + tag}, {`"other", ` + tag}, {`"other"`, tag}, {"*"}} {
		var headers []string
		for _, value := range sent {
			headers = append(headers, "If-None-Match", value)
		}
		if w := ask("1", headers...); w.Code != 304 || w.Body.Len() != 0 || w.Header().Get("ETag") != tag || w.Header().Get("Content-Type") != "" {
			t.Errorf("%q: %d, %d bytes, %v", sent, w.Code, w.Body.Len(), w.Header())
		}
	}
	for _, sent := range []string{`"other"`, "", strings.Trim(tag, `"`), `"` + tag} {
		if w := ask("1", "If-None-Match", sent); w.Code != 200 || !bytes.Equal(w.Body.Bytes(), whole.Body.Bytes()) {
			t.Errorf("%q: %d", sent, w.Code)
		}
	}
	if w := ask("missing", "If-None-Match", "*"); w.Code != 404 || w.Header().Get("ETag") != "" {
		t.Errorf("a problem: %d %v", w.Code, w.Header())
	}
}

func TestRateLimitOfV1IsToldAsTheDraftHasIt(t *testing.T) {
	store := storeOf(t, "secret-of-slow", "name: slow, customer: S, rate: 0.5, burst: 2")
	now := time.Unix(1_800_000_000, 0)
	s := web.New(web.Settings{Keys: store, Log: zap.NewNop(), Clock: func() time.Time { return now }}, []web.Operation{bagsV1(nil)}, nil)
	tag := answer(s, request("GET", "/v1/bags/1", "", "api_key", "secret-of-slow")).Header().Get("ETag")
	for _, want := range []string{
		`304 "key";q=2;w=4 "key";r=0;t=4  `, `429 rate-limit SVCSRV007 "key";q=2;w=4 "key";r=0;t=4 2`,
	} {
		w := answer(s, request("GET", "/v1/bags/1", "", "api_key", "secret-of-slow", "If-None-Match", tag))
		h := w.Header()
		if got := fmt.Sprint(problem(t, w), " ", h.Get("RateLimit-Policy"), " ", h.Get("RateLimit"), " ", h.Get("Retry-After")); strings.Join(strings.Fields(got), " ") != strings.TrimSpace(want) {
			t.Errorf("%s, want %s", got, want)
		}
		if h.Get("RateLimit-Limit") != "" {
			t.Errorf("%v", h)
		}
	}
}

func TestPagesOfOtherOriginsAreLetInByTheSettingOnly(t *testing.T) {
	settings := web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}
	operations := []web.Operation{bagsV1(nil), searchV1(), history(nil)}
	closed := web.New(settings, operations, nil)
	settings.Origins = []string{"https://ops.example"}
	open := web.New(settings, operations, nil)
	asked := func(s http.Handler, method, target, origin string) http.Header {
		return answer(s, request(method, target, "", "Origin", origin, "api_key", demo, "Access-Control-Request-Method", "POST")).Header()
	}
	if h := asked(open, "GET", "/v1/bags/1", "https://ops.example"); h.Get("Access-Control-Allow-Origin") != "https://ops.example" ||
		!strings.Contains(h.Get("Access-Control-Expose-Headers"), "ETag") || h.Get("Vary") != "Origin" || h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%v", h)
	}
	w := answer(open, request("OPTIONS", "/v1/bags/search", "", "Origin", "https://ops.example"))
	if h := w.Header(); w.Code != 204 || w.Body.Len() != 0 || h.Get("Access-Control-Allow-Methods") != "POST" ||
		!strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization") || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Last-Event-ID") || h.Get("Access-Control-Max-Age") == "" {
		t.Errorf("%d %v", w.Code, h)
	}
	for _, h := range []http.Header{
		asked(closed, "GET", "/v1/bags/1", "https://ops.example"),
		asked(closed, "OPTIONS", "/v1/bags/1", "https://ops.example"),
		asked(open, "GET", "/v1/bags/1", "https://evil.example"),
		asked(open, "OPTIONS", "/v1/bags/1", "https://ops.example.evil.example"),
		asked(open, "GET", "/v1/bags/1", "null"),
		asked(open, "GET", "/baggage/history/v1.0/tag/1", "https://ops.example"),
		asked(open, "OPTIONS", "/baggage/history/v1.0/tag/1", "https://ops.example"),
	} {
		for name := range h {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s in %v", name, h)
			}
		}
	}
}

func TestABodyOfV1HasOneContentTypeAndALimit(t *testing.T) {
	s := site(zap.NewNop(), searchV1())
	const unsupported = "415 unsupported-media-type "
	for _, tc := range []struct {
		body    string
		headers []string
		want    string
	}{
		{"{}", []string{"Content-Type", "application/json"}, `200 {"length":2}`},
		{"{}", []string{"Content-Type", "Application/JSON; charset=UTF-8"}, `200 {"length":2}`},
		{strings.Repeat(" ", 1000), []string{"Content-Type", "application/json"}, `200 {"length":1000}`},
		{strings.Repeat(" ", 1001), []string{"Content-Type", "application/json"}, "413 too-large SVCSRV003"},
		{"{}", nil, unsupported},
		{"{}", []string{"Content-Type", "text/plain"}, unsupported},
		{"{}", []string{"Content-Type", "application/x-www-form-urlencoded"}, unsupported},
		{"{}", []string{"Content-Type", "application/json", "Content-Type", "application/json"}, unsupported},
		{"{}", []string{"Content-Type", "application/json; ="}, unsupported},
		{"{}", []string{"Content-Type", "application/json", "Content-Encoding", "gzip"}, unsupported},
	} {
		w := answer(s, request("POST", "/v1/bags/search", tc.body, append(tc.headers, "api_key", demo)...))
		if got := problem(t, w); got != tc.want || w.Header().Get("ETag") != "" {
			t.Errorf("%q: %s, want %s", tc.headers, got, tc.want)
		}
		encoded := slices.Contains(tc.headers, "Content-Encoding")
		if strings.Contains(w.Body.String(), "Expected a body without Content-Encoding") != encoded {
			t.Errorf("%q: %s", tc.headers, w.Body)
		}
	}
	cut := request("POST", "/v1/bags/search", "", "api_key", demo, "Content-Type", "application/json")
	cut.Body, cut.ContentLength = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)), 10
	if got := problem(t, answer(s, cut)); got != "400 invalid-request " {
		t.Errorf("a body that was cut off: %s", got)
	}
	chunked := request("POST", "/v1/bags/search", strings.Repeat(" ", 5000), "api_key", demo, "Content-Type", "application/json")
	chunked.ContentLength = -1
	if got := problem(t, answer(s, chunked)); got != "413 too-large SVCSRV003" {
		t.Errorf("a body of unknown length: %s", got)
	}
}

// Otherwise the sender of {"secret": "…"} would believe that the webhook has that secret.
func TestAnOperationWithoutABodyRefusesOne(t *testing.T) {
	op := searchV1()
	op.Operation = operation.ByID("rotateWebhookSecret")
	s := site(zap.NewNop(), op)
	const refused = "400 invalid-request "
	for body, want := range map[string]string{
		"": `200 {"length":0}`, "{}": `200 {"length":2}`, " {}\n": `200 {"length":4}`,
		`{"secret":"x"}`: refused, "{": refused, "[]": refused, "null": refused, strings.Repeat(" ", 1001): refused,
	} {
		for _, length := range []int64{int64(len(body)), -1} {
			r := request("POST", "/v1/webhooks/wh_1/secret", body, "api_key", demo)
			r.ContentLength = length
			if got := problem(t, answer(s, r)); got != want {
				t.Errorf("%.20q: %s, want %s", body, got, want)
			}
		}
	}
	cut := request("POST", "/v1/webhooks/wh_1/secret", "", "api_key", demo)
	cut.Body, cut.ContentLength = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)), 10
	if got := problem(t, answer(s, cut)); got != refused {
		t.Errorf("a body that was cut off: %s, want %s", got, refused)
	}
}

func TestV1AnswersTroubleWithProblems(t *testing.T) {
	for want, serve := range map[string]func(context.Context, *web.Call) web.Answer{
		"500 internal SVCSRV008":    func(context.Context, *web.Call) web.Answer { panic("defect") },
		"503 unavailable SVCSRV001": func(_ context.Context, c *web.Call) web.Answer { return c.Unavailable(errors.New("away")) },
		"403 not-authorised ":       func(_ context.Context, c *web.Call) web.Answer { return c.NotAuthorised() },
	} {
		w := answer(site(zap.NewNop(), bagsV1(serve)), request("GET", "/v1/bags/1", "", "api_key", demo))
		if got := problem(t, w); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if again := w.Header().Get("Retry-After") != ""; again != (w.Code == 503) {
			t.Errorf("%s: Retry-After %v", want, again)
		}
	}
}

func TestEveryFaultOfARequestIsToldWithWhatWasSent(t *testing.T) {
	s := site(zap.NewNop(), bagsV1(func(_ context.Context, c *web.Call) web.Answer {
		return c.Invalid([]web.RequestError{
			{Parameter: "date", Cause: fault.Malformed, Got: `"tomorrow"`, Expected: "a date"},
			{Pointer: "/plate/0", Cause: fault.Unknown, Got: strings.Repeat("é", 200)},
		})
	}))
	r := request("GET", "/v1/bags/1", "", "api_key", demo, "X-Request-Id", "mine")
	want := `{"type":"/docs/problems/invalid-request","title":"The request has faults","status":400,"detail":"2 faults","request_id":"mine","errors":[` +
		`{"parameter":"date","code":"malformed","detail":"` + fault.Malformed.Detail + `","got":"\"tomorrow\"","expected":"a date"},` +
		`{"pointer":"/plate/0","code":"unknown","detail":"` + fault.Unknown.Detail + `","got":"` + strings.Repeat("é", 50) + `…"}]}`
	if w := answer(s, r); w.Code != 400 || w.Body.String() != want {
		t.Errorf("%d %s\nwant %s", w.Code, w.Body, want)
	}
}

func TestALargeBodyIsCountedAsItArrives(t *testing.T) {
	op := searchV1()
	op.MaxBody = 1 << 20
	settings := web.Settings{Keys: mayPost, Log: zap.NewNop(), Clock: time.Now, AnswerBytes: 200 << 10}
	s := web.New(settings, []web.Operation{op}, nil)
	post := func(size int, length int64) string {
		r := request("POST", "/v1/bags/search", strings.Repeat(" ", size), "api_key", demo, "Content-Type", "application/json")
		r.ContentLength = length
		return problem(t, answer(s, r))
	}
	for range 3 { // each answer returns the memory that it took
		if got := post(80<<10, 80<<10); got != `200 {"length":81920}` {
			t.Errorf("a body for which there is room: %s", got)
		}
	}
	const crowded = "503 unavailable SVCSRV001"
	if got := post(200<<10, 200<<10); got != crowded {
		t.Errorf("a body for which there is no room: %s", got)
	}
	if got := post(200<<10, -1); got != crowded {
		t.Errorf("a body of unknown length for which there is no room: %s", got)
	}
	if got := post(10, -1); got != `200 {"length":10}` {
		t.Errorf("a body of unknown length: %s", got)
	}
	if got := post(60<<10, 60<<10); got != `200 {"length":61440}` {
		t.Errorf("a small body: %s", got)
	}
}
