package command

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"bagtrail/internal/telemetry"
	"bagtrail/internal/wtr"
)

func (p *process) wtrSimulator() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "wtr-simulator",
		Short: "Simulate the downstream delayed-bag system",
		Long: `wtr-simulator runs the simulated delayed-bag system, which serve runs inside its own process, as a separate process:

  POST /            creates a record, and answers with its reference
  GET  /records     the number of records
  POST /misbehave   ?fault=...&delay=...&times=n: how the next n requests are answered (0: all)`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.serveTrial(cmd, address, "delayed-bag simulator: use it as BAGTRAIL_WTR_URL=", func(*zap.Logger) http.Handler {
				return new(wtr.Simulator)
			})
		},
	}
	cmd.Flags().StringVar(&address, "addr", "127.0.0.1:8082", "`address` to listen on")
	return cmd
}

// openDownstream opens the connection to the delayed-bag system, and simulates it if none is named.
func (s *service) openDownstream(ctx context.Context) error {
	if !s.opens(httpDoor) {
		return nil
	}
	address := s.conf.WTR.URL
	if s.conf.WTR.InProcess() {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("delayed-bag simulator: %w", err)
		}
		address = "http://" + listener.Addr().String() + "/"
		s.background.start("delayed-bag simulator", func(ctx context.Context) error {
			return telemetry.Serve(ctx, trialServer(new(wtr.Simulator)), listener)
		})
		s.inProcess("delayed-bag system", "a simulator", "BAGTRAIL_WTR_URL", zap.String("address", address))
		if !s.conf.Redis.InProcess() { // so the installation is not a trial
			s.log.Warn("delayed-bag reports go to a simulator: they are answered with invented references, and reach nobody",
				zap.String("replaced_by", "BAGTRAIL_WTR_URL"))
		}
	}
	s.wtr = wtr.NewClient(address, s.conf.WTR.Timeout, s.clock)
	return nil
}
