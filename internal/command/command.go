// Package command is the bagtrail command: its subcommands, their flags and exit codes, and their
// wiring.
//
// It has no rules about messages and bags. Results go to stdout, logs and progress to stderr. It
// starts the parts that a command needs, and stops them in the reverse order when the work is done,
// a part fails, or the context of the command ends.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"bagtrail/internal/bagstore"
	"bagtrail/internal/config"
	"bagtrail/internal/redis"
	"bagtrail/internal/telemetry"
)

// The exit codes.
const (
	Done     = 0
	Rejected = 1 // done, but something was rejected; for health: not ready, not alive, or no answer
	Usage    = 2 // wrong usage or configuration
	Failed   = 3 // a server or file could not be used
)

// exit is an error with an exit code. Any other error of a subcommand means Failed.
type exit struct {
	code int
	err  error // nil if everything has been printed already
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}
func (e *exit) Unwrap() error { return e.err }

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	if known, ok := errors.AsType[*exit](err); ok {
		return known.code
	}
	return Failed
}

// process is the environment and the standard streams of a command.
type process struct {
	env    []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	demo   bool // the flag --demo of serve
}

// Run runs the command that args name, without the name of the program, and returns its exit code.
// env is in the form of [os.Environ]. When ctx ends the command finishes the work under way, and
// returns.
func Run(ctx context.Context, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &process{env: env, stdin: stdin, stdout: stdout, stderr: stderr}
	root := p.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	help := &remembering{Writer: stdout}
	root.SetOut(help)
	root.SetErr(stderr)
	refuseNames(root) // last, since the commands that it adds take the writers from root
	var running bool  // a subcommand; a command that has subcommands only asks for one of them
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { running = !cmd.HasSubCommands() }
	ran, err := root.ExecuteContextC(ctx)
	if err == nil && help.err != nil {
		err = &exit{Failed, help.err}
	}
	if err == nil {
		return Done
	}
	if _, coded := errors.AsType[*exit](err); !coded && !running { // an unknown command, flag or argument
		fmt.Fprintf(stderr, "bagtrail: %s\nSee %s --help.\n", printable(err.Error()), ran.CommandPath())
		return Usage
	}
	printError(stderr, err)
	return codeOf(err)
}

// remembering is a writer that remembers its last error. Cobra ignores errors when it shows help.
type remembering struct {
	io.Writer
	err error
}

func (r *remembering) Write(text []byte) (n int, err error) {
	if n, err = r.Writer.Write(text); err != nil {
		r.err = err
	}
	return n, err
}

// printError prints the text of an error, with a line for each joined error that has a text.
func printError(w io.Writer, err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line != "" {
			fmt.Fprintf(w, "bagtrail: %s\n", printable(line))
		}
	}
}

func (p *process) root() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "bagtrail",
		Short: "Follow checked bags through the baggage messages of airports and airlines",
		Long: `bagtrail takes baggage messages (BSM, BPM) from Kafka and HTTP, and answers where bags are and have been.

Every setting is a flag of every command, an environment variable BAGTRAIL_… and a member of the YAML file
named by --config; bagtrail config shows them all.

Exit codes: 0 done; 1 done, and something was rejected (health: not ready); 2 wrong usage or configuration;
3 a server or file could not be used.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          subcommandOnly,
		RunE: func(*cobra.Command, []string) error {
			if version {
				return p.showVersion()
			}
			return errors.New("no command is given")
		},
	}
	root.Flags().BoolVar(&version, "version", false, "show the version, the commit and the version of Go")
	root.SetFlagErrorFunc(suggestFlag)
	config.AddFlags(root.PersistentFlags())
	root.PersistentFlags().SortFlags, root.Flags().SortFlags = false, false
	root.SetUsageTemplate(usage(root.UsageTemplate()))
	root.AddCommand(
		p.serve(),
		p.ingest(),
		p.api(),
		p.validate(),
		p.replay(),
		p.simulate(),
		p.wtrSimulator(), p.webhookReceiver(),
		p.keys(),
		p.rejects(),
		p.config(),
		p.health(),
		p.version(),
	)
	return root
}

// refuseNames adds the commands help and completion, which refuse unknown names.
func refuseNames(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				return cmp.Or(err, subcommandOnly(found, rest))
			}
		case "completion":
			cmd.Args = subcommandOnly
			cmd.RunE = func(*cobra.Command, []string) error {
				return errors.New("no subcommand is given: bash, fish, powershell or zsh")
			}
		}
	}
}

// usage leaves the settings out of the help of subcommands: they are many, and the same everywhere.
func usage(template string) string {
	const inherited = "{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}"
	return strings.Replace(template, inherited, `  every setting, such as --config or --log-level: see "bagtrail help"`, 1)
}

// load returns the configuration of a command. checks are added to the check of the Redis URL.
func (p *process) load(cmd *cobra.Command, checks ...config.Check) (*config.Effective, error) {
	eff, err := config.Load(cmd.Flags(), p.env, append([]config.Check{redisURL}, checks...)...)
	if _, wrong := errors.AsType[*config.Fault](err); wrong {
		return nil, &exit{Usage, err}
	}
	return eff, err // an error of filesOf has an exit code
}

// redisURL checks the Redis URL. Package config cannot do that, since it does not know the form of
// that URL.
func redisURL(c *config.Config, faults *config.Faults) {
	if c.Redis.InProcess() {
		return
	}
	address, err := redis.ParseURL(c.Redis.URL)
	if err == nil {
		err = bagstore.CheckPrefix(address.Prefix)
	}
	faults.If(err != nil, "redis-url", "cannot be used: %v", err)
}

// logger returns the log of a command. The Redis client writes to it too, at most one line of each
// kind a minute. In such a line, left_out is the number of lines of that kind that were left out
// since the last one.
func (p *process) logger(c *config.Config) *zap.Logger {
	log := telemetry.NewLogger(p.stderr, c.Log.Level, c.Log.Format)
	limit := telemetry.NewLimit(1)
	redis.ClientLog(func(kind, line string) {
		if written, leftOut := limit.Pass(kind, time.Now()); written {
			log.Warn("a notice of the Redis client", zap.String("detail", line), zap.Int("left_out", leftOut))
		}
	})
	return log
}

// fileError gives an exit code to an error about a file that a setting names: Failed if the system
// could not read or write the file, Usage if its content is wrong.
func fileError(err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	var link *os.LinkError // of a rename
	if errors.As(err, &path) || errors.As(err, &link) {
		return &exit{Failed, err}
	}
	return &exit{Usage, err}
}
