package apidoc

import (
	"net/http"

	"github.com/swaggest/swgui/v5emb"
)

// policy lets the page load only resources of this service.
const policy = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

// docs serves Swagger UI, whose assets are compiled in.
func docs() http.Handler {
	ui := v5emb.New("bagtrail", "/openapi.json", "/docs/")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		ui.ServeHTTP(w, r)
	})
}
