package telemetry

import "net/http"

// Handler returns the handler of all paths.
func (o *Ops) Handler() http.Handler { return o.server.Handler }
