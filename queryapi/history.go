package queryapi

import (
	"cmp"
	"context"
	"unicode/utf8"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
)

// historyQuery holds the parameters of bag history.
type historyQuery struct {
	plate      bag.Plate
	day        bag.Day
	pnr        string // "" for any
	surname    string // "" for any
	includeBIM bool
}

// parseHistory reads tag and date, and the parameters that narrow the query.
func parseHistory(values []string, parameters web.Query) (q historyQuery, f faults) {
	q.plate = bag.Plate(values[0])
	if f.check(values[0] != "", fault.HistoryTagMissing) {
		f.check(q.plate.Valid(), fault.HistoryTagFormat)
	}
	q.day = f.day(values[1], fault.HistoryDateMissing, fault.HistoryDateFormat)
	if q.pnr = f.optional(parameters, fault.HistoryPNRCharacters, "pnr"); q.pnr != "" {
		f.check(isAlphanumeric(q.pnr), fault.HistoryPNRCharacters)
		n := utf8.RuneCountInString(q.pnr)
		f.check(n == 5 || n == 6, fault.HistoryPNRLength)
	}
	if q.surname = f.optional(parameters, fault.HistorySurnameLetters, "pax_surname"); q.surname != "" {
		f.check(isLetters(q.surname), fault.HistorySurnameLetters)
		f.check(utf8.RuneCountInString(q.surname) <= maxSurname, fault.HistorySurnameLength)
	}
	if value := f.optional(parameters, fault.HistoryIncludeBIM, "include_bim", "include_BIM"); value != "" {
		q.includeBIM = value == "true"
		f.check(q.includeBIM || value == "false", fault.HistoryIncludeBIM)
	}
	return q, f
}

// narrow returns the bags that match PNR and surname. It returns cancelled bags only if no other
// bag matches.
func (q *historyQuery) narrow(bags []*bag.Bag) []*bag.Bag {
	matching := filter(bags, func(b *bag.Bag) bool {
		return (q.pnr == "" || b.HasPNR(q.pnr)) && (q.surname == "" || b.HasSurname(q.surname))
	})
	if living := filter(matching, func(b *bag.Bag) bool { return !b.Cancelled }); len(living) > 0 {
		return living
	}
	return matching
}

// history answers bag history (interface 4.2).
func (q Queries) history(ctx context.Context, c *web.Call) web.Answer {
	query, f := parseHistory(c.Values, c.Query)
	if f = c.Faults(f); len(f) > 0 {
		return c.Refuse(f...)
	}
	if !c.MayUse() {
		return c.NotAuthorised()
	}
	sight := q.sight(c.Key)
	bags, err := q.Trails(sight).History(ctx, query.plate)
	if err != nil {
		return c.Unavailable(err)
	}
	viewer := bag.NewViewer(ctx, sight)
	// Whether bags are out of scope is decided by plate and date alone: otherwise the answer would
	// reveal whether a guessed name is right.
	named := func(b *bag.Bag) bool { return b.IsOfDay(query.day) }
	there := filter(bags, named)
	seen := filter(views(there, viewer), named)
	if err := viewer.Err(); err != nil {
		return c.Unavailable(err)
	}
	if len(there) > 0 && len(seen) == 0 {
		return refuseHidden(c, fault.HistoryNoBag)
	}
	seen = query.narrow(seen)
	switch len(seen) {
	case 0:
		return c.Refuse(fault.HistoryNoBag)
	case 1:
		return q.show(ctx, c, seen[0], query.includeBIM, viewer)
	}
	return c.Refuse(fault.HistorySeveralBags)
}

// show answers with one bag.
func (q Queries) show(ctx context.Context, c *web.Call, b *bag.Bag, includeBIM bool, viewer *bag.Viewer) web.Answer {
	showsRaw := q.showsRaw(ctx, c.Key)
	dst := append(c.Buffer, `{"success":true,"bag":`...)
	dst = bagjson.AppendBag(dst, b)
	dst = append(dst, `,"events":[`...)
	for i := range b.Events {
		e := &b.Events[i]
		shown := bagjson.EventContext{
			Unknown: b.Unknown, Raw: includeBIM && showsRaw(e.Message), Reflighted: bagdoc.Reflighted(b, e, viewer),
		}
		dst = c.Part(bagjson.AppendEvent(strictjson.AppendComma(dst), e, q.Airports, shown))
		if err := cmp.Or(ctx.Err(), c.PartErr()); err != nil {
			return c.Unavailable(err)
		}
	}
	dst = append(dst, ']')
	dst = q.appendInquiries(dst, b)
	return c.OK(append(dst, '}'))
}

// appendInquiries appends pax_inquiry_info: the living legs that the flight reference knows.
func (q Queries) appendInquiries(dst []byte, b *bag.Bag) []byte {
	return strictjson.AppendGroup(dst, "pax_inquiry_info", "[]", func(dst []byte) []byte {
		for i := range b.Legs {
			leg := &b.Legs[i]
			if reference, known := q.Flights.Lookup(leg.Flight, leg.From, leg.To); known && leg.Living {
				dst = bagjson.AppendInquiry(strictjson.AppendComma(dst), reference, q.Airports)
			}
		}
		return dst
	})
}
