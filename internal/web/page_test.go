package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/fault"
	"bagtrail/internal/web"
)

func TestThePageAtTheRootHasNothingBelowIt(t *testing.T) {
	s := web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, nil, []web.Page{{Path: "/", Handler: page().Handler}, page()})
	if w := ask(t, s, "GET", "/", nil); w.Code != 200 || w.Body.String() != "<p>docs</p>" {
		t.Errorf("/: %d %s", w.Code, w.Body)
	}
	for _, path := range []string{"//", "/none", "/index.html", "/document"} {
		if w := ask(t, s, "GET", path, nil); w.Code != 404 || w.Body.String() != failure(fault.UnknownPath) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := ask(t, s, "POST", "/", nil); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /: %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

// A page asks operations in the process. An operator finds what it asked by the id of the page.
func TestWhatAPageAsksHasTheIDOfThePage(t *testing.T) {
	var inside string
	asks := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { inside = r.Header.Get("X-Request-Id") })
	s := web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, nil, []web.Page{{Path: "/console/", Handler: asks, Forms: true}})
	for _, sent := range []string{"", "not sane", "mine"} {
		r, w := httptest.NewRequest("GET", "/console/x", http.NoBody), httptest.NewRecorder()
		if sent != "" {
			r.Header.Set("X-Request-Id", sent)
		}
		if s.ServeHTTP(w, r); inside == "" || inside != w.Header().Get("X-Request-Id") || (sent == "mine") != (inside == sent) {
			t.Errorf("sent %q: inside %q, outside %q", sent, inside, w.Header().Get("X-Request-Id"))
		}
	}
}

// Large pages that are made for their caller count among the large answers: callers that do not read
// them take bounded memory.
func TestLargePagesThatNobodyReadsTakeBoundedMemory(t *testing.T) {
	large := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(make([]byte, 1<<20))
	})
	settings := web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now, AnswerBytes: 3 << 20}
	s := web.New(settings, nil, []web.Page{{Path: "/console/", Handler: large, Forms: true}})
	held := stuckCaller{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ServeHTTP(held, httptest.NewRequest("GET", "/console/x", http.NoBody))
	}()
	<-held.reached
	if w := answer(s, httptest.NewRequest("GET", "/console/x", http.NoBody)); w.Code != 503 || w.Header().Get("Retry-After") == "" || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("beside a page that nobody reads: %d %v", w.Code, w.Header())
	}
	close(held.leave)
	<-done
	if w := answer(s, httptest.NewRequest("GET", "/console/x", http.NoBody)); w.Code != 200 || w.Body.Len() != 1<<20 {
		t.Errorf("after it: %d, %d bytes", w.Code, w.Body.Len())
	}
}
