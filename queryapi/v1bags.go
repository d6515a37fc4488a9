package queryapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
)

// fieldsOf maps the values of the parameter fields.
var fieldsOf = map[string]bagdoc.Fields{"list": bagdoc.List, "events": bagdoc.Events, "raw": bagdoc.Raw}

// writer returns a Writer for the key of a call. fields is a value of the parameter fields.
func (q Queries) writer(ctx context.Context, c *web.Call, fields string) bagdoc.Writer {
	return bagdoc.Writer{
		Viewer: bag.NewViewer(ctx, q.sight(c.Key)), Airports: q.Airports, References: q.Flights, Fields: fieldsOf[fields],
		ShowsRaw: q.showsRaw(ctx, c.Key),
	}
}

// plateV1 answers GET /v1/bags/{plate}.
func (q Queries) plateV1(ctx context.Context, c *web.Call) web.Answer {
	a := newArguments(c, "plate").allowOnly("plate", "date", "fields")
	plates := a.plates(1)
	day, dated := a.date()
	fields := a.choice("fields", "events", "list", "raw")
	if refusal, refused := a.bagRefusal(c); refused {
		return refusal
	}
	addCursor := q.cursorBefore(ctx, c, changefeed.Filter{Plates: plates})
	traced, err := q.Trails(q.sight(c.Key)).TracePlates(ctx, plates)
	if err != nil {
		return c.Unavailable(err)
	}
	addCursor()
	w := q.writer(ctx, c, fields)
	wanted := func(b *bag.Bag) bool { return !dated || b.IsOfDay(day) }
	return showBags(ctx, c, w, traced, wanted, page{limit: len(traced) + 1}, c.Key.Conceal)
}

// maxPlates is how many plates one question may name.
const maxPlates = 100

// bagsV1 answers GET /v1/bags and POST /v1/bags/search.
func (q Queries) bagsV1(ctx context.Context, c *web.Call) web.Answer {
	a := newArguments(c)
	if c.Request.Method == http.MethodPost {
		a = bodyArguments(c)
	}
	s := a.search(q.Airports)
	fields := a.choice("fields", "list", "events", "raw")
	part := a.page("bags", s.by, fmt.Sprint(s.plates), strings.ToUpper(s.pnr), bag.FoldName(s.lastName), s.plateEnd,
		s.flight.Airline, s.flight.Number, s.airport, s.flight.Day.String(), fields)
	if refusal, refused := a.bagRefusal(c); refused {
		return refusal
	}
	s.flight.Airline = q.Airlines.Code(s.flight.Airline)
	addCursor := q.cursorBefore(ctx, c, s.filter())
	traced, err := s.trace(ctx, q.Trails(q.sight(c.Key)))
	if err != nil {
		return c.Unavailable(err)
	}
	addCursor()
	return showBags(ctx, c, q.writer(ctx, c, fields), traced, func(b *bag.Bag) bool { return s.matches(b, q.Airports) }, part, c.Key.Conceal || s.guesses())
}

// noCustomer is the problem detail for a key without a customer. Such a key gets no bag history
// either.
const noCustomer = "No customer is associated with the key: the customer setup must be completed with the operator"

// bagRefusal is refusal for operations that show bags: they also require a key with a customer.
func (a *arguments) bagRefusal(c *web.Call) (web.Answer, bool) {
	refusal, refused := a.refusal(c)
	if !refused && c.Key.Customer == "" {
		return c.Problem(fault.ForbiddenV1, noCustomer), true
	}
	return refusal, refused
}

// showBags answers with a page of the wanted bags. As with the five operations, if there are wanted
// bags and the key sees none of them, the answer is that the key is not authorised, unless that is
// to be concealed.
func showBags(ctx context.Context, c *web.Call, w bagdoc.Writer, all []trail.Traced, wanted func(*bag.Bag) bool, part page, conceal bool) web.Answer {
	there, seen := visible(all, w.Viewer, wanted)
	if err := w.Viewer.Err(); err != nil {
		return c.Unavailable(err)
	}
	if there > 0 && len(seen) == 0 && !conceal {
		return c.NotAuthorised()
	}
	w.Part = c.Part
	dst := append(c.Buffer, `{"bags":[`...)
	shown, next := pageOf(seen, func(t *trail.Traced) bag.Plate { return t.Bag.Plate }, part)
	for _, t := range shown {
		dst, _ = w.Append(strictjson.AppendComma(dst), t) // never false: visible returns only bags that the viewer sees
		if err := cmp.Or(ctx.Err(), c.PartErr()); err != nil {
			return c.Unavailable(err)
		}
	}
	return c.OK(append(strictjson.AppendMember(append(dst, ']'), "next", next), '}'))
}

// pageOf returns the bags of a page, and the cursor of the next page, or "" if it is the last. The
// plates of the bags ascend. The position of a bag is its plate, and its number among the bags of
// that plate, from 1.
func pageOf[T any](all []T, plate func(*T) bag.Plate, part page) (shown []T, next string) {
	text, number, _ := strings.Cut(part.position, " ")
	begin := bag.Plate(text)
	beginOf, _ := strconv.Atoi(number) // as written below
	last, lastOf := bag.Plate(""), 0
	for i := range all {
		if len(shown) == part.limit {
			return shown, part.next(fmt.Sprint(last, " ", lastOf))
		}
		p := plate(&all[i])
		if lastOf++; p != last {
			last, lastOf = p, 1
		}
		if p > begin || p == begin && lastOf > beginOf {
			shown = append(shown, all[i])
		}
	}
	return shown, ""
}

// visible returns the number of wanted bags, and those of them that the viewer sees and whose view
// is wanted as well.
func visible(all []trail.Traced, viewer *bag.Viewer, wanted func(*bag.Bag) bool) (there int, seen []trail.Traced) {
	for _, t := range all {
		if !wanted(t.Bag) {
			continue
		}
		there++
		if view := viewer.View(t.Bag); view != nil && wanted(view) {
			seen = append(seen, t)
		}
	}
	return there, seen
}
