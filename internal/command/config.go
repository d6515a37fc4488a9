package command

import (
	"io"

	"github.com/spf13/cobra"
)

func (p *process) config() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Show the effective configuration and the source of each value, with secrets masked",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			eff, err := p.load(cmd)
			if err != nil {
				return err
			}
			_, err = io.WriteString(p.stdout, eff.String())
			return err
		},
	}
}
