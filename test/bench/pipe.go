package main

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"
)

// memoryPipe returns the two ends of a connection in memory, which keeps what is written until it is read.
func memoryPipe() (client, server net.Conn) {
	there, back := newStream(), newStream()
	return memoryConn{back, there}, memoryConn{there, back}
}

type memoryConn struct{ in, out *stream }

func (c memoryConn) Read(b []byte) (int, error)  { return c.in.read(b) }
func (c memoryConn) Write(b []byte) (int, error) { return c.out.write(b) }
func (c memoryConn) Close() error {
	c.in.close()
	c.out.close()
	return nil
}
func (memoryConn) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (memoryConn) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (memoryConn) SetDeadline(time.Time) error      { return nil }
func (memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (memoryConn) SetWriteDeadline(time.Time) error { return nil }

// stream is one direction.
type stream struct {
	mu      sync.Mutex
	changed *sync.Cond
	text    bytes.Buffer
	closed  bool
}

func newStream() *stream {
	s := &stream{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.text.Len() == 0 {
		if s.closed {
			return 0, io.EOF
		}
		s.changed.Wait()
	}
	return s.text.Read(b)
}

func (s *stream) write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, io.ErrClosedPipe
	}
	s.changed.Signal()
	return s.text.Write(b)
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
}
