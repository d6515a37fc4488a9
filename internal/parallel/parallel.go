// Package parallel shares a loop among the processors.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// Workers returns among how many goroutines a loop of n steps is worth being shared, if each is to have that many steps at
// least: never more than there are processors.
func Workers(n, least int) int { return max(1, min(runtime.GOMAXPROCS(0), n/least)) }

// Panic is what Do panics with where a goroutine of its own did.
type Panic struct {
	Value any    // of the panic
	Stack []byte // of the goroutine
}

// Error tells all.
func (p Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Do calls do for parts of the numbers from 0 to n-1, which together are all of them, from so many goroutines at once; worker
// counts these from 0. It returns when all have returned, and panics with a Panic where one did.
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
