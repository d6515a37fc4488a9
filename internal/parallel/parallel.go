// Package parallel runs a loop on several processors.
package parallel

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// A loop is long if it has more than long times the least steps of Workers.
const long = 100

// Workers returns the number of goroutines for a loop of n steps, where a goroutine pays off if it
// gets least steps or more. It is at least 1 and at most one per processor. A long loop leaves half
// of the processors to the rest of the process, which would otherwise wait for slices of time.
func Workers(n, least int) int {
	processors := runtime.GOMAXPROCS(0)
	if n > long*least {
		processors /= 2
	}
	return max(1, min(processors, n/least))
}

// Panic is the value with which Do panics if one of its goroutines did.
type Panic struct {
	Value any    // of the panic
	Stack []byte // of the goroutine
}

// Error returns the value and the stack.
func (p Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Do splits the numbers from 0 to n-1 into one range per worker, and calls do for each range, from
// included to to excluded, in a goroutine of its own. Do returns when all calls have returned, with
// the error of the first range that has one. If a call panics, Do panics with a Panic.
func Do(n, workers int, do func(from, to int) error) error {
	if workers <= 1 {
		return do(0, n)
	}
	var all sync.WaitGroup
	defects, faults := make([]*Panic, workers), make([]error, workers)
	for w := range workers {
		all.Go(func() {
			defer func() {
				if defect := recover(); defect != nil {
					defects[w] = &Panic{defect, debug.Stack()}
				}
			}()
			faults[w] = do(w*n/workers, (w+1)*n/workers)
		})
	}
	all.Wait()
	for _, defect := range defects {
		if defect != nil {
			panic(*defect)
		}
	}
	return cmp.Or(faults...)
}
