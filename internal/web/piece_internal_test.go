package web

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// counted counts what is written to connections, and refuses the rest once broken is set.
type counted struct {
	net.Listener
	writes atomic.Int64
	broken atomic.Bool
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countedConn{c.(*net.TCPConn), l}, nil
}

type countedConn struct {
	*net.TCPConn
	listener *counted
}

func (c countedConn) Write(p []byte) (int, error) {
	c.listener.writes.Add(1)
	if c.listener.broken.Load() {
		n, _ := c.TCPConn.Write(p[:len(p)/2])
		return n, errors.New("too slow")
	}
	return c.TCPConn.Write(p)
}

// sized answers with as many bytes as the path says, which differ from place to place.
func sized(w http.ResponseWriter, r *http.Request) {
	size, _ := strconv.Atoi(r.URL.Path[1:])
	w.Header().Set("Content-Length", strconv.Itoa(size))
	writeBody(w, r, text(size))
}

func text(size int) []byte {
	all := make([]byte, size)
	for i := range all {
		all[i] = byte(i % 251)
	}
	return all
}

// start serves sized answers over such connections.
func start(t *testing.T, start func(*httptest.Server)) (*httptest.Server, *counted) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(sized))
	l := &counted{Listener: s.Listener}
	s.Listener, s.Config.ConnContext = listener{l}, withConn
	start(s)
	t.Cleanup(s.Close)
	return s, l
}

// sizes are those of answers, among them all that lie near to what is gathered.
func sizes() []int {
	all := []int{0, 1, 100, 2000, 8191, 8192, 8193, mostPiece - 1, mostPiece, mostPiece + 1, 1 << 20}
	for size := leastPiece - 20; size < 4200; size++ {
		all = append(all, size)
	}
	return all
}

func TestAnAnswerGoesOutInOnePiece(t *testing.T) {
	s, l := start(t, (*httptest.Server).Start)
	for _, size := range sizes() {
		before := l.writes.Load()
		wantSized(t, s.Client(), s.URL, size)
		if writes := l.writes.Load() - before; writes != 1 && size <= mostPiece {
			t.Errorf("%d bytes were written in %d pieces", size, writes)
		}
	}
}

// Whatever the protocol, answers are whole, also where several share a connection.
func TestAnswersAreWholeOverTLS(t *testing.T) {
	for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(protocol, func(t *testing.T) {
			s, _ := start(t, func(s *httptest.Server) {
				s.EnableHTTP2 = http2
				s.StartTLS()
			})
			var together sync.WaitGroup
			for caller := range 8 {
				together.Go(func() {
					for i, size := range sizes() {
						if i%8 != caller {
							continue
						}
						if got := wantSized(t, s.Client(), s.URL, size); got != protocol {
							t.Errorf("%s is spoken", got)
						}
					}
				})
			}
			together.Wait()
		})
	}
}

// wantSized asks for so many bytes, and returns which protocol is spoken.
func wantSized(t *testing.T, client *http.Client, url string, size int) string {
	t.Helper()
	r, err := client.Get(url + "/" + strconv.Itoa(size))
	if err != nil {
		t.Error(err)
		return ""
	}
	defer r.Body.Close()
	if got, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(got, text(size)) {
		t.Errorf("%d bytes of %d, %v", len(got), size, err)
	}
	return r.Proto
}

// What follows an answer that was cut off would be taken for its rest.
func TestNothingFollowsAnAnswerThatWasCutOff(t *testing.T) {
	s, l := start(t, (*httptest.Server).Start)
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l.broken.Store(true)
	if _, err := io.WriteString(c, "GET /7000 HTTP/1.1\r\nHost: x\r\n\r\nGET /7 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(bufio.NewReader(c))
	if !bytes.HasPrefix(got, []byte("HTTP/1.1 200 OK\r\n")) || bytes.Count(got, []byte("HTTP/1.1")) != 1 || len(got) > 7000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
