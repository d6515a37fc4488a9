package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"bagtrail/test/loopback"
	"bagtrail/test/selfsigned"
)

// The user and password of a Secured server.
const (
	User     = "bagtrail"
	Password = "bagtrail-secret"
)

// Secured is a server with a plain port at Addr, where every client is an administrator, and a port
// that requires User and Password.
type Secured struct {
	*Process
	SASL string // Kafka: address of the port with SCRAM-SHA-512
	TLS  string // Redis: address of the port with TLS
	CA   string // Redis: PEM file with the certificate to trust, for 127.0.0.1
}

// NewSecuredRedis prepares a Redis with a plain and a TLS port; Start runs it. A line of the settings
// that begins with "user bagtrail " gives User its password and its rights.
func NewSecuredRedis(home Home, settings ...string) (*Secured, error) {
	c, err := selfsigned.New()
	if err != nil {
		return nil, err
	}
	cert, key := filepath.Join(home.Dir, "cert.pem"), filepath.Join(home.Dir, "key.pem")
	if err := errors.Join(os.WriteFile(cert, c.PEM, 0o600), os.WriteFile(key, c.KeyPEM, 0o600)); err != nil {
		return nil, err
	}
	ports, err := loopback.Ports(2)
	if err != nil {
		return nil, err
	}
	own := []string{
		fmt.Sprintf("tls-port %d", ports[1]),
		fmt.Sprintf("tls-cert-file %q", cert), fmt.Sprintf("tls-key-file %q", key),
		fmt.Sprintf("tls-ca-cert-file %q", cert), "tls-auth-clients no",
	}
	p, err := redis(home, ports[0], append(own, settings...))
	if err != nil {
		return nil, err
	}
	return &Secured{Process: p, TLS: loopback.Join(ports[1]), CA: cert}, nil
}

// NewSecuredKafka prepares a Kafka with a plain and a SASL port; Start runs it. With the setting
// "authorizer.class.name=…" User has only the rights that were granted through the plain port.
func NewSecuredKafka(ctx context.Context, home Home, settings ...string) (*Secured, error) {
	at, err := loopback.Addresses(3)
	if err != nil {
		return nil, err
	}
	plain, controller, sasl := at[0], at[1], at[2]
	doors := "PLAINTEXT://" + plain + ",SASL://" + sasl
	own := []string{
		"listeners=" + doors + ",CONTROLLER://" + controller,
		"advertised.listeners=" + doors,
		"listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT",
		"inter.broker.listener.name=PLAINTEXT",
		"super.users=User:ANONYMOUS", // the clients of the plain port
		"sasl.enabled.mechanisms=SCRAM-SHA-512",
		"listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;",
	}
	format := []string{"--add-scram", "SCRAM-SHA-512=[name=" + User + ",password=" + Password + "]"}
	p, err := newKafka(ctx, home, Kafka4, plain, controller, format, append(own, settings...))
	if err != nil {
		return nil, err
	}
	return &Secured{Process: p, SASL: sasl}, nil
}
