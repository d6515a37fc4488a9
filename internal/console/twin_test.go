package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/console"
)

var library = airport.New()

// now is the clock of these tests: 12:32 in Zurich.
var now = time.Date(2026, 11, 22, 11, 32, 0, 0, time.UTC)

// object is a JSON object.
type object = map[string]any

// v1 stands in for the operations of /v1. It keeps what it was asked.
type v1 struct {
	answers map[string]any // by method and path, for a cursor behind it too; an int is the status of a problem, a func gets the body
	asked   []string       // method, target and body
	headers []http.Header
}

func (v *v1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	v.asked = append(v.asked, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+string(body)))
	v.headers = append(v.headers, r.Header)
	answer, known := v.answers[r.Method+" "+r.URL.Path+"?cursor="+r.URL.Query().Get("cursor")]
	if !known {
		answer, known = v.answers[r.Method+" "+r.URL.Path]
	}
	if !known {
		answer = 404
	}
	if answers, isFunc := answer.(func(string) object); isFunc {
		answer = answers(string(body))
	}
	if status, isProblem := answer.(int); isProblem {
		w.WriteHeader(status)
		answer = object{"status": status, "title": http.StatusText(status), "code": "SVCSRV001", "request_id": "7f3c0b52"}
		if status == 403 {
			answer.(object)["detail"] = "No customer is associated with the key"
		}
	}
	if r.URL.Path == "/v1/session" && r.Method != "GET" {
		http.SetCookie(w, &http.Cookie{Name: "bagtrail_session", Value: "of-" + r.Method, Path: "/", HttpOnly: true})
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// newV1 returns the operations with a session that sees everything.
func newV1(answers object) *v1 {
	all := object{"GET /v1/session": object{
		"name": "zrh-ops", "airlines": []string{"*"}, "airports": []string{"ZRH"}, "operations": []string{"*"}, "ends": "2026-11-22T19:00:00.000Z",
	}, "GET /v1/changes": object{"changes": []object{}, "cursor": "c0ffee"}, "POST /v1/bags/search": bagsOf()}
	maps.Copy(all, answers)
	return &v1{answers: all}
}

func newConsole(v http.Handler) *console.Console {
	return console.New(v, library, func() time.Time { return now })
}

// get asks for a page.
func get(c http.Handler, target string, header ...string) *httptest.ResponseRecorder {
	return send(c, httptest.NewRequest("GET", target, nil), header...)
}

// post sends a form.
func post(c http.Handler, target string, form url.Values, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", target, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return send(c, r, header...)
}

// search searches for words.
func search(c http.Handler, words string) *httptest.ResponseRecorder {
	return post(c, "/console/search", url.Values{"q": {words}})
}

// send sends a request with headers, each a name and a value.
func send(c http.Handler, r *http.Request, header ...string) *httptest.ResponseRecorder {
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

const flightPath = "/v1/flights/ZRH/D/LX/14/2026-11-22"

var flightStatuses = []string{"Not Loaded", "Offloaded", "Loaded in Container", "Loaded on Aircraft", "Delayed"}

// bagOnFlight is an entry of the list of a flight.
func bagOnFlight(i int) object {
	return object{
		"plate": fmt.Sprintf("0724%06d", i), "rush": i%50 == 3, "passenger": object{"last_name": "MUELLER", "first_name": "ANNA", "pnr": fmt.Sprintf("ABC%03d", i%1000)},
		"legs": []object{{
			"airline": "LX", "flight": "14", "date": "2026-11-22", "from": "ZRH", "to": "JFK", "living": true, "seat": fmt.Sprintf("%dA", i%60),
			"status": flightStatuses[i%5], "status_since": "2026-11-22T10:52:00.000Z", "status_event": "6f6c14934637c25f65a73fb1c67dcd9d",
		}},
		"last_event": object{
			"code": "LOADED_IN_CONTAINER", "airport": "ZRH", "read_location": "ZRHMAKEUP12",
			"happened": "2026-11-22T10:52:00.000Z", "local": "2026-11-22T11:52:00.000+01:00",
		},
		"stowage_device": "AKE25219LX",
	}
}

// flightOf is the list of a flight with n bags.
func flightOf(n int) object {
	bags, counts := []object{}, map[string]int{}
	for i := range n {
		bags = append(bags, bagOnFlight(i))
		counts[flightStatuses[i%5]]++
	}
	return object{
		"flight": object{
			"airline": "LX", "flight": "14", "date": "2026-11-22", "from": "ZRH", "to": "JFK", "bags": n, "rush": n / 50, "status": counts,
			"departure": object{"scheduled": "2026-11-22T12:10:00.000Z"}, "arrival": object{"scheduled": "2026-11-22T21:00:00.000Z"},
		},
		"bags": bags, "changes_cursor": "c0ffee",
	}
}

// must fails the test unless a page has a status and holds all texts.
func must(t *testing.T, w *httptest.ResponseRecorder, status int, texts ...string) string {
	t.Helper()
	text := w.Body.String()
	if w.Code != status {
		t.Errorf("status %d, want %d: %.300s", w.Code, status, text)
	}
	for _, want := range texts {
		if !strings.Contains(text, want) && !strings.Contains(html.UnescapeString(text), want) {
			_, shown, _ := strings.Cut(text, "<main")
			t.Errorf("no %q in %.2000s", want, shown)
		}
	}
	return text
}

// leadsTo fails the test unless an answer redirects to an address.
func leadsTo(t *testing.T, what string, w *httptest.ResponseRecorder, want string) {
	t.Helper()
	if got := w.Header().Get("Location"); w.Code != 303 || got != want {
		t.Errorf("%s: %d, leads to %q, want %q", what, w.Code, got, want)
	}
}
