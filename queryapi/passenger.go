package queryapi

import (
	"context"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// passenger answers bags for passenger (interface 4.3).
func (q Queries) passenger(ctx context.Context, c *web.Call) web.Answer {
	var f faults
	pnr := c.Values[0]
	f.check(parser.IsPNR(pnr), fault.PassengerPNR)
	day := f.day(c.Values[1], fault.PassengerDateMissing, fault.PassengerDateFormat)
	if f = c.Faults(f); len(f) > 0 {
		return c.Refuse(f...)
	}
	if !c.MayUse() {
		return c.NotAuthorised()
	}
	sight := q.sight(c.Key)
	bags, err := q.Trails(sight).OfPassenger(ctx, pnr, day)
	switch {
	case err != nil:
		return c.Unavailable(err)
	case len(bags) == 0:
		return c.Refuse(fault.PassengerNoBags)
	}
	viewer := bag.NewViewer(ctx, sight)
	bags = filter(views(bags, viewer), func(b *bag.Bag) bool { return b.HasPNR(pnr) && b.DepartsOn(day) })
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
