package queryapi_test

import (
	"testing"

	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/trail"
)

func TestBagsForFlightChecksItsParameters(t *testing.T) {
	trails := &answers{}
	s := site(trails)
	const base = "/baggage/bagsforflight/v1.0/"
	for _, tc := range []struct {
		path string
		want []fault.ID
	}{
		{"airport_code//arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirportMissing}},
		{"arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirportMissing}},
		{"airport_code/%20/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirportMissing}},
		{"airport_code/ZR/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirportFormat}},
		{"airport_code/zrh/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirportFormat}},
		{"airport_code/ZRHX/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirportFormat}},
		{"airport_code/Z%2FH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirportFormat}},
		{"airport_code/QQQ/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirportUnknown}},
		{"airport_code/ZRH/arr_dep_indicator//airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightIndicatorMissing}},
		{"airport_code/ZRH/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightIndicatorMissing}},
		{"airport_code/ZRH/arr_dep_indicator/AD/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightIndicatorFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code//flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirlineMissing}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/L/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirlineFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/lx/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirlineFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/12/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirlineFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/SW1/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirlineFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/SWRX/flight_no/100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightAirlineFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no//dep_flight_date/2026-03-14", []fault.ID{fault.FlightNumberMissing}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/A/dep_flight_date/2026-03-14", []fault.ID{fault.FlightNumberFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/12345/dep_flight_date/2026-03-14", []fault.ID{fault.FlightNumberFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100a/dep_flight_date/2026-03-14", []fault.ID{fault.FlightNumberFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100AB/dep_flight_date/2026-03-14", []fault.ID{fault.FlightNumberFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/-100/dep_flight_date/2026-03-14", []fault.ID{fault.FlightNumberFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/", []fault.ID{fault.FlightDateMissing}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date", []fault.ID{fault.FlightDateMissing}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100", []fault.ID{fault.FlightDateMissing}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-3-14", []fault.ID{fault.FlightDateFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-02-29", []fault.ID{fault.FlightDateFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/26-03-14", []fault.ID{fault.FlightDateFormat}},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14%20", []fault.ID{fault.FlightDateFormat}},
		{"", []fault.ID{fault.FlightAirportMissing, fault.FlightIndicatorMissing, fault.FlightAirlineMissing, fault.FlightNumberMissing, fault.FlightDateMissing}},
		{"airport_code/ZRH/arr_dep_indicator/D/", []fault.ID{fault.FlightAirlineMissing, fault.FlightNumberMissing, fault.FlightDateMissing}},
		{"airport_code/zrh/arr_dep_indicator/X/airline_code/1/flight_no/A/dep_flight_date/14MAR?callback=(", []fault.ID{
			fault.FlightAirportFormat, fault.FlightIndicatorFormat, fault.FlightAirlineFormat, fault.FlightNumberFormat, fault.FlightDateFormat, fault.Callback}},
	} {
		trails.asked = ""
		if got := get(s, "demo", base+tc.path); got != refusal(tc.want...) || trails.asked != "" {
			t.Errorf("%s: %s, want %s", tc.path, got, refusal(tc.want...))
		}
	}
}

func TestBagsForFlightAsksForWhatTheRequestNames(t *testing.T) {
	trails := &answers{}
	s := site(trails)
	for _, tc := range []struct{ path, asked string }{
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", "ZRH false LX100 2026-03-14"},
		{"airport_code/JFK/arr_dep_indicator/A/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14", "JFK true LX100 2026-03-14"},
		{"airport_code/JFK/arr_dep_indicator/a/airline_code/U2/flight_no/0100A/dep_flight_date/2028-02-29", "JFK true U2100A 2028-02-29"},
		{"airport_code/LON/arr_dep_indicator/d/airline_code/1SR/flight_no/0000/dep_flight_date/2026-03-14", "LON false 1SR0 2026-03-14"},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/SWR/flight_no/0000A/dep_flight_date/2026-03-14/", "ZRH false LX0A 2026-03-14"},
		{"airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/1/dep_flight_date/2026-03-14?pnr=x&foo&callbackx=(", "ZRH false LX1 2026-03-14"},
	} {
		if got := get(s, "demo", "/baggage/bagsforflight/v1.0/"+tc.path); got != refusal(fault.FlightNoBags) || trails.asked != tc.asked {
			t.Errorf("%s: asked %q, want %q: %s", tc.path, trails.asked, tc.asked, got)
		}
	}
}

func TestBagsForFlightWrapsEachBag(t *testing.T) {
	one := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	two := newBag(t, "0724100002", "", "", "LX", "100", "ZRH", "JFK")
	two.GivenName, two.Rush = "", true
	leg := one.Legs[0]
	leg.Seat, leg.Status = "12A", bag.Delayed
	s := site(&answers{flight: []trail.Listed{{Bag: one, Leg: leg}, {Bag: two, Leg: two.Legs[0]}}})
	const want = `{"success":true,"bags":[{"bag":{"bagtag":"0724100001","rush_bag_indicator":"N","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","loading_status":"Delayed","seat_number":"12A","pnr":"ABC123"}},` +
		`{"bag":{"bagtag":"0724100002","rush_bag_indicator":"Y","loading_status":"Not Loaded"}}]}`
	if got := get(s, "demo", flightPath); got != "200 "+want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := get(s, "demo", flightPath+"?callback=my.bags"); got != "200 /**/my.bags("+want+");" {
		t.Errorf("as script: %s", got)
	}
}

func TestBagsForFlightNeedsAirlineAndAirportInScopeWhateverTheData(t *testing.T) {
	empty, full := site(&answers{}), site(&answers{flight: []trail.Listed{{Bag: newBag(t, "0724100001", "", "", "LX", "100", "ZRH", "JFK"), Leg: bag.Leg{}}}})
	const arrival = "/baggage/bagsforflight/v1.0/airport_code/JFK/arr_dep_indicator/A/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14"
	for _, tc := range []struct {
		key, path string
		may       bool
	}{
		{"lx", flightPath, true}, {"lx-at-jfk", flightPath, false}, {"lx-at-jfk", arrival, true}, {"ba", flightPath, false},
		{"lhr", flightPath, false}, {"no-airline", flightPath, false},
	} {
		want := refusal(fault.FlightNotAuthorised)
		if tc.may {
			want = refusal(fault.FlightNoBags)
		}
		if got := get(empty, tc.key, tc.path); got != want {
			t.Errorf("%s: %s, want %s", tc.key, got, want)
		}
		if got := get(full, tc.key, tc.path); (got[:3] == "200") != tc.may {
			t.Errorf("%s: %s", tc.key, got)
		}
	}
}
