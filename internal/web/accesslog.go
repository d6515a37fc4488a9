package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// access holds the data of one request for the access log and the metrics.
type access struct {
	request *http.Request
	route   string // the template, never the path
	status  int
	took    time.Duration
	key     string
	id      string
	cause   error // why the service could not answer the request, or nil
}

const (
	unmatchedRoute = "unmatched" // route of a request that matches no operation
	callerLeft     = 499         // logged, as by nginx, if the caller hung up before the answer
)

// record writes the log line of a request and observes it in the metrics.
func (s *Site) record(a access) {
	method := a.request.Method
	if !slices.Contains(standardMethods, method) {
		method = "other"
	}
	level := zapcore.InfoLevel
	switch {
	case a.cause != nil && errors.Is(a.request.Context().Err(), context.Canceled):
		a.status = callerLeft
	case errors.Is(a.cause, errCrowded):
		level = zapcore.WarnLevel // load by callers, which may occur often, rather than a failure
	case a.cause != nil:
		level = zapcore.ErrorLevel
	}
	if s.Observe != nil {
		s.Observe(a.route, method, a.status, a.took)
	}
	fields := []zap.Field{
		zap.String("method", method), zap.String("route", a.route), zap.Int("status", a.status),
		zap.Duration("duration", a.took), zap.String("key", a.key), zap.String("request_id", a.id), zap.Error(a.cause),
	}
	if p, ok := errors.AsType[panicError](a.cause); ok {
		fields = append(fields, zap.ByteString("stack", p.stack))
	}
	s.Log.Log(level, "request", fields...)
}

// standardMethods are the standard HTTP methods. Others are arbitrary text of the caller and are not
// logged.
var standardMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodConnect, http.MethodOptions, http.MethodTrace,
}
