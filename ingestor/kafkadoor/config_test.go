package kafkadoor_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/ingestor"
	"bagtrail/internal/kafka"
)

func TestSecuredBrokerIsReached(t *testing.T) {
	server, client := certificate(t)
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			w := newBroker(t, kfake.TLS(server), kfake.EnableSASL(),
				kfake.Superuser(mechanism, "user", "secret"), kfake.Superuser("PLAIN", "test", "test"))
			w.client.Transport = &kafkago.Transport{TLS: client, SASL: plain.Mechanism{Username: "test", Password: "test"}}
			w.kafka.TLS = client
			w.kafka.SASL = kafka.SASL{Mechanism: mechanism, Username: "user", Password: "secret"}
			w.open()
			if err := w.door.EnsureTopics(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := w.door.Append(t.Context(), []ingestor.Record{{Raw: message(0), Received: received}}); err != nil {
				t.Fatal(err)
			}
			w.consume()
			w.eventually("the message is in the index", func() bool { return w.index.plates() == 1 })

			w.kafka.SASL.Password = "wrong"
			w.open()
			if err := w.door.Ping(t.Context()); err == nil || strings.Contains(err.Error(), "wrong") {
				t.Errorf("with a wrong password: %v", err)
			}
			w.kafka.SASL.Password, w.kafka.TLS = "secret", &tls.Config{MinVersion: tls.VersionTLS12}
			w.open()
			if err := w.door.Ping(t.Context()); err == nil {
				t.Error("a certificate of an unknown authority was taken")
			}
		})
	}
}

// certificate makes a certificate for loopback, and returns what its server and a client that
// trusts it need.
func certificate(t *testing.T) (server, client *tls.Config) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12},
		&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}
