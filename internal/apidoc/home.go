package apidoc

import (
	_ "embed"
	"net/http"
)

// welcome is the page at the root.
//
//go:embed home.html
var welcome []byte

// homePolicy lets the page load only its icon.
const homePolicy = "default-src 'none'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// home serves the page at the root, which links to the others.
func home() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", homePolicy)
		write(w, "text/html", welcome)
	})
}
