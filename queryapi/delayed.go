package queryapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/internal/wtr"
)

// Downstream creates delayed-bag reports; *wtr.Client does.
type Downstream interface {
	// Create takes a request in the form of the downstream system. After an error it is not known
	// whether a record was created, unless the error is wtr.ErrNotSent.
	Create(ctx context.Context, document string) (wtr.Reply, error)
}

// Reports stores reports that were created downstream, so that they become events of bags.
type Reports interface {
	// File returns when the report is in the log and in the index. Filing a report again with the same
	// received time changes nothing. id is unique to the call, and becomes part of the origin.
	File(ctx context.Context, report enricher.Report, received time.Time, id string) error
}

// DelayedBags answers requests to create delayed-bag reports (interface 4.4).
type DelayedBags struct {
	Trails     func(bag.Sight) Trails // limited to that sight; nil is unlimited
	Airports   *airport.Library
	Downstream Downstream
	Limit      time.Duration // the most that a call of Downstream may take
	Reports    Reports
	Outcomes   Outcomes
	Clock      func() time.Time
}

// Operation returns POST delayedbags.
func (d *DelayedBags) Operation() web.Operation {
	return web.Operation{
		Operation: operation.ByID("delayedbags"), Serve: d.create,
		Refusals: web.Refusals{
			KeyMissing: fault.DelayedKeyMissing, KeyUnknown: fault.DelayedKeyUnknown,
			NotAuthorised: fault.DelayedNotAuthorised, Unavailable: fault.Unavailable,
		},
	}
}

func (d *DelayedBags) create(ctx context.Context, c *web.Call) web.Answer {
	document, request, f := parseRequest(c)
	if f = c.Faults(f); len(f) > 0 {
		return c.Refuse(f...)
	}
	if !c.MayUse() || !covers(c.Key, request.Vendors) {
		return c.NotAuthorised()
	}
	caller := ctx
	ctx = context.WithoutCancel(ctx) // the operation completes even if the caller hangs up
	bags, err := d.bags(ctx, request, c.Key)
	if err != nil {
		return c.Unavailable(err)
	}
	id := identify(c.Key, c.Request.Header["Idempotency-Key"], document)
	made, claim, err := d.claim(caller, c, id)
	switch {
	case err != nil:
		return c.Unavailable(err)
	case claim != "":
		return d.forward(ctx, c, id, claim, document, bags)
	case made == nil:
		return notKnown(c, errUnderWay)
	}
	return d.answer(ctx, c, id, made, bags)
}

// forward sends a claimed request to the downstream system and answers with its reply.
func (d *DelayedBags) forward(ctx context.Context, c *web.Call, id, claim, document string, bags requestBags) web.Answer {
	reply, err := d.Downstream.Create(ctx, document)
	switch {
	case errors.Is(err, wtr.ErrNotSent):
		d.release(ctx, id, claim)
		return c.Unavailable(err)
	case err != nil:
		_ = d.note(ctx, id, unknownOutcome) // without it, a repeated request waits and gets the same answer
		return notKnown(c, err)
	case reply.Reference == "":
		d.release(ctx, id, claim)
		if reply.NotFound && len(reply.Errors) == 0 {
			return c.Refuse(fault.DelayedNotFound)
		}
		return relay(c, reply)
	}
	now := d.Clock().UTC().Truncate(time.Millisecond)
	reached := bags.reached[bag.DayOf(d.Airports.Local(reply.Station, now))]
	made := &creation{Reference: reply.Reference, Station: reply.Station, At: now, Plates: reached}
	if err := d.noteMade(ctx, id, made); err != nil {
		if d.file(ctx, c, made) != nil {
			return notKnown(c, err) // the report exists, but a repeated request may not find it
		}
		made.Filed = true
	}
	return d.answer(ctx, c, id, made, bags)
}

// answer answers with a report that this request, or an earlier equal one, has created. It files
// the report first if it is not filed yet. If that fails, it answers that the caller may send the
// request again.
func (d *DelayedBags) answer(ctx context.Context, c *web.Call, id string, made *creation, bags requestBags) web.Answer {
	if !made.Filed {
		if err := d.file(ctx, c, made); err != nil {
			return c.Unavailable(err)
		}
		made.Filed = true
		if err := d.noteMade(ctx, id, made); err != nil {
			return c.Unavailable(err)
		}
	}
	dst := append(append(c.Buffer, `{"success":true,"bags":`...), bags.shown...)
	return c.OK(append(strictjson.AppendText(dst, "record_reference", made.Reference), '}'))
}

// errUnderWay is the cause in the answer to a repeated request if the outcome of the first one is
// not known.
var errUnderWay = errors.New("the same request was sent on before, and its outcome is not known")

// notKnown answers that it is not known whether a report was created. It sets no Retry-After,
// because a repeated request gets the same answer.
func notKnown(c *web.Call, cause error) web.Answer {
	answer := c.Refuse(fault.DelayedNotKnown)
	answer.Cause = cause
	return answer
}

// parseRequest reads the member Request of the body.
func parseRequest(c *web.Call) (document string, request wtr.Request, f faults) {
	if c.TooLarge {
		return "", request, faults{fault.TooLarge}
	}
	document, err := c.Document("Request")
	ok := err == nil
	if ok {
		request, ok = wtr.ReadRequest(document)
	}
	f.check(ok, fault.DelayedRequest)
	if len(request.Plates) > maxReported {
		return "", request, faults{fault.TooLarge}
	}
	return document, request, f
}

// maxReported is how many bags a report may name. The contract of the delayed-bag system says ten.
// Every bag of a report is read for the answer, and keeps the report as an event.
const maxReported = 100

// covers reports whether the key covers every airline in vendors. If the request names no airline,
// the key must cover all airlines.
func covers(key *apikey.Key, vendors []string) bool {
	if len(vendors) == 0 {
		return key.Airlines.All
	}
	return !slices.ContainsFunc(vendors, func(airline string) bool { return !key.Airline(airline) })
}

// file makes a report an event of the bags with its plates.
func (d *DelayedBags) file(ctx context.Context, c *web.Call, made *creation) error {
	if len(made.Plates) == 0 {
		return nil // no bag gets the event
	}
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	report := enricher.Report{Reference: made.Reference, Station: made.Station, Plates: made.Plates}
	return d.Reports.File(ctx, report, made.At, c.UniqueID())
}

// relay answers with the errors of the downstream system, once as our error list and once as the
// downstream system wrote them.
func relay(c *web.Call, reply wtr.Reply) web.Answer {
	status := http.StatusBadRequest
	if reply.NotFound {
		status = http.StatusNotFound
	}
	dst := append(c.Buffer, `{"success":false,"errors":[`...)
	for _, e := range reply.Errors {
		dst = web.AppendFault(strictjson.AppendComma(dst), e.Code, e.Value)
	}
	dst = append(dst, `],"WTR_BagsCreateRS":`...)
	dst = reply.Append(dst)
	return web.Answer{Status: status, Body: append(dst, '}')}
}
