// Package parallel runs a loop on several processors.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// Workers returns the number of goroutines for a loop of n steps, if a goroutine pays off from
// least steps on. It is at least 1 and at most one per processor.
func Workers(n, least int) int { return max(1, min(runtime.GOMAXPROCS(0), n/least)) }

// Panic is the value with which Do panics if one of its goroutines did.
type Panic struct {
	Value any    // of the panic
	Stack []byte // of the goroutine
}

// Error returns the value and the stack.
func (p Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Do splits the numbers from 0 to n-1 into one range per worker, and calls do for each range, from
// included to to excluded, in a goroutine of its own. Workers are numbered from 0. Do returns when
// all calls have returned. If one of them panics, Do panics with a Panic.
func Do(n, workers int, do func(worker, from, to int)) {
	if workers <= 1 {
		do(0, 0, n)
		return
	}
	var all sync.WaitGroup
	defects := make([]*Panic, workers)
	for w := range workers {
		all.Go(func() {
			defer func() {
				if defect := recover(); defect != nil {
					defects[w] = &Panic{defect, debug.Stack()}
				}
			}()
			do(w, w*n/workers, (w+1)*n/workers)
		})
	}
	all.Wait()
	for _, defect := range defects {
		if defect != nil {
			panic(*defect)
		}
	}
}
