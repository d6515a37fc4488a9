package kafkadoor_test

import (
	"crypto/tls"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/ingestor"
	"bagtrail/internal/kafka"
	"bagtrail/test/selfsigned"
)

func TestSecuredBrokerIsReached(t *testing.T) {
	certificate, err := selfsigned.New()
	if err != nil {
		t.Fatal(err)
	}
	server := &tls.Config{Certificates: []tls.Certificate{certificate.Certificate}, MinVersion: tls.VersionTLS12}
	client := &tls.Config{RootCAs: certificate.Pool(), MinVersion: tls.VersionTLS12}
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
