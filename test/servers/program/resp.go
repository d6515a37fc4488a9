package program

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// Conn is a connection to a Redis, with the part of its protocol that is needed to check servers.
type Conn struct {
	net  net.Conn
	read *bufio.Reader
}

// DialRedis connects to host:port. The deadline of ctx holds for everything on the connection.
func DialRedis(ctx context.Context, addr string) (*Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(deadline)
	}
	return NewConn(c), nil
}

// NewConn uses an existing connection.
func NewConn(c net.Conn) *Conn { return &Conn{net: c, read: bufio.NewReader(c)} }

// Close ends the connection.
func (c *Conn) Close() error { return c.net.Close() }

// Do sends one command and returns its reply: a string, an int64, a []any or nil. An error reply is
// returned as an error.
func (c *Conn) Do(args ...string) (any, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := io.WriteString(c.net, b.String()); err != nil {
		return nil, err
	}
	reply, err := c.reply()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	return reply, nil
}

func (c *Conn) reply() (any, error) {
	line, err := c.read.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, rest := line[0], strings.TrimSuffix(line[1:], "\r\n")
	switch kind {
	case '+':
		return rest, nil
	case '-':
		return nil, errors.New(rest)
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	switch {
	case err != nil:
		return nil, err
	case kind == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case kind == '$':
		text := make([]byte, n+2)
		_, err := io.ReadFull(c.read, text)
		return string(text[:n]), err
	case kind == '*':
		list := make([]any, n)
		for i := range list {
			if list[i], err = c.reply(); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("a reply that begins %q", kind)
}

// ask sends one command over a new connection.
func ask(ctx context.Context, addr string, args ...string) (any, error) {
	c, err := DialRedis(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	return c.Do(args...)
}
