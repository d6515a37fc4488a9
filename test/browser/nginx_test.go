package browser_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/internal/redis/redistest"
	"bagtrail/test/loopback"
	"bagtrail/test/selfsigned"
	"bagtrail/test/service"
)

// Two processes are restarted one right after the other, behind an nginx with the settings that
// docs/operations.md gives. With those of Debian, nginx would leave the first one alone for ten
// seconds after it refused a connection, and find nobody once the second one stops.
func TestARollingRestartBehindNginxFailsNoRequest(t *testing.T) {
	needBrowser(t)
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```nginx\n")
	block, _, _ = strings.Cut(block, "```")
	certificate, err := selfsigned.New()
	if err != nil {
		t.Fatal(err)
	}
	address := loopback.Address(t)
	settings := []string{
		"BAGTRAIL_KAFKA_BROKERS=off", "BAGTRAIL_REDIS_URL=" + redistest.StartServer(t).URL(""), "BAGTRAIL_KEYS_FILE=" + lxKeyFile(t),
	}
	processes := []*service.Service{service.StartCommand(t, []string{"api"}, settings...), service.StartCommand(t, []string{"api"}, settings...)}
	for from, to := range map[string]string{
		"10.0.0.1:8080":                 strings.TrimPrefix(processes[0].URL, "http://"),
		"10.0.0.2:8080":                 strings.TrimPrefix(processes[1].URL, "http://"),
		"listen 443":                    "listen " + address,
		"/etc/ssl/certs/bagtrail.pem":   service.WriteFile(t, "certificate.pem", string(certificate.PEM)),
		"/etc/ssl/private/bagtrail.key": service.WriteFile(t, "key.pem", string(certificate.KeyPEM)),
	} {
		if strings.Count(block, from) != 1 {
			t.Fatalf("the page does not have %q once", from)
		}
		block = strings.Replace(block, from, to, 1)
	}
	startNginx(t, address, block)

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: certificate.Pool()}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	stop := make(chan struct{})
	var good atomic.Int64
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				request, _ := http.NewRequest(http.MethodGet, "https://"+address+"/v1/status", nil)
				request.Header.Set("api_key", lxKey)
				answer, err := client.Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				_ = answer.Body.Close()
				if answer.StatusCode != http.StatusOK {
					t.Errorf("status %d", answer.StatusCode)
					return
				}
				good.Add(1)
			}
		})
	}
	for range 2 {
		for i, p := range processes {
			before := good.Load()
			if code := p.Stop(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if !processes[1-i].Until(10*time.Second, func() bool { return t.Failed() || good.Load() > before+20 }) { // nginx has met the closed port
				t.Error("the other process gets no requests")
			}
			p.Up()
		}
	}
	close(stop)
	callers.Wait()
	t.Logf("%d requests were answered", good.Load())
}
