package feeds

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/cache"
)

// Counter counts the messages of feeds. It is safe for concurrent use.
type Counter struct {
	store  *Store
	now    func() time.Time
	seed   maphash.Seed
	copies *cache.Cache[uint64, int64] // digest of a text → when it was received last, in ms since 1970

	mu      sync.Mutex
	pending map[slot]*arrivals
}

// slot is an hour of a feed.
type slot struct {
	Name
	hour int64 // in hours since 1970
}

// arrivals are the counts of an hour of a feed that are not yet written.
type arrivals struct {
	Counts
	first, last time.Time
}

// NewCounter returns a Counter that writes to a store.
func NewCounter(store *Store, now func() time.Time) *Counter {
	return &Counter{
		store: store, now: now, seed: maphash.MakeSeed(), copies: cache.New[uint64, int64](maxCopies), pending: map[slot]*arrivals{},
	}
}

// Count counts the messages of a batch, accepted and rejected ones. A message counts once, at the
// door by which it came: records of the log that another door wrote, or that were read before, are
// left out. So are messages that are replayed, reports, and messages that the sender may not send.
func (c *Counter) Count(door string, b *ingestor.Batch) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range b.Outcomes {
		o, env := &b.Outcomes[i], &b.Envelopes[i]
		again := env.Logged && o.Verdict == ingestor.Duplicate && !b.Refiled
		if again || env.Relayed || env.NoPosition || env.Report || o.Verdict == ingestor.Unauthorised {
			continue
		}
		at := earlier(env.Received, now) // a record has the time that its producer gave it
		if now.Sub(at) > kept {
			continue
		}
		a := c.arrivals(Name{o.Airport, door}, at)
		switch {
		case o.Verdict == ingestor.Rejected:
			a.Rejected++
			for _, code := range ingestor.Codes(o.Errors) {
				a.addCode(code, 1)
			}
		case c.repeated(env.Raw, at):
			a.Duplicate++
		default:
			a.Accepted++
		}
		if !o.Happened.IsZero() {
			a.Delays.add(env.Received.Sub(o.Happened))
		}
	}
}

// arrivals returns the arrivals of a feed in the hour of a time. The caller holds the lock.
func (c *Counter) arrivals(name Name, at time.Time) *arrivals {
	s := slot{name, at.Unix() / 3600}
	a := c.pending[s]
	if a == nil {
		s.Airport = strings.Clone(s.Airport) // part of a message
		a = &arrivals{first: at, last: at}
		c.pending[s] = a
	}
	a.first, a.last = earlier(a.first, at), later(a.last, at)
	return a
}

// Flush writes the counts since the last call. Counts that cannot be written are lost: if they were
// written again, they might count twice.
func (c *Counter) Flush(ctx context.Context) error {
	c.mu.Lock()
	pending := c.pending
	c.pending = map[slot]*arrivals{}
	c.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	return c.store.add(ctx, pending)
}

const (
	copyWindow = 10 * time.Minute
	maxCopies  = 50_000 // of a generation of the cache
)

// repeated reports whether a text was last received within ten minutes of at, and remembers at.
func (c *Counter) repeated(text string, at time.Time) bool {
	digest := maphash.String(c.seed, text)
	before, known := c.copies.Get(digest)
	c.copies.Put(digest, at.UnixMilli(), 1)
	return known && at.Sub(time.UnixMilli(before)).Abs() <= copyWindow
}
