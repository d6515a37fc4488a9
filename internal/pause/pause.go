// Package pause waits in real time. Code with an injected clock waits by that clock.
package pause

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends. It returns the error of ctx.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err()
}

// Until calls holds, at once and after each interval, until it returns true. If ctx ends first, Until
// returns its error.
func Until(ctx context.Context, interval time.Duration, holds func() bool) error {
	for !holds() {
		if err := For(ctx, interval); err != nil {
			return err
		}
	}
	return nil
}

// Every calls do after each interval until ctx ends.
func Every(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do()
		}
	}
}
