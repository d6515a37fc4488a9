package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.uber.org/zap"
)

// group is a set of goroutines that are started one by one and stopped together.
type group struct {
	ctx    context.Context
	cancel context.CancelFunc
	log    *zap.Logger
	fail   func(error)
	wg     sync.WaitGroup
}

// newGroup returns a group that runs until ctx ends or stop is called. fail is called with each
// error that a goroutine returns before that. Later errors are logged.
func newGroup(ctx context.Context, log *zap.Logger, fail func(error)) *group {
	g := &group{log: log, fail: fail}
	g.ctx, g.cancel = context.WithCancel(ctx)
	return g
}

// run starts a goroutine that cannot fail. work must return when its context ends.
func (g *group) run(work func(context.Context)) {
	g.wg.Go(func() { work(g.ctx) })
}

// start starts a goroutine that may fail. run must return when its context ends.
func (g *group) start(name string, run func(context.Context) error) {
	g.wg.Go(func() {
		switch err := run(g.ctx); {
		case err == nil:
		case g.ctx.Err() == nil:
			g.fail(fmt.Errorf("%s: %w", name, err))
		default:
			g.log.Warn("a part has stopped with an error", zap.String("part", name), zap.Error(err))
		}
	})
}

// stop ends the context of all goroutines and waits for them. It always returns nil; cleanup takes
// functions that return an error.
func (g *group) stop() error {
	g.cancel()
	g.wg.Wait()
	return nil
}

// cleanup stops parts in the reverse order of their start.
type cleanup struct {
	log   *zap.Logger
	parts []part
}

type part struct {
	name string
	stop func() error
}

// add registers the function that stops a part that was just started.
func (c *cleanup) add(name string, stop func() error) {
	c.parts = append(c.parts, part{name, stop})
}

// run stops all parts, also after an error, and returns all errors.
func (c *cleanup) run() error {
	var faults []error
	for _, p := range slices.Backward(c.parts) {
		c.log.Debug("stopping", zap.String("part", p.name))
		if err := p.stop(); err != nil {
			faults = append(faults, fmt.Errorf("stop %s: %w", p.name, err))
		}
	}
	return errors.Join(faults...)
}
