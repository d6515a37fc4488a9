package web

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/budget"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
)

// Operation is one operation of the interface, with how it turns callers away and what it does.
type Operation struct {
	operation.Operation // a body is read before Serve is called

	Refusals Refusals      // of the five operations
	Limit    time.Duration // how long Serve may take; its context ends then. 0: it bounds itself
	MaxBody  int           // bytes; 0 is 1 MiB

	// Serve does the operation. It is called for a caller whose key is known; it checks, in this order, parameters (Call.Faults),
	// authorisation, data.
	Serve func(ctx context.Context, c *Call) Answer
}

// Refusals are the codes in which an operation says what all operations say. A NoCustomer of fault.None asks for no customer.
type Refusals struct {
	KeyMissing, KeyUnknown, NoCustomer, NotAuthorised, Unavailable fault.ID
}

func (o *Operation) bodyLimit() int { return cmp.Or(o.MaxBody, maxBody) }

// Keys finds out who calls; *apikey.Store does.
type Keys interface {
	// Lookup returns the key with that text. It is false for one that is unknown, expired or revoked.
	Lookup(text string, now time.Time) (*apikey.Key, bool)
}

// Call is one request to an operation. It belongs to Serve until that returns.
type Call struct {
	Key       *apikey.Key
	Request   *http.Request
	RequestID string
	Values    []string // of the placeholders, in order; "" where missing or blank
	Query     Query
	Body      []byte // nil where it was cut off, or was too large
	TooLarge  bool   // the body was longer than the operation takes
	Buffer    []byte // empty; the answer may be appended to it, so that its memory is used again

	operation   *Operation
	callback    string
	badCallback bool
	body        []byte // memory for Body
	received    int    // bytes of the body

	answers *budget.Bytes
	needed  int64    // bytes of a large answer, as far as it was made
	counted int64    // of these, taken of answers
	parts   [][]byte // of a large answer, but for the last
}

// maxKept is the size up to which memory is kept for the next call, in bytes.
const maxKept = 256 << 10

// reuse empties the call, but for the memory that the next one can use.
func (c *Call) reuse(answer []byte) {
	kept := Call{Values: c.Values[:0], Query: c.Query[:0], Buffer: c.Buffer[:0], body: c.body[:0]}
	if cap(answer) > cap(kept.Buffer) && cap(answer) <= maxKept {
		kept.Buffer = answer[:0]
	}
	if cap(c.Body) > cap(kept.body) && cap(c.Body) <= maxKept {
		kept.body = c.Body[:0]
	}
	clear(kept.Query[:cap(kept.Query)])
	clear(kept.Values[:cap(kept.Values)])
	*c = kept
}

// Answer is what an operation answers.
type Answer struct {
	Status     int
	Body       []byte // a JSON object
	RetryAfter bool   // the caller should try again in a second
	Cause      error  // why the service could not do what was asked; for the log

	parts   [][]byte // that stand before Body
	problem bool     // Body is problem details
}

// Faults returns all parameter faults of the call: those given, and that of the callback.
func (c *Call) Faults(own []fault.ID) []fault.ID {
	if c.badCallback {
		own = append(own, fault.Callback)
	}
	return own
}

// OK answers 200 with a JSON object, of which body is the last part.
func (c *Call) OK(body []byte) Answer {
	return Answer{Status: http.StatusOK, Body: body, parts: c.parts}
}

// Refuse answers with codes. The status is that of the first.
func (c *Call) Refuse(ids ...fault.ID) Answer {
	return Answer{Status: ids[0].Entry().Status, Body: AppendFaults(c.Buffer, ids...)}
}

// NotAuthorised answers that the key may not do this.
func (c *Call) NotAuthorised() Answer {
	return c.refuse(c.operation.Refusals.NotAuthorised, fault.ForbiddenV1)
}

// MayUse reports whether the key has the right that the operation asks for.
func (c *Call) MayUse() bool { return c.Key.MayUse(c.operation.Right) }

// Unavailable answers that it is not known whether the request took effect.
func (c *Call) Unavailable(cause error) Answer {
	a := c.refuse(c.operation.Refusals.Unavailable, fault.UnavailableV1)
	a.RetryAfter, a.Cause = true, cause
	return a
}
