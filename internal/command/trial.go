package command

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
)

// serveTrial serves, at an address, the other side of a service for trials: the delayed-bag system or
// a receiver of webhooks. It returns when the command ends. The log has hint with the URL after it.
func (p *process) serveTrial(cmd *cobra.Command, address, hint string, handler func(*zap.Logger) http.Handler) error {
	eff, err := p.load(cmd)
	if err != nil {
		return err
	}
	log := p.logger(eff.Config)
	listener, err := listenOn(cmd.Context(), "--addr", address)
	if err != nil {
		return logged(log, err)
	}
	log.Info(hint + "http://" + listener.Addr().String() + "/")
	return logged(log, serveHTTP(cmd.Context(), handler(log), listener))
}

// serveHTTP serves until ctx ends. Then it closes every connection at once.
func serveHTTP(ctx context.Context, handler http.Handler, listener net.Listener) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
