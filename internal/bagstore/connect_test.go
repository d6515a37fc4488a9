package bagstore_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/internal/bagstore"
	"bagtrail/internal/redis/redistest"
	"bagtrail/test/selfsigned"
)

func TestTLSTrustsOnlyTheGivenCertificates(t *testing.T) {
	certificate, err := selfsigned.New()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, certificate.PEM, 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := miniredis.RunTLS(&tls.Config{Certificates: []tls.Certificate{certificate.Certificate}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	filings := oneBag(3)
	s := open(t, "rediss://"+server.Addr()+"?ca="+file, bagstore.Config{})
	if _, err := s.Writer().File(context.Background(), filings); err != nil {
		t.Fatal(err)
	}
	if err := complete(t, s, filings); err != nil {
		t.Error(err)
	}
	var unknown x509.UnknownAuthorityError
	if err := redistest.Open(t, "rediss://"+server.Addr()).Ready(context.Background()); !errors.As(err, &unknown) {
		t.Errorf("with the certificates of the system: %v", err)
	}
}

// The store uses the master that a sentinel names, also after a failover. Its user has the rights that
// docs/operations.md lists.
func TestSentinelsNameTheMaster(t *testing.T) {
	master := redistest.StartServer(t)
	host, port, err := net.SplitHostPort(master.Addr)
	if err != nil {
		t.Fatal(err)
	}
	replica := redistest.StartServer(t, "--replicaof", host+" "+port)
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, "sentinel monitor blue %s %s 1\nsentinel down-after-milliseconds blue 1000\nsentinel failover-timeout blue 3000\nuser bagtrail-sentinel %s\n", host, port, strings.Join(rights(t, "bagtrail-sentinel"), " ")), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel := redistest.StartSentinel(t, file)
	s := open(t, "redis+sentinel://"+sentinel.Addr+"/blue?sentinel_user=bagtrail-sentinel&sentinel_password=bagtrail-secret", bagstore.Config{})
	filings := oneBag(3)
	if _, err := s.Writer().File(context.Background(), filings); err != nil {
		t.Fatal(err)
	}
	if err := complete(t, s, filings); err != nil {
		t.Error(err)
	}
	redistest.Eventually(t, 20*time.Second, "the sentinel does not know the replica, or the replica the messages", func() bool {
		keys, err := replica.Client(t).DBSize(context.Background()).Result()
		known, errKnown := exec.Command("redis-cli", "-p", sentinel.Port(), "sentinel", "replicas", "blue").Output()
		return err == nil && errKnown == nil && keys == 3 && len(known) > 10
	})
	master.Kill(t)
	redistest.Eventually(t, 60*time.Second, "the store does not find the new master", func() bool {
		_, err := s.Writer().File(context.Background(), filings)
		return err == nil && complete(t, s, filings) == nil
	})
	denied, err := exec.Command("redis-cli", "-p", sentinel.Port(), "acl", "log").Output()
	if err != nil || strings.TrimSpace(string(denied)) != "" {
		t.Errorf("the sentinel denied %s, %v", denied, err)
	}
}
