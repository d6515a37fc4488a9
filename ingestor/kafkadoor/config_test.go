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

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
)

func TestEveryFaultOfTheConfigurationIsReportedBeforeAnythingStarts(t *testing.T) {
	good := func() kafkadoor.Config {
		return kafkadoor.Config{Brokers: []string{"a:9092"}, Group: "g", Topics: kafkadoor.Topics{Raw: "r", Rejects: "x", Events: "e"}}
	}
	if _, err := kafkadoor.Open(good()); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*kafkadoor.Config){
		"no broker":                           func(c *kafkadoor.Config) { c.Brokers = nil },
		`"a" is not host:port`:                func(c *kafkadoor.Config) { c.Brokers = []string{"b:1", "a"} },
		`":9092" is not host:port`:            func(c *kafkadoor.Config) { c.Brokers = []string{":9092"} },
		`"a:65536" is not host:port`:          func(c *kafkadoor.Config) { c.Brokers = []string{"a:65536"} },
		"no consumer group":                   func(c *kafkadoor.Config) { c.Group = "" },
		`topic "" is not a name`:              func(c *kafkadoor.Config) { c.Topics.Raw = "" },
		`topic "a b" is not a name`:           func(c *kafkadoor.Config) { c.Topics.Rejects = "a b" },
		`topic ".." is not a name`:            func(c *kafkadoor.Config) { c.Topics.Events = ".." },
		`topic "r" is named twice`:            func(c *kafkadoor.Config) { c.Topics.Events = "r" },
		`mechanism "GSSAPI" is not`:           func(c *kafkadoor.Config) { c.SASL = kafkadoor.SASL{"GSSAPI", "u", "p"} },
		"SASL needs a mechanism, a user name": func(c *kafkadoor.Config) { c.SASL.Mechanism = "PLAIN" },
		"-1 partitions":                       func(c *kafkadoor.Config) { c.Partitions = -1 },
		"retention -1s is negative":           func(c *kafkadoor.Config) { c.Retention = -time.Second },
		"time limit -1s is not between":       func(c *kafkadoor.Config) { c.Timing.Session = -time.Second },
	} {
		conf := good()
		change(&conf)
		if _, err := kafkadoor.Open(conf); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	bad := kafkadoor.Config{SASL: kafkadoor.SASL{Mechanism: "PLAIN"}, Partitions: -1}
	_, err := kafkadoor.Open(bad)
	if got := strings.Count(err.Error(), "\n"); got < 5 {
		t.Errorf("only %d of the faults in: %v", got+1, err)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Error("the password is in the error")
	}
}

func TestSecuredBrokerIsReached(t *testing.T) {
	server, client := certificate(t)
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			w := newBroker(t, kfake.TLS(server), kfake.EnableSASL(),
				kfake.Superuser(mechanism, "user", "secret"), kfake.Superuser("PLAIN", "test", "test"))
			w.client.Transport = &kafka.Transport{TLS: client, SASL: plain.Mechanism{Username: "test", Password: "test"}}
			w.conf.TLS = client
			w.conf.SASL = kafkadoor.SASL{Mechanism: mechanism, Username: "user", Password: "secret"}
			w.open()
			if err := w.door.EnsureTopics(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := w.door.Append(t.Context(), []ingestor.Record{{Raw: message(0), Received: received}}); err != nil {
				t.Fatal(err)
			}
			w.consume(nil)
			w.eventually("the message is in the index", func() bool { return w.index.plates() == 1 })

			w.conf.SASL.Password = "wrong"
			w.open()
			if err := w.door.Ping(t.Context()); err == nil || strings.Contains(err.Error(), "wrong") {
				t.Errorf("with a wrong password: %v", err)
			}
			w.conf.SASL.Password, w.conf.TLS = "secret", &tls.Config{MinVersion: tls.VersionTLS12}
			w.open()
			if err := w.door.Ping(t.Context()); err == nil {
				t.Error("a certificate of an unknown authority was taken")
			}
		})
	}
}

// certificate makes a certificate for loopback, and returns what its server and a client that trusts it need.
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
