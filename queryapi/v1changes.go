package queryapi

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

const (
	changesBytes  = 4 << 20 // of an answer
	longestWait   = 60      // seconds
	longestCursor = 400     // characters
	changesLimit  = 5 * time.Second
	cursorLimit   = 200 * time.Millisecond // of a cursor that a list can do without
)

// changesQuery is a question about changes.
type changesQuery struct {
	asker  changefeed.Asker
	cursor changes.Cursor // with Epoch 0: there is none
	since  time.Time      // zero: from now on
	limit  int
	wait   time.Duration
	stream bool
}

// changesV1 answers GET /v1/changes.
func (q Queries) changesV1(ctx context.Context, c *web.Call) web.Answer {
	a := newArguments(c).allowOnly("cursor", "since", "airline", "airport", "flight", "plate", "pnr", "date", "limit", "fields", "wait")
	query := changesQuery{
		asker: changefeed.Asker{Key: c.Key, Filter: q.changeFilter(a), Fields: fieldsOf[a.choice("fields", "events", "list")]},
		limit: a.number("limit", usualPage, 1, maxPage),
		wait:  time.Duration(a.number("wait", 0, 0, longestWait)) * time.Second,

		stream: c.WantsStream(),
	}
	if query.stream {
		for _, name := range []string{"limit", "wait"} {
			for _, g := range a.all(name) {
				a.fail(g, fault.Conflict, "a stream without "+name)
			}
		}
		a.useLastEventID(c)
	}
	q.changesBegin(a, &query)
	if refusal, refused := a.bagRefusal(c); refused {
		return refusal
	}
	if q.Changes == nil {
		return c.Problem(fault.NotConfigured, q.NoChanges)
	}
	if query.cursor.Epoch == 0 {
		var err error
		if query.cursor, err = q.firstCursor(ctx, c, &query); err != nil {
			return noChangesYet(c, err)
		}
		if query.since.IsZero() && query.wait == 0 && !query.stream {
			return c.OK(appendEnd(append(c.Buffer, `{"changes":[`...), query.cursor, false))
		}
	}
	switch {
	case query.stream:
		return q.streamChanges(c, &query)
	case query.wait > 0:
		return c.Waiting(func() web.Answer { return q.waitForChanges(ctx, c, &query) })
	}
	answer, _ := q.tellOnce(ctx, c, &query)
	return answer
}

// useLastEventID uses the header Last-Event-ID, which a browser sends when it opens a stream again, as
// the cursor.
func (a *arguments) useLastEventID(c *web.Call) {
	id := c.Request.Header.Get("Last-Event-ID")
	if id == "" {
		return
	}
	a.given = slices.DeleteFunc(a.given, func(g argument) bool { return g.name == "cursor" || g.name == "since" })
	a.given = append(a.given, argument{name: "cursor", value: id, parameter: "Last-Event-ID"})
}

// changeFilter reads the filter of a question about changes.
func (q Queries) changeFilter(a *arguments) changefeed.Filter {
	f := changefeed.Filter{
		Airline: q.Airlines.Code(a.text("airline", parser.IsAirline, airlineForm)),
		Airport: a.knownAirport(q.Airports),
		PNR:     strings.ToUpper(a.text("pnr", parser.IsPNR, pnrForm)),
	}
	f.Date, _ = a.date()
	switch named, dated := len(a.all("pnr")) > 0, len(a.all("date")) > 0; {
	case named && !dated:
		a.failMissing("date", "pnr and date")
	case dated && !named:
		a.failMissing("pnr", "pnr and date")
	}
	f.Plates = filterPlates(a.plates(maxPlates))
	f.Flight = q.changeFlight(a)
	return f
}

// filterPlates returns plates as a filter has them: ascending, each once.
func filterPlates(plates []bag.Plate) []bag.Plate {
	return slices.Compact(slices.Sorted(slices.Values(plates)))
}

// cursorBefore finds a cursor from which to follow the changes of a filter. Call it before a list
// is read, so that every change that the list does not show follows the cursor. Call add after
// that: it adds the cursor to the end of the answer as changes_cursor. It adds nothing if the key
// may not read changes, if changes are off, if their index does not answer soon, or if Redis has
// lost everything meanwhile: then the list lacks changes that come before the cursor.
func (q Queries) cursorBefore(ctx context.Context, c *web.Call, f changefeed.Filter) (add func()) {
	if q.Changes == nil || !c.Key.MayUse(operation.Changes) {
		return func() {}
	}
	soon, cancel := context.WithTimeout(ctx, cursorLimit)
	defer cancel()
	cursor, err := q.Changes.Recent(soon, changefeed.Asker{Key: c.Key, Filter: f})
	return func() {
		soon, cancel := context.WithTimeout(ctx, cursorLimit)
		defer cancel()
		if err == nil && q.Changes.Changes.Check(soon, cursor.Epoch) == nil {
			c.Tail = strictjson.AppendString([]byte(`,"changes_cursor":`), cursor.String())
		}
	}
}

// changeFlight reads the parameter flight: the path of a flight, such as ZRH/D/LX/14/2026-03-14.
func (q Queries) changeFlight(a *arguments) *changefeed.Flight {
	g, there := a.one("flight")
	if !there {
		return nil
	}
	parts := strings.Split(g.value, "/")
	if len(parts) != 5 {
		a.fail(g, fault.Malformed, "airport/D or A/airline/flight/date")
		return nil
	}
	path := new(arguments)
	for i, name := range []string{"airport", "direction", "airline", "flight", "date"} {
		path.given = append(path.given, argument{name: name, value: parts[i], parameter: "flight"})
	}
	query := path.airportQuery(q.Airports)
	query.Flight = path.flight()
	a.errors = append(a.errors, path.errors...)
	query.Airline = q.Airlines.Code(query.Airline)
	return &query
}

// changesBegin reads where the changes begin: cursor or since.
func (q Queries) changesBegin(a *arguments, query *changesQuery) {
	query.since = q.since(a)
	g, there := a.one("cursor")
	if !there {
		return
	}
	if len(a.all("since")) > 0 {
		a.fail(g, fault.Conflict, "cursor or since")
		return
	}
	c, err := changes.ParseCursor(g.value)
	if err != nil || len(g.value) > longestCursor || c.Epoch == 0 || len(a.errors) == 0 && c.Filter != query.asker.Filter.Digest() {
		a.fail(g, fault.BadCursor, "the member cursor of an answer to the same filter")
	}
	query.cursor = c
}

// firstCursor returns the cursor of a question without one.
func (q Queries) firstCursor(ctx context.Context, c *web.Call, query *changesQuery) (changes.Cursor, error) {
	ctx, end := c.Ask(ctx, changesLimit)
	defer end()
	switch {
	case query.since.IsZero() && query.stream: // thousands of streams may be opened at once
		return q.Changes.Recent(ctx, query.asker)
	case query.since.IsZero():
		return q.Changes.Now(ctx, query.asker)
	}
	return q.Changes.Since(ctx, query.asker, query.since)
}

// waitForChanges answers with the changes that follow a cursor once there are some, or the time of the
// query is over.
func (q Queries) waitForChanges(ctx context.Context, c *web.Call, query *changesQuery) web.Answer {
	follower := q.Changes.Follow(query.asker)
	defer follower.Leave()
	until, cancel := context.WithTimeout(ctx, query.wait)
	defer cancel()
	for {
		follower.Take() // the index has these changes too
		answer, final := q.tellOnce(ctx, c, query)
		if final || !c.Wait(until, follower.Changed()) {
			return answer
		}
		key, valid := renew(ctx, c)
		if !valid {
			return answer // without changes; the next request will be refused
		}
		query.asker.Key = key // if the key sees other bags now, the cursor is reset
	}
}

// tellOnce answers with the changes that follow the cursor of a query at this moment. final is
// false if there are none yet, so that the caller may wait and ask again. The cursor of the query
// moves past everything that was read.
func (q Queries) tellOnce(ctx context.Context, c *web.Call, query *changesQuery) (answer web.Answer, final bool) {
	asked, done := c.Ask(ctx, changesLimit)
	defer done()
	dst := append(c.Buffer, `{"changes":[`...)
	limits := changefeed.Limits{Changes: query.limit, Bytes: changesBytes - 4<<10}
	end, more, err := q.Changes.Each(asked, query.asker, query.cursor, limits, func(told changefeed.Change) error {
		final = true
		dst = c.Part(append(strictjson.AppendComma(dst), told.Document...))
		return c.PartErr()
	})
	if reset, ok := errors.AsType[*changes.ResetError](err); ok {
		var now changes.Cursor
		if now, err = q.Changes.Now(asked, query.asker); err == nil {
			return c.Reset(reset.Reason, now.String()), true
		}
	}
	if err != nil {
		return noChangesYet(c, err), true
	}
	query.cursor = end
	return c.OK(appendEnd(dst, end, more)), final || more
}

// noChangesYet answers that changes cannot be read now. If their index is being built, this does
// not count as a failure.
func noChangesYet(c *web.Call, err error) web.Answer {
	if errors.Is(err, changes.ErrBeingBuilt) {
		err = nil
	}
	return c.Unavailable(err)
}

// appendEnd appends what follows the changes of an answer.
func appendEnd(dst []byte, cursor changes.Cursor, more bool) []byte {
	dst = strictjson.AppendText(append(dst, ']'), "cursor", cursor.String())
	return append(strictjson.AppendBool(dst, "more", more), '}')
}

// streamChanges answers with the changes that follow a cursor, as they happen.
func (q Queries) streamChanges(c *web.Call, query *changesQuery) web.Answer {
	asker, cursor := query.asker, query.cursor
	return c.Stream(func(ctx context.Context, s *web.Stream) {
		beats := time.NewTicker(changefeed.HeartbeatEvery)
		defer beats.Stop()
		checks := time.NewTicker(changefeed.RenewEvery)
		defer checks.Stop()
		q.Changes.Stream(ctx, asker, cursor, listener{s, c}, beats.C, checks.C)
	})
}

// listener is the caller of a stream. It implements changefeed.Listener.
type listener struct {
	*web.Stream
	call *web.Call
}

// Renew implements changefeed.Listener.
func (l listener) Renew(ctx context.Context) (*apikey.Key, bool) { return renew(ctx, l.call) }

// renew returns the key of a call as it is now. It returns false if the key may not read changes
// any more.
func renew(ctx context.Context, c *web.Call) (*apikey.Key, bool) {
	key, valid := c.Renew(ctx)
	return key, valid && key.Customer != ""
}

// Ask implements changefeed.Listener.
func (l listener) Ask(ctx context.Context) (context.Context, func()) {
	return l.call.Ask(ctx, changesLimit)
}
