package queryapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"bagtrail/enricher"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/fault"
	"bagtrail/internal/jsontext"
	"bagtrail/internal/web"
	"bagtrail/internal/wtr"
)

// Downstream creates delayed-bag reports; *wtr.Client does.
type Downstream interface {
	// Create takes a request in the form of the downstream system. After an error it is not known whether a record was created.
	Create(ctx context.Context, document string) (wtr.Reply, error)
}

// Reports takes reports that were created downstream, so that they become events.
type Reports interface {
	// File returns when the report is in the log and in the index. Filing a report again, with the same time, changes nothing.
	File(ctx context.Context, report enricher.Report, received time.Time, id string) error
}

// DelayedBags answers the creation of delayed-bag reports (interface 4.4).
type DelayedBags struct {
	Trails     Trails
	Airports   Airports
	Downstream Downstream
	Reports    Reports
	Clock      func() time.Time

	unfiled unfiled
}

// Operation returns POST delayedbags.
func (d *DelayedBags) Operation() web.Operation {
	return web.Operation{
		Name: apikey.DelayedBags, Method: http.MethodPost, Template: "/baggage/delayedbags/v1.0/", JSONP: true, Body: true,
		Serve: d.create,
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
	if !c.Key.MayUse(apikey.DelayedBags) || !covers(c.Key, request.Vendors) {
		return c.NotAuthorised()
	}
	ctx = context.WithoutCancel(ctx) // what was begun is brought to its end, whether or not the caller waits for it
	bags, err := d.delayed(ctx, request, c.Key)
	if err != nil {
		return c.Unavailable(err)
	}
	made, reply, err := d.make(ctx, c, document)
	switch {
	case err != nil:
		return c.Unavailable(err)
	case reply.NotFound && len(reply.Errors) == 0:
		return c.Refuse(fault.DelayedNotFound)
	case reply.Reference == "":
		return relay(c, reply)
	}
	report := enricher.Report{Reference: reply.Reference, Station: reply.Station, Plates: request.Plates}
	if err := d.file(ctx, c, report, made); err != nil {
		d.unfiled.keep(c.Key.Name, document, creation{reply, made})
		return c.Unavailable(err)
	}
	d.unfiled.forget(c.Key.Name, document)
	return c.OK(appendReport(c.Buffer, bags, reply.Reference))
}

// parseRequest reads the one parameter.
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
	return document, request, f
}

// covers reports whether the key covers every airline on whose behalf the report is made. A request that names none needs a key
// for all.
func covers(key *apikey.Key, vendors []string) bool {
	if len(vendors) == 0 {
		return key.Airlines.All
	}
	return !slices.ContainsFunc(vendors, func(airline string) bool { return !key.Airline(airline) })
}

// make has the record created downstream, unless that was done before and only filing it failed: then the caller, who was told
// that sending again is safe, gets that record. made is when it was created.
func (d *DelayedBags) make(ctx context.Context, c *web.Call, document string) (made time.Time, reply wtr.Reply, err error) {
	if before, ok := d.unfiled.find(c.Key.Name, document); ok {
		return before.made, before.reply, nil
	}
	reply, err = d.Downstream.Create(ctx, document)
	return d.Clock().UTC().Truncate(time.Millisecond), reply, err
}

func (d *DelayedBags) file(ctx context.Context, c *web.Call, report enricher.Report, made time.Time) error {
	if len(report.Plates) == 0 {
		return nil // no bag, no event
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return d.Reports.File(ctx, report, made, c.UniqueID())
}

// relay answers with the errors of the downstream system, in its shape and in ours.
func relay(c *web.Call, reply wtr.Reply) web.Answer {
	status := http.StatusBadRequest
	if reply.NotFound {
		status = http.StatusNotFound
	}
	dst := append(c.Buffer, `{"success":false,"errors":[`...)
	for i, e := range reply.Errors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"error_code":`...)
		dst = jsontext.AppendString(dst, e.Code)
		dst = append(dst, `,"error_description":`...)
		dst = jsontext.AppendString(dst, e.Value)
		dst = append(dst, '}')
	}
	dst = append(dst, `],"WTR_BagsCreateRS":`...)
	dst = reply.Append(dst)
	return web.Answer{Status: status, Body: append(dst, '}')}
}

// delayedBag is a bag of a report as the answer shows it.
type delayedBag struct {
	bag     *bag.Bag
	rushTag bag.Plate
}

func appendReport(dst []byte, bags []delayedBag, reference string) []byte {
	dst = append(dst, `{"success":true,"bags":[`...)
	for i, b := range bags {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = bagjson.AppendPassengerBag(dst, b.bag, b.rushTag)
	}
	dst = append(dst, `],"record_reference":`...)
	dst = jsontext.AppendString(dst, reference)
	return append(dst, '}')
}
