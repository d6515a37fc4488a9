package ingestor

import (
	"context"
	"sync"
	"time"
)

// gather turns many small calls at once into few large ones. What comes while all its runs are busy waits, and goes
// along with the next run; nothing ever waits for a timer. It has no goroutine while nothing waits.
type gather[T any] struct {
	run   func(ctx context.Context, items []T) error
	most  int           // items in one run
	runs  int           // at once
	limit time.Duration // of one run

	mu      sync.Mutex
	waiting []*waiter[T]
	busy    int
}

type waiter[T any] struct {
	ctx  context.Context
	item T
	done chan error // of one element, so that nobody has to be there to receive
}

// do has item run, and returns the error of its run. Where ctx ends first, its error is returned, and whether item
// is run is not known.
func (g *gather[T]) do(ctx context.Context, item T) error {
	w := &waiter[T]{ctx: ctx, item: item, done: make(chan error, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	if g.busy < g.runs {
		g.busy++
		go g.work() //nolint:contextcheck // a run serves many callers, and must outlive the one that began it
	}
	g.mu.Unlock()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work runs what waits until nothing does.
func (g *gather[T]) work() {
	for {
		batch := g.take()
		if len(batch) == 0 {
			return
		}
		items := make([]T, len(batch))
		for i, w := range batch {
			items[i] = w.item
		}
		ctx, cancel := context.WithTimeout(context.Background(), g.limit)
		err := g.run(ctx, items)
		cancel()
		for _, w := range batch {
			w.done <- err
		}
	}
}

// take removes the next items from those that wait, without those that nobody waits for any more. Where there are
// none, the worker has ended when take returns.
func (g *gather[T]) take() []*waiter[T] {
	g.mu.Lock()
	defer g.mu.Unlock()
	var batch []*waiter[T]
	taken := 0
	for _, w := range g.waiting {
		if len(batch) == g.most {
			break
		}
		taken++
		if w.ctx.Err() == nil {
			batch = append(batch, w)
		}
	}
	g.waiting = append(g.waiting[:0:0], g.waiting[taken:]...)
	if len(batch) == 0 {
		g.busy--
	}
	return batch
}
