package web

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"bagtrail/internal/budget"
)

// Page is a document that needs no key. It answers GET and HEAD, and POST if Forms is set.
type Page struct {
	Path    string // if it ends with a slash, it includes everything below; "/" is only the root
	Handler http.Handler
	Forms   bool
}

// methods returns the methods that the page answers.
func (p Page) methods() []string {
	if p.Forms {
		return []string{http.MethodGet, http.MethodHead, http.MethodPost}
	}
	return []string{http.MethodGet, http.MethodHead}
}

// place returns the path without its final slash, and whether the page includes everything below
// it.
func (p Page) place() (path string, below bool) {
	if p.Path == "/" {
		return "/", false
	}
	return strings.CutSuffix(p.Path, "/")
}

// holds reports whether a path belongs to the page.
func (p Page) holds(path string) bool {
	place, below := p.place()
	return path == place || below && strings.HasPrefix(path, p.Path)
}

// servePage answers a request for a page. The handler of the page writes the answer itself.
func (s *Site) servePage(w gin.ResponseWriter, r *http.Request, page Page) {
	began, id := s.Clock(), requestID(r.Header)
	w.Header()["X-Request-Id"] = []string{id}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	r.Header["X-Request-Id"] = []string{id} // the page may ask operations, which are logged with the same id
	var to http.ResponseWriter = w
	if page.Forms { // such a page makes its answers for each request; the others share theirs, or are small
		to = countedPage{w, s.answers}
	}
	cause := guard(func() { page.Handler.ServeHTTP(to, r) })
	if cause != nil && !w.Written() {
		http.Error(w, "The page cannot be shown: the service has failed.", http.StatusInternalServerError)
	}
	s.record(access{r, page.Path, w.Status(), s.Clock().Sub(began), "", id, cause})
	if w.Status() >= http.StatusBadRequest {
		discard(w, r, false, maxBody)
	}
}

// countedPage counts large bodies of a page as large answers until they are written, since a caller
// that does not read them keeps their memory in use.
type countedPage struct {
	gin.ResponseWriter
	answers *budget.Shares // all pages together have one share, under the name ""
}

// Write implements http.ResponseWriter. If there is no room for the page, and this is its first
// Write, it answers 503 instead.
func (c countedPage) Write(body []byte) (int, error) {
	size := int64(len(body))
	if size <= smallAnswer {
		return c.ResponseWriter.Write(body)
	}
	if !c.answers.Try("", size) {
		if c.Written() {
			return 0, errCrowded
		}
		h := c.Header()
		h.Del("Content-Encoding")
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("Retry-After", "1")
		c.WriteHeader(http.StatusServiceUnavailable)
		_, _ = c.ResponseWriter.WriteString("The service is busy. Load the page again.\n")
		return 0, errCrowded
	}
	defer c.answers.Return("", size)
	return c.ResponseWriter.Write(body)
}
