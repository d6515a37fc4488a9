package web

import (
	"net"
	"net/http"
	"sync"

	"bagtrail/internal/collector"
)

// manyConnections is the number of open connections at which the garbage collector starts to run
// more often. It stops at half of that number, so that it does not change to and fro.
const manyConnections = 512

// connectionCounter counts the open connections of a server, and makes the garbage collector run
// more often while there are many. Each connection takes about 10 KiB. By default the collector
// lets the heap grow to at least twice the memory in use, which would double the memory that slow
// callers can take.
type connectionCounter struct {
	mu   sync.Mutex
	open int
	end  func() // ends the thrift of this counter; nil if it has none
}

// count is the callback for http.Server.ConnState.
func (c *connectionCounter) count(_ net.Conn, state http.ConnState) {
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
	case c.end == nil && c.open >= manyConnections:
		c.end = collector.Thrift()
	case c.end != nil && c.open <= manyConnections/2:
		c.end()
		c.end = nil
	}
}
