package apidoc

import (
	"net/http"
	"strings"

	"github.com/swaggest/swgui/v5emb"

	"bagtrail/internal/fault"
	"bagtrail/internal/web"
)

// policy lets the page load only resources of this service.
const policy = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

// docs serves Swagger UI, whose assets are compiled in.
func docs() http.Handler {
	ui := v5emb.New("bagtrail", "/openapi.json", "/docs/")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		ui.ServeHTTP(&uiWriter{ResponseWriter: w}, r)
	})
}

// uiWriter adapts the answers of Swagger UI to those of the service: text has a charset, and a 404
// has the error object.
type uiWriter struct {
	http.ResponseWriter
	decided, missing bool
}

func (p *uiWriter) WriteHeader(status int) {
	p.decided = true
	h := p.Header()
	switch {
	case status == http.StatusNotFound:
		p.missing = true
		h.Del("Content-Length")
		h.Set("Content-Type", "application/json; charset=utf-8")
	case isText(h.Get("Content-Type")):
		h.Set("Content-Type", h.Get("Content-Type")+"; charset=utf-8")
	}
	p.ResponseWriter.WriteHeader(status)
	if p.missing {
		_, _ = p.ResponseWriter.Write(web.AppendFaults(nil, fault.UnknownPath))
	}
}

func (p *uiWriter) Write(text []byte) (int, error) {
	if !p.decided {
		p.WriteHeader(http.StatusOK)
	}
	if p.missing {
		return len(text), nil
	}
	return p.ResponseWriter.Write(text)
}

// isText reports whether a content type is a text type without a charset.
func isText(contentType string) bool {
	return (strings.HasPrefix(contentType, "text/") || strings.HasSuffix(contentType, "/javascript")) && !strings.Contains(contentType, ";")
}
