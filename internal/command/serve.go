package command

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"bagtrail/internal/config"
)

func (p *process) serve() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run everything in one process, with an in-process server for each that has no address",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			eff, err := p.load(cmd)
			if err != nil {
				return err
			}
			open := doorNames()
			if eff.Kafka.Off {
				open = slices.DeleteFunc(open, func(door string) bool { return door == kafkaDoor })
			}
			return p.run(cmd.Context(), eff.Config, open)
		},
	}
}

func (p *process) ingest() *cobra.Command {
	return &cobra.Command{
		Use:   "ingest",
		Short: "Run the Kafka door alone; any number of these share one group and one Redis",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			eff, err := p.load(cmd, config.SharedRedis, config.SharedKafka, config.SomeKafka)
			if err != nil {
				return err
			}
			return p.run(cmd.Context(), eff.Config, []string{kafkaDoor})
		},
	}
}

func (p *process) api() *cobra.Command {
	return &cobra.Command{
		Use:   "api",
		Short: "Run HTTP alone; any number of these share one Redis",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			eff, err := p.load(cmd, config.KeysOrLoopback, config.SharedRedis, config.SharedKafka)
			if err != nil {
				return err
			}
			return p.run(cmd.Context(), eff.Config, []string{httpDoor})
		},
	}
}

// run runs a service until ctx ends or a part of it fails, and stops its parts in order. An error
// that ends it is logged.
func (p *process) run(ctx context.Context, conf *config.Config, open []string) error {
	log, err := p.logger(conf)
	if err != nil {
		return err
	}
	defer func() { _ = log.Sync() }() // a terminal cannot be synced
	return logged(log, p.work(ctx, conf, open, log))
}

// logged logs the error that ends a service, and returns one that holds only its exit code.
func logged(log *zap.Logger, err error) error {
	if err == nil {
		return nil
	}
	code := Failed
	var known *exit
	if errors.As(err, &known) {
		code = known.code
	}
	log.Error("the service ends with an error", zap.Error(err), zap.Int("exit_code", code))
	return &exit{code: code}
}

// work does the work of run, and returns the error that ended the service.
func (p *process) work(ctx context.Context, conf *config.Config, open []string, log *zap.Logger) (err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s := newService(conf, open, log, fail)
	s.stdout = p.stdout
	defer func() { err = errors.Join(err, failed(s.cleanup.run())) }()
	if err := s.start(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	<-ctx.Done()
	s.state.Set(errStopping)
	log.Info("stopping")
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return failed(cause)
	}
	return nil
}
