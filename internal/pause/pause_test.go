package pause_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"bagtrail/internal/pause"
)

func TestForWaitsForTheDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := pause.For(t.Context(), time.Hour); err != nil || time.Since(begun) != time.Hour {
			t.Errorf("For returned %v after %v, want nil after an hour", err, time.Since(begun))
		}
	})
}

func TestForEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		if err := pause.For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Minute {
			t.Errorf("For returned %v after %v, want the error of the context after a minute", err, time.Since(begun))
		}
		if err := pause.For(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("For returned %v with a context that has ended, want its error", err)
		}
	})
}

func TestUntilCallsAtOnceAndAfterEachInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour+time.Minute)
		defer cancel()
		begun := time.Now()
		calls := 0
		if err := pause.Until(ctx, time.Hour, func() bool { calls++; return calls == 3 }); err != nil || time.Since(begun) != 2*time.Hour {
			t.Errorf("Until returned %v after %v, want nil after two hours", err, time.Since(begun))
		}
		err := pause.Until(ctx, time.Hour, func() bool { return false })
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 3*time.Hour+time.Minute {
			t.Errorf("Until returned %v after %v, want the error of the context at its end", err, time.Since(begun))
		}
	})
}

func TestEveryCallsAfterEachInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour+time.Minute)
		defer cancel()
		begun := time.Now()
		var calls []time.Duration
		pause.Every(ctx, time.Hour, func() { calls = append(calls, time.Since(begun)) })
		if !slices.Equal(calls, []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour}) {
			t.Errorf("calls at %v, want one after each of three hours", calls)
		}
		if took := time.Since(begun); took != 3*time.Hour+time.Minute {
			t.Errorf("Every returned after %v, want the end of its context", took)
		}
	})
}
