// Package selfsigned has a certificate for servers of tests.
package selfsigned

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
)

// Certificate is a certificate that signs itself, with its key.
type Certificate struct {
	tls.Certificate
	PEM, KeyPEM []byte // the certificate, and the key as PKCS #8
}

// New returns the certificate of httptest, which is for 127.0.0.1. Its key is an RSA key, since only
// with these a server could be made to do without forward secrecy.
func New() (*Certificate, error) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	c := &Certificate{Certificate: server.TLS.Certificates[0]}
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	c.PEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Leaf.Raw})
	c.KeyPEM = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	return c, err
}

// Pool returns a pool with this certificate alone, for clients that trust it.
func (c *Certificate) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(c.Leaf)
	return pool
}
