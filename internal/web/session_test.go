package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/apikey"
	"bagtrail/internal/fault"
	"bagtrail/internal/session"
	"bagtrail/internal/web"
)

// Named implements apikey.ByName.
func (k keys) Named(name string, now time.Time) (*apikey.Key, bool) {
	for _, key := range k {
		if key.Name == name {
			return key, key.State(now) == "active"
		}
	}
	return nil, false
}

// endings implements session.Ended.
type endings struct {
	ended map[string]bool
	err   error
}

func (e *endings) End(_ context.Context, _, id string, _ time.Time) error {
	if e.err == nil {
		e.ended[id] = true
	}
	return e.err
}

func (e *endings) Ended(_ context.Context, _, id string) (bool, error) { return e.ended[id], e.err }

// world is a site with sessions, and what tests change in it.
type world struct {
	*web.Site
	now     time.Time
	endings *endings
	key     *apikey.Key // demo
}

func sessionWorld() *world {
	w := &world{now: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), endings: &endings{ended: map[string]bool{}}}
	w.key = &apikey.Key{Name: "demo", Airlines: apikey.Scope{Codes: []string{"LX", "WK"}}, Airports: apikey.Scope{All: true}, Operations: apikey.Scope{All: true}}
	all, clock := keys{demo: w.key}, func() time.Time { return w.now }
	sessions := session.New(all, []byte("signing"), w.endings)
	proxies := web.Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	w.Site = web.New(web.Settings{
		Keys: all, Log: zap.NewNop(), Clock: clock, Sessions: sessions, Proxies: proxies, Origins: []string{"https://ops.example"},
	}, append(web.SessionOperations(), bagsV1(nil), searchV1(), history(nil)), nil)
	return w
}

// begin begins a session and returns its cookie.
func (w *world) begin(t *testing.T) *http.Cookie {
	t.Helper()
	got := answer(w, request("POST", "/v1/session", "", "api_key", demo))
	if cookies := got.Result().Cookies(); got.Code == http.StatusOK && len(cookies) == 1 {
		return cookies[0]
	}
	t.Fatalf("%d %v %s", got.Code, got.Header(), got.Body)
	return nil
}

// ask sends a request with a session and returns the problem or the answer.
func (w *world) ask(t *testing.T, cookie *http.Cookie, method, target string, headers ...string) string {
	t.Helper()
	r := request(method, target, "", headers...)
	r.AddCookie(cookie)
	return problem(t, answer(w, r))
}

const (
	plate = `200 {"values":["1"]}`
	ended = "401 key-unknown SVCGBH004"
)

func TestASessionCookieIsForTheServerAlone(t *testing.T) {
	w := sessionWorld()
	got := w.begin(t)
	if got.Name != "bagtrail_session" || got.Path != "/" || got.Domain != "" || !got.HttpOnly || got.SameSite != http.SameSiteLaxMode || got.Secure || got.MaxAge != 8*3600 {
		t.Errorf("%+v", got)
	}
	w.key.Expires = w.now.Add(time.Minute)
	if got := w.begin(t); got.MaxAge != 60 {
		t.Errorf("%+v", got)
	}
	for _, tc := range []struct {
		url, from, proto string
		secure           bool
	}{
		{"https://localhost/v1/session", "192.0.2.1:1", "", true},
		{"/v1/session", "10.0.0.1:1", "https", true},
		{"/v1/session", "10.0.0.1:1", "http", false},
		{"/v1/session", "192.0.2.1:1", "https", false},
	} {
		r := request("POST", tc.url, "", "api_key", demo, "X-Forwarded-Proto", tc.proto)
		r.RemoteAddr = tc.from
		if cookies := answer(w, r).Result().Cookies(); len(cookies) != 1 || cookies[0].Secure != tc.secure {
			t.Errorf("%+v: %+v", tc, cookies)
		}
	}
}

func TestASessionTellsItsKeyAndItsEnd(t *testing.T) {
	w := sessionWorld()
	cookie := w.begin(t)
	const key = `200 {"name":"demo","airlines":["LX","WK"],"airports":["*"],"operations":["*"]`
	if got := w.ask(t, cookie, "GET", "/v1/session"); got != key+`,"ends":"2026-03-14T20:00:00.000Z"}` {
		t.Error(got)
	}
	if got := w.ask(t, cookie, "GET", "/v1/session", "api_key", demo); got != key+"}" {
		t.Errorf("with a key too: %s", got)
	}
	if got := w.ask(t, cookie, "GET", "/v1/session?x=1"); got != "400 invalid-request " {
		t.Error(got)
	}
}

func TestASessionReplacesTheKeyUnderV1Alone(t *testing.T) {
	w := sessionWorld()
	cookie := w.begin(t)
	if got := w.ask(t, cookie, "GET", "/v1/bags/1"); got != plate {
		t.Error(got)
	}
	if got := w.ask(t, cookie, "POST", "/v1/session"); got != "401 key-missing SVCGBH003" {
		t.Errorf("a session makes another one: %s", got)
	}
	if got := w.ask(t, cookie, "GET", "/baggage/history/v1.0/tag/1"); got != "400 "+failure(fault.HistoryKeyMissing) {
		t.Errorf("the five operations take a session: %s", got)
	}
	if got := w.ask(t, cookie, "GET", "/v1/bags/1", "api_key", "nobody"); got != ended {
		t.Errorf("a session replaces a wrong key: %s", got)
	}
	r := request("GET", "/v1/bags/1", "")
	r.AddCookie(cookie)
	r.AddCookie(cookie)
	if got := problem(t, answer(w, r)); got != ended {
		t.Errorf("two cookies: %s", got)
	}
}

func TestASessionThatHasEndedIsRefused(t *testing.T) {
	for what, end := range map[string]func(*world, *http.Cookie){
		"expired":         func(w *world, _ *http.Cookie) { w.now = w.now.Add(8 * time.Hour) },
		"key revoked":     func(w *world, _ *http.Cookie) { w.key.Revoked = true },
		"key expired":     func(w *world, _ *http.Cookie) { w.key.Expires = w.now },
		"forged":          func(_ *world, c *http.Cookie) { c.Value = "A" + c.Value[1:] + "A" },
		"cut":             func(_ *world, c *http.Cookie) { c.Value = c.Value[:len(c.Value)/2] },
		"empty":           func(_ *world, c *http.Cookie) { c.Value = "" },
		"the key instead": func(_ *world, c *http.Cookie) { c.Value = demo },
	} {
		w := sessionWorld()
		cookie := w.begin(t)
		if got := w.ask(t, cookie, "GET", "/v1/bags/1"); got != plate {
			t.Fatal(got)
		}
		end(w, cookie)
		for range 30 { // a browser that goes on asking is not taken for one that guesses keys
			if got := w.ask(t, cookie, "GET", "/v1/bags/1"); got != ended {
				t.Fatalf("%s: %s", what, got)
			}
		}
	}
}

func TestDeleteEndsTheSessionAndRemovesTheCookie(t *testing.T) {
	w := sessionWorld()
	cookie, other := w.begin(t), w.begin(t)
	if got := problem(t, answer(w, request("DELETE", "/v1/session", "", "api_key", demo))); got != "404 not-found SVCSRV005" {
		t.Errorf("without a session: %s", got)
	}
	withKey := w.begin(t)
	if got := w.ask(t, withKey, "DELETE", "/v1/session", "api_key", demo); got != "204 " {
		t.Errorf("with a key too: %s", got)
	}
	if got := w.ask(t, withKey, "GET", "/v1/bags/1"); got != ended {
		t.Errorf("ended with a key too: %s", got)
	}
	r := request("DELETE", "/v1/session", "")
	r.AddCookie(cookie)
	got := answer(w, r)
	if cookies := got.Result().Cookies(); got.Code != http.StatusNoContent || len(cookies) != 1 || cookies[0].MaxAge >= 0 || cookies[0].Value != "" || cookies[0].Path != "/" {
		t.Errorf("%d %v %s", got.Code, got.Header(), got.Body)
	}
	if got := w.ask(t, cookie, "GET", "/v1/bags/1"); got != ended {
		t.Error(got)
	}
	for _, tc := range []struct {
		method, key string
		status      int
		removed     bool
	}{{"GET", "", 401, false}, {"DELETE", "", 401, true}, {"DELETE", demo, 404, true}} { // it has ended
		r := request(tc.method, "/v1/session", "", "api_key", tc.key)
		r.AddCookie(cookie)
		got := answer(w, r)
		if cookies := got.Result().Cookies(); got.Code != tc.status || (len(cookies) == 1 && cookies[0].MaxAge < 0) != tc.removed {
			t.Errorf("%+v: %d %v", tc, got.Code, cookies)
		}
	}
	first, second := w.begin(t), w.begin(t)
	r = request("DELETE", "/v1/session", "")
	r.AddCookie(first)
	r.AddCookie(second)
	if got := answer(w, r); got.Code != http.StatusNoContent || len(got.Result().Cookies()) != 1 {
		t.Errorf("two sessions: %d %v %s", got.Code, got.Header(), got.Body)
	}
	for i, cookie := range []*http.Cookie{first, second} {
		if got := w.ask(t, cookie, "GET", "/v1/bags/1"); got != ended {
			t.Errorf("session %d of two: %s", i, got)
		}
	}
	w.endings.err = errors.New("away")
	if got := w.ask(t, other, "GET", "/v1/bags/1"); got != "503 unavailable SVCSRV001" {
		t.Errorf("if it is not known whether the session was ended: %s", got)
	}
}

// Each process reads the key file by itself, so one may know a key that another does not know yet.
func TestDeleteEndsASessionWhoseKeyTheProcessDoesNotKnow(t *testing.T) {
	w := sessionWorld()
	cookie := w.begin(t)
	older := web.New(web.Settings{
		Keys: keys{}, Log: zap.NewNop(), Clock: func() time.Time { return w.now }, Sessions: session.New(keys{}, []byte("signing"), w.endings),
	}, web.SessionOperations(), nil)
	r := request("DELETE", "/v1/session", "")
	r.AddCookie(cookie)
	if got := problem(t, answer(older, r)); got != "204 " {
		t.Error(got)
	}
	if got := w.ask(t, cookie, "GET", "/v1/bags/1"); got != ended {
		t.Errorf("the session goes on: %s", got)
	}
}

func TestPagesOfOtherOriginsCannotUseASession(t *testing.T) {
	w := sessionWorld()
	cookie := w.begin(t)
	json := []string{"Content-Type", "application/json"}
	const taken, crossed = `200 {"length":0}`, "403 cross-origin "
	for _, tc := range []struct {
		headers []string
		want    string
	}{
		{nil, taken}, // no browser
		{[]string{"Sec-Fetch-Site", "same-origin"}, taken},
		{[]string{"Origin", "http://example.com"}, taken},
		{[]string{"Sec-Fetch-Site", "cross-site"}, crossed},
		{[]string{"Sec-Fetch-Site", "same-site"}, crossed},
		{[]string{"Origin", "https://evil.example"}, crossed},
		{[]string{"Origin", "null"}, crossed},
		{[]string{"Origin", "https://ops.example"}, crossed},
		{[]string{"Origin", "https://ops.example", "api_key", demo}, taken},
	} {
		if got := w.ask(t, cookie, "POST", "/v1/bags/search", append(tc.headers, json...)...); got != tc.want {
			t.Errorf("%q: %s, want %s", tc.headers, got, tc.want)
		}
	}
	for _, form := range []string{"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"} {
		got := w.ask(t, cookie, "POST", "/v1/bags/search", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Content-Type", form)
		if got != crossed {
			t.Errorf("a forged form of %s: %s", form, got)
		}
	}
	if got := w.ask(t, cookie, "DELETE", "/v1/session", "Sec-Fetch-Site", "cross-site"); got != crossed {
		t.Errorf("a forged end: %s", got)
	}
	if got := w.ask(t, &http.Cookie{Name: session.Cookie, Value: "x"}, "DELETE", "/v1/session", "Sec-Fetch-Site", "cross-site"); got != crossed {
		t.Errorf("a forged end of an unknown session: %s", got)
	}
	if got := problem(t, answer(w, request("POST", "/v1/session", "", "api_key", demo, "Origin", "https://ops.example"))); got != crossed {
		t.Errorf("a session that a page of another origin begins: %s", got)
	}
	r := request("GET", "/v1/bags/1", "", "Origin", "https://ops.example")
	r.AddCookie(cookie)
	if got := answer(w, r); got.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("headers %v", got.Header())
	}
}

func TestASessionHasTheRateOfItsKey(t *testing.T) {
	w := sessionWorld()
	keys := storeOf(t, demo, "name: demo, rate: 1, burst: 3")
	sessions := session.New(keys, []byte("signing"), w.endings)
	clock := func() time.Time { return w.now }
	w.Site = web.New(web.Settings{Keys: keys, Log: zap.NewNop(), Clock: clock, Sessions: sessions},
		append(web.SessionOperations(), bagsV1(nil)), nil)
	cookie := w.begin(t)
	for i, want := range []string{plate, plate, "429 rate-limit SVCSRV007"} {
		if got := w.ask(t, cookie, "GET", "/v1/bags/1"); got != want {
			t.Errorf("request %d: %s, want %s", i, got, want)
		}
	}
	if got := problem(t, answer(w, request("GET", "/v1/bags/1", "", "api_key", demo))); got != "429 rate-limit SVCSRV007" {
		t.Errorf("the key: %s", got)
	}
}

func TestWithoutASecretThereAreNoSessions(t *testing.T) {
	s := site(zap.NewNop(), append(web.SessionOperations(), bagsV1(nil))...)
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if got := problem(t, answer(s, request(method, "/v1/session", "", "api_key", demo))); got != "501 not-configured " {
			t.Errorf("%s: %s", method, got)
		}
	}
	r := httptest.NewRequest("GET", "/v1/bags/1", nil)
	r.AddCookie(&http.Cookie{Name: session.Cookie, Value: "x"})
	if got := problem(t, answer(s, r)); got != "401 key-missing SVCGBH003" {
		t.Errorf("a cookie without sessions: %s", got)
	}
}
