package bagjson

import (
	"strconv"
	"time"

	"bagtrail/internal/flightref"
	"bagtrail/internal/strictjson"
)

// AppendInquiry appends an element of pax_inquiry_info (2.3). The departure and the blackout are in
// the time zone of the origin, the arrival in that of the destination.
func AppendInquiry(dst []byte, r *flightref.Reference, places Places) []byte {
	departure, basis := r.Departure.Best()
	arrival, _ := r.Arrival.Best()
	origin := places.Location(r.Origin)
	dst = append(dst, `{"airline":`...)
	dst = strictjson.AppendString(dst, r.Carrier)
	dst = append(dst, `,"flight_no":`...)
	dst = strictjson.AppendString(dst, r.Flight.Number)
	dst = append(dst, `,"orig_airport":`...)
	dst = strictjson.AppendString(dst, r.Origin)
	dst = appendTimes(dst, "dept_datetime", departure, origin)
	dst = append(dst, `,"datetime_type":`...)
	dst = strictjson.AppendString(dst, string(basis))
	dst = append(dst, `,"paxinquiry_subscription":`...)
	dst = strconv.AppendBool(dst, r.Subscription)
	if !r.BlackoutStart.IsZero() {
		dst = appendTimes(dst, "blackout_start", r.BlackoutStart, origin)
	}
	dst = appendTimes(dst, "arr_datetime", arrival, places.Location(r.Destination))
	return append(dst, '}')
}

// appendTimes appends the members name_local and name_utc.
func appendTimes(dst []byte, name string, at time.Time, zone *time.Location) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, `_local":"`...)
	dst = appendTime(dst, at.In(zone))
	dst = append(dst, `","`...)
	dst = append(dst, name...)
	dst = append(dst, `_utc":"`...)
	dst = appendTime(dst, at.UTC())
	return append(dst, '"')
}
