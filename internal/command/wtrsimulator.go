package command

import (
	"github.com/spf13/cobra"

	"bagtrail/internal/wtr"
)

func (p *process) wtrSimulator() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "wtr-simulator",
		Short: "Stand for the downstream delayed-bag system",
		Long: `wtr-simulator is the delayed-bag system that serve runs in process, as a process of its own:

  POST /            takes a request, numbers a record, answers
  GET  /records     how many records there are
  POST /misbehave   ?fault=...&delay=...&times=n: what the next n requests meet (0: all)`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			eff, err := p.load(cmd)
			if err != nil {
				return err
			}
			log, err := p.logger(eff.Config)
			if err != nil {
				return err
			}
			listener, err := listenOn(cmd.Context(), "--addr", address)
			if err != nil {
				return logged(log, err)
			}
			log.Info("delayed-bag simulator: use it as BAGTRAIL_WTR_URL=http://" + listener.Addr().String() + "/")
			return logged(log, serveSimulator(cmd.Context(), new(wtr.Simulator), listener))
		},
	}
	cmd.Flags().StringVar(&address, "addr", "127.0.0.1:8082", "`address` to listen on")
	return cmd
}
