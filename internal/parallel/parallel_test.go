package parallel_test

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"bagtrail/internal/parallel"
)

func TestEachNumberIsDoneOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 300} {
		for workers := 1; workers < 9; workers++ {
			done := make([]atomic.Int32, n)
			seen := make([]atomic.Bool, workers)
			parallel.Do(n, workers, func(worker, from, to int) {
				if seen[worker].Swap(true) {
					t.Errorf("worker %d twice", worker)
				}
				for i := from; i < to; i++ {
					done[i].Add(1)
				}
			})
			for i := range done {
				if got := done[i].Load(); got != 1 {
					t.Errorf("%d of %d with %d workers: %d times", i, n, workers, got)
				}
			}
		}
	}
}

func TestAPanicReachesTheCallerWhenAllHaveReturned(t *testing.T) {
	var returned atomic.Int32
	defer func() {
		defect, _ := recover().(parallel.Panic)
		if defect.Value != "broken" || !strings.Contains(string(defect.Stack), "parallel_test.go") || !strings.HasPrefix(defect.Error(), "broken\n") {
			t.Errorf("panic with %v", defect)
		}
		if returned.Load() != 3 {
			t.Errorf("%d have returned", returned.Load())
		}
	}()
	parallel.Do(4, 4, func(worker, _, _ int) {
		if worker == 1 {
			panic("broken")
		}
		returned.Add(1)
	})
	t.Error("no panic")
}

func TestWorkers(t *testing.T) {
	for _, c := range []struct{ n, want int }{{0, 1}, {31, 1}, {63, 1}, {64, min(2, runtime.GOMAXPROCS(0))}, {1 << 20, runtime.GOMAXPROCS(0)}} {
		if got := parallel.Workers(c.n, 32); got != c.want {
			t.Errorf("%d steps: %d, want %d", c.n, got, c.want)
		}
	}
}
