package command

import (
	"context"
	"errors"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"bagtrail/internal/config"
)

func (p *process) serve() *cobra.Command {
	cmd := p.service("serve", "Run everything in one process; Kafka, Redis and the delayed-bag system run in it too, unless they have an address",
		[]string{kafkaDoor, httpDoor})
	cmd.Flags().BoolVar(&p.demo, "demo", false, "play the simulated traffic of an airport in real time; nothing of it is kept")
	return cmd
}

func (p *process) ingest() *cobra.Command {
	return p.service("ingest", "Read messages from Kafka and publish changes; any number of these share one Kafka and one Redis",
		[]string{kafkaDoor}, config.SharedRedis, config.SharedKafka, config.SomeKafka)
}

func (p *process) api() *cobra.Command {
	return p.service("api", "Run HTTP, webhooks and jobs over rejects; any number of these share one Kafka and one Redis",
		[]string{httpDoor}, config.KeysOrLoopback, config.SharedRedis, config.SharedKafka)
}

// service returns a command that runs a service with these doors.
func (p *process) service(use, short string, doors []string, checks ...config.Check) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.demo {
				checks, doors = append(checks, config.InProcessOnly), append(doors, demoDoor)
			}
			eff, err := p.load(cmd, append(checks, filesOf(doors))...)
			if err != nil {
				return err
			}
			if p.demo {
				remove, err := ownDataDir(eff.Config)
				if err != nil {
					return err
				}
				defer remove()
			}
			log := p.logger(eff.Config)
			if eff.Kafka.Off {
				doors = slices.DeleteFunc(doors, func(door string) bool { return door == kafkaDoor })
			}
			return logged(log, p.withService(cmd.Context(), eff.Config, doors, log, serve))
		},
	}
}

// serve runs a service until ctx ends or a part of it fails.
func serve(ctx context.Context, s *service) error {
	if err := s.start(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	<-ctx.Done()
	s.state.Set(errors.New("stopping"))
	s.log.Info("stopping")
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// logged logs the error that ends a service, and returns one that holds only its exit code.
func logged(log *zap.Logger, err error) error {
	if err == nil {
		return nil
	}
	code := codeOf(err)
	log.Error("the service ends with an error", zap.Error(err), zap.Int("exit_code", code))
	return &exit{code: code}
}

// work is the work of a command with a service. ctx ends when the command must stop, or when a part
// of the service has failed; then its cause is the error of that part.
type work func(ctx context.Context, s *service) error

// withService does work with a service that has these doors, and then stops the parts that were
// started.
func (p *process) withService(ctx context.Context, conf *config.Config, doors []string, log *zap.Logger, do work) (err error) {
	signal.Ignore(syscall.SIGPIPE) // a command with a service outlives the reader of its log
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s := newService(conf, doors, log, fail)
	s.stdout = p.stdout
	defer func() { err = errors.Join(err, s.cleanup.run()) }()
	return do(ctx, s)
}
