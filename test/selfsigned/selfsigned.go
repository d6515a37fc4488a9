// Package selfsigned makes certificates for servers of tests.
package selfsigned

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// Certificate is a certificate that signs itself, with its key.
type Certificate struct {
	tls.Certificate
	PEM, KeyPEM []byte // the certificate, and the key as PKCS #8
}

// New returns a certificate for 127.0.0.1 and localhost that is valid for a day. The key is an RSA key,
// since only with these a server could be made to do without forward secrecy.
func New() (*Certificate, error) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bagtrail test server"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	c := &Certificate{
		PEM:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		KeyPEM: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	}
	c.Certificate, err = tls.X509KeyPair(c.PEM, c.KeyPEM)
	return c, err
}

// Pool returns a pool with this certificate alone, for clients that trust it.
func (c *Certificate) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(c.Leaf)
	return pool
}
