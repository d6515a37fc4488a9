// Package collector paces Go's garbage collector, of which a process has one: how far the heap grows until it is collected.
package collector

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	thrifty = 40  // percent by which the heap grows until it is collected, where memory is short
	widest  = 200 // the most that a floor makes of it: more may live by then, which only the collection after it takes into account
)

// Floor lets the heap grow to about so many bytes, or three times what lives, before it is collected: a process whose live heap
// is small uses the memory that it needs when it has most to do, and is interrupted less often. A heap that is larger anyway is
// collected as ever, and thrift counts more. It does nothing where the environment sets GOGC, which says how often. stop makes
// everything as it was; there may be one floor.
func Floor(bytes uint64) (stop func() error) {
	if os.Getenv("GOGC") != "" {
		return func() error { return nil }
	}
	process.change(func() { process.floor = bytes })
	return func() error {
		process.change(func() { process.floor = 0 })
		return nil
	}
}

// Thrift has the heap collected at 40 percent more than what lives until it is ended: by everybody who asked for it, once.
func Thrift() (end func()) {
	process.change(func() { process.thrifts++ })
	return func() { process.change(func() { process.thrifts-- }) }
}

var process pacer

type pacer struct {
	mu      sync.Mutex
	floor   uint64 // bytes; 0 without one
	thrifts int

	changed bool // percent is not as Go or the environment has it
	usual   int  // which is this; negative where nothing is ever collected
	percent int
	waits   bool // for a collection
}

// change changes what is wanted, and acts on it.
func (p *pacer) change(want func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	want()
	p.pace()
}

// await has the pace adapted when the next collection is over: it makes an object that this collection finds dead.
func (p *pacer) await() {
	if !p.waits {
		p.waits = true
		runtime.AddCleanup(new([16]byte), func(p *pacer) { p.change(func() { p.waits = false }) }, p)
	}
}

// pace makes the heap grow as far as is wanted.
func (p *pacer) pace() {
	if p.floor == 0 && p.thrifts == 0 {
		if p.changed {
			debug.SetGCPercent(p.usual)
			p.changed = false
		}
		return
	}
	if !p.changed {
		p.usual = debug.SetGCPercent(thrifty)
		p.changed, p.percent = true, thrifty
	}
	percent := p.usual
	switch {
	case percent < 0:
	case p.thrifts > 0:
		percent = min(percent, thrifty)
	default:
		percent = reaching(p.floor, live(), percent)
		p.await()
	}
	if percent != p.percent {
		debug.SetGCPercent(percent)
		p.percent = percent
	}
}

// live is how many bytes of the heap were found alive by the last collection.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// reaching returns the percentage by which a heap of so many live bytes may grow to reach the floor, in steps of ten, or least where
// that is more.
func reaching(floor, live uint64, least int) int {
	if live >= floor {
		return least
	}
	missing := (floor - live) * 100 / max(live, 1)
	return max(int(min(missing/10*10, widest)), least)
}
