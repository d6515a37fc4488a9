package telemetry

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

// NewOps returns the server for operators. It answers
//
//	/livez        200 while the process runs
//	/readyz       200 if every needed part is ready, else 503; lists the parts and what each lacks
//	/metrics      the registry, in the Prometheus text form
//	/debug/pprof  profiles of the Go runtime
//
// It asks for no key: its address belongs on a network of operators.
func NewOps(registry *prometheus.Registry, ready *Readiness, log *zap.Logger) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]bool{"alive": true})
	})
	mux.Handle("GET /readyz", ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: zap.NewStdLog(log), ErrorHandling: promhttp.ContinueOnError, Registry: registry,
	}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      2 * time.Minute, // a profile is written when its time is over, by default after 30 s
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          zap.NewStdLog(log),
	}
}

// Serve answers on l until ctx ends, and closes l. Requests under way are cut off after one second.
func Serve(ctx context.Context, server *http.Server, l net.Listener) error {
	stopped := make(chan error, 1)
	serving := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(grace)
		stopped <- server.Close()
	})
	if err := server.Serve(l); serving() {
		return err
	}
	return <-stopped
}

// ServeHTTP answers /readyz.
func (r *Readiness) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	parts, ready := r.Check(request.Context())
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, struct {
		Ready bool         `json:"ready"`
		Parts []PartStatus `json:"parts"`
	}{ready, parts})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error here is a caller who has gone
}
