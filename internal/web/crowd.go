package web

import (
	"net"
	"net/http"
	"sync"

	"bagtrail/internal/collector"
)

// crowded is the number of open connections from which memory is collected sooner.
const crowded = 512

// crowd counts the open connections of a server. Each takes some 10 KiB whatever its caller does, and the collector lets
// the heap grow to twice what is in use, or more: while there are many, that would double what slow callers can take.
type crowd struct {
	mu   sync.Mutex
	open int
	end  func() // of thrift; nil where there is none
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
	case c.end == nil && c.open >= crowded:
		c.end = collector.Thrift()
	case c.end != nil && c.open <= crowded/2:
		c.end()
		c.end = nil
	}
}
