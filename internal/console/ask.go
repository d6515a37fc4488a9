package console

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"

	"bagtrail/internal/strictjson"
)

// problem says why an operation of /v1 has failed. It holds the part of the problem details that a
// page shows.
type problem struct {
	Status    int    `json:"status"`
	Title     string `json:"title"`
	Detail    string `json:"detail"` // sentences; the last one may have no full stop
	Code      string `json:"code"`
	RequestID string `json:"request_id"`
	Wait      string `json:"-"` // seconds until the next try, or ""
	Errors    []struct {
		Expected string `json:"expected"`
	} `json:"errors"`
}

// answer is an http.ResponseWriter that keeps the answer in memory.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
func (a *answer) WriteHeader(status int)      { a.status = status }

// carried lists the headers that ask copies from the request for a page to the request to an
// operation: the caller, where the request comes from, and the request id. The origin protects the
// operation against forged forms.
var carried = []string{"Cookie", "Origin", "Sec-Fetch-Site", "X-Forwarded-For", "X-Forwarded-Proto", "X-Request-Id"}

// ask sends a request to an operation of /v1 in this process, as the caller of r, and decodes the
// answer into v, unless v is nil. header is added to the request. body is sent as JSON unless it is
// nil. ask returns the header of the answer.
func (c *Console) ask(r *http.Request, header http.Header, method, target string, body, v any) (http.Header, *problem) {
	var content io.Reader = http.NoBody
	if body != nil {
		content = bytes.NewReader(strictjson.Encode(body))
	}
	inner, err := http.NewRequestWithContext(r.Context(), method, target, content)
	if err != nil {
		return nil, &problem{Status: http.StatusBadRequest, Title: "The address is not understood"}
	}
	inner.RequestURI, inner.Host, inner.RemoteAddr, inner.TLS = target, r.Host, r.RemoteAddr, r.TLS
	for _, name := range carried {
		if values := r.Header[name]; values != nil {
			inner.Header[name] = values
		}
	}
	maps.Copy(inner.Header, header)
	if body != nil {
		inner.Header.Set("Content-Type", "application/json")
	}
	a := &answer{header: make(http.Header), status: http.StatusOK}
	c.v1.ServeHTTP(a, inner)
	return a.header, a.read(v)
}

// read decodes an answer into v, or returns the problem in it.
func (a *answer) read(v any) *problem {
	if a.status >= http.StatusMultipleChoices {
		p := &problem{}
		if json.Unmarshal(a.body.Bytes(), p) != nil || p.Status == 0 {
			p = &problem{Title: http.StatusText(a.status), RequestID: a.header.Get("X-Request-Id")}
		}
		p.Status, p.Wait = a.status, a.header.Get("Retry-After")
		return p
	}
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(a.body.Bytes(), v); err != nil {
		return &problem{Status: http.StatusInternalServerError, Title: "The answer is not understood", RequestID: a.header.Get("X-Request-Id")}
	}
	return nil
}

// Sentence returns the detail with a full stop, or "".
func (p *problem) Sentence() string {
	if p.Detail == "" || strings.HasSuffix(p.Detail, ".") {
		return p.Detail
	}
	return p.Detail + "."
}

// Explanation returns the expected values of the faults of a request, as the page shows them.
func (p *problem) Explanation() string {
	var all []string
	for _, e := range p.Errors {
		if e.Expected != "" {
			all = append(all, e.Expected)
		}
	}
	return strings.Join(all, "; ")
}
