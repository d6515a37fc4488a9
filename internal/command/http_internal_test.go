package command

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A page of another name may have that name resolve to loopback (DNS rebinding).
func TestTheDevelopmentKeyIsOfNoUseToPagesOfPublicNames(t *testing.T) {
	handler := ownNamesOnly(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"localhost:8080": 200, "127.0.0.1:8080": 200, "[::1]:8080": 200, "bagtrail": 200, "a.localhost": 200, "": 200,
		"evil.example": 421, "evil.example:8080": 421, "127.0.0.1.evil.example": 421, "evil.example.": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Host = host
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%q: %d", host, w.Code)
		}
	}
}
