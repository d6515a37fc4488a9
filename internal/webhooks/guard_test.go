package webhooks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/internal/webhooks"
	"bagtrail/test/loopback"
)

func TestURLsThatLeadIntoANetworkOrNowhereAreRefused(t *testing.T) {
	for _, url := range []string{
		"", "/path", "example.com/hook", "ftp://example.com/", "http://example.com/", "https://", "https://:443/",
		"https://user@example.com/", "https://user:word@example.com/", "https://example.com/#part", "https://example.com/?q=#",
		"https://127.0.0.1/", "https://10.1.2.3/", "https://172.16.0.1/", "https://192.168.1.1/", "https://169.254.169.254/",
		"https://100.64.0.1/", "https://0.0.0.0/", "https://224.0.0.1/", "https://255.255.255.255/", "https://198.18.0.1/",
		"https://192.0.2.1/", "https://240.0.0.1/", "https://[::1]/", "https://[::]/", "https://[fe80::1]/", "https://[fc00::1]/",
		"https://[fec0::1]/", "https://[ff02::1]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:10.0.0.1]/", "https://[::127.0.0.1]/",
		"https://[64:ff9b::7f00:1]/", "https://[64:ff9b::a00:1]/", "https://[2002:7f00:1::]/", "https://[2002:a00:1::]/",
		"https://[2002:ac10:1::]/", "https://[64:ff9b::ac10:1]/",
		"https://[2001:db8::1]/", "https://[fe80::1%25eth0]/", "https://[::ffff:0:127.0.0.1]/", "https://[100:0:0:1::1]/",
		"https://[64:ff9b:1::a00:1]/", "https://[5f00::1]/", "https://[4000::1]/", "https://[2620:4f:8000::1]/", "https://168.63.129.16/",
		"https://example.com:0/", "https://example.com:65536/",
	} {
		if err := (webhooks.Guard{}).CheckURL(url); err == nil {
			t.Errorf("%s is allowed", url)
		}
	}
	for _, url := range []string{
		"https://example.com/hook?x=1", "https://example.com:65535/", "https://93.184.216.34/", "https://[2606:4700::1]:8443/", "https://[64:ff9b::5db8:d822]/",
		"https://[2002:5db8:d822::1]/",
	} {
		if err := (webhooks.Guard{}).CheckURL(url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	intranet := webhooks.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fe80::/10")}}
	for url, want := range map[string]bool{
		"http://10.1.2.3/": true, "https://[::ffff:10.1.2.3]/": true, "http://192.168.0.1/": false, "http://intranet.example/": true,
		"http://[fe80::1%25eth0]/": true,
	} {
		if err := intranet.CheckURL(url); (err == nil) != want {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A name may have led to a public address when the webhook was made, and lead to a private one when it is connected to.
func TestTheAddressIsCheckedWhenItIsConnectedTo(t *testing.T) {
	reached := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer server.Close()
	named := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	for _, url := range []string{server.URL, named} {
		res, err := (webhooks.Guard{}).Client().Post(url, "application/json", nil)
		if err == nil {
			_ = res.Body.Close()
		}
		if !errors.Is(err, webhooks.ErrAddress) || reached {
			t.Errorf("%s: error %v, reached %t", url, err, reached)
		}
	}
	here := webhooks.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
	res, err := here.Client().Post(server.URL, "application/json", nil)
	if err != nil || !reached {
		t.Fatal(err)
	}
	_ = res.Body.Close()
}

func TestARedirectIsNotFollowed(t *testing.T) {
	followed := false
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/other" {
			followed = true
		}
		http.Redirect(w, r, server.URL+"/other", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	here := webhooks.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	res, err := here.Client().Post(server.URL, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusTemporaryRedirect || followed {
		t.Errorf("status %d, followed %t", res.StatusCode, followed)
	}
}

// nameServer answers every question about IPv4 addresses with the next of the answers; the last one
// stays.
func nameServer(t *testing.T, answers ...[][4]byte) *net.Resolver {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	go func() {
		for packet := make([]byte, 512); ; {
			n, from, err := socket.ReadFrom(packet)
			if err != nil {
				return
			}
			end := 12 + bytes.IndexByte(packet[12:n], 0) + 5 // the question: a name, its type and class
			reply := append([]byte(nil), packet[:end]...)
			reply[2], reply[3] = 0x81, 0x80             // an answer without error
			copy(reply[6:12], []byte{0, 0, 0, 0, 0, 0}) // of no records
			if reply[end-3] == 1 {                      // type A
				reply[7] = byte(len(answers[0]))
				for _, address := range answers[0] {
					reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
					reply = append(reply, address[:]...)
				}
				if len(answers) > 1 {
					answers = answers[1:]
				}
			}
			_, _ = socket.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", socket.LocalAddr().String())
	}}
}

// The name leads to an allowed address first, at which nobody listens, and to another one from then on.
func TestANameThatLeadsElsewhereWhenItIsUsedIsRefused(t *testing.T) {
	reached := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer server.Close()
	guard := webhooks.Guard{
		Allowed:  []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")},
		Resolver: nameServer(t, [][4]byte{{127, 0, 0, 2}}, [][4]byte{{127, 0, 0, 1}}),
	}
	url := strings.Replace(server.URL, "127.0.0.1", "receiver.example", 1)
	for _, refused := range []bool{false, true} {
		res, err := guard.Client().Post(url, "application/json", nil)
		if err == nil {
			_ = res.Body.Close()
		}
		if err == nil || errors.Is(err, webhooks.ErrAddress) != refused || reached {
			t.Errorf("error %v, reached %t, want that the address is refused: %t", err, reached, refused)
		}
	}
}

// A name such as localhost may have an allowed address beside one that is refused.
func TestTheErrorOfAnAllowedAddressIsToldBesideARefusedOne(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	guard := webhooks.Guard{
		Allowed:  []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Resolver: nameServer(t, [][4]byte{{127, 0, 0, 2}, {127, 0, 0, 1}}),
	}
	url := strings.Replace(server.URL, "127.0.0.1", "receiver.example", 1)
	for _, answers := range []bool{true, false} {
		res, err := guard.Client().Post(url, "application/json", nil)
		if err == nil {
			_ = res.Body.Close()
		}
		if (err == nil) != answers || errors.Is(err, webhooks.ErrAddress) {
			t.Errorf("the receiver answers: %t: error %v", answers, err)
		}
		server.Close()
	}
}

// A proxy would resolve the name by itself, and may reach what the guard refuses.
func TestNoProxyOfTheEnvironmentIsUsed(t *testing.T) {
	if (webhooks.Guard{}).Client().Transport.(*http.Transport).Proxy != nil {
		t.Error("there is a proxy")
	}
}

// A receiver that switches protocols keeps its connection open for ever: the attempt ends all the same.
func TestAReceiverThatSwitchesProtocolsHoldsNobody(t *testing.T) {
	receiver := loopback.SwitchingServer(t)
	w := newWorld(t, nil, guarded("127.0.0.0/8"))
	w.store.Definition.URL = receiver
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	done := make(chan webhooks.Delivery, 1)
	go func() { done <- w.Test(ctx, &w.store.Definition) }()
	select {
	case d := <-done:
		if d.Status != http.StatusSwitchingProtocols {
			t.Errorf("%+v", d)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the attempt outlives its context")
	}
}

// Many receivers close a connection that is idle for some seconds, perhaps just when the next message
// is written. Such a message is posted again at once, over another connection.
func TestAConnectionThatTheReceiverHasClosedMeanwhileFailsNoAttempt(t *testing.T) {
	type requests struct{}
	var closed atomic.Int32
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Values("Idempotency-Key") != nil {
			t.Error("a header is sent that the receiver does not know")
		}
		if r.Context().Value(requests{}).(*atomic.Int32).Add(1) == 1 {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		closed.Add(1)
		_ = conn.Close()
	}))
	receiver.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, requests{}, new(atomic.Int32))
	}
	receiver.Start()
	t.Cleanup(receiver.Close)
	w := newWorld(t, nil, guarded("127.0.0.0/8"))
	w.store.Definition.URL = receiver.URL
	for i := range 3 {
		if d := w.Test(t.Context(), &w.store.Definition); d.Status != http.StatusOK || d.Error != "" {
			t.Errorf("attempt %d: %+v", i, d)
		}
	}
	if closed.Load() != 2 {
		t.Errorf("%d connections are closed by the receiver, want 2", closed.Load())
	}
}

// Package net/http takes any three digits for a status, but 0 stands for no answer in a delivery.
func TestAnAnswerWithoutAStatusOfHTTPIsNoAnswer(t *testing.T) {
	for _, status := range []string{"000", "020"} {
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s None\r\nContent-Length: 0\r\n\r\n", status)
		}))
		t.Cleanup(receiver.Close)
		w := newWorld(t, nil, guarded("127.0.0.0/8"))
		w.store.Definition.URL = receiver.URL
		if d := w.Test(t.Context(), &w.store.Definition); d.Status != 0 || d.Error != "no connection, or no whole answer" {
			t.Errorf("%s: %+v", status, d)
		}
	}
}

// An answer that is packed, and unpacks to nothing without end, costs no processor time: it is not
// unpacked, and so no more is read of it than of any other.
func TestAnAnswerIsNotUnpacked(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")
		nothing := strings.Repeat("\x00\x00\x00\xff\xff", 10000)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, nothing); err != nil {
				return
			}
		}
	}))
	t.Cleanup(receiver.Close)
	w := newWorld(t, nil, guarded("127.0.0.0/8"))
	w.store.Definition.URL = receiver.URL
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if d := w.Test(ctx, &w.store.Definition); ctx.Err() != nil || d.Status != http.StatusOK {
		t.Errorf("%v, %+v", ctx.Err(), d)
	}
}
