package queryapi

import (
	"context"

	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// airportV1 answers GET /v1/airports/{code}.
func (q Queries) airportV1(_ context.Context, c *web.Call) web.Answer {
	a := newArguments(c, "code").allowOnly("code")
	code := a.text("code", parser.IsThreeCapitals, airportForm)
	if refusal, refused := a.refusal(c); refused {
		return refusal
	}
	if !q.Airports.KnownLocation(code) {
		return c.Problem(fault.NotFoundV1, "The airport library does not know this code")
	}
	dst := strictjson.AppendText(append(c.Buffer, '{'), "code", code)
	name, city, country := q.Airports.Names(code)
	dst = strictjson.AppendMember(dst, "name", name)
	dst = strictjson.AppendMember(dst, "city", city)
	dst = strictjson.AppendMember(dst, "country", country)
	dst = strictjson.AppendText(dst, "time_zone", q.Airports.TimeZone(code).String())
	if latitude, longitude, known := q.Airports.Coordinates(code); known {
		dst = append(dst, `,"latitude":`...)
		dst = append(append(dst, latitude...), `,"longitude":`...)
		dst = append(dst, longitude...)
	}
	return c.OK(append(dst, '}'))
}
