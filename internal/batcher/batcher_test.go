package batcher_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bagtrail/internal/batcher"
)

func one[T any](T) int { return 1 }

// Each call returns the error of the run that its item was in, though some callers give up before.
func TestEachCallReturnsTheErrorOfItsRun(t *testing.T) {
	type call struct{ run error }
	var runs, most atomic.Int64
	calls := batcher.Batcher[*call]{Weight: one[*call], MaxWeight: 5, MaxRuns: 2, Timeout: time.Minute, Run: func(_ context.Context, items []*call) error {
		err := fmt.Errorf("run %d", runs.Add(1))
		if n := int64(len(items)); n > most.Load() {
			most.Store(n)
		}
		for _, item := range items {
			item.run = err
		}
		return err
	}}
	var calling sync.WaitGroup
	var left atomic.Int64
	for worker := range uint64(16) {
		calling.Go(func() {
			random := rand.New(rand.NewPCG(worker, 0))
			for range 2000 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(200))*time.Microsecond)
				item := &call{}
				switch err := calls.Do(ctx, item); {
				case errors.Is(err, context.DeadlineExceeded):
					left.Add(1)
				case err == nil || !errors.Is(err, item.run):
					t.Errorf("%v of %v", err, item.run)
				}
				cancel()
			}
		})
	}
	calling.Wait()
	if n := left.Load(); n == 0 || n == 16*2000 || most.Load() < 2 || most.Load() > 5 {
		t.Errorf("%d left, %d runs of up to %d items", n, runs.Load(), most.Load())
	}
}

// MaxRuns batches run at the same time, each with a time limit. A call that has ended while it
// waited is in none.
func TestRunsAreFewAndLimitedAndLeaveOutWhoHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var ran []int
		running, free := 0, make(chan struct{})
		calls := batcher.Batcher[int]{Weight: one[int], MaxWeight: 5, MaxRuns: 2, Timeout: time.Minute, Run: func(ctx context.Context, items []int) error {
			mu.Lock()
			ran = append(ran, items...)
			running++
			if until, limited := ctx.Deadline(); running > 2 || !limited || time.Until(until) != time.Minute {
				t.Errorf("%d runs, this one until %v", running, until)
			}
			mu.Unlock()
			<-free
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		}}
		for item := range 20 {
			go func() {
				if err := calls.Do(t.Context(), item); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		if running != 2 {
			t.Errorf("%d runs", running)
		}
		ctx, leave := context.WithCancel(t.Context())
		go leave()
		if err := calls.Do(ctx, 20); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(free)
		synctest.Wait()
		slices.Sort(ran)
		if len(ran) != 20 || slices.Contains(ran, 20) || running != 0 {
			t.Errorf("%d runs, %v ran", running, ran)
		}
	})
}

func TestABatchEndsOnceItIsHeavy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran [][]int
		free := make(chan struct{})
		weight := func(item int) int { return item }
		calls := batcher.Batcher[int]{Weight: weight, MaxWeight: 5, MaxRuns: 1, Timeout: time.Minute, Run: func(_ context.Context, items []int) error {
			<-free
			ran = append(ran, items)
			return nil
		}}
		for _, item := range []int{9, 3, 2, 4, 7, 1, 1} {
			go func() { _ = calls.Do(t.Context(), item) }()
			synctest.Wait()
		}
		close(free)
		synctest.Wait()
		if got, want := fmt.Sprint(ran), "[[9] [3 2] [4 7] [1 1]]"; got != want {
			t.Errorf("batches of %s, want %s", got, want)
		}
	})
}
