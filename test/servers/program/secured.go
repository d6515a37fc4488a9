package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bagtrail/test/loopback"
	"bagtrail/test/selfsigned"
)

// The user and password of a Secured server.
const (
	User     = "bagtrail"
	Password = "bagtrail-secret"
)

// Secured is a server with a plain port at Addr, where every client is an administrator, and
// further ports that require authentication.
type Secured struct {
	*Process
	SASL    string // Kafka: address of the port with PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512
	TLS     string // address of the port with TLS, where Redis requires User and Password
	SASLTLS string // Kafka: address of the port with both
	CA      string // PEM file with the certificate to trust, for 127.0.0.1 and localhost
}

// NewSecuredRedis prepares a Redis with a plain and a TLS port; Start runs it. User has all rights,
// unless a line of the settings begins with "user bagtrail ".
func NewSecuredRedis(home Home, settings ...string) (*Secured, error) {
	cert, key, err := certificate(home.Dir)
	if err != nil {
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
	if !slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, "user "+User+" ") }) {
		own = append(own, fmt.Sprintf("user %s on >%s allkeys allchannels allcommands", User, Password))
	}
	p, err := redis(home, ports[0], append(own, settings...))
	if err != nil {
		return nil, err
	}
	return &Secured{Process: p, TLS: loopback.Join(ports[1]), CA: cert}, nil
}

// NewSecuredKafka prepares a Kafka with ports for plain, SASL, TLS and SASL over TLS; Start runs it.
// With the setting "authorizer.class.name=…" User has only the rights that were granted through the
// plain port.
func NewSecuredKafka(ctx context.Context, home Home, settings ...string) (*Secured, error) {
	cert, key, err := certificate(home.Dir)
	if err != nil {
		return nil, err
	}
	at, err := loopback.Addresses(5)
	if err != nil {
		return nil, err
	}
	plain, controller, sasl, tls, saslTLS := at[0], at[1], at[2], at[3], at[4]
	doors := "PLAINTEXT://" + plain + ",SASL://" + sasl + ",TLS://" + tls + ",BOTH://" + saslTLS
	own := []string{
		"listeners=" + doors + ",CONTROLLER://" + controller,
		"advertised.listeners=" + doors,
		"listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL,BOTH:SASL_SSL",
		"inter.broker.listener.name=PLAINTEXT",
		"super.users=User:ANONYMOUS", // the clients of the plain port
		"sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
		"ssl.keystore.type=PEM",
		"ssl.keystore.location=" + key,
	}
	const modules = "org.apache.kafka.common.security."
	for _, door := range []string{"sasl", "both"} {
		jaas := func(mechanism, module string) string {
			return "listener.name." + door + "." + mechanism + ".sasl.jaas.config=" + modules + module
		}
		own = append(own,
			jaas("plain", "plain.PlainLoginModule required user_"+User+`="`+Password+`";`),
			jaas("scram-sha-256", "scram.ScramLoginModule required;"),
			jaas("scram-sha-512", "scram.ScramLoginModule required;"))
	}
	var format []string
	for _, mechanism := range []string{"SCRAM-SHA-256", "SCRAM-SHA-512"} {
		format = append(format, "--add-scram", mechanism+"=[name="+User+",password="+Password+"]")
	}
	p, err := newKafka(ctx, home, Kafka4, plain, controller, format, append(own, settings...))
	if err != nil {
		return nil, err
	}
	return &Secured{Process: p, SASL: sasl, TLS: tls, SASLTLS: saslTLS, CA: cert}, nil
}

// certificate writes a new certificate into dir, and its key. The certificate follows the key in
// keyFile too, as Kafka wants it; Redis reads the key alone from there.
func certificate(dir string) (certFile, keyFile string, err error) {
	c, err := selfsigned.New()
	if err != nil {
		return "", "", err
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	return certFile, keyFile, errors.Join(
		os.WriteFile(certFile, c.PEM, 0o600),
		os.WriteFile(keyFile, slices.Concat(c.KeyPEM, c.PEM), 0o600))
}
