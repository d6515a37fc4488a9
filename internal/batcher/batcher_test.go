package batcher_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/internal/batcher"
)

// Each call returns the error of the run that its item was in, though some callers give up before.
func TestEachCallReturnsTheErrorOfItsRun(t *testing.T) {
	type call struct{ run error }
	var runs, most atomic.Int64
	calls := batcher.Batcher[*call]{MaxItems: 5, MaxRuns: 2, Timeout: time.Minute, Run: func(_ context.Context, items []*call) error {
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
