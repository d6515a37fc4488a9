package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"bagtrail/internal/fault"
)

// The rules in this file apply to /v1 and not to the five other operations.

// ProblemPages is the path below which each problem has its page.
const ProblemPages = "/docs/problems/"

// pattern is the template of an operation of /v1, split at its slashes.
type pattern []string

func isPlaceholder(part string) bool { return strings.HasPrefix(part, "{") }

// ofRouter replaces the placeholders of a template by those of the router.
var ofRouter = strings.NewReplacer("{", ":", "}", "")

// match returns the values of the placeholders. It returns false if the path does not match.
func (p pattern) match(segments []string) (values []string, ok bool) {
	if len(segments) != len(p) {
		return nil, false
	}
	for i, part := range p {
		switch {
		case isPlaceholder(part) && segments[i] != "":
			values = append(values, segments[i])
		case part != segments[i]:
			return nil, false
		}
	}
	return values, true
}

// literal reports whether the pattern has no placeholders.
func (p pattern) literal() bool { return !slices.ContainsFunc(p, isPlaceholder) }

// isLiteral reports whether a path is the path of an operation without placeholders. Such an
// operation takes precedence: search in /v1/bags/search is never a plate, whatever the method.
func (s *Site) isLiteral(segments []string) bool {
	return slices.ContainsFunc(s.operations, func(op *route) bool { return op.V1() && slices.Equal(op.pattern, segments) })
}

// bearer returns the key in the header Authorization, or "" if there is none. It returns false if
// the header is repeated.
func bearer(h http.Header) (key string, one bool) {
	values := h["Authorization"]
	if len(values) == 0 {
		return "", true
	}
	scheme, key, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", len(values) == 1
	}
	return strings.TrimSpace(key), len(values) == 1
}

// v1 reports whether the rules of /v1 apply to the call: even if no operation has its path.
func (c *Call) v1() bool {
	path := c.Request.URL.Path
	return path == "/v1" || strings.HasPrefix(path, "/v1/")
}

// refuse answers with the problem if the rules of /v1 apply to the call, and with the code
// otherwise.
func (c *Call) refuse(id fault.ID, problem *fault.Problem) Answer {
	if c.v1() {
		return c.Problem(problem, "")
	}
	return c.Refuse(id)
}

// MediaType returns the content type of the body without parameters, or "" if it is missing,
// repeated or malformed.
func (c *Call) MediaType() string {
	types := c.Request.Header["Content-Type"]
	if len(types) != 1 {
		return ""
	}
	media, _, err := mime.ParseMediaType(types[0])
	if err != nil {
		return ""
	}
	return media
}

// reserve takes the memory of a body of /v1 from the memory for large answers once the body has
// size bytes of memory. It takes nothing for bytes that were only announced: otherwise a caller
// that sends them slowly, or never, would keep others from their answers. It returns false if too
// little is free, or if the key lacks the right to the operation.
func (c *Call) reserve(size int) bool {
	n := int64(size) - c.counted
	if !c.v1() || size <= smallAnswer || n <= 0 {
		return true
	}
	return c.MayUse() && c.take(n)
}

// unreadable refuses a request to /v1 if there was no memory for its body, or if the body is too
// large, was cut off, or has the wrong media type. It returns false otherwise.
func (c *Call) unreadable() (Answer, bool) {
	switch {
	case c.crowded && !c.MayUse():
		return c.NotAuthorised(), true
	case c.crowded:
		return c.Unavailable(errCrowded), true
	case !c.operation.HasBody():
		return c.superfluous()
	case len(c.Request.Header["Content-Encoding"]) > 0:
		return c.Problem(fault.WrongMediaType, "Expected a body without Content-Encoding"), true
	case !slices.Contains(strings.Fields(c.operation.Media), c.MediaType()):
		return c.Problem(fault.WrongMediaType, "Expected "+strings.Join(strings.Fields(c.operation.Media), " or ")), true
	case c.TooLarge:
		return c.Problem(fault.TooLargeV1, "The limit is "+strconv.Itoa(c.operation.bodyLimit())+" bytes"), true
	case c.Body == nil:
		return c.Invalid([]RequestError{{Cause: fault.Malformed, Expected: "the rest of the body"}}), true
	}
	return Answer{}, false
}

// superfluous refuses a request to an operation that takes no body if it has one, or the beginning of
// one, as it may have members that the sender expects to count. It returns false for an empty object,
// which some clients always send.
func (c *Call) superfluous() (Answer, bool) {
	if text := bytes.TrimSpace(c.Body); c.Body != nil && (len(text) == 0 || string(text) == "{}") {
		return Answer{}, false
	}
	return c.Invalid([]RequestError{{Cause: fault.Unknown, Expected: "no body"}}), true
}

// writeV1 writes an answer of /v1.
func writeV1(w http.ResponseWriter, c *Call, a *Answer) {
	h := w.Header()
	if a.cookie != nil {
		http.SetCookie(w, a.cookie)
	}
	if a.Status == http.StatusOK && c.Request.Method == http.MethodGet && !c.operation.NoStore {
		tag := a.etag()
		h.Set("ETag", tag)
		h.Set("Cache-Control", "private, no-cache")
		if matchesETag(c.Request.Header["If-None-Match"], tag) {
			a.Status = http.StatusNotModified
			w.WriteHeader(a.Status)
			return
		}
	}
	if len(a.tail) > 0 {
		a.Body = append(append(a.Body[:len(a.Body)-1], a.tail...), '}')
	}
	if a.Status == http.StatusNoContent {
		w.WriteHeader(a.Status)
		return
	}
	h.Set("Content-Type", jsonType)
	if a.problem {
		h.Set("Content-Type", "application/problem+json; charset=utf-8")
	}
	if a.location != "" {
		h.Set("Location", a.location)
	}
	if a.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	writeParts(w, *a)
}

// etag returns the ETag of an answer: a hash of its bytes without the tail.
func (a *Answer) etag() string {
	hash := sha256.New()
	for _, part := range a.parts {
		hash.Write(part)
	}
	hash.Write(a.Body)
	return `"` + hex.EncodeToString(hash.Sum(nil)[:16]) + `"`
}

// matchesETag reports whether the header If-None-Match names a tag, as a weak tag too.
func matchesETag(headers []string, tag string) bool {
	for item := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		item = strings.TrimSpace(item)
		if item == "*" || strings.TrimPrefix(item, "W/") == tag {
			return true
		}
	}
	return false
}

// allowOrigin sets the CORS headers that let a page of another origin read the answer, if Origins
// has that origin. Credentials are not allowed: such a page must send a key, and cannot use the
// session of the browser.
func (s *Site) allowOrigin(h http.Header, r *http.Request) {
	if len(s.Origins) == 0 {
		return
	}
	h.Add("Vary", "Origin")
	if origin := r.Header["Origin"]; len(origin) == 1 && slices.Contains(s.Origins, origin[0]) {
		h["Access-Control-Allow-Origin"] = origin
		h.Set("Access-Control-Expose-Headers", exposed)
	}
}

// The response headers that a page of another origin may read, and the request headers that it may
// send.
const (
	exposed  = "ETag, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"
	sendable = "api_key, Authorization, Content-Type, If-None-Match, Last-Event-ID, X-API-Key, X-Request-Id"
)

// unroutedV1 answers a request below /v1 whose path or method no operation has, and CORS preflight
// requests.
func (s *Site) unroutedV1(h http.Header, c *Call, segments []string) Answer {
	var methods []string
	literal := s.isLiteral(segments)
	for _, op := range s.operations {
		if op.V1() && op.pattern.literal() == literal {
			if _, ok := op.pattern.match(segments); ok {
				methods = append(methods, op.Method)
			}
		}
	}
	if len(methods) == 0 || slices.Contains(methods, c.Request.Method) { // the router treats %2F as a slash and may find no operation
		return c.Problem(fault.NotFoundV1, "")
	}
	allow := strings.Join(methods, ", ")
	if c.Request.Method == http.MethodOptions && h["Access-Control-Allow-Origin"] != nil {
		h.Set("Access-Control-Allow-Methods", allow)
		h.Set("Access-Control-Allow-Headers", sendable)
		h.Set("Access-Control-Max-Age", "600") // seconds for which this answer is valid
		return Answer{Status: http.StatusNoContent}
	}
	h["Allow"] = []string{allow}
	return c.Problem(fault.WrongMethodV1, "")
}
