package hostile_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"bagtrail/test/selfsigned"
	"bagtrail/test/service"
)

// certificate makes a certificate for 127.0.0.1 and returns its two files, and a pool that trusts it.
func certificate(t *testing.T) (chain, key string, pool *x509.CertPool) {
	t.Helper()
	c, err := selfsigned.New()
	if err != nil {
		t.Fatal(err)
	}
	return service.WriteFile(t, "cert.pem", string(c.PEM)), service.WriteFile(t, "key.pem", string(c.KeyPEM)), c.Pool()
}

// TLS 1.2 and later is accepted, with ciphers that have forward secrecy.
func TestTLSIsTwelveAndLater(t *testing.T) {
	t.Parallel()
	chain, key, pool := certificate(t)
	s := service.Start(t, noKafka, "BAGTRAIL_HTTP_TLS_CERT="+chain, "BAGTRAIL_HTTP_TLS_KEY="+key)
	address := strings.TrimPrefix(s.URL, "http://")
	for _, c := range []struct {
		name    string
		version uint16
		ciphers []uint16
		ok      bool
	}{
		{"TLS 1.0", tls.VersionTLS10, nil, false},
		{"TLS 1.1", tls.VersionTLS11, nil, false},
		{"TLS 1.2", tls.VersionTLS12, nil, true},
		{"TLS 1.3", tls.VersionTLS13, nil, true},
		{"TLS 1.2, CBC", tls.VersionTLS12, []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA256, tls.TLS_RSA_WITH_AES_256_CBC_SHA}, false},
		{"TLS 1.2, RC4 and 3DES", tls.VersionTLS12, []uint16{tls.TLS_ECDHE_RSA_WITH_RC4_128_SHA, tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA}, false},
		{"TLS 1.2, no forward secrecy", tls.VersionTLS12, []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256}, false},
	} {
		config := &tls.Config{RootCAs: pool, MinVersion: c.version, MaxVersion: c.version, CipherSuites: c.ciphers}
		connection, err := tls.Dial("tcp", address, config)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			_ = connection.Close()
		}
	}
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: protocol == "HTTP/2.0"}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+service.HistoryPath("0724999999", "2026-03-14"), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header["api_key"] = []string{service.DevelopmentKey}
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Errorf("%s: %v", protocol, err)
			continue
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.Proto != protocol || string(body) != noBag {
			t.Errorf("%s: %s %d %s %v", protocol, response.Proto, response.StatusCode, body, err)
		}
		transport.CloseIdleConnections()
	}
	if status, _ := s.TryGet(s.URL + "/openapi.json"); status == http.StatusOK {
		t.Error("the TLS address answers plain HTTP")
	}
}

// A connection that sends nothing, before or after the TLS handshake, is closed like a slow one.
func TestSilentConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	chain, key, pool := certificate(t)
	secured := []string{noKafka, "BAGTRAIL_HTTP_TLS_CERT=" + chain, "BAGTRAIL_HTTP_TLS_KEY=" + key}
	for name, env := range map[string][]string{"plain": {noKafka}, "TLS": secured, "after the handshake": secured} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := service.Start(t, env...)
			c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if name == "after the handshake" {
				client := tls.Client(c, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})
				if err := client.HandshakeContext(t.Context()); err != nil {
					t.Fatal(err)
				}
				c = client
			}
			began := time.Now()
			_ = c.SetReadDeadline(began.Add(headerLimit + slack))
			if _, err := c.Read(make([]byte, 1)); !isClosed(err) {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	}
}

// isClosed reports whether reading ended because the other side closed the connection, and not by
// the timeout.
func isClosed(err error) bool {
	var network net.Error
	return err != nil && !(errors.As(err, &network) && network.Timeout())
}

// Requests at and beyond the limits of headers, and requests that two servers could read
// differently, are answered or cut off. None is taken for another request.
func TestHeadersHaveLimitsAndOneMeaning(t *testing.T) {
	t.Parallel()
	s := service.Start(t, noKafka)
	get := "GET " + service.HistoryPath("0724999999", "2026-03-14") + " HTTP/1.1\r\nHost: x\r\napi_key: " + service.DevelopmentKey + "\r\n"
	post := "POST " + service.ProcessPath + " HTTP/1.1\r\nHost: x\r\napi_key: " + service.DevelopmentKey + "\r\nContent-Type: application/json\r\n"
	filler := func(n int) string { return "X-Filler: " + strings.Repeat("a", n) + "\r\n" }
	many := ""
	for i := range 2000 {
		many += fmt.Sprintf("X-%d: a\r\n", i)
	}
	for _, c := range []struct {
		name, request string
		status        int
	}{
		{"ordinary", get + "\r\n", 200},
		{"headers of more than 16 KiB", get + filler(16<<10) + "\r\n", 200},
		{"headers of more than 20 KiB", get + filler(20<<10) + "\r\n", 431}, // net/http adds 4 KiB to its setting
		{"2,000 headers", get + many + "\r\n", 431},
		{"path of 32 KiB", "GET /" + strings.Repeat("a", 32<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431},
		{"key of 15 KiB", strings.Replace(get, service.DevelopmentKey, strings.Repeat("a", 15<<10), 1) + "\r\n", 400},
		{"no host", "GET / HTTP/1.1\r\n\r\n", 400},
		{"two hosts", get + "Host: y\r\n\r\n", 400},
		{"blank before the colon", get + "X : a\r\n\r\n", 400},
		{"control character", get + "X: a\x00b\r\n\r\n", 400},
		{"two lengths", post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x", 400},
		{"negative length", post + "Content-Length: -1\r\n\r\n{}", 400},
		{"length with sign", post + "Content-Length: +2\r\n\r\n{}", 400},
		{"unknown coding", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
		{"two codings", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
		{"body behind a bad chunk", post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 400},
		{"HTTP/3", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505},
		{"another protocol", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n", 400},
	} {
		if got := raw(t, s, c.request); got != c.status {
			t.Errorf("%s: %d, want %d", c.name, got, c.status)
		}
	}
}

// A request that two readers could read differently is refused with the code of the ambiguous part.
// Content-Length beside chunked is not among them, since the length is then ignored.
func TestRequestsThatCanBeReadInTwoWaysAreRefused(t *testing.T) {
	t.Parallel()
	s := service.Start(t, noKafka)
	const key = "api_key: " + service.DevelopmentKey + "\r\n"
	get := func(query, headers string) string {
		return "GET " + service.HistoryPath("0724999999", "2026-03-14") + query + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n"
	}
	post := func(path, headers, body string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + key + headers + "\r\n" + body
	}
	const twoTypes = "Content-Type: application/json\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n"
	for _, c := range []struct {
		name, request string
		status        int
		code          string
	}{
		{"one of each", get("?pnr=ABC123&pax_surname=A&include_bim=true", key+"X-API-Key: "+service.DevelopmentKey+"\r\n"), 200, "SVCGBH002"},
		{"two keys", get("", key+key), 400, "SVCGBH004"},
		{"two keys in two headers", get("", key+"X-API-Key: other\r\n"), 400, "SVCGBH004"},
		{"two keys, the first unknown", get("", "X-API-Key: other\r\n"+key), 400, "SVCGBH004"},
		{"two PNRs", get("?pnr=ABC123&pnr=ABC124", key), 400, "SVCGBH009"},
		{"two surnames", get("?pax_surname=A&pax_surname=B", key), 400, "SVCGBH011"},
		{"two spellings", get("?include_bim=true&include_BIM=false", key), 400, "SVCGBH013"},
		{"two callbacks", get("?callback=a&callback=b", key), 400, "SVCSRV002"},
		{"two content types", post(service.ProcessPath, twoTypes, "{}"), 400, "SVCPRB003"},
		{"two content types of a report", post(delayedPath, twoTypes, "{}"), 400, "SVCSRV009"},
		{"length beside chunked", post(service.ProcessPath, "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "11\r\n{\"bim_message\":1}\r\n0\r\n\r\n"), 400, "SVCPRB003"},
	} {
		if status, body := exchange(t, s, c.request); status != c.status || !strings.Contains(body, `[{"error_code":"`+c.code+`"`) || strings.Count(body, "error_code") != 1 {
			t.Errorf("%s: %d %s, want %d %s", c.name, status, body, c.status, c.code)
		}
	}
}

// raw sends bytes and returns the status of the answer, 0 if there is none.
func raw(t *testing.T, s *service.Service, request string) int {
	t.Helper()
	status, _ := exchange(t, s, request)
	return status
}

// exchange is raw, and returns the body too.
func exchange(t *testing.T, s *service.Service, request string) (status int, body string) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(patience))
	go func() { _, _ = io.WriteString(c, request) }() // the other side may answer before it has read everything
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, ""
	}
	text, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	return response.StatusCode, string(text)
}

// A sane request id of the caller is logged. Any other appears neither in the log nor in the
// answer.
func TestRequestIDsCannotForgeTheLog(t *testing.T) {
	t.Parallel()
	s := service.Start(t, noKafka)
	for id, sane := range map[string]bool{
		"forged-1": true, strings.Repeat("f", 64): true,
		strings.Repeat("g", 65): false, `forged","level":"error`: false, "forged\tline": false, "forged\u2028": false, "<forged>": false, "%0aforged": false,
	} {
		got := s.Get("/x", "X-Request-Id", id)
		if answered := got.Header.Get("X-Request-Id"); (answered == id) != sane {
			t.Errorf("%q: the answer has %q", id, answered)
		}
		if !s.Until(patience, func() bool { return strings.Contains(s.Log(), `"request_id":"`+got.Header.Get("X-Request-Id")+`"`) }) {
			t.Errorf("%q: the id of the answer is not in the log", id)
		}
		if !sane && strings.Contains(s.Log(), id) {
			t.Errorf("%q is in the log", id)
		}
	}
	request := "GET /x HTTP/1.1\r\nHost: x\r\nX-Request-Id: twice-a\r\nX-Request-Id: twice-b\r\nConnection: close\r\n\r\n"
	if got := raw(t, s, request); got != http.StatusNotFound || strings.Contains(s.Log(), "twice-") {
		t.Errorf("two ids: %d", got)
	}
}
