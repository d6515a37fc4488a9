package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

// Ops is the server for operators. It answers
//
//	/livez        200 while the process runs
//	/readyz       200 if every needed part is ready, else 503; both list the parts and what each lacks
//	/metrics      the registry, in the Prometheus text form
//	/debug/pprof  profiles of the Go runtime
//
// It asks for no key: its address belongs on a network of operators.
type Ops struct {
	ready  *Readiness
	server *http.Server
}

// NewOps returns the ops server. It does not listen yet.
func NewOps(registry *prometheus.Registry, ready *Readiness, log *zap.Logger) *Ops {
	o := &Ops{ready: ready}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", o.livez)
	mux.HandleFunc("GET /readyz", o.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: zap.NewStdLog(log), ErrorHandling: promhttp.ContinueOnError, Registry: registry,
	}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	o.server = &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      2 * time.Minute, // a profile is written when its time is over, by default after 30 s
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          zap.NewStdLog(log),
	}
	return o
}

// Serve answers on l until ctx ends, and closes l. Ops stops last of all parts, so requests under
// way are cut off after one second.
func (o *Ops) Serve(ctx context.Context, l net.Listener) error {
	stopped := make(chan error, 1)
	go func() { stopped <- o.server.Serve(l) }()
	select {
	case err := <-stopped:
		return fmt.Errorf("ops server: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	err := o.server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = o.server.Close()
	}
	<-stopped //nolint:errcheck // it says that the server was closed
	if err != nil {
		return fmt.Errorf("stop ops server: %w", err)
	}
	return nil
}

func (o *Ops) livez(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]bool{"alive": true})
}

func (o *Ops) readyz(w http.ResponseWriter, r *http.Request) {
	parts, ready := o.ready.Check(r.Context())
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
