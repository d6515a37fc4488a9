// Package console serves the pages under /console: login, flights, bags, search, rejected messages,
// jobs over them, and feeds.
//
// It has no access of its own. Every page asks the operations of /v1 in this process, with the
// cookies of its request, so it shows only what the key of the session may see. Names and PNRs are
// posted. No address of a page holds one, except in its fragment, which has the words of a filter.
//
// Pages are html/template with one stylesheet and one script, all embedded. The content security
// policy allows only resources of this service, and nothing inline.
package console

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"hash/crc32"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"time"

	"bagtrail/enricher/airport"
)

// Path is the path under which all pages are served.
const Path = "/console/"

// Console is the handler of all pages.
type Console struct {
	mux      *http.ServeMux
	handler  http.Handler // mux behind a check that refuses forms of other origins
	v1       http.Handler
	airports *airport.Library
	clock    func() time.Time
	screens  map[string]*template.Template
	versions map[string]string // of the files of static, by name
}

//go:embed templates static
var embedded embed.FS

// policy lets a page load resources only from this service, and send only to it. Browsers then
// ignore inline scripts and styles.
const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// New returns the console. v1 serves the operations of /v1; New does not call it.
func New(v1 http.Handler, airports *airport.Library, clock func() time.Time) *Console {
	c := &Console{
		mux: http.NewServeMux(), v1: v1, airports: airports, clock: clock,
		screens: make(map[string]*template.Template), versions: make(map[string]string),
	}
	c.handler = http.NewCrossOriginProtection().Handler(c.mux)
	for name, media := range map[string]string{"console.css": "text/css", "console.js": "text/javascript"} {
		text, err := embedded.ReadFile("static/" + name)
		if err != nil {
			panic(err) // embedded above
		}
		c.versions[name] = fmt.Sprintf("%08x", crc32.ChecksumIEEE(text))
		c.mux.Handle("GET "+Path+name, file(media, text, c.versions[name]))
	}
	for _, name := range []string{"login", "board", "flight", "bag", "search", "rejects", "job", "feeds"} {
		c.screens[name] = template.Must(template.New("layout.html").Funcs(c.functions()).
			ParseFS(embedded, "templates/layout.html", "templates/"+name+".html"))
	}
	c.mux.HandleFunc("GET "+Path+"login", c.showLogin)
	c.mux.HandleFunc("POST "+Path+"login", c.login)
	c.mux.HandleFunc("POST "+Path+"logout", c.logout)
	c.mux.HandleFunc("POST "+Path+"risk", setLimits)
	c.mux.Handle("GET "+Path+"{$}", http.RedirectHandler(Path+"flights", http.StatusSeeOther))
	c.mux.Handle("GET /console", http.RedirectHandler(Path, http.StatusSeeOther))
	c.handle("GET "+Path+"flights", "board", (*visit).board)
	c.handle("GET "+Path+"flights/{airport}/{direction}/{airline}/{flight}/{date}", "flight", (*visit).flight)
	c.handle("GET "+Path+"bags/{plate}", "bag", (*visit).bag)
	c.handle("GET "+Path+"search", "search", (*visit).askSearch)
	c.handle("POST "+Path+"search", "search", (*visit).search)
	c.handle("GET "+Path+"rejects", "rejects", (*visit).rejects)
	c.handle("GET "+Path+"rejects/{id}", "rejects", (*visit).rejects)
	c.handle("POST "+Path+"rejects/check", "rejects", (*visit).checkReject)
	c.handle("POST "+Path+"rejects/bulk", "rejects", (*visit).bulk)
	c.handle("POST "+Path+"rejects/{id}/resubmit", "rejects", (*visit).resubmit)
	c.handle("POST "+Path+"rejects/{id}/dismiss", "rejects", (*visit).dismiss)
	c.mux.HandleFunc("GET "+Path+"rejects/bulk", pageOfForm)
	c.mux.HandleFunc("GET "+Path+"rejects/{id}/{form}", pageOfForm)
	c.handle("GET "+Path+"rejects/jobs/{id}", "job", (*visit).job)
	c.handle("GET "+Path+"feeds", "feeds", (*visit).feeds)
	c.handle(Path, "search", (*visit).missing)
	return c
}

// pageOfForm redirects from the address of a form about rejects to its page. After a login, the
// browser goes back to the address of its request, which may be one that accepts only POST.
func pageOfForm(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, strings.TrimSuffix(path("rejects", r.PathValue("id")), "/"), http.StatusSeeOther)
}

// ServeHTTP implements http.Handler. Forms from pages of other origins are refused.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	c.handler.ServeHTTP(w, r)
}

// file serves an embedded file. Pages name it with its version, so browsers may keep it for ever. A
// browser that asks for another version, since the service is being updated, may not keep this one.
func file(media string, text []byte, version string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", media+"; charset=utf-8")
		keep := "no-cache"
		if r.URL.Query().Get("v") == version {
			keep = "public, max-age=31536000, immutable"
		}
		w.Header().Set("Cache-Control", keep)
		write(w, r, http.StatusOK, text)
	})
}

// refusesGzip matches an Accept-Encoding that refuses gzip (RFC 9110, 12.5.3).
var refusesGzip = regexp.MustCompile(`(?i)gzip\s*;\s*q=0(\.0*)?\s*(,|$)`)

// write writes a body, compressed if the caller accepts gzip.
func write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	if accepted := r.Header.Get("Accept-Encoding"); !strings.Contains(accepted, "gzip") || refusesGzip.MatchString(accepted) {
		w.WriteHeader(status)
		_, _ = w.Write(body) // an error means that the caller has hung up
		return
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // a level that exists
	_, _ = z.Write(body)                                 // writing to a buffer never fails
	_ = z.Close()
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	_, _ = w.Write(packed.Bytes())
}
