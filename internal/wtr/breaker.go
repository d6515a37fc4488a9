package wtr

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrNotSent reports that nothing was sent to the downstream system, so that no record was created.
var ErrNotSent = errors.New("the request was not sent to the delayed-bag system")

// ErrBreakerOpen is the ErrNotSent of an open circuit breaker.
var ErrBreakerOpen = fmt.Errorf("%w: the circuit breaker is open after failures in a row", ErrNotSent)

const (
	breakAfter = 5                // failures in a row that open the breaker
	restFor    = 10 * time.Second // time until one request may try again
)

// breaker is a circuit breaker. After breakAfter failures in a row it is open: one request passes
// in every restFor, until one is answered. Everybody must report the result of a request that was
// allowed. It is safe for concurrent use.
type breaker struct {
	clock func() time.Time

	mutex    sync.Mutex
	failures int
	until    time.Time // no request passes before, while the breaker is open
}

// allow reports whether a request may be sent now. While the breaker is open, a request that is allowed
// begins the next rest.
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

// open reports whether the breaker is open. It changes nothing.
func (b *breaker) open() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.failures >= breakAfter
}

// report records the result of a request: whether the system answered.
func (b *breaker) report(answered bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if answered {
		b.failures = 0
		return
	}
	b.failures++
	b.until = b.clock().Add(restFor)
}
