package web_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/fault"
	"bagtrail/internal/pause"
	"bagtrail/internal/web"
	"bagtrail/test/selfsigned"
)

// The tests that run in parallel wait for the limits of connections: all of them may at once.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// serve runs a server for the test, with TLS if it gets a certificate. It returns the address of
// the server and a function that stops it and waits.
func serve(t *testing.T, handler http.Handler, certificates ...tls.Certificate) (address string, stop func() error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- web.Server{Handler: handler, Certificates: certificates, Log: zap.NewNop(), Drain: 5 * time.Second}.Run(ctx, listener)
	}()
	t.Cleanup(cancel)
	return listener.Addr().String(), func() error { cancel(); return <-done }
}

// dial opens a connection, which is closed when the test ends.
func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestServerDrainsRunningRequestsWhenItStops(t *testing.T) {
	arrived, leave := make(chan struct{}), make(chan struct{})
	address, stop := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-leave
		_, _ = io.WriteString(w, "done")
	}))
	answer := make(chan string, 1)
	go func() {
		r, err := http.Get("http://" + address)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer func() { _ = r.Body.Close() }()
		text, _ := io.ReadAll(r.Body)
		answer <- string(text)
	}()
	<-arrived
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	select {
	case err := <-stopped:
		t.Fatalf("stopped while a request ran: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(leave)
	if got := <-answer; got != "done" {
		t.Errorf("running request got %q", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestServerRefusesHeadersOverTheLimit(t *testing.T) {
	address, _ := serve(t, http.NotFoundHandler())
	conn := dial(t, address)
	go func() {
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Long: "+strings.Repeat("x", 64<<10)+"\r\n\r\n")
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", response.StatusCode)
	}
}

func TestServerCutsOffSlowHeaders(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the limit")
	}
	t.Parallel()
	address, _ := serve(t, http.NotFoundHandler())
	conn := dial(t, address)
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n")
	began := time.Now()
	_ = conn.SetReadDeadline(began.Add(10 * time.Second))
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("connection is still open after %v: %v", time.Since(began), err)
	}
}

// An HTTP/2 caller can let the server send 2 GiB, and take nothing from its connection.
func TestServerCutsOffAnHTTP2CallerThatTakesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the limit")
	}
	t.Parallel()
	certificate, err := selfsigned.New()
	if err != nil {
		t.Fatal(err)
	}
	began, ended := make(chan struct{}), make(chan struct{})
	address, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		for piece, err := make([]byte, 64<<10), error(nil); err == nil; {
			_, err = w.Write(piece)
		}
		close(ended)
	}), certificate.Certificate)
	conn := tls.Client(dial(t, address), &tls.Config{RootCAs: certificate.Pool(), ServerName: "127.0.0.1", NextProtos: []string{"h2"}})
	_, err = io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+
		"\x00\x00\x06\x04\x00\x00\x00\x00\x00"+"\x00\x04\x7f\xff\xff\xff"+ // SETTINGS: the window of a stream
		"\x00\x00\x04\x08\x00\x00\x00\x00\x00"+"\x7f\xff\x00\x00"+ // WINDOW_UPDATE of the connection
		"\x00\x00\x06\x01\x05\x00\x00\x00\x01"+"\x82\x84\x87\x41\x01x") // HEADERS: GET https://x/
	if err != nil {
		t.Fatal(err)
	}
	<-began
	select {
	case <-ended:
	case <-time.After(40 * time.Second):
		t.Error("the answer is still being sent after 40 seconds")
	}
}

func TestServerAnswersOptionsOfEverythingLikeAnyUnknownPath(t *testing.T) {
	address, _ := serve(t, site(zap.NewNop(), history(nil)))
	conn := dial(t, address)
	_, _ = io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if text, _ := io.ReadAll(response.Body); response.StatusCode != 404 || response.Header.Get("X-Request-Id") == "" || string(text) != failure(fault.UnknownPath) {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, text)
	}
}

// A body may take half of the write limit, and the delayed-bag system may take most of it.
func TestTheTimeInWhichABodyComesIsNotTakenFromItsAnswer(t *testing.T) {
	server := httptest.NewUnstartedServer(site(zap.NewNop(), bim()))
	server.Config.WriteTimeout = 50 * time.Millisecond
	server.Start()
	defer server.Close()
	conn := dial(t, server.Listener.Addr().String())
	fmt.Fprintf(conn, "POST /baggage/processbim/v1.0/ HTTP/1.1\r\nHost: x\r\napi_key: %s\r\nContent-Length: 2\r\n\r\n", demo)
	if err := pause.For(t.Context(), 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "{}")
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "HTTP/1.1 200 OK\r\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// Many clients send the whole body before they read.
func TestACallerThatSendsTooMuchBeforeItReadsIsToldSo(t *testing.T) {
	address, stop := serve(t, site(zap.NewNop(), bim()))
	defer func() { _ = stop() }()
	const size = 2 << 20 // the limit is 1 MiB, and net/http reads 256 KiB of what is left of a body
	text := strings.Repeat("x", size)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, text)
	for framing, body := range map[string]string{
		fmt.Sprintf("Content-Length: %d", size): text,
		"Transfer-Encoding: chunked":            chunked,

		// net/http sends 100 Continue when the body is read, so this client has sent all of it as well.
		"Transfer-Encoding: chunked\r\nExpect: 100-continue": chunked,
	} {
		conn := dial(t, address)
		_ = conn.(*net.TCPConn).SetWriteBuffer(32 << 10) // or the kernel takes it all
		head := "POST /baggage/processbim/v1.0/ HTTP/1.1\r\nHost: x\r\napi_key: " + demo + "\r\n" + framing + "\r\n\r\n"
		if _, err := io.WriteString(conn, head+body); err != nil {
			t.Errorf("%s: %v", framing, err)
		}
		answer := bufio.NewReader(conn)
		line, err := answer.ReadString('\n')
		if line == "HTTP/1.1 100 Continue\r\n" {
			_, _ = answer.ReadString('\n')
			line, err = answer.ReadString('\n')
		}
		if line != "HTTP/1.1 413 Request Entity Too Large\r\n" {
			t.Errorf("%s: %q, %v", framing, line, err)
		}
		_ = conn.Close()
	}
}

// nginx asks by HTTP/1.0, and may send the whole body before it reads.
func TestACallerThatIsRefusedBeforeItsBodyIsReadIsToldSo(t *testing.T) {
	refused := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
	form := web.Page{Path: "/form", Handler: http.HandlerFunc(refused), Forms: true}
	address, _ := serve(t, web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, []web.Operation{bim()}, []web.Page{form}))
	const size = 1 << 20
	for target, status := range map[string]string{
		"/baggage/processbim/v1.0/": "401 Unauthorized", "/v1/nowhere": "404 Not Found", "/form": "403 Forbidden",
	} {
		conn := dial(t, address)
		_ = conn.(*net.TCPConn).SetWriteBuffer(32 << 10) // or the kernel takes it all
		head := fmt.Sprintf("POST %s HTTP/1.0\r\napi_key: unknown\r\nContent-Length: %d\r\n\r\n", target, size)
		if _, err := io.WriteString(conn, head+strings.Repeat("x", size)); err != nil {
			t.Errorf("%s: %v", target, err)
		}
		if text, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(text), "HTTP/1.0 "+status+"\r\n") {
			t.Errorf("%s: %q, %v", target, text, err)
		}
		slow := dial(t, address) // the answer does not wait for the rest of the body
		_ = slow.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.WriteString(slow, head+"x"); err != nil {
			t.Errorf("%s: %v", target, err)
		}
		begin := make([]byte, len("HTTP/1.0 "+status))
		if _, err := io.ReadFull(slow, begin); err != nil || string(begin) != "HTTP/1.0 "+status {
			t.Errorf("%s, before the rest of the body: %q, %v", target, begin, err)
		}
	}
}

func TestBodyCutOffByTheLimitIsAnsweredAndTheConnectionClosed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the limit")
	}
	t.Parallel()
	answered := make(chan bool, 1)
	operation := bim()
	operation.Serve = func(_ context.Context, c *web.Call) web.Answer {
		answered <- c.Body == nil
		return c.Refuse(fault.BIMMissing)
	}
	address, _ := serve(t, site(zap.NewNop(), operation))
	conn := dial(t, address)
	fmt.Fprintf(conn, "POST /baggage/processbim/v1.0/ HTTP/1.1\r\nHost: x\r\napi_key: %s\r\nContent-Length: 100\r\n\r\n{", demo)
	_ = conn.SetReadDeadline(time.Now().Add(25 * time.Second))
	text, err := io.ReadAll(conn)
	if err != nil || !<-answered {
		t.Errorf("%v: %s", err, text)
	}
}
