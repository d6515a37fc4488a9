// Package collector keeps Go's garbage collector from running more often than the memory of a process calls for.
package collector

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	usual  = 100 // percent by which the heap grows between two collections, as Go has it
	widest = 400 // so that what lives may have grown a few times before the next collection is seen
)

// Floor lets the heap grow to so many bytes before it is collected: a process whose live heap is small uses the memory that it
// needs when it has most to do, and is interrupted less often. A heap that is larger anyway is collected as ever. It does
// nothing where the environment sets GOGC, which says how often. stop makes everything as it was.
func Floor(bytes uint64) (stop func() error) {
	if os.Getenv("GOGC") != "" {
		return func() error { return nil }
	}
	f := &floor{bytes: bytes, percent: usual}
	f.await()
	return f.stop
}

type floor struct {
	bytes   uint64
	mu      sync.Mutex
	percent int
	stopped bool
}

func (f *floor) stop() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	debug.SetGCPercent(usual)
	return nil
}

// await adapts the pace when the next collection is over, and so on: it makes an object that this collection finds dead.
func (f *floor) await() {
	runtime.AddCleanup(new([16]byte), (*floor).adapt, f)
}

func (f *floor) adapt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if percent := pace(live[0].Value.Uint64(), f.bytes); percent != f.percent {
		f.percent = percent
		debug.SetGCPercent(percent)
	}
	f.await()
}

// pace returns the percentage by which a heap of so many live bytes may grow to reach the floor, in steps of ten.
func pace(live, floor uint64) int {
	if live >= floor {
		return usual
	}
	missing := (floor - live) * 100 / max(live, 1)
	return int(min(max(missing/10*10, usual), widest))
}
