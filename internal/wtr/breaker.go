package wtr

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrNotSent is an error after which nothing was sent to the downstream system, and so no record was created.
var ErrNotSent = errors.New("the request was not sent to the delayed-bag system")

// ErrOpen is returned without asking the downstream system, while it is taken to be away. It is an ErrNotSent.
var ErrOpen = fmt.Errorf("%w, which is taken to be away", ErrNotSent)

const (
	breakAfter = 5                // failures in a row
	restFor    = 10 * time.Second // before one request may try again
)

// breaker is a circuit breaker: after failures in a row it lets nobody through for a while, then one who tries.
type breaker struct {
	clock func() time.Time

	mutex    sync.Mutex
	failures int
	until    time.Time // nobody passes before
}

// allow reports whether a request may be sent. While the system is taken to be away one passes each time the rest is over.
func (b *breaker) allow() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.failures < breakAfter {
		return true
	}
	now := b.clock()
	if now.Before(b.until) {
		return false
	}
	b.until = now.Add(restFor)
	return true
}

// report tells what became of a request.
func (b *breaker) report(answered bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if answered {
		b.failures = 0
		return
	}
	b.failures++
	if b.failures >= breakAfter {
		b.until = b.clock().Add(restFor)
	}
}
