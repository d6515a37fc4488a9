package command

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.uber.org/zap"
)

// crew is goroutines that are started one by one, and stopped together.
type crew struct {
	ctx  context.Context
	stop context.CancelFunc
	fail func(error) // told what ended one of them early
	wg   sync.WaitGroup
}

// newCrew makes a crew that works until ctx ends or it is told to go home. The first error of one of them goes to fail.
func newCrew(ctx context.Context, fail func(error)) *crew {
	c := &crew{fail: fail}
	c.ctx, c.stop = context.WithCancel(ctx)
	return c
}

// start runs work, which must return when its context ends.
func (c *crew) start(name string, work func(context.Context) error) {
	c.wg.Go(func() {
		if err := work(c.ctx); err != nil {
			c.fail(fmt.Errorf("%s: %w", name, err))
		}
	})
}

// goHome stops all and waits for them.
func (c *crew) goHome() error {
	c.stop()
	c.wg.Wait()
	return nil
}

// stopper stops what was started, in the reverse order.
type stopper struct {
	log     *zap.Logger
	waiting []stop
}

type stop struct {
	name string
	run  func() error
}

// later remembers how to stop what was just started.
func (s *stopper) later(name string, run func() error) {
	s.waiting = append(s.waiting, stop{name, run})
}

// run stops everything. What cannot be stopped is reported, and does not keep the rest from being stopped.
func (s *stopper) run() error {
	var faults []error
	for i := len(s.waiting) - 1; i >= 0; i-- {
		s.log.Debug("stopping", zap.String("part", s.waiting[i].name))
		if err := s.waiting[i].run(); err != nil {
			faults = append(faults, fmt.Errorf("stop %s: %w", s.waiting[i].name, err))
		}
	}
	s.waiting = nil
	return errors.Join(faults...)
}
