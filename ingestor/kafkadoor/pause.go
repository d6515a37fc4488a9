package kafkadoor

import (
	"context"
	"math/rand/v2"
	"time"
)

// pause is the waiting between attempts: twice as long each time up to a longest, and by chance up to a half
// shorter, so that many who lost the same server do not come back at once.
type pause struct{ next, longest time.Duration }

func newPause(first, longest time.Duration) *pause { return &pause{first, longest} }

// wait waits, and reports whether ctx has lasted.
func (p *pause) wait(ctx context.Context) bool {
	d := min(p.next, p.longest)
	p.next = min(2*p.next, p.longest)
	timer := time.NewTimer(d - time.Duration(rand.Int64N(int64(d)/2+1)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
