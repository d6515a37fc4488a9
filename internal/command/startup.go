package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/kafka"
)

// How long a start waits for servers that do not answer, and how often it asks.
const (
	startPatience = 20 * time.Second
	startPause    = 500 * time.Millisecond
)

// waitForServers waits until Redis and Kafka answer and suit bagtrail.
func (s *service) waitForServers(ctx context.Context) error {
	if s.store != nil {
		if err := s.await(ctx, "redis", s.checkRedis); err != nil {
			return err
		}
	}
	if s.kafka == nil {
		return nil
	}
	return s.await(ctx, "kafka", s.kafka.EnsureTopics)
}

// await repeats try until it succeeds, and gives up when patience is over.
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
		select {
		case <-limited.Done():
			return failed(fmt.Errorf("%s: %w", server, err))
		case <-time.After(startPause):
		}
	}
}

// errUnsuitable is a server with which the index cannot work.
var errUnsuitable = errors.New("Redis does not suit the index")

// checkRedis says what in the configuration of Redis does not suit the index.
func (s *service) checkRedis(ctx context.Context) error {
	findings, err := s.redis.Check(ctx)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.Fatal {
			return failed(fmt.Errorf("%w: %v", errUnsuitable, f))
		}
		s.log.Warn("a setting of Redis", zap.Stringer("finding", f))
	}
	return nil
}

// progressEvery is how often a long rebuild is logged.
const progressEvery = 5 * time.Second

// rebuild fills an in-process Redis from the log, which is all that it knows.
func (s *service) rebuild(ctx context.Context) error {
	if !s.redis.InProcess() || s.kafka == nil {
		return nil
	}
	said := s.clock()
	progress, err := s.kafka.Rebuild(ctx, s.pipeline, kafka.Start{}, func(p kafkadoor.Progress) {
		s.state.Set(fmt.Errorf("rebuilding the index: %d of %d records", p.Records, p.Total))
		if now := s.clock(); now.Sub(said) >= progressEvery {
			said = now
			s.log.Info("rebuilding the index", zap.Int64("records", p.Records), zap.Int64("of", p.Total), zap.Duration("left", p.Left()))
		}
	})
	if err != nil {
		return failed(fmt.Errorf("rebuild the index: %w", err))
	}
	s.log.Info("index rebuilt from the log", zap.Int64("messages", progress.Messages), zap.Duration("took", progress.Elapsed))
	return nil
}
