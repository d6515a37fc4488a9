// Package collector tunes the garbage collector of the process. Thrift makes it run more often
// while memory is short. Limit and Within set Go's memory limit.
package collector

import (
	"runtime/debug"
	"sync"
)

// thriftPercent is GOGC while memory is short.
const thriftPercent = 40

// thrift counts the callers of Thrift that have not called end.
var thrift struct {
	mu    sync.Mutex
	users int
	usual int // GOGC without thrift
}

// Thrift lowers GOGC to 40 until end is called. Calls nest: the last call of an end restores the
// former GOGC. If the collector is off, or GOGC is lower already, nothing changes. Each end must be
// called once.
func Thrift() (end func()) {
	change(1)
	return func() { change(-1) }
}

func change(by int) {
	thrift.mu.Lock()
	defer thrift.mu.Unlock()
	before := thrift.users
	thrift.users += by
	switch {
	case before == 0:
		thrift.usual = debug.SetGCPercent(thriftPercent)
		if thrift.usual < thriftPercent { // or the collector is off: -1
			debug.SetGCPercent(thrift.usual)
		}
	case thrift.users == 0:
		debug.SetGCPercent(thrift.usual)
	}
}
