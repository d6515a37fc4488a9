package parallel_test

import (
	"cmp"
	"errors"
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
			var ranges atomic.Int32
			err := parallel.Do(n, workers, func(from, to int) error {
				ranges.Add(1)
				for i := from; i < to; i++ {
					done[i].Add(1)
				}
				return nil
			})
			if err != nil || int(ranges.Load()) != workers {
				t.Errorf("%d ranges for %d workers, %v", ranges.Load(), workers, err)
			}
			for i := range done {
				if got := done[i].Load(); got != 1 {
					t.Errorf("%d of %d with %d workers: %d times", i, n, workers, got)
				}
			}
		}
	}
}

func TestALongLoopLeavesEveryOtherProcessorToOthers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for n, want := range map[int]int{0: 1, 31: 1, 64: 2, 256: 8, 3200: 8, 3201: 4, 49_950: 4} {
		if got := parallel.Workers(n, 32); got != want {
			t.Errorf("%d workers for %d steps, want %d", got, n, want)
		}
	}
	runtime.GOMAXPROCS(1)
	if got := parallel.Workers(49_950, 32); got != 1 {
		t.Errorf("%d workers on one processor", got)
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
	err := parallel.Do(4, 4, func(from, _ int) error {
		if from == 1 {
			panic("broken")
		}
		returned.Add(1)
		return nil
	})
	t.Errorf("no panic, but %v", err)
}

func TestTheErrorOfTheFirstRangeIsReturnedWhenAllHaveReturned(t *testing.T) {
	for _, workers := range []int{1, 4} {
		var returned atomic.Int32
		first, last := errors.New("first"), errors.New("last")
		faults := []error{nil, first, nil, last}
		err := parallel.Do(len(faults), workers, func(from, to int) error {
			returned.Add(1)
			return cmp.Or(faults[from:to]...)
		})
		if !errors.Is(err, first) || int(returned.Load()) != workers {
			t.Errorf("%d workers: %v, %d have returned", workers, err, returned.Load())
		}
	}
}
