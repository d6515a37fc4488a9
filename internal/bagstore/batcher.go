package bagstore

import (
	"context"
	"errors"
	"sync"

	"bagtrail/internal/bag"
)

// errStopped is the cause for callers of a batcher that does not run any more.
var errStopped = errors.New("the writer has stopped")

// aboard is the number of plates from which filings go their own way, so that small ones do not wait for them.
const aboard = 50

// Batcher files for many callers who have one message each: whatever waits while a round trip is under way goes into the
// next one. Nobody waits for company. It is safe for concurrent use.
type Batcher struct {
	writer  *Writer
	waiting chan *request
	stopped chan struct{}
	workers int
}

// request is one call of File.
type request struct {
	filings []bag.Filing
	fresh   []bool
	err     error
	done    chan struct{}
}

// NewBatcher returns a batcher with a number of round trips under way at once; two are enough. It does nothing until Run.
func NewBatcher(w *Writer, workers int) *Batcher {
	return &Batcher{writer: w, waiting: make(chan *request, 1024), stopped: make(chan struct{}), workers: workers}
}

// Run files until ctx ends, and then what has been asked for by then. It may be called once.
func (b *Batcher) Run(ctx context.Context) {
	var workers sync.WaitGroup
	on := context.WithoutCancel(ctx) // what has begun is brought to its end
	for range b.workers {
		workers.Go(func() {
			for {
				select {
				case first := <-b.waiting:
					b.file(on, b.gather(first))
				case <-ctx.Done():
					return
				}
			}
		})
	}
	workers.Wait()
	defer close(b.stopped)
	for {
		select {
		case late := <-b.waiting:
			b.file(on, b.gather(late))
		default:
			return
		}
	}
}

// File is Writer.File. Where ctx ends first it returns ErrUnavailable, and it is not known what becomes of the filings,
// which must not be changed even then.
func (b *Batcher) File(ctx context.Context, filings []bag.Filing) (fresh []bool, err error) {
	if weight(filings) >= aboard {
		return b.writer.File(ctx, filings)
	}
	r := &request{filings: filings, done: make(chan struct{})}
	select {
	case b.waiting <- r:
	case <-b.stopped:
		return nil, unavailable("file", errStopped)
	case <-ctx.Done():
		return nil, unavailable("file", ctx.Err())
	}
	select {
	case <-r.done:
		return r.fresh, r.err
	case <-ctx.Done():
		return nil, unavailable("file", ctx.Err())
	case <-b.stopped:
	}
	select {
	case <-r.done:
		return r.fresh, r.err
	default:
		return nil, unavailable("file", errStopped)
	}
}

// gather takes what waits behind the first request, as much as is sent at once.
func (b *Batcher) gather(first *request) []*request {
	group := []*request{first}
	for n := weight(first.filings); n < batchCommands/2; {
		select {
		case next := <-b.waiting:
			group = append(group, next)
			n += weight(next.filings)
		default:
			return group
		}
	}
	return group
}

// file files for a group. Callers may be gone by now; the time limit is that of the client.
func (b *Batcher) file(ctx context.Context, group []*request) {
	var all []bag.Filing
	for _, r := range group {
		all = append(all, r.filings...)
	}
	fresh, err := b.writer.File(ctx, all)
	for _, r := range group {
		if r.err = err; err == nil {
			r.fresh, fresh = fresh[:len(r.filings):len(r.filings)], fresh[len(r.filings):]
		}
		close(r.done)
	}
}

// weight is about the number of round trip's worth that filings take.
func weight(filings []bag.Filing) int {
	n := 0
	for i := range filings {
		n += 1 + len(filings[i].Entries) + len(filings[i].Stowage)
	}
	return n
}
