package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"bagtrail/internal/pause"
)

// During a stall, a question is due every two milliseconds, and each of them waits.
func TestQuestionsThatAreLateCountFromWhenTheyAreDue(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	late := 0
	err := atPace(ctx, 2*time.Millisecond, func(n int, due time.Time) error {
		switch {
		case n == 0:
			return pause.For(ctx, 50*time.Millisecond)
		case n == 40:
			cancel()
		case time.Since(due) >= 10*time.Millisecond:
			late++
		}
		return nil
	})
	if err != nil || late < 19 {
		t.Errorf("%d questions are late, %v", late, err)
	}
	broken := errors.New("broken")
	if err := atPace(t.Context(), time.Millisecond, func(int, time.Time) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a question fails: %v", err)
	}
}

func TestNoAnswersMeetNoTarget(t *testing.T) {
	if got := percentile(nil, 99); got < time.Hour {
		t.Errorf("p99 of no answers is %v", got)
	}
}
