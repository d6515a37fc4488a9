package feeds

import (
	"context"
	"time"

	"bagtrail/internal/pause"
)

const (
	flushEvery = time.Second
	watchEvery = time.Minute
	timeLimit  = 5 * time.Second // of one write, or of one read of all feeds
)

// Run writes the counts every second until ctx ends, and then once more. It calls wrote with the
// error of each write, or nil.
func (c *Counter) Run(ctx context.Context, wrote func(error)) {
	flush := func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeLimit)
		defer cancel()
		wrote(c.Flush(limited))
	}
	defer flush()
	pause.Every(ctx, flushEvery, flush)
}

// Watch calls look with all feeds every minute, without their hours, until ctx ends.
func (s *Store) Watch(ctx context.Context, now func() time.Time, look func([]Feed, error)) {
	pause.Every(ctx, watchEvery, func() {
		limited, cancel := context.WithTimeout(ctx, timeLimit)
		defer cancel()
		look(s.all(limited, now()))
	})
}

// all forgets feeds without a message in the last month, and returns the others without their
// hours.
func (s *Store) all(ctx context.Context, now time.Time) ([]Feed, error) {
	if err := s.Forget(ctx, now); err != nil {
		return nil, err
	}
	names, err := s.Names(ctx)
	if err != nil {
		return nil, err
	}
	return s.Read(ctx, names, 0, now)
}
