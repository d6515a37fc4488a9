package budget_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bagtrail/internal/budget"
)

const kib = 1 << 10

func TestNoMoreIsTakenThanThereIs(t *testing.T) {
	b := budget.New(10, nil)
	if !b.Try(6) || b.Try(5) || !b.Try(4) || b.Try(1) {
		t.Error("6 and 4 of 10 bytes are to be had, and no more")
	}
	b.Return(4)
	if b.Try(5) || !b.Try(4) {
		t.Error("after 4 were given back, 4 are to be had")
	}
}

func TestPressureBeginsAtHalfAndEndsAtAQuarter(t *testing.T) {
	pressed := 0
	b := budget.New(100, func() func() {
		pressed++
		return func() { pressed-- }
	})
	for _, step := range []struct{ taken, returned, pressed int }{{50, 0, 0}, {1, 0, 1}, {30, 0, 1}, {0, 56, 1}, {0, 1, 0}, {27, 0, 1}, {0, 51, 0}} {
		b.Try(int64(step.taken))
		b.Return(int64(step.returned))
		if pressed != step.pressed {
			t.Errorf("%+v: pressed %d times", step, pressed)
		}
	}
}

func TestSmallQuestionNeverWaits(t *testing.T) {
	b := budget.New(1, nil)
	b.Try(1)
	ctx, question := b.Ask(t.Context())
	defer question.End()
	for range 256 {
		if err := budget.Need(ctx, kib); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWithoutAQuestionNothingIsCounted(t *testing.T) {
	if err := budget.Need(t.Context(), 1<<40); err != nil {
		t.Error(err)
	}
}

func TestLargeQuestionsWaitInTheirOrderUntilThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(1000*kib, nil)
		var began []string
		ask := func(name string, bytes int64) (question *budget.Question, ready chan struct{}) {
			ctx, question := b.Ask(t.Context())
			ready = make(chan struct{})
			go func() {
				if err := budget.Need(ctx, bytes); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				began = append(began, name)
				close(ready)
			}()
			synctest.Wait()
			return question, ready
		}
		first, _ := ask("first", 600*kib)
		all, _ := ask("more than there is", 5000*kib)
		last, _ := ask("last", 300*kib)
		if len(began) != 1 {
			t.Errorf("began: %q", began)
		}
		first.End()
		synctest.Wait()
		if len(began) != 2 || began[1] != "more than there is" {
			t.Errorf("began, after the first ended: %q", began)
		}
		all.End()
		synctest.Wait()
		if len(began) != 3 {
			t.Errorf("began, after the second ended: %q", began)
		}
		last.End()
		if !b.Try(1000 * kib) {
			t.Error("not all was given back")
		}
	})
}

func TestAPartOfAQuestionReturnsItsMemoryAtItsEnd(t *testing.T) {
	b := budget.New(1000*kib, nil)
	ctx, question := b.Ask(t.Context())
	defer question.End()
	for range 3 {
		part, end := budget.Part(ctx)
		if err := budget.Need(part, 600*kib); err != nil {
			t.Fatal(err)
		}
		if b.Try(500 * kib) {
			t.Error("what the part needs is not counted")
		}
		end()
		if !b.Try(1000 * kib) {
			t.Error("the part has not given back all")
		}
		b.Return(1000 * kib)
	}
}

func TestWhoHasWaitedOnceGoesOnAndIsCounted(t *testing.T) {
	b := budget.New(1000*kib, nil)
	ctx, question := b.Ask(t.Context())
	for range 3 {
		if err := budget.Need(ctx, 400*kib); err != nil {
			t.Fatal(err)
		}
	}
	if b.Try(1) {
		t.Error("what was needed later is not counted")
	}
	question.End()
	if !b.Try(1000 * kib) {
		t.Error("not all was given back")
	}
}

func TestWaitingEndsWithTheDeadlineAndLetsOthersPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(1000*kib, nil)
		b.Try(600 * kib)
		patient, question := b.Ask(t.Context())
		hasty, cancel := context.WithTimeout(patient, time.Second)
		defer cancel()
		other, behind := b.Ask(t.Context())
		var passed atomic.Bool
		go func() {
			if err := budget.Need(hasty, 500*kib); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			question.End()
		}()
		synctest.Wait()
		go func() {
			if err := budget.Need(other, 300*kib); err != nil {
				t.Error(err)
			}
			passed.Store(true)
		}()
		synctest.Wait()
		if passed.Load() {
			t.Error("who came later went first")
		}
		<-hasty.Done()
		synctest.Wait()
		if !passed.Load() {
			t.Error("who came later still waits")
		}
		behind.End()
		b.Return(600 * kib)
		if !b.Try(1000 * kib) {
			t.Error("not all was given back")
		}
	})
}

// With few cores, large questions would keep all of them busy.
func TestADearQuestionWaitsForAnotherAndLetsCheaperOnesPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(1<<40, nil)
		ask := func(bytes int64) (done chan error, end func()) {
			ctx, question := b.Ask(t.Context())
			done = make(chan error, 1)
			go func() { done <- budget.Need(ctx, bytes) }()
			synctest.Wait()
			return done, question.End
		}
		const large = 2 << 20
		var ends []func()
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			done, end := ask(large)
			if len(done) != 1 {
				t.Fatal("a large question waits although a core is left")
			}
			ends = append(ends, end)
		}
		waiting, end := ask(large)
		if len(waiting) != 0 {
			t.Error("one large question more does not wait")
		}
		small, endSmall := ask(large - 1)
		if len(small) != 1 {
			t.Error("a smaller question waits for a large one")
		}
		endSmall()
		if synctest.Wait(); len(waiting) != 0 {
			t.Error("the end of a small question makes room for a large one")
		}
		ends[0]()
		if synctest.Wait(); len(waiting) != 1 {
			t.Error("the end of a large question makes no room for the next")
		}
		end()
	})
}
