package browser_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// The process that answers is killed, while another one ingests.
func TestEventSourceGoesOnAfterTheProcessWasKilled(t *testing.T) {
	needBrowser(t)
	s := startStation(t)
	orders := http.NewServeMux() // of the script
	orders.HandleFunc("POST /send/{round}", func(w http.ResponseWriter, r *http.Request) {
		round, err := strconv.Atoi(r.PathValue("round"))
		if err == nil {
			err = s.send(r.Context(), round)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	orders.HandleFunc("POST /kill", func(http.ResponseWriter, *http.Request) { s.api.Kill() })
	orders.HandleFunc("POST /start", func(http.ResponseWriter, *http.Request) { s.api.Up() })
	control := httptest.NewServer(orders)
	defer control.Close()
	script(t, "stream.mjs", s.api, "SERVICE_KEY="+lxKey, "PROXY_URL="+s.nginx, "CONTROL_URL="+control.URL)
}
