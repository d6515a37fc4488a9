package queryapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"bagtrail/internal/changefeed"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/internal/webhooks"
)

// Webhooks implements the operations below /v1/webhooks.
type Webhooks struct {
	Queries
	Service    *webhooks.Service // nil if there are no webhooks
	NoWebhooks string            // why there are none
}

const (
	webhookLimit   = 5 * time.Second
	testLimit      = 20 * time.Second // longer than the time limit of a delivery
	maxURL         = 2000             // bytes
	maxDescription = 200              // characters
)

// Operations returns the operations.
func (h Webhooks) Operations() []web.Operation {
	return []web.Operation{
		{Operation: operation.ByID("createWebhook"), Limit: webhookLimit, Serve: h.create},
		{Operation: operation.ByID("listWebhooks"), Limit: webhookLimit, Serve: h.list},
		{Operation: operation.ByID("getWebhook"), Limit: webhookLimit, Serve: h.get},
		{Operation: operation.ByID("changeWebhook"), Limit: webhookLimit, Serve: h.change},
		{Operation: operation.ByID("deleteWebhook"), Limit: webhookLimit, Serve: h.delete},
		{Operation: operation.ByID("testWebhook"), Limit: testLimit, Serve: h.test},
		{Operation: operation.ByID("rewindWebhook"), Limit: webhookLimit, Serve: h.rewind},
		{Operation: operation.ByID("listDeliveries"), Limit: webhookLimit, Serve: h.deliveries},
		{Operation: operation.ByID("rotateWebhookSecret"), Limit: webhookLimit, Serve: h.rotate},
	}
}

// refusal returns the answer to a request that has faults, whose key may not use webhooks, or that
// comes while webhooks are off. It returns false if there is nothing to refuse.
func (h Webhooks) refusal(a *arguments, c *web.Call) (web.Answer, bool) {
	refusal, refused := a.bagRefusal(c)
	if !refused && h.Service == nil {
		return c.Problem(fault.NotConfigured, h.NoWebhooks), true
	}
	return refusal, refused
}

// create answers POST /v1/webhooks.
func (h Webhooks) create(ctx context.Context, c *web.Call) web.Answer {
	a := bodyArguments(c, "filter").allowOnly("url", "filter", "description")
	url, description, filter := h.url(a), a.description(), h.filter(a)
	a.failMissing("url", "an https URL")
	if refusal, refused := h.refusal(a, c); refused {
		return refusal
	}
	asker := changefeed.Asker{Key: c.Key}
	if filter != nil {
		asker.Filter = *filter
	}
	made, given, err := h.Service.Create(ctx, asker, url, description)
	switch {
	case errors.Is(err, webhooks.ErrTooMany):
		return c.Problem(fault.LimitReached, "A customer may have at most 20 webhooks")
	case err != nil:
		return noChangesYet(c, err)
	}
	dst := appendWebhook(c.Buffer, &made)
	dst = strictjson.AppendText(dst[:len(dst)-1], "secret", string(given))
	return c.Made(http.StatusCreated, "/v1/webhooks/"+made.ID, append(dst, '}'))
}

// list answers GET /v1/webhooks.
func (h Webhooks) list(ctx context.Context, c *web.Call) web.Answer {
	a := newArguments(c).allowOnly()
	if refusal, refused := h.refusal(a, c); refused {
		return refusal
	}
	list, err := h.Service.List(ctx, c.Key.Customer)
	if err != nil {
		return c.Unavailable(err)
	}
	dst := append(c.Buffer, `{"webhooks":[`...)
	for i := range list {
		dst = appendWebhook(strictjson.AppendComma(dst), &list[i])
	}
	return c.OK(append(dst, `]}`...))
}

// get answers GET /v1/webhooks/{id}.
func (h Webhooks) get(ctx context.Context, c *web.Call) web.Answer {
	return h.find(ctx, c, func(w *webhooks.Webhook) web.Answer { return c.OK(appendWebhook(c.Buffer, w)) })
}

// find answers a request without a body that is about one webhook.
func (h Webhooks) find(ctx context.Context, c *web.Call, answer func(*webhooks.Webhook) web.Answer) web.Answer {
	a := newArguments(c, "id").allowOnly("id")
	if refusal, refused := h.refusal(a, c); refused {
		return refusal
	}
	w, ok, err := h.Service.Get(ctx, c.Key.Customer, c.Values[0])
	return webhookAnswer(c, ok, err, func() web.Answer { return answer(&w) })
}

// webhookAnswer answers with an error, with 404, or with answer.
func webhookAnswer(c *web.Call, ok bool, err error, answer func() web.Answer) web.Answer {
	switch {
	case err != nil:
		return c.Unavailable(err)
	case !ok:
		return c.Problem(fault.NotFoundV1, "The customer has no webhook with this id")
	}
	return answer()
}

// change answers PATCH /v1/webhooks/{id}.
func (h Webhooks) change(ctx context.Context, c *web.Call) web.Answer {
	a := bodyArguments(c, "filter", "paused").allowOnly("url", "filter", "description", "paused")
	url, description, filter := h.url(a), a.description(), h.filter(a)
	described := len(a.all("description")) > 0
	paused, pausing := a.truth("paused")
	return h.edit(ctx, c, a, func(d *webhooks.Definition) {
		d.Key = c.Key.Name
		d.URL = cmp.Or(url, d.URL)
		if described {
			d.Description = description
		}
		if filter != nil {
			d.Filter = *filter
		}
		switch {
		case pausing && paused:
			d.Paused = true
		case pausing:
			d.Resume()
		}
	})
}

// rewind answers POST /v1/webhooks/{id}/rewind.
func (h Webhooks) rewind(ctx context.Context, c *web.Call) web.Answer {
	a := bodyArguments(c).allowOnly("since")
	since := h.since(a)
	a.failMissing("since", sinceForm(h.ChangesRetention))
	return h.edit(ctx, c, a, func(d *webhooks.Definition) { d.Rewind(since) })
}

// edit changes a webhook and answers with it.
func (h Webhooks) edit(ctx context.Context, c *web.Call, a *arguments, change func(*webhooks.Definition)) web.Answer {
	if refusal, refused := h.refusal(a, c); refused {
		return refusal
	}
	w, ok, err := h.Service.Change(ctx, c.Key.Customer, c.Values[0], change)
	return webhookAnswer(c, ok, err, func() web.Answer { return c.OK(appendWebhook(c.Buffer, &w)) })
}

// delete answers DELETE /v1/webhooks/{id}.
func (h Webhooks) delete(ctx context.Context, c *web.Call) web.Answer {
	return h.find(ctx, c, func(w *webhooks.Webhook) web.Answer {
		ok, err := h.Service.Delete(ctx, c.Key.Customer, w.ID)
		return webhookAnswer(c, ok, err, func() web.Answer { return web.Answer{Status: http.StatusNoContent} })
	})
}

// test answers POST /v1/webhooks/{id}/test.
func (h Webhooks) test(ctx context.Context, c *web.Call) web.Answer {
	return h.find(ctx, c, func(w *webhooks.Webhook) web.Answer {
		return c.OK(strictjson.Encode(h.Service.Test(ctx, &w.Definition)))
	})
}

// deliveries answers GET /v1/webhooks/{id}/deliveries.
func (h Webhooks) deliveries(ctx context.Context, c *web.Call) web.Answer {
	return h.find(ctx, c, func(w *webhooks.Webhook) web.Answer {
		list, err := h.Service.Deliveries(ctx, w.ID)
		if err != nil {
			return c.Unavailable(err)
		}
		dst := append(c.Buffer, `{"deliveries":[`...)
		for _, d := range list {
			dst = append(strictjson.AppendComma(dst), d...)
		}
		return c.OK(append(dst, `]}`...))
	})
}

// rotate answers POST /v1/webhooks/{id}/secret.
func (h Webhooks) rotate(ctx context.Context, c *web.Call) web.Answer {
	return h.find(ctx, c, func(w *webhooks.Webhook) web.Answer {
		next, ok, err := h.Service.Rotate(ctx, c.Key.Customer, w.ID)
		return webhookAnswer(c, ok, err, func() web.Answer {
			return c.OK(append(strictjson.AppendString(append(c.Buffer, `{"secret":`...), string(next)), '}'))
		})
	})
}

// url returns the member url, or "" if it was not sent.
func (h Webhooks) url(a *arguments) string {
	g, there := a.one("url")
	if !there {
		return ""
	}
	if len(g.value) > maxURL {
		a.fail(g, fault.Malformed, "at most 2000 bytes")
	} else if h.Service != nil {
		if err := h.Service.CheckURL(g.value); err != nil {
			a.fail(g, fault.Malformed, "an https URL of a public host, without user, fragment and blanks: "+err.Error())
		}
	}
	return g.value
}

func (a *arguments) description() string {
	return a.text("description", func(s string) bool { return utf8.RuneCountInString(s) <= maxDescription }, "at most 200 characters")
}

// truth returns the value of a member that is true or false, and whether it was sent.
func (a *arguments) truth(name string) (value, there bool) {
	g, there := a.one(name)
	if there && g.value != "true" && g.value != "false" {
		a.fail(g, fault.Malformed, "true or false")
	}
	return g.value == "true", there
}

// filter returns the member filter, or nil if it was not sent.
func (h Webhooks) filter(a *arguments) *changefeed.Filter {
	g, there := a.one("filter")
	if !there {
		return nil
	}
	inner := new(arguments)
	if inner.readObject([]byte(g.value)); inner.broken {
		a.fail(g, fault.Malformed, inner.errors[0].Expected)
		return nil
	}
	inner.allowOnly("airline", "airport", "flight", "plate", "pnr", "date")
	f := h.changeFilter(inner)
	for _, e := range inner.errors {
		e.Pointer = "/filter/" + cmp.Or(e.Parameter, strings.TrimPrefix(e.Pointer, "/"))
		e.Pointer, e.Parameter = strings.TrimSuffix(e.Pointer, "/"), ""
		a.errors = append(a.errors, e)
	}
	return &f
}

// appendWebhook appends a webhook as the API shows it.
func appendWebhook(dst []byte, w *webhooks.Webhook) []byte {
	text := func(name, value string) { dst = strictjson.AppendMember(dst, name, value) }
	at := func(name string, t time.Time) { dst = strictjson.AppendInstant(dst, name, t) }
	dst = strictjson.AppendText(append(dst, '{'), "id", w.ID)
	text("url", w.URL)
	dst = appendFilter(append(dst, `,"filter":`...), &w.Filter)
	text("description", w.Description)
	text("key", w.Key)
	at("created", w.Created)
	at("changed", w.Changed)
	failing := w.At.Failing
	switch pause := w.PausedBy(); {
	case pause != nil:
		text("state", "paused")
		text("reason", pause.Reason)
		at("since", pause.Since)
	case w.Paused:
		text("state", "paused")
		text("reason", "the customer has paused it")
	case failing != nil && w.At.Started == w.Started:
		text("state", "failing")
		text("reason", failing.Reason)
		at("since", failing.Since)
		at("next_attempt", failing.Next)
	default:
		text("state", "active")
	}
	return append(dst, '}')
}

// appendFilter appends the member filter. It shows airlines, flight number, PNR and plates in the
// form in which they are compared.
func appendFilter(dst []byte, f *changefeed.Filter) []byte {
	dst = append(dst, '{')
	dst = strictjson.AppendMember(dst, "airline", f.Airline)
	dst = strictjson.AppendMember(dst, "airport", f.Airport)
	if f.Flight != nil {
		direction := "D"
		if f.Flight.Arriving {
			direction = "A"
		}
		path := strings.Join([]string{f.Flight.Airport, direction, f.Flight.Airline, f.Flight.Number, f.Flight.Day.String()}, "/")
		dst = strictjson.AppendText(dst, "flight", path)
	}
	if len(f.Plates) > 0 {
		dst = strictjson.AppendTexts(dst, "plate", f.Plates)
	}
	if f.PNR != "" {
		dst = strictjson.AppendText(dst, "pnr", f.PNR)
		dst = strictjson.AppendText(dst, "date", f.Date.String())
	}
	return append(dst, '}')
}
