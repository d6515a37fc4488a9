// Package budget bounds the memory that many goroutines use together. A goroutine takes bytes from
// the budget before it uses them, and returns them afterwards.
package budget

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
)

// Bytes is a budget of memory. It is safe for concurrent use.
type Bytes struct {
	limit int64
	press func() (end func()) // see New; or nil

	mu      sync.Mutex
	end     func() // nil unless press was called
	taken   int64
	large   int       // large questions that are under way
	waiting []*waiter // in the order of their calls
}

type waiter struct {
	bytes int64
	ready chan struct{} // closed when the bytes are taken
}

// New returns a budget of limit bytes; 0 is no limit. If press is not nil, it is called when more
// than half of the bytes are taken, so that the program can save memory. The function that it
// returns is called when less than a quarter are taken.
func New(limit int64, press func() (end func())) *Bytes {
	return &Bytes{limit: cmp.Or(limit, math.MaxInt64), press: press}
}

// Try takes n bytes if they are left, and reports whether they were.
func (b *Bytes) Try(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.taken+n > b.limit {
		return false
	}
	b.add(n)
	return true
}

// add takes n bytes, or returns them if n is negative.
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

// Return returns n bytes.
func (b *Bytes) Return(n int64) { b.endQuestion(0, n) }

// large is the size in bytes from which a question keeps a core busy for long.
const large = 2 << 20

// largeAtOnce returns how many large questions are answered at the same time: one for every two
// cores. The other cores are left for smaller questions. Otherwise these would wait until each
// large one has had its slice of time.
func largeAtOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// wait waits until n bytes are left, and takes them. If the question is large, wait also waits
// until fewer than largeAtOnce others are under way. If n is above the limit, it waits until no
// bytes are taken. Callers are served in order, but a waiting large question lets smaller ones
// pass. If wait returns nil, the bytes are taken.
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
	if i := slices.Index(b.waiting, w); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
		b.admit() // the next waiter may want less
		return ctx.Err()
	}
	return nil // admit has just taken the bytes
}

// admit serves waiters while bytes are left. A large question that has to wait lets smaller ones pass.
func (b *Bytes) admit() {
	for i := 0; i < len(b.waiting); {
		w := b.waiting[i]
		if b.taken > 0 && b.taken+w.bytes > b.limit {
			return
		}
		if w.bytes >= large && b.large >= largeAtOnce() {
			i++
			continue
		}
		if w.bytes >= large {
			b.large++
		}
		b.add(w.bytes)
		b.waiting = slices.Delete(b.waiting, i, i+1)
		close(w.ready)
	}
}

// endQuestion ends a question that has taken n bytes, the first waited of them with wait.
func (b *Bytes) endQuestion(waited, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if waited >= large {
		b.large--
	}
	b.add(-n)
	b.admit()
}

// force takes n bytes, even if they are not left.
func (b *Bytes) force(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(n)
}
