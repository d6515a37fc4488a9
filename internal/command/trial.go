package command

import (
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"bagtrail/internal/telemetry"
)

// serveTrial serves, for trials, the other side of a service at an address: the delayed-bag system
// or a receiver of webhooks. It logs hint, followed by the URL, and returns when the command ends.
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
	return logged(log, telemetry.Serve(cmd.Context(), trialServer(handler(log)), listener))
}

// trialServer returns the server of the other side of a service.
func trialServer(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
}
