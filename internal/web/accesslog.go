package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// access is one request as the log and the metrics see it.
type access struct {
	request *http.Request
	route   string // the template, never the path
	status  int
	took    time.Duration
	bytes   int // of the answer's body
	key     string
	id      string
	cause   error // why the service could not do what was asked, or nil
}

const (
	unmatched  = "unmatched" // the route of every path that is no operation's
	callerLeft = 499         // logged for a caller who hung up before the answer, as nginx does
)

// sent returns how many bytes of body went out. Gin counts -1 where nothing was written, as with a 304, and what net/http leaves out
// of an answer to HEAD.
func sent(w gin.ResponseWriter, r *http.Request) int {
	if r.Method == http.MethodHead {
		return 0
	}
	return max(w.Size(), 0)
}

// record writes the log line of a request and counts it.
func (s *Site) record(a access) {
	method := a.request.Method
	if !known(method) {
		method = "other"
	}
	level := zapcore.InfoLevel
	switch {
	case a.cause != nil && errors.Is(a.request.Context().Err(), context.Canceled):
		a.status = callerLeft
	case errors.Is(a.cause, ErrCrowded):
		level = zapcore.WarnLevel // callers ask for much, and may do so often
	case a.cause != nil:
		level = zapcore.ErrorLevel
	}
	if s.Observe != nil {
		s.Observe(a.route, method, a.status, a.took, a.bytes)
	}
	line := s.Log.Check(level, "request")
	if line == nil {
		return
	}
	fields := [...]zap.Field{
		zap.String("method", method), zap.String("route", a.route), zap.Int("status", a.status),
		zap.Duration("duration", a.took), zap.String("key", a.key), zap.String("request_id", a.id),
		zap.Error(a.cause), zap.Skip(),
	}
	var p panicked
	if errors.As(a.cause, &p) {
		fields[7] = zap.ByteString("stack", p.stack)
	}
	line.Write(fields[:]...)
}

// known reports whether a method is one of HTTP's; others are a caller's text.
func known(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}
