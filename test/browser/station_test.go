package browser_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/redis/redistest"
	"bagtrail/test/loopback"
	"bagtrail/test/service"
)

// station is a service of two processes: one ingests, the other answers and is killed. An nginx with
// the defaults of Debian is in front of it.
type station struct {
	t      *testing.T
	api    *service.Service
	writer *kafka.Writer
	nginx  string // URL
}

// lxKey is the only key of a station. It sees the bags of LX.
const lxKey = "key-of-lx"

// lxKeyFile returns the path of a key file with the key of LX alone.
func lxKeyFile(t *testing.T) string {
	t.Helper()
	return service.WriteFile(t, "keys.yaml", "keys:\n"+service.KeyEntry("lx", lxKey, ", customer: LX, airlines: [LX]"))
}

// plates are on a flight of LX. A station also gets messages about bags of BA.
const plates = 30

func startStation(t *testing.T) *station {
	t.Helper()
	ports, err := loopback.Ports(1)
	if err != nil {
		t.Fatal(err)
	}
	broker := kafkatest.Start(t, kfake.Ports(ports[0])).ListenAddrs()[0]
	settings := []string{
		"BAGTRAIL_KAFKA_BROKERS=" + broker, "BAGTRAIL_REDIS_URL=" + redistest.StartServer(t).URL(""),
		"BAGTRAIL_KEYS_FILE=" + lxKeyFile(t), "BAGTRAIL_SECRET=" + strings.Repeat("secret", 6),
	}
	service.StartCommand(t, []string{"ingest"}, settings...)
	s := &station{t: t, api: service.StartCommand(t, []string{"api"}, settings...)}
	s.writer = &kafka.Writer{
		Addr: kafka.TCP(broker), Topic: "bim.raw", RequiredAcks: kafka.RequireAll, BatchTimeout: time.Millisecond,
		Balancer: kafka.Murmur2Balancer{}, Transport: &kafka.Transport{},
	}
	t.Cleanup(func() { _ = s.writer.Close() })
	address := loopback.Address(t)
	startNginx(t, address, fmt.Sprintf("server { listen %s; location / { proxy_pass %s; } }", address, s.api.URL))
	s.nginx = "http://" + address
	told := func() bool {
		got, err := s.api.TryDo(http.MethodGet, s.nginx+"/v1/changes", nil, "api_key", "", "X-Api-Key", lxKey)
		return err == nil && got.Status == http.StatusOK
	}
	if !s.api.Until(30*time.Second, told) {
		t.Fatal("no changes are told")
	}
	return s
}

// startNginx starts an nginx with servers, which listens at an address. All other settings are
// those of Debian.
func startNginx(t *testing.T, address, servers string) {
	t.Helper()
	program := os.Getenv("BAGTRAIL_TEST_NGINX")
	if program == "" {
		t.Fatal("BAGTRAIL_TEST_NGINX names no nginx")
	}
	dir := t.TempDir()
	conf := fmt.Sprintf(`
		daemon off; master_process off; pid nginx.pid; error_log stderr;
		events {}
		http {
			gzip on; access_log off;
			client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
			%s
		}`, servers)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd := exec.CommandContext(t.Context(), program, "-p", dir+"/", "-c", "nginx.conf")
	cmd.Stderr = &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Wait() // the context of the test has ended it
		if t.Failed() {
			t.Logf("log of nginx:\n%s", log.String())
		}
	})
	redistest.Eventually(t, 10*time.Second, "nginx does not listen", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// send produces a message about each plate. In round 0 the bags are checked in. In each later round
// they are sorted, which is an event of its own.
func (s *station) send(ctx context.Context, round int) error {
	now := time.Now().UTC()
	day := strings.ToUpper(now.Format("02Jan"))
	var messages []kafka.Message
	for i := range 2 * plates {
		plate, flight := fmt.Sprintf("0724%06d", i), "LX500"
		if i >= plates {
			plate, flight = fmt.Sprintf("0125%06d", i), "BA500"
		}
		text := fmt.Sprintf("BSM\n.V/1LZRH\n.F/%s/%s/JFK\n.N/%s001\n.P/MUELLER\nENDBSM\n", flight, day, plate)
		if round > 0 {
			text = fmt.Sprintf("BPM\n.V/1LZRH\n.J/S///%s/%02d00Z/BELT%d\n.F/%s/%s/JFK\n.N/%s001\nENDBPM\n", day, now.Hour(), round, flight, day, plate)
		}
		messages = append(messages, kafka.Message{Key: []byte(plate), Value: []byte(text)})
	}
	return s.writer.WriteMessages(ctx, messages...)
}
