package queryapi

import (
	"context"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// passengerQuery holds the parameters of bags for passenger.
type passengerQuery struct {
	pnr string
	day bag.Day
}

// parsePassenger reads PNR and date.
func parsePassenger(values []string) (q passengerQuery, f faults) {
	q.pnr = values[0]
	f.check(parser.IsPNR(q.pnr), fault.PassengerPNR)
	q.day = f.day(values[1], fault.PassengerDateMissing, fault.PassengerDateFormat)
	return q, f
}

// matches reports whether a bag, or a view of it, has the PNR and a living leg that departs on the
// day.
func (q *passengerQuery) matches(b *bag.Bag) bool {
	return b.HasPNR(q.pnr) && b.DepartsOn(q.day)
}

// passenger answers bags for passenger (interface 4.3).
func (q Queries) passenger(ctx context.Context, c *web.Call) web.Answer {
	query, f := parsePassenger(c.Values)
	if f = c.Faults(f); len(f) > 0 {
		return c.Refuse(f...)
	}
	if !c.Key.MayUse(operation.BagsForPassenger) {
		return c.NotAuthorised()
	}
	sight := q.sight(c.Key)
	bags, err := q.Trails(sight).OfPassenger(ctx, query.pnr, query.day)
	switch {
	case err != nil:
		return c.Unavailable(err)
	case len(bags) == 0:
		return c.Refuse(fault.PassengerNoBags)
	}
	viewer := bag.NewViewer(ctx, sight)
	bags = filter(views(bags, viewer), query.matches)
	if err := viewer.Err(); err != nil {
		return c.Unavailable(err)
	}
	if len(bags) == 0 {
		return refuseHidden(c, fault.PassengerNoBags)
	}
	dst := append(c.Buffer, `{"success":true,"bags":[`...)
	for _, b := range bags {
		dst = c.Part(bagjson.AppendPassengerBag(strictjson.AppendComma(dst), b, bagdoc.RushPlate(b, viewer)))
	}
	return c.OK(append(dst, `]}`...))
}
