package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/pause"
)

// How long a start waits for a server that does not answer, and the pause between attempts.
const (
	startPatience = 20 * time.Second
	startPause    = 500 * time.Millisecond
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

// await calls try until it succeeds, returns an error with an exit code, or startPatience is over.
func (s *service) await(ctx context.Context, server string, try func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for first := true; ; first = false {
		err := try(limited)
		if err == nil {
			return nil
		}
		var known *exit
		if errors.As(err, &known) {
			return err
		}
		s.state.Set(fmt.Errorf("waiting for %s: %w", server, err))
		if first {
			s.log.Warn("waiting for a server", zap.String("server", server), zap.Error(err))
		}
		if pause.For(limited, startPause) != nil {
			return failed(fmt.Errorf("%s: %w", server, err))
		}
	}
}
