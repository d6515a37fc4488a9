package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// Limits of a connection. If one is exceeded, the connection is closed.
const (
	readHeaderLimit = 5 * time.Second
	readLimit       = 15 * time.Second // headers and body
	writeLimit      = 30 * time.Second // from the end of the headers, or of the body if an operation has one
	idleLimit       = 75 * time.Second // longer than load balancers keep a connection, as a rule
	maxHeaderBytes  = 16 << 10
)

// Server serves a handler on one address, plain or with TLS 1.2 and later.
type Server struct {
	Handler      http.Handler
	Certificates []tls.Certificate // none: plain HTTP
	Log          *zap.Logger       // receives the errors of net/http, at debug level
	Drain        time.Duration     // timeout for running requests when Run stops
	OnStop       func()            // called when Run stops, before it waits for running requests; may be nil
}

// Run serves the connections of incoming until ctx ends, and then waits up to Drain for running
// requests. It closes the listener. An error after ctx has ended says that requests were cut off.
func (s Server) Run(ctx context.Context, incoming net.Listener) error {
	complaints, _ := zap.NewStdLogAt(s.Log, zap.DebugLevel) // a level that exists
	server := &http.Server{
		Handler:           s.Handler,
		ReadHeaderTimeout: readHeaderLimit,
		ReadTimeout:       readLimit,
		WriteTimeout:      writeLimit,
		IdleTimeout:       idleLimit,
		MaxHeaderBytes:    maxHeaderBytes,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, Certificates: s.Certificates},
		ErrorLog:          complaints,
		ConnState:         new(connectionCounter).count,
		ConnContext:       withConnection,

		// Over HTTP/2 WriteTimeout ends an answer by a reset, which has to be sent too.
		HTTP2: &http.HTTP2Config{WriteByteTimeout: writeLimit},

		DisableGeneralOptionsHandler: true, // OPTIONS * is answered like everything else
	}
	if s.OnStop != nil {
		server.RegisterOnShutdown(s.OnStop)
	}
	done := make(chan error, 1)
	go func() {
		if len(s.Certificates) == 0 {
			done <- server.Serve(incoming)
			return
		}
		done <- server.ServeTLS(incoming, "", "")
	}()
	select {
	case err := <-done:
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Drain)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		return fmt.Errorf("drain HTTP: %w", errors.Join(err, server.Close()))
	}
	return nil
}

// connectionKey is the key of the connection in the context of a request.
type connectionKey struct{}

func withConnection(ctx context.Context, conn net.Conn) context.Context {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}
