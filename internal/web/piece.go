package web

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// An answer goes out in one piece where net/http alone would send two, its first 4 KiB and the rest: twice the system calls for
// us, and for the caller.
const (
	leastPiece = 3 << 10   // bytes of body from which net/http sends two
	mostPiece  = 128 << 10 // bytes of body that are copied for it
)

// tcp is a TCP connection. net/http shuts down its own direction of it before it closes it, so that a caller who is still sending
// reads the answer.
type tcp interface {
	net.Conn
	CloseWrite() error
}

// conn is a connection that can hold back what is written.
type conn struct {
	tcp
	mu      sync.Mutex // TLS writes alerts at any time
	holding bool
	held    *[]byte
}

var pieces = sync.Pool{New: func() any { return new([]byte) }}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holding {
		*c.held = append(*c.held, p...)
		return len(p), nil
	}
	return c.tcp.Write(p)
}

// hold holds back what is written from now on.
func (c *conn) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding, c.held = true, pieces.Get().(*[]byte)
}

// release writes what was held back. A connection that does not take all of it is closed, since nobody else would know.
func (c *conn) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.tcp.Write(*c.held); err != nil {
		_ = c.Close()
	}
	*c.held = (*c.held)[:0]
	pieces.Put(c.held)
	c.holding, c.held = false, nil
}

// listener makes such connections of those that it accepts.
type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if t, ok := c.(tcp); ok && err == nil {
		return &conn{tcp: t}, nil
	}
	return c, err
}

type connKey struct{}

// withConn is for http.Server.ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// writeBody writes the body of an answer whose length its headers tell. Requests of HTTP/2 share a connection, which gathers by
// itself.
func writeBody(w http.ResponseWriter, r *http.Request, body []byte) {
	c, ours := r.Context().Value(connKey{}).(*conn)
	if ours && r.ProtoMajor == 1 && len(body) >= leastPiece && len(body) <= mostPiece {
		c.hold()
		defer c.release()
		defer http.NewResponseController(w).Flush() //nolint:errcheck // release finds out
	}
	_, _ = w.Write(body) // a caller who is gone is no fault of ours
}
