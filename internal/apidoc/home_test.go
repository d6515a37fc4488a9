package apidoc_test

import (
	"context"
	"html"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/apidoc"
	"bagtrail/internal/web"
)

// The commands on the page answer the three questions, after the message on the page was sent.
func TestTheThreeQuestionsOnThePageAreAnswered(t *testing.T) {
	s := newStack(t)
	page := html.UnescapeString(s.ask("GET", "/", "", "").Body.String())
	message := regexp.MustCompile(`-d '([^']+)'`).FindStringSubmatch(page)
	if message == nil || !strings.Contains(page, "api_key: demo") {
		t.Fatal(page)
	}
	if w := s.ask("POST", "/baggage/processbim/v1.0/", "demo", message[1]); w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	questions := regexp.MustCompile(`http://[^/]+(/baggage/[^<\s]+)</pre>`).FindAllStringSubmatch(page, -1)
	for _, question := range questions {
		if w := s.ask("GET", question[1], "demo", ""); w.Code != 200 || !strings.Contains(w.Body.String(), "0724100001") {
			t.Errorf("%s: %d %s", question[1], w.Code, w.Body)
		}
	}
	if len(questions) != 3 {
		t.Errorf("%d questions", len(questions))
	}
}

// Behind a proxy that ends TLS, a command with http:// would send a key in clear text.
func TestTheCommandsUseTLSIfTheCallerDoes(t *testing.T) {
	home := apidoc.Home{Proxies: web.Proxies{netip.MustParsePrefix("10.0.0.0/8")}}
	site := web.New(web.Settings{Keys: exampleKeys, Log: zap.NewNop(), Clock: time.Now}, nil, apidoc.Pages("test", time.Now, home))
	for _, tc := range []struct{ target, peer, forwarded, scheme string }{
		{"http://bags.example/", "10.0.0.7:1", "https", "https"},
		{"http://bags.example/", "10.0.0.7:1", "http", "http"},
		{"http://bags.example/", "192.0.2.1:1", "https", "http"}, // nobody trusts this peer
		{"https://bags.example/", "192.0.2.1:1", "", "https"},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", tc.target, http.NoBody)
		r.RemoteAddr = tc.peer
		r.Header.Set("X-Forwarded-Proto", tc.forwarded)
		site.ServeHTTP(w, r)
		urls := regexp.MustCompile(`\w+://bags\.example`).FindAllString(w.Body.String(), -1)
		if slices.Sort(urls); len(slices.Compact(urls)) != 1 || urls[0] != tc.scheme+"://bags.example" {
			t.Errorf("%+v: %s", tc, urls)
		}
	}
}

// While a server hangs, it takes a second to find out that the service is not ready. Callers that
// waited for that do not find it out once more, one after the other.
func TestCallersThatWaitedForAnAnswerShareIt(t *testing.T) {
	now, asked := time.Date(2026, 3, 14, 8, 0, 0, 0, time.UTC), 0
	home := apidoc.Home{Ready: func(context.Context) bool {
		asked++
		now = now.Add(time.Second)
		return false
	}}
	pages := apidoc.Pages("test", func() time.Time { return now }, home)
	site := web.New(web.Settings{Keys: exampleKeys, Log: zap.NewNop(), Clock: time.Now}, nil, pages)
	for range 3 {
		w := httptest.NewRecorder()
		if site.ServeHTTP(w, httptest.NewRequest("GET", "/", http.NoBody)); !strings.Contains(w.Body.String(), "The service is not ready") {
			t.Error(w.Body)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

func TestThePageTellsWhatTheServiceIs(t *testing.T) {
	now := time.Date(2026, 3, 14, 8, 0, 0, 0, time.UTC)
	asked, ready := 0, false
	home := apidoc.Home{Console: "/console/", Ready: func(context.Context) bool { asked++; return ready }}
	show := func() string {
		pages := apidoc.Pages("test", func() time.Time { return now }, home)
		site := web.New(web.Settings{Keys: exampleKeys, Log: zap.NewNop(), Clock: time.Now}, nil, pages)
		text := ""
		for range 3 {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", "/", nil)
			r.Host = `bags.example"><b>`
			site.ServeHTTP(w, r)
			text = w.Body.String()
		}
		return text
	}
	has := func(page string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("no %q in %s", text, page)
			}
		}
	}
	page := show()
	has(page, "The service is not ready", `href="/console/"`, "YOUR-KEY", "one of your bags", "http://bags.example")
	if asked != 1 || strings.Contains(page, "<b>") || strings.Contains(page, "processbim") {
		t.Errorf("asked %d times: %s", asked, page)
	}
	home.KnownKey = "well-known"
	has(show(), "in the browser, with the key <code>well-known</code></li>")
	ready, home.Console = true, ""
	page = show()
	has(page, "The service is ready", "well-known", "processbim", "14MAR")
	if strings.Contains(page, "console") || strings.Contains(page, "demo") {
		t.Error(page)
	}
	home.Demo = func() *apidoc.Bag {
		return &apidoc.Bag{Airport: "GVA", Airline: "BA", Flight: "723", Date: "2026-03-15", Plate: "0125000001", PNR: "QQQ111"}
	}
	page = show()
	has(page, "This is a demo", "airport_code/GVA/arr_dep_indicator/D/airline_code/BA/flight_no/723/dep_flight_date/2026-03-15", "tag/0125000001/flightdate/2026-03-15", "pnr/QQQ111/")
	if strings.Contains(page, "processbim") {
		t.Error(page)
	}
}
