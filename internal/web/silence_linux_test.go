package web_test

import (
	"context"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/operation"
	"bagtrail/internal/pause"
	"bagtrail/internal/web"
)

// The network between them is gone, and neither end is told.
func TestAStreamEndsThirtySecondsAfterItsCallerHasVanished(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the limit")
	}
	t.Parallel()
	op := web.Operation{
		Operation: operation.ByID("getChanges"),
		Serve: func(_ context.Context, c *web.Call) web.Answer {
			return c.Stream(func(ctx context.Context, s *web.Stream) {
				for s.Send("heartbeat", "x", nil) == nil && ctx.Err() == nil {
					s.Flush()
					_ = pause.For(ctx, time.Second)
				}
			})
		},
	}
	site := web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, []web.Operation{op}, nil)
	t.Cleanup(site.Stop)
	address, _ := serve(t, site)
	staying, vanishing := dial(t, address), dial(t, address)
	for _, conn := range []net.Conn{staying, vanishing} {
		if _, err := io.WriteString(conn, "GET /v1/changes HTTP/1.1\r\nHost: localhost\r\napi_key: secret-of-demo\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		begin := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(conn, begin); err != nil || string(begin) != "HTTP/1.1 200" {
			t.Fatalf("%q, %v", begin, err)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, staying) }()
	dropAll(t, vanishing)
	began := time.Now()
	for site.OpenStreams() != 1 {
		if time.Since(began) > 45*time.Second {
			t.Fatalf("%d streams are open", site.OpenStreams())
		}
		_ = pause.For(t.Context(), 100*time.Millisecond)
	}
	if after := time.Since(began); after < 25*time.Second {
		t.Errorf("a stream ended after %v", after)
	}
}

// dropAll makes the system drop all that comes for a connection, before it is confirmed.
func dropAll(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	drop := []syscall.SockFilter{*syscall.LsfStmt(syscall.BPF_RET+syscall.BPF_K, 0)}                                     //nolint:staticcheck // its successor is another module
	if err := raw.Control(func(fd uintptr) { failed = syscall.AttachLsf(int(fd), drop) }); err != nil || failed != nil { //nolint:staticcheck // the same
		t.Fatal(err, failed)
	}
}
