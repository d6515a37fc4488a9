// Package gather turns many small calls at once into few large ones.
package gather

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Calls are calls that may be made together. What comes while all runs are busy waits, and goes along with the next run;
// nothing ever waits for a timer. There is no goroutine while nothing waits. The fields must not be changed once it is used,
// nor may it be copied.
type Calls[T any] struct {
	Run   func(ctx context.Context, items []T) error
	Most  int           // items in one run
	Runs  int           // at once
	Limit time.Duration // of one run

	mu      sync.Mutex
	waiting []*waiter[T]
	busy    int
	free    sync.Pool // of *waiter[T]
}

type waiter[T any] struct {
	ctx  context.Context
	item T
	done chan error // of one element, so that nobody has to be there to receive
}

// Do has item run, and returns the error of its run. Where ctx ends first, its error is returned, and whether item
// is run is not known.
func (c *Calls[T]) Do(ctx context.Context, item T) error {
	w, _ := c.free.Get().(*waiter[T])
	if w == nil {
		w = &waiter[T]{done: make(chan error, 1)}
	}
	w.ctx, w.item = ctx, item
	c.mu.Lock()
	c.waiting = append(c.waiting, w)
	if c.busy < c.Runs {
		c.busy++
		go c.work() //nolint:contextcheck // a run serves many callers, and must outlive the one that began it
	}
	c.mu.Unlock()
	select {
	case err := <-w.done:
		*w = waiter[T]{done: w.done}
		c.free.Put(w)
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work runs what waits until nothing does.
func (c *Calls[T]) work() {
	for {
		runtime.Gosched() // whoever is about to call may come along
		batch := c.take()
		if len(batch) == 0 {
			return
		}
		items := make([]T, len(batch))
		for i, w := range batch {
			items[i] = w.item
		}
		ctx, cancel := context.WithTimeout(context.Background(), c.Limit)
		err := c.Run(ctx, items)
		cancel()
		for _, w := range batch {
			w.done <- err
		}
	}
}

// take removes the next items from those that wait, without those that nobody waits for any more. Where there are
// none, the worker has ended when take returns.
func (c *Calls[T]) take() []*waiter[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	var batch []*waiter[T]
	taken := 0
	for _, w := range c.waiting {
		if len(batch) == c.Most {
			break
		}
		taken++
		if w.ctx.Err() == nil {
			batch = append(batch, w)
		}
	}
	c.waiting = append(c.waiting[:0:0], c.waiting[taken:]...)
	if len(batch) == 0 {
		c.busy--
	}
	return batch
}
