package budget

import (
	"context"
	"sync"
)

// small is what a question may need without being counted, in bytes.
const small = 256 << 10

// Question is what is needed to answer one question.
type Question struct {
	of *Bytes

	mu     sync.Mutex
	needed int64
	taken  int64
}

type questionKey struct{}

// Ask begins a question that is answered with these bytes. What works for it gets the context, and says by Need what it needs.
func (b *Bytes) Ask(ctx context.Context) (context.Context, *Question) {
	q := &Question{of: b}
	return context.WithValue(ctx, questionKey{}, q), q
}

// End gives back all that the question has taken.
func (q *Question) End() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken > 0 {
		q.of.Return(q.taken)
	}
	q.taken = 0
}

// Need says that the question of ctx needs so many bytes more. A small question never waits. Any other waits once, until there
// is room for what it needs so far: what it needs later is counted, but it goes on, since nobody else has use of what it holds.
// The error is that of ctx. Without a question nothing is counted.
func Need(ctx context.Context, bytes int64) error {
	q, _ := ctx.Value(questionKey{}).(*Question)
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.needed += bytes
	more := q.needed - q.taken
	switch {
	case q.needed <= small || more <= 0:
		return nil
	case q.taken > 0:
		q.of.force(more)
	default:
		if err := q.of.wait(ctx, more); err != nil {
			return err
		}
	}
	q.taken = q.needed
	return nil
}
