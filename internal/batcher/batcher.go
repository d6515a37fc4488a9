// Package batcher runs items of concurrent callers together, in batches.
package batcher

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Batcher runs items in batches. An item starts at once if fewer than MaxRuns batches are running.
// Otherwise it waits its turn: after each run, the items that have waited longest are taken, until
// they weigh MaxWeight. No item waits for a timer. A Batcher without items has no goroutine. Do not
// change the fields after the first call of Do, and do not copy a Batcher.
type Batcher[T any] struct {
	Run       func(ctx context.Context, items []T) error
	Weight    func(item T) int // at least 1
	MaxWeight int              // a batch that weighs this much takes no further item
	MaxRuns   int              // how many batches run at the same time at most
	Timeout   time.Duration    // time limit of a run

	mu      sync.Mutex
	waiting []*call[T]
	running int
}

// call is one call of Do.
type call[T any] struct {
	ctx  context.Context
	item T
	done chan error // of capacity 1, since the caller may have gone
}

// Do runs item in a batch, and returns the error of that run. If ctx ends first, Do returns the
// error of ctx, and item may or may not run.
func (b *Batcher[T]) Do(ctx context.Context, item T) error {
	c := &call[T]{ctx, item, make(chan error, 1)}
	b.mu.Lock()
	b.waiting = append(b.waiting, c)
	if b.running < b.MaxRuns {
		b.running++
		go b.work() //nolint:contextcheck // a run serves many callers, and outlives the one that started it
	}
	b.mu.Unlock()
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work runs batches until no item waits.
func (b *Batcher[T]) work() {
	for {
		batch := b.take()
		if len(batch) == 0 {
			return
		}
		items := make([]T, len(batch))
		for i, c := range batch {
			items[i] = c.item
		}
		ctx, cancel := context.WithTimeout(context.Background(), b.Timeout)
		err := b.Run(ctx, items)
		cancel()
		for _, c := range batch {
			c.done <- err
		}
	}
}

// take removes the next batch from the waiting calls. It drops calls whose context has ended. If no
// call is left, the worker counts as ended when take returns.
func (b *Batcher[T]) take() []*call[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	var batch []*call[T]
	taken, weight := 0, 0
	for _, c := range b.waiting {
		if weight >= b.MaxWeight {
			break
		}
		taken++
		if c.ctx.Err() == nil {
			batch = append(batch, c)
			weight += b.Weight(c.item)
		}
	}
	b.waiting = slices.Clone(b.waiting[taken:])
	if len(batch) == 0 {
		b.running--
	}
	return batch
}
