package web_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/internal/web"
)

// A page of another name may have that name resolve to loopback (DNS rebinding).
func TestTheDevelopmentKeyIsOfNoUseToPagesOfPublicNames(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	var counted []int
	s := web.New(web.Settings{
		Keys: testKeys, Log: zap.New(core), Clock: time.Now, LocalNamesOnly: true,
		Observe: func(_, _ string, status int, _ time.Duration) { counted = append(counted, status) },
	}, []web.Operation{history(nil)}, []web.Page{page()})
	for host, want := range map[string]bool{
		"localhost:8080": true, "127.0.0.1:8080": true, "[::1]:8080": true, "bagtrail": true, "a.localhost": true, "": true,
		"localhost.": true, "a.localhost.:8080": true, "evil.examplelocalhost": false,
		"evil.example": false, "evil.example:8080": false, "127.0.0.1.evil.example": false, "evil.example.": false,
	} {
		for _, path := range []string{"/docs/", "/nowhere", "/v1/nowhere", "/baggage/history/v2.0/"} {
			r := httptest.NewRequest(http.MethodPost, path, http.NoBody)
			r.Host = host
			r.Header.Set("X-Request-Id", "mine")
			w := httptest.NewRecorder()
			counted = nil
			s.ServeHTTP(w, r)
			if allowed := w.Code != http.StatusMisdirectedRequest; allowed != want || w.Header().Get("X-Request-Id") != "mine" {
				t.Errorf("%q, %s: %d, %v", host, path, w.Code, w.Header())
			}
			logged := logs.TakeAll()
			if len(logged) != 1 || logged[0].ContextMap()["status"] != int64(w.Code) || logged[0].ContextMap()["request_id"] != "mine" {
				t.Errorf("%q, %s: logged %v", host, path, logged)
			}
			if !slices.Equal(counted, []int{w.Code}) {
				t.Errorf("%q, %s: counted %v", host, path, counted)
			}
		}
	}
}
