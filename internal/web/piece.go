package web

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// An answer goes out in one piece where net/http alone would send two, its first 4 KiB and the rest: twice the system calls for
// us, and for the caller.
const (
	leastPiece = 3 << 10  // bytes of body from which net/http may send two
	mostPiece  = 32 << 10 // bytes of body that are copied for it
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
	held *[]byte // nil while nothing is held back
}

var pieces = sync.Pool{New: func() any { return new([]byte) }}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if c.held != nil {
		*c.held = append(*c.held, p...)
		return len(p), nil
	}
	return c.tcp.Write(p)
}

// hold holds back what is written from now on. Only the goroutine that writes may call it.
func (c *conn) hold() { c.held = pieces.Get().(*[]byte) }

// release writes what was held back. A connection that does not take all of it is closed, since net/http does not learn of it:
// nothing that follows may be taken for the rest.
func (c *conn) release() {
	piece := c.held
	c.held = nil
	if _, err := c.tcp.Write(*piece); err != nil {
		_ = c.Close()
	}
	*piece = (*piece)[:0]
	pieces.Put(piece)
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

// withConn is for http.Server.ConnContext. With TLS, which writes when it wants and is closed by writing, nothing is held back.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// writeBody writes the body of an answer whose length its headers tell.
func writeBody(w http.ResponseWriter, r *http.Request, body []byte) {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok && len(body) >= leastPiece && len(body) <= mostPiece {
		c.hold()
		defer c.release()
		defer http.NewResponseController(w).Flush() //nolint:errcheck // release finds out
	}
	_, _ = w.Write(body) // a caller who is gone is no fault of ours
}
