package redis

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"
)

// Pipe returns the two ends of a connection in memory. Unlike net.Pipe it buffers writes, so that a
// client may send a whole pipeline before it reads the first reply. It ignores deadlines, since the
// server in this process answers every command.
func Pipe() (client, server net.Conn) {
	there, back := newStream(), newStream()
	return &pipeEnd{in: back, out: there}, &pipeEnd{in: there, out: back}
}

type pipeEnd struct{ in, out *stream }

func (p *pipeEnd) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p *pipeEnd) Write(b []byte) (int, error) { return p.out.Write(b) }

func (p *pipeEnd) Close() error {
	p.in.close()
	p.out.close()
	return nil
}

func (p *pipeEnd) LocalAddr() net.Addr              { return pipeAddr{} }
func (p *pipeEnd) RemoteAddr() net.Addr             { return pipeAddr{} }
func (p *pipeEnd) SetDeadline(time.Time) error      { return nil }
func (p *pipeEnd) SetReadDeadline(time.Time) error  { return nil }
func (p *pipeEnd) SetWriteDeadline(time.Time) error { return nil }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "memory" }
func (pipeAddr) String() string  { return "in-process" }

// stream is one direction of a pipe.
type stream struct {
	mu      sync.Mutex
	changed sync.Cond
	text    bytes.Buffer // what was written and not read yet
	closed  bool
}

// maxKept is the largest buffer, in bytes, that is kept after all of it was read. Larger ones are
// rare.
const maxKept = 1 << 20

func newStream() *stream {
	s := &stream{}
	s.changed.L = &s.mu
	return s
}

func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, io.ErrClosedPipe
	}
	s.changed.Signal()
	return s.text.Write(b)
}

func (s *stream) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.text.Len() == 0 {
		if s.closed {
			return 0, io.EOF
		}
		s.changed.Wait()
	}
	n, err := s.text.Read(b)
	if s.text.Len() == 0 && s.text.Cap() > maxKept {
		s.text = bytes.Buffer{}
	}
	return n, err
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
}
