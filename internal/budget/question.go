package budget

import (
	"context"
	"sync"
)

// small is the largest number of bytes that a question may use without taking them from the budget.
const small = 256 << 10

// Question is the memory of one question, such as a query of a caller, while it is answered.
type Question struct {
	budget *Bytes

	mu     sync.Mutex
	needed int64
	taken  int64 // the bytes taken from the budget: 0 while the question is small, later the most that was needed
	waited int64 // the number of bytes that were taken first, after a wait
}

type questionKey struct{}

// Ask begins a question that takes its memory from the budget. Functions that answer it get the
// context, and call Need.
func (b *Bytes) Ask(ctx context.Context) (context.Context, *Question) {
	q := &Question{budget: b}
	return context.WithValue(ctx, questionKey{}, q), q
}

// Part begins a separate question for a part of the question of ctx, so that a question that is
// answered part after part holds the memory of one part at a time. end returns the bytes of the
// part to the budget. If ctx has no question, part is ctx.
func Part(ctx context.Context) (part context.Context, end func()) {
	q, _ := ctx.Value(questionKey{}).(*Question)
	if q == nil {
		return ctx, func() {}
	}
	ctx, own := q.budget.Ask(ctx)
	return ctx, own.End
}

// End returns all bytes that the question has taken.
func (q *Question) End() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken > 0 {
		q.budget.endQuestion(q.waited, q.taken)
	}
	q.taken = 0
}

// Need takes more bytes for the question of ctx. A small question never waits. Any other question
// waits once, until its bytes are left and, if it is large, few enough other large ones are under
// way. It takes later bytes without waiting, so that a question that holds memory can end. bytes
// may be negative if an estimate was too high: then that many of the next bytes are not taken. The
// error is that of ctx. If ctx has no question, Need does nothing.
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
		q.budget.force(more)
	default:
		if err := q.budget.wait(ctx, more); err != nil {
			return err
		}
		q.waited = more
	}
	q.taken = q.needed
	return nil
}
