// Package budget bounds how many bytes of memory many take together.
//
// It counts what it is told; it knows nothing of what the bytes are for.
package budget

import (
	"context"
	"sync"
)

// Bytes is an amount of memory. It is safe for concurrent use.
type Bytes struct {
	limit int64
	press func() (end func()) // called when more than half is taken; end when less than a quarter is. May be nil

	mu      sync.Mutex
	end     func() // nil while press was not called
	taken   int64
	waiting []*waiter // in the order in which they came
}

type waiter struct {
	bytes int64
	ready chan struct{} // closed once they are taken
}

// New returns so many bytes, of which none are taken. Where press is not nil, it is called when more than half of them are taken,
// and what it returns when less than a quarter is.
func New(limit int64, press func() (end func())) *Bytes { return &Bytes{limit: limit, press: press} }

// Try takes n bytes where they are left.
func (b *Bytes) Try(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.taken+n > b.limit {
		return false
	}
	b.add(n)
	return true
}

// Has reports whether n bytes are left.
func (b *Bytes) Has(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken+n <= b.limit
}

// add changes how many bytes are taken.
func (b *Bytes) add(n int64) {
	b.taken += n
	switch {
	case b.press == nil:
	case b.end == nil && b.taken > b.limit/2:
		b.end = b.press()
	case b.end != nil && b.taken < b.limit/4:
		b.end()
		b.end = nil
	}
}

// Return gives n bytes back.
func (b *Bytes) Return(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(-n)
	b.admit()
}

// wait takes n bytes as soon as they are left, one caller after the other; who wants more than there are waits until nobody has
// any. Without an error they are taken.
func (b *Bytes) wait(ctx context.Context, n int64) error {
	w := &waiter{n, make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, w)
	b.admit()
	b.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.waiting {
		if other == w {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			b.admit() // whoever was behind may want less
			return ctx.Err()
		}
	}
	return nil // it came just now
}

// admit lets those in who wait, as far as bytes are left.
func (b *Bytes) admit() {
	for len(b.waiting) > 0 {
		w := b.waiting[0]
		if b.taken > 0 && b.taken+w.bytes > b.limit {
			return
		}
		b.add(w.bytes)
		b.waiting = b.waiting[1:]
		close(w.ready)
	}
}

// force takes n bytes, whether they are left or not.
func (b *Bytes) force(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(n)
}
