package redistest

import (
	"bytes"
	"net"
	"strings"
	"sync"
	"testing"
)

// Proxy is a TCP proxy between a client and its Redis, which can disturb the connection.
type Proxy struct {
	listener net.Listener

	mu       sync.Mutex
	target   string
	conns    map[net.Conn]struct{}
	requests bytes.Buffer // all that was sent
	left     int          // bytes of replies until all connections are cut; negative: they are not
	silent   bool         // nothing is passed on
	closed   bool
	changed  *sync.Cond
}

// StartProxy starts a proxy of a server. It ends with the test.
func StartProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, target: target, conns: make(map[net.Conn]struct{}), left: -1}
	p.changed = sync.NewCond(&p.mu)
	go p.serve()
	t.Cleanup(func() {
		p.mu.Lock()
		p.closed = true
		p.changed.Broadcast()
		p.mu.Unlock()
		_ = l.Close()
		p.Cut()
	})
	return p
}

// URL returns the address of the proxy with a path and parameters.
func (p *Proxy) URL(rest string) string { return "redis://" + p.listener.Addr().String() + rest }

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = -1
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

// Lead makes new connections lead to another server.
func (p *Proxy) Lead(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// CutAfter closes all connections once n more bytes of replies have passed. If n is negative, it
// closes none.
func (p *Proxy) CutAfter(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = n
}

// Silence starts or stops holding back all bytes. Connections stay open.
func (p *Proxy) Silence(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = on
	p.changed.Broadcast()
}

// Sent returns how often a word was sent to the server since the last call.
func (p *Proxy) Sent(word string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := strings.Count(p.requests.String(), word)
	p.requests.Reset()
	return n
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		target := p.target
		p.mu.Unlock()
		server, err := net.Dial("tcp", target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = struct{}{}, struct{}{}
		p.mu.Unlock()
		go p.pass(server, client, true)
		go p.pass(client, server, false)
	}
}

// pass copies requests or replies from one side to the other.
func (p *Proxy) pass(to, from net.Conn, requests bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		passed := n
		p.mu.Lock()
		for p.silent && !p.closed {
			p.changed.Wait()
		}
		if requests {
			p.requests.Write(buf[:n])
		} else if p.left >= 0 {
			passed = min(p.left, n)
			p.left -= passed
		}
		p.mu.Unlock()
		if _, writeErr := to.Write(buf[:passed]); writeErr != nil || err != nil {
			return
		}
		if passed < n {
			p.Cut()
			return
		}
	}
}
