package command

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bagtrail/internal/apikey"
	"bagtrail/internal/config"
	"bagtrail/internal/operation"
)

func (p *process) keys() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys in the key file",
		Long:  "keys edits the file that --keys-file or BAGTRAIL_KEYS_FILE names. A running service reads the file again when it changes.",
		Args:  subcommandOnly,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("no subcommand is given: create, list or revoke")
		},
	}
	cmd.AddCommand(p.createKey(), p.listKeys(), p.revokeKey())
	return cmd
}

// withKeysFile returns the RunE function of a command that works on the key file. It calls do with
// the name of the file and the arguments of the command.
func (p *process) withKeysFile(do func(path string, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		eff, err := p.load(cmd, config.KeysFile)
		if err != nil {
			return err
		}
		return do(eff.Files.Keys, args)
	}
}

func (p *process) createKey() *cobra.Command {
	var (
		key                            apikey.Key
		airlines, airports, operations []string
		expires                        string
	)
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Add a key and print it. It is not shown again: the file holds only its digest",
		Args:  cobra.ExactArgs(1),
		RunE: p.withKeysFile(func(path string, args []string) (err error) {
			key.Name = args[0]
			key.Airlines, key.Airports, key.Operations = apikey.ScopeOf(airlines), apikey.ScopeOf(airports), apikey.ScopeOf(operations)
			if key.Expires, err = moment("--expires", expires, time.Time{}); err != nil {
				return err
			}
			text, err := apikey.Create(path, key)
			if err != nil {
				return fileError(err)
			}
			if _, err := fmt.Fprintln(p.stdout, text); err != nil {
				return fmt.Errorf("key %s is in the file, but cannot be shown; revoke it, and create one with another name: %w", key.Name, err)
			}
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&key.Customer, "customer", "", "`id` of the customer; a key without one cannot ask for histories, nor for bags, flights, changes and webhooks under /v1")
	flags.StringSliceVar(&airlines, "airlines", nil, "comma-separated `list` of airlines; by default or with \"*\" all, with \"\" none")
	flags.StringSliceVar(&airports, "airports", nil, "comma-separated `list` of airports; by default or with \"*\" all, with \"\" none")
	flags.StringSliceVar(&operations, "operations", nil, "comma-separated `list` of "+strings.Join(operation.Rights(), ", ")+"; by default or with \"*\" all, with \"\" none")
	flags.BoolVar(&key.Conceal, "conceal", false, "answer as if bags that the key does not cover did not exist")
	flags.StringVar(&expires, "expires", "", "`time` (RFC 3339, or a day in UTC) from which the key is unknown; by default never")
	flags.Float64Var(&key.Rate, "rate", 0, "requests a second that the key may make; 0 is no limit")
	flags.IntVar(&key.Burst, "burst", 0, "requests that the key may make at once; by default those of one second")
	return cmd
}

func (p *process) listKeys() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the entries of the key file, which does not hold the keys themselves",
		Args:  cobra.NoArgs,
		RunE: p.withKeysFile(func(path string, _ []string) error {
			keys, err := apikey.List(path)
			if err != nil {
				return fileError(err)
			}
			table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "NAME\tSTATE\tCUSTOMER\tAIRLINES\tAIRPORTS\tOPERATIONS\tRATE\tEXPIRES")
			now := time.Now()
			for _, k := range keys {
				fmt.Fprintln(table, row(
					k.Name, k.State(now), cmp.Or(k.Customer, "-"), codes(k.Airlines), codes(k.Airports), codes(k.Operations), rate(k), expiry(k)))
			}
			return table.Flush()
		}),
	}
}

func (p *process) revokeKey() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a key: the service does not accept it any more. Its entry stays in the file, so that no other key gets its name",
		Args:  cobra.ExactArgs(1),
		RunE:  p.withKeysFile(func(path string, args []string) error { return fileError(apikey.Revoke(path, args[0])) }),
	}
}

func codes(s apikey.Scope) string {
	if s.All {
		return "*"
	}
	return cmp.Or(strings.Join(s.Codes, ","), "-")
}

func rate(k *apikey.Key) string {
	if k.Rate == 0 {
		return "-"
	}
	return fmt.Sprintf("%g/s", k.Rate)
}

func expiry(k *apikey.Key) string {
	if k.Expires.IsZero() {
		return "never"
	}
	return k.Expires.UTC().Format(time.RFC3339)
}
