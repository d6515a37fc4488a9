package web

import (
	"context"
	"time"
)

// Stop ends the waiting of operations and their streams, so that the server can stop.
func (s *Site) Stop() { s.stop() }

// Wait waits for an element of changed. It returns false if there is none before the deadline of
// ctx or the stop of the site, or if the caller has gone. The time limits of the connection and the
// duration of the request do not count the time that it waits.
func (c *Call) Wait(ctx context.Context, changed <-chan struct{}) bool {
	c.endReading()
	_ = c.controller.SetWriteDeadline(time.Time{})
	began := c.site.Clock()
	defer func() {
		now := c.site.Clock()
		c.idle += now.Sub(began)
		_ = c.controller.SetWriteDeadline(time.Now().Add(writeLimit))
	}()
	select {
	case <-changed:
		return true
	case <-c.site.stopping.Done():
	case <-ctx.Done():
	}
	return false
}

// endReading lifts the time limit of reading, so that the connection may wait. A body that nobody reads
// is read before, within that limit: afterwards the server would wait for it without one.
func (c *Call) endReading() {
	_ = c.Request.Body.Close()
	_ = c.controller.SetReadDeadline(time.Time{}) // in a test there is no connection
}

// Ask returns a context for one of several questions that an operation asks after each other, with
// a timeout. The memory that the question takes is returned by end.
func (c *Call) Ask(ctx context.Context, limit time.Duration) (_ context.Context, end func()) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	ctx, question := c.site.made.Ask(ctx)
	return ctx, func() { question.End(); cancel() }
}
