package ingestor_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bagtrail/ingestor"
)

func TestReceivedTimesNeverGoBack(t *testing.T) {
	now := received.Add(999 * time.Microsecond)
	clock := ingestor.NewClock(func() time.Time { return now })
	for _, step := range []struct{ by, want time.Duration }{
		{0, 0}, {time.Second, time.Second}, {-10 * time.Minute, time.Second}, {10 * time.Minute, time.Second}, {time.Millisecond, time.Second + time.Millisecond},
	} {
		now = now.Add(step.by)
		if got := clock.Now(); got != received.Add(step.want) {
			t.Errorf("after a step of %v: received %v, want %v", step.by, got, received.Add(step.want))
		}
	}
}

func TestAClockThatWasFarAheadGivesRightTimesAgain(t *testing.T) {
	now := received.Add(3 * time.Hour)
	clock := ingestor.NewClock(func() time.Time { return now })
	wrong := clock.Now()
	now = received
	clock.Pass(wrong)
	if got := clock.Now(); got != received {
		t.Errorf("received at %v, want %v", got, received)
	}
}

func TestAnAcceptedMessageIsNotAnsweredBeforeItsMillisecondIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := ingestor.NewClock(time.Now)
		a := newAcceptor(newIndex(), ingestor.Config{Clock: clock, Patience: time.Minute})
		for range 100 {
			env := envelope(bsm)
			env.Received = clock.Now()
			if _, err := a.Accept(t.Context(), env); err != nil {
				t.Fatal(err)
			}
			if now := time.Now(); now.Sub(env.Received) < time.Millisecond || now.Sub(env.Received) > 2*time.Millisecond {
				t.Fatalf("received at %v, answered at %v", env.Received, now)
			}
		}
	})
}

func TestAwaitedMessagesHaveDifferentReceivedTimesThoughTheClockStandsStill(t *testing.T) {
	clock := ingestor.NewClock(func() time.Time { return received })
	seen := make(map[time.Time]bool)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			last := time.Time{}
			for range 10 {
				at := clock.Now()
				clock.Pass(at)
				if !at.After(last) {
					t.Errorf("received at %v, and the next at %v", last, at)
				}
				last = at
				mu.Lock()
				seen[at] = true
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	if len(seen) < 10 {
		t.Errorf("%d received times", len(seen))
	}
}

func TestATimeThatAnotherProcessGaveDoesNotMoveTheClock(t *testing.T) {
	clock := ingestor.NewClock(func() time.Time { return received })
	clock.Pass(received.Add(time.Hour))
	if got := clock.Now(); got != received {
		t.Errorf("received at %v, want %v", got, received)
	}
}
