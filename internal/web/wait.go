package web

import (
	"context"
	"time"
)

// Stop ends all waits and streams of operations, so that the server can stop.
func (s *Site) Stop() { s.stop() }

// Wait waits for an element of changed, or until changed is closed. It returns false if ctx ends,
// because of its deadline or because the caller has gone, or if the site stops. The wait does not
// count against the time limits of the connection, nor for the duration of the request.
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

// Waiting returns the answer of serve, which may wait for changes. Meanwhile the call counts as a
// stream of its key: each change wakes it too. If the key may open no more streams, it answers 429
// instead.
func (c *Call) Waiting(serve func() Answer) Answer {
	if !c.site.streams.add(c.Key.Name, c.site.Settings.Streams) {
		return c.tooManyStreams()
	}
	defer c.site.streams.remove(c.Key.Name)
	return serve()
}

// endReading removes the time limit for reading, so that the connection may wait. Before that it
// closes the body, which reads the rest of it within the limit: otherwise the server would later
// wait for the rest without a limit.
func (c *Call) endReading() {
	_ = c.Request.Body.Close()
	_ = c.controller.SetReadDeadline(time.Time{}) // in a test there is no connection
}

// Ask returns a context with a timeout for one of several questions that an operation asks one
// after the other. The caller calls end after the question, which returns the memory that it took.
func (c *Call) Ask(ctx context.Context, limit time.Duration) (_ context.Context, end func()) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	ctx, question := c.site.made.Ask(ctx)
	return ctx, func() { question.End(); cancel() }
}
