package queryapi_test

import (
	"testing"

	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
)

func TestBagsForPassengerChecksItsParameters(t *testing.T) {
	s := site(&answers{})
	for _, tc := range []struct {
		path string
		want []fault.ID
	}{
		{"pnr//dep_flight_date/2026-03-14", []fault.ID{fault.PassengerPNR}},
		{"pnr/dep_flight_date/2026-03-14", []fault.ID{fault.PassengerPNR}},
		{"pnr/%20/dep_flight_date/2026-03-14", []fault.ID{fault.PassengerPNR}},
		{"pnr/ABC1/dep_flight_date/2026-03-14", []fault.ID{fault.PassengerPNR}},
		{"pnr/ABC1234/dep_flight_date/2026-03-14", []fault.ID{fault.PassengerPNR}},
		{"pnr/ABC-12/dep_flight_date/2026-03-14", []fault.ID{fault.PassengerPNR}},
		{"pnr/%C3%84BCDE/dep_flight_date/2026-03-14", []fault.ID{fault.PassengerPNR}},
		{"pnr/ABC123/dep_flight_date/", []fault.ID{fault.PassengerDateMissing}},
		{"pnr/ABC123", []fault.ID{fault.PassengerDateMissing}},
		{"pnr/ABC123/dep_flight_date/14MAR", []fault.ID{fault.PassengerDateFormat}},
		{"", []fault.ID{fault.PassengerPNR, fault.PassengerDateMissing}},
		{"pnr/A/dep_flight_date/2026-13-01?callback=(", []fault.ID{fault.PassengerPNR, fault.PassengerDateFormat, fault.Callback}},
	} {
		if got := get(s, "demo", "/baggage/bagsforpassenger/v1.0/"+tc.path); got != refusal(tc.want...) {
			t.Errorf("%s: %s, want %s", tc.path, got, refusal(tc.want...))
		}
	}
}

func TestBagsForPassengerDoesNotWrapItsBags(t *testing.T) {
	one := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	one.RushTag = newBag(t, "2724100001", "ABC123", "MUELLER", "LX", "16", "ZRH", "JFK")
	two := newBag(t, "0724100002", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	trails := &answers{passenger: []*bag.Bag{one, two}}
	const want = `200 {"success":true,"bags":[{"bagtag":"0724100001","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","rush_bag_indicator":"N","rushtag":"2724100001"},` +
		`{"bagtag":"0724100002","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","rush_bag_indicator":"N"}]}`
	if got := get(site(trails), "demo", passengerPath); got != want || trails.asked != "ABC123 2026-03-14" {
		t.Errorf("asked %q: %s, want %s", trails.asked, got, want)
	}
	if got := get(site(&answers{}), "demo", "/baggage/bagsforpassenger/v1.0/pnr/abc12/dep_flight_date/2026-03-14"); got != refusal(fault.PassengerNoBags) {
		t.Errorf("nothing found: %s", got)
	}
}

func TestBagsForPassengerShowsWhatIsInScopeOnly(t *testing.T) {
	swiss := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	swiss.RushTag = newBag(t, "2125100001", "ABC123", "MUELLER", "BA", "16", "ZRH", "LHR")
	british := newBag(t, "0125100001", "ABC123", "MUELLER", "BA", "712", "LHR", "ZRH")
	const (
		tagged   = `{"bagtag":"0724100001","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","rush_bag_indicator":"N","rushtag":"2125100001"}`
		untagged = `{"bagtag":"0724100001","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","rush_bag_indicator":"N"}`
		other    = `{"bagtag":"0125100001","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","rush_bag_indicator":"N"}`
	)
	s := site(&answers{passenger: []*bag.Bag{swiss, british}})
	for key, want := range map[string]string{
		"demo":       `200 {"success":true,"bags":[` + tagged + `,` + other + `]}`,
		"lx":         `200 {"success":true,"bags":[` + untagged + `]}`,
		"lx-at-jfk":  `200 {"success":true,"bags":[` + untagged + `]}`,
		"ba":         `200 {"success":true,"bags":[` + other + `]}`,
		"no-airline": refusal(fault.PassengerNotAuthorised),
	} {
		if got := get(s, key, passengerPath); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	for _, key := range []string{"lx", "concealing", "demo"} {
		if got := get(site(&answers{}), key, passengerPath); got != refusal(fault.PassengerNoBags) {
			t.Errorf("%s: if there is no bag, nothing is found: %s", key, got)
		}
	}
	if got := get(site(&answers{passenger: []*bag.Bag{british}}), "concealing", passengerPath); got != refusal(fault.PassengerNoBags) {
		t.Errorf("a key that conceals learns that there is a bag: %s", got)
	}
}
