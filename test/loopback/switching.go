package loopback

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// SwitchingServer returns the URL of a server that answers each request with 101, switching protocols,
// and then keeps the connection open until the test ends. To a client the connection is the body of
// the answer: no time limit of the client ends it.
func SwitchingServer(t testing.TB) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	}))
	t.Cleanup(server.Close)
	return server.URL
}
