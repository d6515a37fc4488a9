package web

import (
	"context"
	"net/http"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/session"
	"bagtrail/internal/strictjson"
)

// SessionOperations returns POST, GET and DELETE /v1/session, for the Sessions of the Site.
func SessionOperations() []Operation {
	of := func(id string, serve func(context.Context, *Call) Answer) Operation {
		return Operation{Operation: operation.ByID(id), Limit: 2 * time.Second, Serve: func(ctx context.Context, c *Call) Answer {
			switch {
			case len(c.Query) > 0:
				return c.Invalid(c.UnknownParameters())
			case c.site.Sessions == nil:
				return c.Problem(fault.NotConfigured, "There are no browser sessions without BAGTRAIL_SECRET")
			}
			return serve(ctx, c)
		}}
	}
	return []Operation{of("beginSession", beginSession), of("getSession", getSession), of("endSession", endSession)}
}

// UnknownParameters returns a fault for each parameter of the query of an operation that takes none.
func (c *Call) UnknownParameters() []RequestError {
	var errors []RequestError
	for _, p := range c.Query {
		errors = append(errors, RequestError{Parameter: p.Name, Cause: fault.Unknown, Got: p.Value})
	}
	return errors
}

// beginSession answers POST /v1/session. A session cannot begin another one, since it could then last
// for ever.
func beginSession(ctx context.Context, c *Call) Answer {
	if c.Session.Key != nil {
		return c.Problem(fault.KeyMissingV1, "A session is made with a key, not with a session")
	}
	if crossOrigin(c.Request) {
		return c.Problem(fault.CrossOriginV1, "")
	}
	now := c.site.Clock()
	var cookie string
	c.Session, cookie = c.site.Sessions.Begin(c.Key, now)
	a := getSession(ctx, c)
	a.cookie = c.sessionCookie(cookie, int(c.Session.Ends.Sub(now).Seconds()))
	return a
}

// getSession answers GET /v1/session: with the session, or with the key if the request has one.
func getSession(_ context.Context, c *Call) Answer {
	dst := strictjson.AppendText(append(c.Buffer, '{'), "name", c.Key.Name)
	list := func(name string, scope apikey.Scope) {
		if scope.All {
			scope.Codes = []string{"*"}
		}
		dst = strictjson.AppendTexts(dst, name, scope.Codes)
	}
	list("airlines", c.Key.Airlines)
	list("airports", c.Key.Airports)
	list("operations", c.Key.Operations)
	if c.Session.Key != nil {
		dst = strictjson.AppendInstant(dst, "ends", c.Session.Ends)
	}
	return c.OK(append(dst, '}'))
}

// endSession answers DELETE /v1/session. It ends the session of every cookie of the request, even if
// the request has a key. A cookie whose session has ended is removed too. c.Key is nil if the request
// has neither a key nor exactly one session; then no rate counts it. Each session that it looks for
// has a valid signature, and the limit of headers bounds how many there are.
func endSession(ctx context.Context, c *Call) Answer {
	if crossOrigin(c.Request) {
		return c.Problem(fault.CrossOriginV1, "")
	}
	ended := false
	for _, cookie := range c.Request.CookiesNamed(session.Cookie) {
		one, err := c.site.Sessions.End(ctx, cookie.Value, c.site.Clock())
		if err != nil {
			return c.Unavailable(err)
		}
		ended = ended || one
	}
	a := Answer{Status: http.StatusNoContent}
	switch {
	case ended:
	case c.Key == nil:
		a = c.Problem(fault.KeyUnknownV1, noSession)
	default:
		a = c.Problem(fault.NotFoundV1, "The request has no session")
	}
	a.cookie = c.sessionCookie("", -1)
	return a
}

// sessionCookie returns the cookie of a session. If seconds is negative, the cookie tells the browser
// to remove the one that it has.
func (c *Call) sessionCookie(value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: session.Cookie, Value: value, Path: "/", MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.site.Proxies.Secure(c.Request),
	}
}

// hasSession reports whether a call has a cookie for a session, valid or not.
func (s *Site) hasSession(c *Call) bool {
	return s.Sessions != nil && c.v1() && len(c.Request.CookiesNamed(session.Cookie)) > 0
}

// sessionOf returns the session of a request. It returns false if there is no valid one. A request
// with several session cookies has none, since a page of another host of the domain may have set
// one.
func sessionOf(ctx context.Context, in *session.Sessions, r *http.Request, now time.Time) (session.Session, bool, error) {
	cookies := r.CookiesNamed(session.Cookie)
	if len(cookies) != 1 {
		return session.Session{}, false, nil
	}
	return in.Find(ctx, cookies[0].Value, now)
}

// noSession is the detail of the answer to a call with cookies, but without a session.
const noSession = "The session has ended"

// resume finds the session of a call without a key. It returns the answer that refuses the call, or
// false if the call may go on.
func (s *Site) resume(c *Call, now time.Time) (refusal Answer, refused bool) {
	if crossOrigin(c.Request) {
		return c.Problem(fault.CrossOriginV1, ""), true
	}
	found, known, err := sessionOf(c.Request.Context(), s.Sessions, c.Request, now)
	switch {
	case err != nil:
		return c.Unavailable(err), true
	case !known && c.operation.ID == "endSession":
		return endSession(c.Request.Context(), c), true
	case !known:
		return c.Problem(fault.KeyUnknownV1, noSession), true
	}
	c.Session, c.Key = found, found.Key
	return Answer{}, false
}

// crossOrigin reports whether a browser sends a request that may change something, on behalf of a
// page of another origin.
func crossOrigin(r *http.Request) bool { return new(http.CrossOriginProtection).Check(r) != nil }
