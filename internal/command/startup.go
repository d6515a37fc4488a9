package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/changes"
	"bagtrail/internal/pause"
)

// How long a start waits for a server that does not answer, and the pause between attempts.
const (
	startPatience = 20 * time.Second
	startPause    = 500 * time.Millisecond

	changesPatience = 10 * time.Second // how long a start waits until changes can be queried
	changesPause    = 20 * time.Millisecond
)

// waitForServers waits until Redis and Kafka answer and are set up for bagtrail.
func (s *service) waitForServers(ctx context.Context) error {
	if s.store != nil {
		if err := s.await(ctx, "redis", s.checkRedis); err != nil {
			return err
		}
	}
	if s.kafka == nil {
		return nil
	}
	return s.await(ctx, "kafka", func(ctx context.Context) error {
		if err := s.kafka.EnsureTopics(ctx); err != nil {
			return err
		}
		return s.client.EnsureTopics(ctx, append(s.changeTopics(), s.webhookTopics()...)...)
	})
}

// waitForChanges waits until the changes that this process publishes can be queried: after a start
// their index may have to be built first. If that takes too long, the process is ready without
// them, since other queries, and messages, do not need them.
func (s *service) waitForChanges(ctx context.Context) error {
	if s.changes == nil || !s.opens(kafkaDoor) || !s.opens(httpDoor) {
		return nil
	}
	s.state.Set(errors.New("the index of changes is being built"))
	limited, cancel := context.WithTimeout(ctx, changesPatience)
	defer cancel()
	reader := s.changeReader()
	_ = pause.Until(limited, changesPause, func() bool {
		_, err := reader.Now(limited, changes.Question{})
		return err == nil
	})
	return ctx.Err()
}

// await calls try until it succeeds, returns an error with an exit code, or startPatience is over.
func (s *service) await(ctx context.Context, server string, try func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for first := true; ; first = false {
		err := try(limited)
		if err == nil {
			return nil
		}
		if _, ok := errors.AsType[*exit](err); ok {
			return err
		}
		s.state.Set(fmt.Errorf("waiting for %s: %w", server, err))
		if first {
			s.log.Warn("waiting for a server", zap.String("server", server), zap.Error(err))
		}
		if pause.For(limited, startPause) != nil {
			return fmt.Errorf("%s: %w", server, err)
		}
	}
}
