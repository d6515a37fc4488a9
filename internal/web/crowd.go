package web

import (
	"net"
	"net/http"
	"runtime/debug"
	"sync"
)

const (
	// crowded is the number of open connections from which memory is collected sooner.
	crowded = 512
	// thrifty is by how many percent the heap may then grow until it is collected.
	thrifty = 40
)

// crowd counts the open connections of a server. Each takes some 10 KiB whatever its caller does, and the collector lets
// the heap grow to twice what is in use: while there are many, that would double what slow callers can take.
type crowd struct {
	mu      sync.Mutex
	open    int
	thrifty bool
	percent int // how far the heap may grow at other times
}

// count is for http.Server.ConnState.
func (c *crowd) count(_ net.Conn, state http.ConnState) {
	var change int
	switch state {
	case http.StateNew:
		change = 1
	case http.StateClosed, http.StateHijacked:
		change = -1
	default:
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.open += change; {
	case !c.thrifty && c.open >= crowded:
		c.thrifty, c.percent = true, debug.SetGCPercent(thrifty)
		if c.percent < thrifty { // somebody knows better, or has switched collection off
			debug.SetGCPercent(c.percent)
		}
	case c.thrifty && c.open <= crowded/2:
		c.thrifty = false
		debug.SetGCPercent(c.percent)
	}
}
