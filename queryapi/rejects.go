package queryapi

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/budget"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/rejectstore"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// Rejects answers the operations on rejected messages.
type Rejects struct {
	Store    *rejectstore.Store
	Acceptor Acceptor
	Keys     apikey.ByName // finds the keys of jobs
	NewID    func() string // makes the ids of jobs
	Begun    chan struct{} // wakes RunJobs when a job begins here; has a buffer of one, or is nil
}

// Acceptor decides on messages; *ingestor.Acceptor implements it.
type Acceptor interface {
	// Now returns the received time of a message that has just come in.
	Now() time.Time
	// Judge decides on a message, and writes nothing.
	Judge(env ingestor.Envelope) ingestor.Outcome
	// Accept decides on a message, and returns when that has taken effect. An error means that it
	// is not known whether it has.
	Accept(ctx context.Context, env ingestor.Envelope) (ingestor.Outcome, error)
	// ApplyAll makes the outcomes of Judge take effect, as Accept does for one.
	ApplyAll(ctx context.Context, envelopes []ingestor.Envelope, outcomes []ingestor.Outcome) error
}

// Operations returns the operations on /v1/rejects.
func (d Rejects) Operations() []web.Operation {
	begin := func(action string) func(context.Context, *web.Call) web.Answer {
		return func(ctx context.Context, c *web.Call) web.Answer { return d.begin(ctx, c, action) }
	}
	return []web.Operation{
		{Operation: operation.ByID("listRejects"), Limit: queryLimit, Serve: d.list},
		{Operation: operation.ByID("summarizeRejects"), Limit: queryLimit, Serve: d.summarize},
		{Operation: operation.ByID("getReject"), Limit: queryLimit, Serve: d.get},
		{Operation: operation.ByID("resubmitReject"), Limit: queryLimit, Serve: d.resubmitOne},
		{Operation: operation.ByID("dismissReject"), Limit: queryLimit, Serve: d.dismissOne},
		{Operation: operation.ByID("resubmitRejects"), Limit: queryLimit, MaxBody: maxQuestion, Serve: begin("resubmit")},
		{Operation: operation.ByID("dismissRejects"), Limit: queryLimit, MaxBody: maxQuestion, Serve: begin("dismiss")},
		{Operation: operation.ByID("getRejectJob"), Limit: queryLimit, Serve: d.getJob},
	}
}

// wanted says which rejects a caller wants to see.
type wanted struct {
	rejectstore.Filter
	key, text string // filters by the key that posted a reject and by its text; "" is any. These and value need the content of each reject
	value     argument
	byValue   bool // value is a filter too; it may be ""
	looks     bool // one of key, text and value is a filter
	question  []string
}

// filterNames are the names of the filters of rejects.
var filterNames = []string{"state", "code", "airport", "door", "key", "value", "q", "since", "until"}

// readFilter reads the filters of rejects, and limits them to the scope of a key.
func readFilter(a *arguments, key *apikey.Key) wanted {
	states := make([]string, 0, 3)
	for _, state := range rejectstore.States() {
		states = append(states, string(state))
	}
	isName := func(s string) bool { return s != "" && len(s) <= 64 && !strings.ContainsAny(s, "|*") } // the store gives these two a meaning
	w := wanted{Filter: rejectstore.Filter{
		State: rejectstore.State(a.choice("state", states...)),
		Code:  a.text("code", isName, "a code such as SVCPRB018"),
		Door:  a.text("door", isName, "the name of a door"),
		Since: a.instant("since"), Until: a.instant("until"),
	}}
	w.key = a.text("key", isNotEmpty, "a text")
	w.value, w.byValue = a.one("value") // which may be empty
	w.text = a.text("q", isNotEmpty, "a text")
	w.looks = w.key != "" || w.byValue || w.text != ""
	airport := a.text("airport", func(s string) bool { return s == "" || parser.IsThreeCapitals(s) }, airportForm+", or empty for rejects without a known airport")
	w.Places, a.forbidden = places(key, airport, len(a.all("airport")) > 0)
	for _, name := range filterNames {
		for _, g := range a.all(name) { // repeated ones are faults already
			w.question = append(w.question, name+"="+g.value)
		}
	}
	return w
}

// places returns the places (see rejectstore.Filter) in which to look for rejects that a key
// covers; nil is all. asked says that the caller asks for an airport. forbidden is true if the key
// does not cover that airport.
func places(key *apikey.Key, airport string, asked bool) (places []string, forbidden bool) {
	own := "@" + key.Name // rejects without an airport that it has posted
	switch {
	case asked && airport == "" && !key.Airports.All:
		return []string{own}, false
	case asked:
		return []string{airport}, airport != "" && !key.Airport(airport)
	case key.Airports.All:
		return nil, false
	}
	return append(slices.Clone(key.Airports.Codes), own), false
}

// inScope reports whether a key covers a reject.
func inScope(key *apikey.Key, r *rejectstore.Reject) bool {
	if r.Airport == "" {
		return key.Airports.All || r.Sender == key.Name
	}
	return key.Airport(r.Airport)
}

// matches reports whether a reject is one that the other filters want.
func (w *wanted) matches(r *rejectstore.Reject) bool {
	return (w.key == "" || r.Sender == w.key) && (!w.byValue || r.Value == w.value.value) &&
		(w.text == "" || strings.Contains(strings.ToUpper(r.Text), strings.ToUpper(w.text)))
}

// maxLooked is how many rejects are read for the other filters in one answer, at most.
const maxLooked = 10_000

// looksAtOnce is the least number of rejects that are read together for the other filters, since a
// short page would otherwise read up to maxLooked of them in small portions.
const looksAtOnce = 500

// bytesAtOnce is how many bytes of rejects are read together, unless one alone has more. A reject has
// up to 1 MiB of text, and some hundred KiB of faults and history.
const bytesAtOnce = 1 << 20

// fullPage is how many bytes of rejects a page has before it ends. With the largest limit, rejects
// with many faults would otherwise take more memory than the answers to a key may take by default.
const fullPage = 8 << 20

// list answers GET /v1/rejects.
func (d Rejects) list(ctx context.Context, c *web.Call) web.Answer {
	a := newArguments(c).allowOnly(append([]string{"limit", "cursor"}, filterNames...)...)
	w := readFilter(a, c.Key)
	part := a.page(append([]string{"rejects"}, w.question...)...)
	after := rejectstore.ParsePosition(part.position)
	if refusal, refused := a.refusal(c); refused {
		return refusal
	}
	dst, bytes := append(c.Buffer, `{"rejects":[`...), 0
	last, more, err := d.find(ctx, c.Key, &w, after, part.limit, func(r *rejectstore.Reject) (full bool, err error) {
		before := len(dst)
		dst = append(appendReject(strictjson.AppendComma(dst), r, false), '}')
		bytes += len(dst) - before
		dst = c.Part(dst)
		return bytes >= fullPage, c.PartErr()
	})
	if err != nil {
		return c.Unavailable(err)
	}
	dst = append(dst, ']')
	if more {
		if w.looks {
			dst = strictjson.AppendInstant(dst, "searched_until", last.Received)
		}
		dst = strictjson.AppendText(dst, "next", part.next(last.String()))
	}
	return c.OK(append(dst, '}'))
}

// find calls show with the rejects after a position that the key covers, the newest first, until
// show returns true or there are as many as limit. last is the position of the last one that was
// looked at, and more reports whether others follow.
func (d Rejects) find(ctx context.Context, key *apikey.Key, w *wanted, after rejectstore.Position, limit int, show func(*rejectstore.Reject) (bool, error)) (last rejectstore.Position, more bool, err error) {
	step, found := limit, 0
	if w.looks {
		step = max(limit, looksAtOnce)
	}
	for looked := 0; looked < maxLooked && found < limit; {
		positions, err := d.Store.List(ctx, w.Filter, after, step+1)
		if err != nil {
			return last, false, err
		}
		more = len(positions) > step
		positions = positions[:min(step, len(positions))]
		ids := make([]string, len(positions))
		for i, p := range positions {
			ids[i] = p.ID
		}
		for rejects, err := range d.portions(ctx, w.text != "", ids) {
			for i := 0; i < len(rejects) && err == nil; i++ {
				r := &rejects[i]
				if found == limit {
					return last, true, nil
				}
				last = r.Position()
				decided := r.State != w.State // since it was listed
				if !decided && inScope(key, r) && w.matches(r) {
					var full bool
					if full, err = show(r); full {
						limit = found + 1
					}
					found++
				}
			}
			if err != nil {
				return last, false, err
			}
		}
		if !more {
			return last, false, nil
		}
		last = positions[len(positions)-1] // also if it was removed meanwhile
		looked, after = looked+len(positions), last
	}
	return last, more, nil
}

// portions reads rejects in portions of bytesAtOnce. The memory of a portion is taken from the budget
// until the next one is read.
func (d Rejects) portions(ctx context.Context, withText bool, ids []string) iter.Seq2[[]rejectstore.Reject, error] {
	return func(yield func([]rejectstore.Reject, error) bool) {
		sizes, err := d.Store.Sizes(ctx, withText, ids...)
		if err != nil {
			yield(nil, err)
			return
		}
		for from, to, more := 0, 0, true; from < len(ids) && more; from = to {
			bytes := int64(0)
			for ; to < len(ids) && (to == from || bytes+sizes[to] <= bytesAtOnce); to++ {
				bytes += sizes[to]
			}
			part, end := budget.Part(ctx)
			more = yield(d.read(part, withText, bytes, ids[from:to]...))
			end()
		}
	}
}

// read returns the rejects with ids, and takes from the budget the bytes that they have together.
func (d Rejects) read(ctx context.Context, withText bool, bytes int64, ids ...string) ([]rejectstore.Reject, error) {
	if err := budget.Need(ctx, bytes); err != nil {
		return nil, err
	}
	return d.Store.Get(ctx, withText, ids...)
}

// readOne returns the reject with an id, and its text. The list is empty if there is none.
func (d Rejects) readOne(ctx context.Context, id string) ([]rejectstore.Reject, error) {
	sizes, err := d.Store.Sizes(ctx, true, id)
	if err != nil {
		return nil, err
	}
	return d.read(ctx, true, sizes[0], id)
}

// summarize answers GET /v1/rejects/summary.
func (d Rejects) summarize(ctx context.Context, c *web.Call) web.Answer {
	a := newArguments(c).allowOnly("state", "code", "airport", "door", "since", "until")
	w := readFilter(a, c.Key)
	if refusal, refused := a.refusal(c); refused {
		return refusal
	}
	sum, err := d.Store.Summarize(ctx, w.Filter)
	if err != nil {
		return c.Unavailable(err)
	}
	dst := append(c.Buffer, '{')
	for _, list := range []struct {
		name, value string
		counts      []rejectstore.Count
	}{{"states", "state", sum.States}, {"codes", "code", sum.Codes}, {"airports", "airport", sum.Airports}, {"doors", "door", sum.Doors}, {"hours", "hour", sum.Hours}} {
		dst = append(strictjson.AppendName(dst, list.name), '[')
		for _, count := range list.counts {
			dst = append(strictjson.AppendComma(dst), '{')
			dst = strictjson.AppendText(dst, list.value, count.Value)
			dst = append(strictjson.AppendNumber(dst, "count", count.Count), '}')
		}
		dst = append(dst, ']')
	}
	return c.OK(append(dst, '}'))
}

// one answers with the reject of a call, or refuses if there is none that the key covers.
func (d Rejects) one(ctx context.Context, c *web.Call, a *arguments, answer func(*rejectstore.Reject) web.Answer) web.Answer {
	if refusal, refused := a.refusal(c); refused {
		return refusal
	}
	found, err := d.readOne(ctx, c.Values[0])
	switch {
	case err != nil:
		return c.Unavailable(err)
	case len(found) == 0 || !inScope(c.Key, &found[0]):
		return c.Problem(fault.NotFoundV1, "No reject in the scope of the key has this id")
	}
	return answer(&found[0])
}

// get answers GET /v1/rejects/{id}.
func (d Rejects) get(ctx context.Context, c *web.Call) web.Answer {
	a := newArguments(c, "id").allowOnly("id")
	return d.one(ctx, c, a, func(r *rejectstore.Reject) web.Answer {
		return c.OK(append(appendReject(c.Buffer, r, true), '}'))
	})
}

// appendReject appends a reject as a JSON object without its closing brace, full with its text.
func appendReject(dst []byte, r *rejectstore.Reject, full bool) []byte {
	text := func(name, value string) { dst = strictjson.AppendMember(dst, name, value) }
	dst = strictjson.AppendText(append(dst, '{'), "id", r.ID)
	dst = strictjson.AppendText(dst, "state", string(r.State))
	dst = strictjson.AppendInstant(dst, "received", r.Received)
	text("door", r.Door)
	text("key", r.Sender)
	text("airport", r.Airport)
	dst = strictjson.AppendTexts(dst, "codes", r.Codes)
	dst = append(strictjson.AppendName(dst, "diagnostics"), r.Diagnostics...)
	if full {
		text("form", r.Form())
		dst = strictjson.AppendText(dst, "text", r.Text)
	}
	dst = append(dst, `,"history":[`...)
	for i := range r.History {
		step := &r.History[i]
		dst = strictjson.AppendInstant(append(strictjson.AppendComma(dst), '{'), "at", step.At)
		text("action", step.Action)
		text("key", step.Key)
		text("job", step.Job)
		text("verdict", step.Verdict)
		text("reason", step.Reason)
		if full {
			text("text", step.Text)
			if len(step.Diagnostics) > 0 {
				dst = append(strictjson.AppendName(dst, "diagnostics"), step.Diagnostics...)
			}
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// instant returns the value of an argument that is a time, or zero if it was not sent. A time
// between two milliseconds becomes the later one: the same received times are before it.
func (a *arguments) instant(name string) time.Time {
	g, there := a.one(name)
	if !there {
		return time.Time{}
	}
	sent, err := parseInstant(g.value)
	if err != nil {
		a.fail(g, fault.Malformed, "a time of the form 2026-03-14T12:00:00Z")
	}
	t := sent.Truncate(time.Millisecond)
	if t.Before(sent) || t.IsZero() { // zero would count as not sent
		t = t.Add(time.Millisecond)
	}
	return t
}
