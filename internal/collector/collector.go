// Package collector tunes the garbage collector of the process. Thrift makes it run more often
// while memory is short. Limit and Within set the memory limit of Go.
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

// Thrift lowers GOGC to 40 until end is called. Calls nest: GOGC returns to its former value with
// the last end. If the collector is off, or GOGC is lower already, nothing changes. end must be
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
		if thrift.usual < thriftPercent { // also if collection is off, which is -1
			debug.SetGCPercent(thrift.usual)
		}
	case thrift.users == 0:
		debug.SetGCPercent(thrift.usual)
	}
}
