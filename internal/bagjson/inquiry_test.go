package bagjson_test

import (
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/flightref"
)

func TestInquiryShowsTheBestKnownTimesInTheZonesOfTheirAirports(t *testing.T) {
	leg := &flightref.Reference{
		Flight: bag.Flight{Airline: "LX", Number: "100", Day: day(t, "2026-11-21")}, Carrier: "LX", Origin: "ZRH", Destination: "JFK", Subscription: true,
		Departure: flightref.Times{Scheduled: time.Date(2026, 11, 21, 12, 10, 0, 0, time.UTC), Estimated: time.Date(2026, 11, 21, 12, 40, 0, 0, time.UTC)},
		Arrival:   flightref.Times{Scheduled: time.Date(2026, 11, 21, 21, 15, 0, 0, time.UTC)},
	}
	const head = `{"airline":"LX","flight_no":"100","orig_airport":"ZRH","dept_datetime_local":"2026-11-21T13:40:00+01:00","dept_datetime_utc":"2026-11-21T12:40:00Z","datetime_type":"ESTIMATED","paxinquiry_subscription":true`
	const tail = `,"arr_datetime_local":"2026-11-21T16:15:00-05:00","arr_datetime_utc":"2026-11-21T21:15:00Z"}`
	if got := string(bagjson.AppendInquiry(nil, leg, library)); got != head+tail {
		t.Errorf("%s, want %s", got, head+tail)
	}
	leg.BlackoutStart = time.Date(2026, 11, 21, 11, 10, 0, 0, time.UTC)
	const blackout = `,"blackout_start_local":"2026-11-21T12:10:00+01:00","blackout_start_utc":"2026-11-21T11:10:00Z"`
	if got := string(bagjson.AppendInquiry(nil, leg, library)); got != head+blackout+tail {
		t.Errorf("%s, want %s", got, head+blackout+tail)
	}
}
