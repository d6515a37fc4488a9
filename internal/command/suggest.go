package command

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bagtrail/internal/config"
)

// subcommandOnly refuses the arguments of a command that only has subcommands: the first is an
// unknown subcommand.
func subcommandOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), config.DidYouMean(args[0], names))
}

// suggestFlag adds a suggestion to the error about an unknown flag, even if the flag was written
// with a single dash and so was read as several flags of one letter.
func suggestFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	written := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	if meant := config.DidYouMean("--"+written, names); meant != "" {
		return fmt.Errorf("%w%s", err, meant)
	}
	return err
}
