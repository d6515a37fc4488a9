package queryapi

import (
	"context"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/fault"
	"bagtrail/internal/web"
)

// passengerQuery is what bags for passenger asks.
type passengerQuery struct {
	pnr string
	day bag.Day
}

// parsePassenger reads PNR and date.
func parsePassenger(values []string) (q passengerQuery, f faults) {
	q.pnr = values[0]
	f.check(isAlphanumeric(q.pnr) && isPNRLength(q.pnr), fault.PassengerPNR)
	q.day = f.day(values[1], fault.PassengerDateMissing, fault.PassengerDateFormat)
	return q, f
}

// passenger answers bags for passenger (interface 4.3).
func (q Queries) passenger(ctx context.Context, c *web.Call) web.Answer {
	query, f := parsePassenger(c.Values)
	if f = c.Faults(f); len(f) > 0 {
		return c.Refuse(f...)
	}
	if !c.Key.MayUse(apikey.BagsForPassenger) {
		return c.NotAuthorised()
	}
	bags, err := q.Trails.OfPassenger(ctx, query.pnr, query.day)
	if err != nil {
		return c.Unavailable(err)
	}
	bags = inScope(bags, c.Key)
	if len(bags) == 0 {
		return nothing(c, fault.PassengerNoBags)
	}
	dst := append(c.Buffer, `{"success":true,"bags":[`...)
	for i, b := range bags {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = bagjson.AppendPassengerBag(dst, b, rushTag(b, c.Key))
		if dst, err = c.Part(dst); err != nil {
			return c.Unavailable(err)
		}
	}
	return c.OK(append(dst, `]}`...))
}
