package web

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/session"
)

// Operation is one operation of the interface: its description, its refusals, its limits and its
// handler.
type Operation struct {
	operation.Operation // if it has a body, the body is read before Serve is called

	Refusals Refusals      // of the five operations
	Limit    time.Duration // timeout of the context of Serve; 0: Serve sets its own timeouts
	MaxBody  int           // bytes; 0 means 1 MiB

	// Serve performs the operation. It is called only if the key is known. It checks parameters
	// (Call.Faults), then authorisation, then data.
	Serve func(ctx context.Context, c *Call) Answer
}

// Refusals holds the codes with which an operation refuses a request for the reasons that all
// operations share. If NoCustomer is nil, the key needs no customer.
type Refusals struct {
	KeyMissing, KeyUnknown, NoCustomer, NotAuthorised, Unavailable fault.ID
}

func (o *Operation) bodyLimit() int { return cmp.Or(o.MaxBody, maxBody) }

// Keys finds the key of a caller; *apikey.Store implements it.
type Keys interface {
	// Lookup returns the key with that text. It returns false if the key is unknown, expired or
	// revoked.
	Lookup(text string, now time.Time) (*apikey.Key, bool)
}

// Call is one request to an operation. Serve must not keep it after it has returned.
type Call struct {
	Key      *apikey.Key
	Session  session.Session // of the browser, if the request has no key; otherwise zero
	Request  *http.Request
	Values   []string // of the placeholders, in order; "" if missing or blank
	Query    Query
	Body     []byte // nil if it was cut off, or was too large
	TooLarge bool   // the body was longer than the limit of the operation
	Buffer   []byte // empty; append the answer to it, so that its memory is reused

	// Tail holds members, each after a comma, that end an answer 200 to /v1 and are not part of its
	// ETag.
	Tail []byte

	requestID   string
	operation   *Operation
	callback    string
	badCallback bool
	body        []byte // a buffer for Body
	received    int    // how many bytes of the body have been received
	crowded     bool   // there was no memory for the body

	needed   int64    // bytes of a large answer that are in memory so far
	counted  int64    // bytes that were taken from Site.answers, and must be returned to it
	reserved int64    // of these, for the parts of the answer that are not made yet
	parts    [][]byte // of a large answer, without the last part
	partErr  error    // errCrowded once Part has dropped a part

	site       *Site
	controller *http.ResponseController
	idle       time.Duration // how long the operation has waited for changes, which does not count as its duration
}

// maxKept is the largest buffer, in bytes, that is kept for the next call.
const maxKept = 256 << 10

// reuse resets the call, and keeps its buffers and that of the answer for the next call.
func (c *Call) reuse(answer []byte) {
	kept := Call{Buffer: c.Buffer[:0], body: c.body[:0]}
	if cap(answer) > cap(kept.Buffer) && cap(answer) <= maxKept {
		kept.Buffer = answer[:0]
	}
	if cap(c.Body) > cap(kept.body) && cap(c.Body) <= smallAnswer {
		kept.body = c.Body[:0]
	}
	*c = kept
}

// Answer is the answer of an operation.
type Answer struct {
	Status int
	Body   []byte // a JSON object
	Cause  error  // why the service could not answer the request; for the log

	parts      [][]byte     // the answer before Body
	retryAfter bool         // the caller should try again in a second
	location   string       // path of the resource that was made, or ""; only for /v1
	tail       []byte       // members that are not part of the ETag
	problem    bool         // Body holds problem details
	cookie     *http.Cookie // the cookie to set, or nil; only for /v1
	stream     func(context.Context, *Stream)
}

// Faults returns own, and the fault of the callback if it has one.
func (c *Call) Faults(own []fault.ID) []fault.ID {
	if c.badCallback {
		own = append(own, fault.Callback)
	}
	return own
}

// OK answers 200 with a JSON object. If Part has taken over parts, body is the rest after them.
func (c *Call) OK(body []byte) Answer {
	if c.partErr != nil {
		return c.Unavailable(c.partErr)
	}
	return Answer{Status: http.StatusOK, Body: body, parts: c.parts, tail: c.Tail}
}

// Made answers 201 or 202 with a resource that the request has made, and its path.
func (c *Call) Made(status int, path string, body []byte) Answer {
	a := c.OK(body)
	a.Status, a.location = status, path
	return a
}

// Refuse answers with codes and the status of the first code.
func (c *Call) Refuse(ids ...fault.ID) Answer {
	return Answer{Status: ids[0].Status, Body: appendFaults(c.Buffer, ids...)}
}

// NotAuthorised answers that the key does not cover the request.
func (c *Call) NotAuthorised() Answer {
	return c.refuse(c.operation.Refusals.NotAuthorised, fault.ForbiddenV1)
}

// MayUse reports whether the key has the right that the operation requires.
func (c *Call) MayUse() bool { return c.Key.MayUse(c.operation.Right) }

// Unavailable answers that it is not known whether the request took effect.
func (c *Call) Unavailable(cause error) Answer {
	a := c.refuse(c.operation.Refusals.Unavailable, fault.UnavailableV1)
	a.retryAfter, a.Cause = true, cause
	return a
}
