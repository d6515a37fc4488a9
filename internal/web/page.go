package web

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// Page is something beside the operations that needs no key: a document of the interface. It answers GET and HEAD.
type Page struct {
	Path    string // a path, or with a slash at its end everything below it as well; "/" is the root alone
	Handler http.Handler
}

// place returns the path of the page without a slash at its end, and whether everything below it belongs to the page.
func (p Page) place() (path string, below bool) {
	if p.Path == "/" {
		return "/", false
	}
	return strings.CutSuffix(p.Path, "/")
}

// holds reports whether a path is of the page.
func (p Page) holds(path string) bool {
	place, below := p.place()
	return path == place || below && strings.HasPrefix(path, p.Path)
}

// pageMethods are the methods that pages answer.
var pageMethods = []string{http.MethodGet, http.MethodHead}

// servePage answers a request for a page. Pages are fixed documents, so they write their answers themselves.
func (s *Site) servePage(w gin.ResponseWriter, r *http.Request, page Page) {
	began, id := s.Clock(), requestID(r.Header)
	w.Header()["X-Request-Id"] = []string{id}
	w.Header()["X-Content-Type-Options"] = nosniff
	page.Handler.ServeHTTP(w, r)
	s.record(access{r, page.Path, w.Status(), s.Clock().Sub(began), sent(w, r), "", id, nil})
}
