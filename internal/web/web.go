// Package web is the HTTP code that all operations share: finding the operation, request ids, the
// key check, browser sessions, rate limits, error answers, JSONP, streams, CORS, pages, the access
// log, time limits, and the server itself.
//
// It does not know what operations do. An operation gets a Call and returns an Answer; only this
// package writes answers. Every answer has X-Request-Id and nosniff, and a JSON answer has a
// Content-Type with charset. No log line contains a path, a query, a body or a key.
package web

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"

	"bagtrail/internal/apikey"
	"bagtrail/internal/budget"
	"bagtrail/internal/cache"
	"bagtrail/internal/collector"
	"bagtrail/internal/fault"
	"bagtrail/internal/parallel"
	"bagtrail/internal/session"
)

// Settings configures a Site.
type Settings struct {
	Keys     Keys
	Sessions *session.Sessions                                          // of browsers, for /v1; nil: there are none
	Proxies  Proxies                                                    // the proxies that may name the caller, and say whether it uses TLS
	Log      *zap.Logger                                                // access log; never nil
	Clock    func() time.Time                                           // for keys, rates and durations
	Observe  func(route, method string, status int, took time.Duration) // metrics; may be nil

	// Origins are the web origins, such as https://ops.example, whose pages may call /v1 from a
	// browser.
	Origins []string

	// AnswerBytes bounds the memory, in bytes, of all answers over 64 KiB that are being written, of all
	// bodies over 64 KiB of requests to /v1, and of what streams hold. A key has at most half of it.
	// Separately it bounds the memory of the data from which answers are made. 0: not bounded.
	AnswerBytes int64

	// LocalNamesOnly refuses requests for a public name. It is for a key that everybody knows: otherwise
	// a web page that the developer visits could let its own name resolve to this machine, and read
	// everything as a page of the same origin.
	LocalNamesOnly bool

	// Streams is how many streams a key may have open, together with calls that wait for changes; 0: no
	// limit.
	Streams int
}

// Site answers the requests to all operations and pages.
type Site struct {
	Settings
	engine     *gin.Engine
	operations []*route
	pages      []Page
	calls      sync.Pool // of *Call
	guesses    *apikey.Guesses
	made       *budget.Bytes                  // memory for the data that operations read to make answers
	answers    *budget.Shares                 // memory for large answers, until they are written, and for large bodies of /v1, by key
	lengths    *cache.Cache[lengthKey, int64] // of large answers, in bytes
	streams    streams
	stopping   context.Context // ends with Stop
	stop       context.CancelFunc
}

// route is an operation with its parsed path template.
type route struct {
	Operation
	skeleton skeleton
	pattern  pattern // for operations of /v1, which have no skeleton
}

// match returns the values of the placeholders of a path. It returns false if the path does not
// match.
func (r *route) match(segments []string) (values []string, ok bool) {
	if r.V1() {
		return r.pattern.match(segments)
	}
	return r.skeleton.match(segments)
}

// processBIM is the path at and below which an unknown path is answered with 402, not 404 (interface 7.1).
const processBIM = "/baggage/processbim"

// New returns a Site. It panics if two operations or pages share a method and a path, which is a
// defect of the program.
func New(settings Settings, operations []Operation, pages []Page) *Site {
	gin.SetMode(gin.ReleaseMode)
	s := &Site{Settings: settings, engine: gin.New(), pages: pages, guesses: apikey.NewGuesses(), streams: streams{byKey: make(map[string]int)}}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.made, s.answers = budget.New(settings.AnswerBytes, collector.Thrift), budget.NewShares(settings.AnswerBytes, collector.Thrift)
	s.lengths = cache.New[lengthKey, int64](maxLengths)
	s.calls.New = func() any { return new(Call) }
	s.engine.RedirectTrailingSlash = false
	_ = s.engine.SetTrustedProxies(nil) // no proxies are given, so none can be wrong
	if settings.LocalNamesOnly {
		s.engine.Use(s.refusePublicName)
	}
	for _, op := range operations {
		here := &route{Operation: op}
		s.operations = append(s.operations, here)
		answer := func(c *gin.Context) { s.serve(c.Writer, c.Request, here) }
		if op.V1() {
			here.pattern = strings.Split(strings.TrimPrefix(op.Template, "/"), "/")
			s.engine.Handle(op.Method, ofRouter.Replace(op.Template), answer)
			continue
		}
		here.skeleton = parseTemplate(op.Template)
		s.engine.Handle(op.Method, here.skeleton.base(), answer)
		s.engine.Handle(op.Method, here.skeleton.base()+"/*rest", answer)
	}
	for _, page := range pages {
		answer := func(c *gin.Context) { s.servePage(c.Writer, c.Request, page) }
		place, below := page.place()
		s.engine.Match(page.methods(), place, answer)
		if below {
			s.engine.Match(page.methods(), page.Path+"*rest", answer)
		}
	}
	s.engine.NoRoute(func(c *gin.Context) { s.serve(c.Writer, c.Request, nil) })
	return s
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.engine.ServeHTTP(w, r) }

// serve answers a request. here is the route that the router chose, or nil if it found none.
func (s *Site) serve(w gin.ResponseWriter, r *http.Request, here *route) {
	began := s.Clock()
	c := s.calls.Get().(*Call)
	c.Request, c.requestID = r, requestID(r.Header)
	c.site, c.controller = s, http.NewResponseController(w)
	w.Header()["X-Request-Id"] = []string{c.requestID}

	answer := s.reply(w, c, here)

	template, limit := unmatchedRoute, maxBody
	if c.operation != nil {
		template, limit = c.operation.Template, c.operation.bodyLimit()
	}
	key := ""
	if c.Key != nil {
		key = c.Key.Name
	}
	s.record(access{r, template, answer.Status, s.Clock().Sub(began) - c.idle, key, c.requestID, answer.Cause})
	if answer.Status >= http.StatusBadRequest {
		discard(w, r, c.received > 0, limit)
	}
	c.reuse(answer.Body)
	s.calls.Put(c)
}

// reply determines the answer and writes it. A panic becomes an internal error. The memory of a
// large answer is counted until it is written.
func (s *Site) reply(w http.ResponseWriter, c *Call, here *route) Answer {
	defer c.giveBack()
	var answer Answer
	if cause := guard(func() { answer = s.determine(w, c, here) }); cause != nil {
		answer = c.refuse(fault.Internal, fault.InternalV1)
		answer.Cause = cause
	}
	if answer.stream == nil && answer.Cause == nil {
		answer.Cause = c.Request.Context().Err() // the caller has hung up
	}
	if len(answer.Body) > smallAnswer && !c.count(answer.Body) {
		answer = c.Unavailable(errCrowded)
	}
	s.noteLength(c, answer)
	if answer.stream != nil {
		if s.streams.add(c.Key.Name, s.Settings.Streams) {
			name := c.Key.Name
			defer s.streams.remove(name)
			answer.Cause = guard(func() { s.writeStream(w, c, answer.stream) })
			return answer
		}
		answer = c.tooManyStreams()
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if answer.retryAfter {
		h.Set("Retry-After", "1")
	}
	if c.v1() {
		writeV1(w, c, &answer)
	} else {
		write(w, answer, c.callback)
	}
	return answer
}

// determine determines the answer. It may panic.
func (s *Site) determine(w http.ResponseWriter, c *Call, here *route) Answer {
	segments := split(c.Request.URL)
	ok := false
	if here != nil {
		c.Values, ok = here.match(segments)
		ok = ok && (!here.V1() || here.pattern.literal() || !s.isLiteral(segments))
	}
	if c.v1() {
		s.allowOrigin(w.Header(), c.Request)
	}
	if !ok {
		return s.unrouted(w, c, segments)
	}
	c.operation = &here.Operation
	c.Query = parseQuery(c.Request.URL.RawQuery)
	if here.JSONP {
		c.callback, ok = callbackOf(c.Query)
		c.badCallback = !ok
	}
	if refusal, refused := s.admit(w.Header(), c); refused {
		return refusal
	}
	if !s.reserveAnswer(c) {
		return c.Unavailable(errCrowded)
	}
	if here.HasBody() || here.V1() && here.Method == http.MethodPost {
		c.readBody()
		_ = c.controller.SetWriteDeadline(time.Now().Add(writeLimit)) // in a test there is no connection
		if here.V1() {
			if refusal, refused := c.unreadable(); refused {
				return refusal
			}
		}
	}
	ctx := c.Request.Context()
	if here.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, here.Limit)
		defer cancel()
	}
	ctx, question := s.made.Ask(ctx)
	defer question.End()
	return here.Serve(ctx, c)
}

// guard calls f. If f panics, it returns the cause of an internal error.
func guard(f func()) (cause error) {
	defer func() {
		if defect := recover(); defect != nil {
			if defect == http.ErrAbortHandler { //nolint:errorlint // the sentinel of net/http, compared as it does
				panic(defect)
			}
			cause = panicOf(defect)
		}
	}()
	f()
	return nil
}

// panicError is the cause of an internal error after a panic. Its text contains only the type of
// the panic value, since the value may contain passenger data.
type panicError struct {
	defect any
	stack  []byte
}

// panicOf returns the cause for a recovered value, with the stack of the goroutine that panicked.
func panicOf(defect any) panicError {
	if there, ok := defect.(parallel.Panic); ok {
		return panicError{there.Value, there.Stack}
	}
	return panicError{defect, debug.Stack()}
}

func (p panicError) Error() string { return fmt.Sprintf("panic: %T", p.defect) }

// unrouted answers a request whose path or method no operation has.
func (s *Site) unrouted(w http.ResponseWriter, c *Call, segments []string) Answer {
	if c.v1() {
		return s.unroutedV1(w.Header(), c, segments)
	}
	for _, op := range s.operations {
		if _, ok := op.match(segments); ok {
			w.Header().Set("Allow", op.Method)
			return c.Refuse(fault.WrongMethod)
		}
	}
	path := c.Request.URL.Path
	for _, page := range s.pages {
		if page.holds(path) {
			w.Header().Set("Allow", strings.Join(page.methods(), ", "))
			return c.Refuse(fault.WrongMethod)
		}
	}
	if path == processBIM || strings.HasPrefix(path, processBIM+"/") {
		return c.Refuse(fault.BIMUnknownPath)
	}
	return c.Refuse(fault.UnknownPath)
}
