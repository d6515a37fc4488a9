package command_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"bagtrail/internal/command"
	"bagtrail/test/loopback"
)

func TestHealthAsksTheOpsAddressOfTheConfiguration(t *testing.T) {
	nobody := loopback.Address(t)
	if got := run(t, "", []string{"BAGTRAIL_OPS_ADDR=" + nobody}, "health"); got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, nobody) {
		t.Errorf("nobody there: %+v", got)
	}
	if got := run(t, "", []string{"BAGTRAIL_OPS_ADDR=x"}, "health"); got.code != command.Usage {
		t.Errorf("a fault of the configuration: %+v", got)
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("alive\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "redis is away", http.StatusServiceUnavailable)
	})
	address := loopback.Address(t)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:1") // which is for other machines; these addresses are this one
	for _, address := range []string{address, "0.0.0.0:" + port, ":" + port, "localhost:" + port} {
		env := []string{"BAGTRAIL_OPS_ADDR=" + address}
		if got := run(t, "", env, "health"); got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, "503 Service Unavailable: redis is away") {
			t.Errorf("%s is not ready: %+v", address, got)
		}
		if got := run(t, "", env, "health", "--alive"); got.code != command.Done || got.stdout != "alive\n" {
			t.Errorf("%s is alive: %+v", address, got)
		}
	}
}

func TestHealthOfServe(t *testing.T) {
	s := serve(t)
	if got := run(t, "", s.env, "health"); got.code != command.Done || !strings.Contains(got.stdout, `"ready":true`) || got.stderr != "" {
		t.Errorf("%+v", got)
	}
}
