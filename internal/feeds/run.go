package feeds

import (
	"context"
	"time"

	"bagtrail/internal/pause"
)

// How often counts are written, how often states are looked at and feeds are forgotten, and how long
// each of these may take.
const (
	flushEvery = time.Second
	watchEvery = time.Minute
	timeLimit  = 5 * time.Second
)

// Run writes what is counted every second until ctx ends, and once more then. wrote is called after
// each time that something was to be written.
func (c *Counter) Run(ctx context.Context, wrote func(error)) error {
	flush := func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeLimit)
		defer cancel()
		wrote(c.Flush(limited))
	}
	defer flush()
	pause.Every(ctx, flushEvery, flush)
	return nil
}

// Watch calls look with all feeds every minute, without their hours, until ctx ends.
func (s *Store) Watch(ctx context.Context, now func() time.Time, look func([]Feed, error)) error {
	pause.Every(ctx, watchEvery, func() {
		limited, cancel := context.WithTimeout(ctx, timeLimit)
		defer cancel()
		look(s.all(limited, now()))
	})
	return nil
}

// all forgets feeds that ended, and returns the others without their hours.
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
