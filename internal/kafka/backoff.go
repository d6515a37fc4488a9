package kafka

import (
	"context"
	"math/rand/v2"
	"time"

	"bagtrail/internal/pause"
)

// backoff is the pause between attempts. It doubles each time, up to longest. Each pause is
// shortened at random by up to a half, so that clients that lost the same server do not return to
// it at the same time.
type backoff struct{ next, longest time.Duration }

func (c *Client) backoff() *backoff { return &backoff{c.conf.Timing.RetryMin, c.conf.Timing.RetryMax} }

// wait waits, and reports whether ctx is still alive.
func (b *backoff) wait(ctx context.Context) bool {
	d := min(b.next, b.longest)
	b.next = min(2*b.next, b.longest)
	return pause.For(ctx, d-time.Duration(rand.Int64N(int64(d)/2+1))) == nil
}
