package bagjson

import (
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/flightref"
	"bagtrail/internal/strictjson"
)

// AppendInquiry appends an element of pax_inquiry_info: the times that the flight reference has for
// a leg. r must have a departure and an arrival. Local times of the departure and of the blackout
// are those of the origin, and the local time of the arrival is that of the destination.
func AppendInquiry(dst []byte, r *flightref.Reference, airports *airport.Library) []byte {
	departure, basis := r.Departure.Best()
	arrival, _ := r.Arrival.Best()
	origin := airports.TimeZone(r.Origin)
	dst = strictjson.AppendText(append(dst, '{'), "airline", r.Carrier)
	dst = strictjson.AppendText(dst, "flight_no", r.Flight.Number)
	dst = strictjson.AppendText(dst, "orig_airport", r.Origin)
	dst = appendTimes(dst, "dept_datetime", departure, origin)
	dst = strictjson.AppendText(dst, "datetime_type", string(basis))
	dst = strictjson.AppendBool(dst, "paxinquiry_subscription", r.Subscription)
	if !r.BlackoutStart.IsZero() {
		dst = appendTimes(dst, "blackout_start", r.BlackoutStart, origin)
	}
	dst = appendTimes(dst, "arr_datetime", arrival, airports.TimeZone(r.Destination))
	return append(dst, '}')
}

// appendTimes appends the members name_local and name_utc.
func appendTimes(dst []byte, name string, at time.Time, zone *time.Location) []byte {
	dst = strictjson.AppendTime(dst, name+"_local", at.In(zone), time.RFC3339)
	return strictjson.AppendTime(dst, name+"_utc", at.UTC(), time.RFC3339)
}
