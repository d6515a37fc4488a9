package bagstore_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/internal/bagstore"
	"bagtrail/internal/redis/redistest"
	"bagtrail/test/selfsigned"
	"bagtrail/test/service"
)

func TestTLSTrustsOnlyTheGivenCertificates(t *testing.T) {
	certificate, err := selfsigned.New()
	if err != nil {
		t.Fatal(err)
	}
	file := service.WriteFile(t, "ca.pem", string(certificate.PEM))
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
	at := strings.Replace(master.Addr, ":", " ", 1)
	replica := redistest.StartServer(t, "replicaof "+at)
	sentinel := redistest.StartServer(t, "sentinel monitor blue "+at+" 1", "sentinel down-after-milliseconds blue 1000", "sentinel failover-timeout blue 3000",
		"user bagtrail-sentinel "+strings.Join(rights(t, "bagtrail-sentinel"), " "))
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
		known, errKnown := sentinel.Client(t).Do(context.Background(), "sentinel", "replicas", "blue").Slice()
		return err == nil && errKnown == nil && keys == 3 && len(known) > 0
	})
	master.Kill(t)
	redistest.Eventually(t, 60*time.Second, "the store does not find the new master", func() bool {
		_, err := s.Writer().File(context.Background(), filings)
		return err == nil && complete(t, s, filings) == nil
	})
	if denied, err := sentinel.Client(t).Do(context.Background(), "acl", "log").Slice(); err != nil || len(denied) > 0 {
		t.Errorf("the sentinel denied %v, %v", denied, err)
	}
}
