package blackbox_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"bagtrail/test/service"
)

// faults returns the answer with several faults of parameters.
func faults(pairs ...string) string {
	var objects []string
	for i := 0; i+1 < len(pairs); i += 2 {
		objects = append(objects, faultObject(pairs[i], pairs[i+1]))
	}
	return `{"success":false,"errors":[` + strings.Join(objects, ",") + `]}`
}

var (
	noAirport   = []string{"SVCGBF005", "Airport code" + isMissing}
	noIndicator = []string{"SVCGBF008", "Arrival departure indicator" + isMissing}
	noAirline   = []string{"SVCGBF010", "Airline code" + isMissing}
	noNumber    = []string{"SVCGBF012", "Flight number" + isMissing}
	noDate      = []string{"SVCGBF014", "Flight date" + isMissing}
	noTag       = []string{"SVCGBH005", "Bag tag id" + isMissing}
	noDay       = []string{"SVCGBH007", "Flight date" + isMissing}
	noPNR       = []string{"SVCGBP001", "PNR is mandatory, 5 or 6 letters and digits"}
	noDeparture = []string{"SVCGBP002", "Departure flight date" + isMissing}
)

func all(lists ...[]string) string {
	return faults(slices.Concat(lists...)...)
}

// A missing or blank path segment is reported with its "missing" code, never with the router's own
// 404 (rules §4).
func TestMissingPathSegmentsAreReportedByTheirCodes(t *testing.T) {
	t.Parallel()
	s := common(t)
	const (
		flight    = "/baggage/bagsforflight/v1.0"
		history   = "/baggage/history/v1.0"
		passenger = "/baggage/bagsforpassenger/v1.0"
	)
	for target, want := range map[string]string{
		// Each of the five is left out, in the ways in which callers leave things out.
		flight + "/airport_code//arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14":       all(noAirport),
		flight + "/airport_code/%20/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14":    all(noAirport),
		flight + "/airport_code/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14":        all(noAirport),
		flight + "/airport_code/ZRH/arr_dep_indicator//airline_code/LX/flight_no/100/dep_flight_date/2026-03-14":     all(noIndicator),
		flight + "/airport_code/ZRH/arr_dep_indicator/%20/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14":  all(noIndicator),
		flight + "/airport_code/ZRH/arr_dep_indicator/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14":      all(noIndicator),
		flight + "/airport_code/ZRH/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14":                        all(noIndicator),
		flight + "/airport_code/ZRH/arr_dep_indicator/D/airline_code//flight_no/100/dep_flight_date/2026-03-14":      all(noAirline),
		flight + "/airport_code/ZRH/arr_dep_indicator/D/airline_code/%09/flight_no/100/dep_flight_date/2026-03-14":   all(noAirline),
		flight + "/airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no//dep_flight_date/2026-03-14":       all(noNumber),
		flight + "/airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/%20%20/dep_flight_date/2026-03-14": all(noNumber),
		flight + "/airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/":              all(noDate),
		flight + "/airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date":               all(noDate),
		flight + "/airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/%20":           all(noDate),
		flight + "/airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/":                              all(noDate),
		// The path is cut shorter and shorter.
		flight + "/airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/": all(noNumber, noDate),
		flight + "/airport_code/ZRH/arr_dep_indicator/D/airline_code/LX":            all(noNumber, noDate),
		flight + "/airport_code/ZRH/arr_dep_indicator/D/airline_code":               all(noAirline, noNumber, noDate),
		flight + "/airport_code/ZRH/arr_dep_indicator/":                             all(noIndicator, noAirline, noNumber, noDate),
		flight + "/airport_code/ZRH":                                                all(noIndicator, noAirline, noNumber, noDate),
		flight + "/airport_code/":                                                   all(noAirport, noIndicator, noAirline, noNumber, noDate),
		flight + "/":                                                                all(noAirport, noIndicator, noAirline, noNumber, noDate),
		flight:                                                                      all(noAirport, noIndicator, noAirline, noNumber, noDate),

		history + "/tag//flightdate/2026-03-14":            all(noTag),
		history + "/tag/%20/flightdate/2026-03-14":         all(noTag),
		history + "/tag/flightdate/2026-03-14":             all(noTag),
		history + "/flightdate/2026-03-14":                 all(noTag),
		history + "/tag/0724100001/flightdate/":            all(noDay),
		history + "/tag/0724100001/flightdate":             all(noDay),
		history + "/tag/0724100001/flightdate/%20":         all(noDay),
		history + "/tag/0724100001/":                       all(noDay),
		history + "/tag/0724100001":                        all(noDay),
		history + "/tag/":                                  all(noTag, noDay),
		history + "/":                                      all(noTag, noDay),
		history:                                            all(noTag, noDay),
		history + "//":                                     all(noTag, noDay),
		passenger + "/pnr//dep_flight_date/2026-03-14":     all(noPNR),
		passenger + "/pnr/%20/dep_flight_date/2026-03-14":  all(noPNR),
		passenger + "/pnr/dep_flight_date/2026-03-14":      all(noPNR),
		passenger + "/dep_flight_date/2026-03-14":          all(noPNR),
		passenger + "/pnr/ABC123/dep_flight_date/":         all(noDeparture),
		passenger + "/pnr/ABC123/dep_flight_date":          all(noDeparture),
		passenger + "/pnr/ABC123/dep_flight_date/%20":      all(noDeparture),
		passenger + "/pnr/ABC123":                          all(noDeparture),
		passenger + "/pnr/":                                all(noPNR, noDeparture),
		passenger + "/":                                    all(noPNR, noDeparture),
		passenger:                                          all(noPNR, noDeparture),
		passenger + "/pnr/ABC123//dep_flight_date//":       all(noDeparture),
		history + "/tag//flightdate/%20?pnr=A-&callback=(": all(noTag, noDay, []string{"SVCGBH009", "PNR must be letters and digits", "SVCGBH010", "PNR must be 5 or 6 characters long", "SVCSRV002", badCallback}),
	} {
		expect(t, "GET "+target, s.Get(target), 400, want)
	}
}

// A slash at the end of a complete path, and an encoded slash inside a segment, change neither
// operation nor meaning.
func TestTrailingAndEncodedSlashesChangeNothing(t *testing.T) {
	t.Parallel()
	s := common(t)
	const history = "/baggage/history/v1.0/tag/"
	for target, want := range map[string]struct {
		status int
		body   string
	}{
		history + "0724999998/flightdate/2026-03-14/":        {200, failure("SVCGBH002", "No matching bag found")},
		history + "0724999998%2F/flightdate/2026-03-14":      {400, failure("SVCGBH006", "Bag tag id must be a license plate number of 10 digits")},
		history + "07249%2F9998/flightdate/2026-03-14":       {400, failure("SVCGBH006", "Bag tag id must be a license plate number of 10 digits")},
		history + "0724999998/flightdate/2026%2F03%2F14":     {400, failure("SVCGBH008", "Flight date"+badDate)},
		history + "0724999998%20/flightdate/2026-03-14":      {400, failure("SVCGBH006", "Bag tag id must be a license plate number of 10 digits")},
		history + "%30724999998/flightdate/2026-03-14":       {200, failure("SVCGBH002", "No matching bag found")},
		"/baggage/history/v1.0/tag/../flightdate/2026-03-14": {400, failure("SVCGBH006", "Bag tag id must be a license plate number of 10 digits")},
	} {
		expect(t, target, s.Get(target), want.status, want.body)
	}
}

// An unknown path under that of process BIM is 402, any other unknown path 404 (rules §4).
func TestUnknownPathsAre404AndUnderProcessBIM402(t *testing.T) {
	t.Parallel()
	s := common(t)
	for target, status := range map[string]int{
		"/x":                     404,
		"/favicon.ico":           404,
		"/baggage":               404,
		"/baggage/":              404,
		"/baggage/history":       404,
		"/baggage/history/":      404,
		"/baggage/history/v1.1/": 404,
		"/baggage/history/v2.0/tag/0724100001/flightdate/2026-03-14":                404,
		"/baggage/history/v1.0/bag/0724100001/flightdate/2026-03-14":                404,
		"/baggage/history/v1.0/tag/0724100001/flightdate/2026-03-14/events":         404,
		"/baggage/History/v1.0/tag/0724100001/flightdate/2026-03-14":                404,
		"/baggage/bagsforflight/v1.0/airport/ZRH":                                   404,
		"/baggage/bagsforpassenger/v1.0/pnr/ABC123/dep_flight_date/2026-03-14/bags": 404,
		"/baggage/delayedbags/v2.0/":                                                404,
		"/baggage/delayedbags/v1.0/x":                                               404,
		"/baggage/processbimx/v1.0/":                                                404,
		"/v1.0/baggage/processbim/":                                                 404,
		"/baggage/processbim":                                                       402,
		"/baggage/processbim/":                                                      402,
		"/baggage/processbim/v1.1/":                                                 402,
		"/baggage/processbim/v2.0":                                                  402,
		"/baggage/processbim/v1.0/x":                                                402,
		"/baggage/processbim/v1.0/x/y":                                              402,
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			expect(t, method+" "+target, s.Do(method, target, nil), status, failure("SVCSRV005", "Resource not found"))
			expect(t, method+" without key "+target, s.Do(method, target, nil, "api_key", ""), status, failure("SVCSRV005", "Resource not found"))
		}
	}
}

// A wrong method is 405, and Allow names the right one. No operation has HEAD or OPTIONS.
func TestWrongMethodsAre405(t *testing.T) {
	t.Parallel()
	s := common(t)
	gets := []string{
		"/baggage/bagsforflight/v1.0/" + flightTarget, "/baggage/history/v1.0/" + historyTarget,
		"/baggage/bagsforpassenger/v1.0/" + passengerTarget, "/baggage/history/v1.0/", "/baggage/history/v1.0/tag//flightdate/",
	}
	posts := []string{"/baggage/processbim/v1.0/", "/baggage/processbim/v1.0", "/baggage/delayedbags/v1.0/", "/baggage/delayedbags/v1.0"}
	check := func(method, target, allow string) {
		t.Helper()
		got := s.Do(method, target, nil)
		body := failure("SVCSRV006", "Method not allowed")
		if method == http.MethodHead {
			body = ""
		}
		expect(t, method+" "+target, got, 405, body)
		if got.Header.Get("Allow") != allow {
			t.Errorf("%s %s: Allow %q, want %q", method, target, got.Header.Get("Allow"), allow)
		}
	}
	others := []string{http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions, "BREW"}
	for _, target := range gets {
		for _, method := range append(others, http.MethodPost) {
			check(method, target, http.MethodGet)
		}
	}
	for _, target := range posts {
		for _, method := range append(others, http.MethodGet) {
			check(method, target, http.MethodPost)
		}
	}
}

// Every bad parameter is reported at once, in the order of the interface.
func TestEveryParameterFaultIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	s := common(t)
	surname := url.QueryEscape(strings.Repeat("1", 61))
	for target, want := range map[string]string{
		service.FlightPath("zrh", "X", "11", "12345", "14MAR") + "?callback=1": faults(
			"SVCGBF006", "Airport code must be an IATA code of 3 upper case letters",
			"SVCGBF009", "Arrival departure indicator must be 'A' or 'a' for arrival, 'D' or 'd' for departure",
			"SVCGBF011", "Airline code must be 2 upper case letters or digits with a letter among them, or 3 ending with a letter",
			"SVCGBF013", "Flight number must be 1 to 4 digits, then an upper case letter or nothing",
			"SVCGBF015", "Flight date"+badDate, "SVCSRV002", badCallback),
		service.HistoryPath("72410000A", "2026-13-01") + "?pnr=A*&pax_surname=" + surname + "&include_bim=1&callback=(": faults(
			"SVCGBH006", "Bag tag id must be a license plate number of 10 digits", "SVCGBH008", "Flight date"+badDate,
			"SVCGBH009", "PNR must be letters and digits", "SVCGBH010", "PNR must be 5 or 6 characters long",
			"SVCGBH011", "Passenger surname must be letters only", "SVCGBH012", "Passenger surname must not be longer than 60 letters",
			"SVCGBH013", "include_bim must be 'true' or 'false'", "SVCSRV002", badCallback),
		service.PassengerPath("ABCDEFG", "2026-3-14") + "?callback=a..b": faults(
			"SVCGBP001", "PNR is mandatory, 5 or 6 letters and digits", "SVCGBP003", "Departure flight date"+badDate, "SVCSRV002", badCallback),
	} {
		expect(t, "GET "+target, s.Get(target), 400, want)
	}
}

// The order of checks: key, then every parameter fault together, then authorisation, then the data
// (rules §4).
func TestKeyThenParametersThenAuthorisationThenData(t *testing.T) {
	t.Parallel()
	s := common(t)
	const faulty = "/baggage/history/v1.0/tag/1/flightdate/2026-03-14"
	const sound = "/baggage/history/v1.0/" + historyTarget
	badTag := failure("SVCGBH006", "Bag tag id must be a license plate number of 10 digits")
	for _, tc := range []struct {
		key, target string
		status      int
		body        string
	}{
		{"", faulty, 400, failure("SVCGBH003", keyMissing)},
		{"nobody", faulty, 400, failure("SVCGBH004", keyUnknown)},
		{"key-of-no-customer", faulty, 400, failure("SVCGBH015", "No customer id is associated with the API key, the customer setup must be completed with the operator")},
		{"key-of-other-airline", faulty, 400, badTag},
		{"key-of-sender", faulty, 400, badTag},
		{"key-of-sender", sound, 400, failure("SVCGBH014", "Customer Application not authorized to get this bag history")},
		{"key-of-queries", "/baggage/history/v1.0/tag/0724999997/flightdate/2026-03-14", 200, failure("SVCGBH002", "No matching bag found")},
	} {
		expect(t, tc.key+" "+tc.target, s.Get(tc.target, "api_key", tc.key), tc.status, tc.body)
	}
	post := func(key, body string) service.Answer {
		return s.Do(http.MethodPost, service.ProcessPath, strings.NewReader(body), "api_key", key, "Content-Type", "application/json")
	}
	expect(t, "process BIM without key", post("", "{"), 401, failure("SVCPRB001", keyMissing))
	expect(t, "process BIM with unknown key", post("nobody", "{"), 401, failure("SVCPRB002", keyUnknown))
	expect(t, "process BIM, no message", post("key-of-other-airline", "{"), 400, failure("SVCPRB003", "Raw message missing"))
	expect(t, "process BIM, faulty message", post("key-of-other-airline", bim("XYZ\n.V/1LZRH")), 400,
		failure("SVCPRB011", `Incorrect message identifier (line 1): found "XYZ", expected BSM or BPM.`))
	expect(t, "process BIM, faulty message, wrong operation", post("key-of-queries", bim("XYZ\n.V/1LZRH")), 400,
		failure("SVCPRB011", `Incorrect message identifier (line 1): found "XYZ", expected BSM or BPM.`))
	notAuthorised := failure("SVCSRV004", "Customer Application not authorized to process BPM")
	expect(t, "process BIM, other airline", post("key-of-other-airline", bim(bsm("0724100031"))), 401, notAuthorised)
	expect(t, "process BIM, wrong operation", post("key-of-queries", bim(bsm("0724100031"))), 401, notAuthorised)
	report := func(key, body string) service.Answer {
		return s.Do(http.MethodPost, "/baggage/delayedbags/v1.0/", strings.NewReader(body), "api_key", key, "Content-Type", "application/json")
	}
	expect(t, "report without key", report("", "{"), 401, failure("SVCGBH003", keyMissing))
	expect(t, "report, no request", report("key-of-other-airline", "{"), 400, failure("SVCSRV009", badRequest))
	expect(t, "report, other airline", report("key-of-other-airline", goodReport), 401,
		failure("SVCDBR005", "Customer Application not authorized to create delayed bag report for the airline"))
}

// Expired and revoked keys are unknown keys (service §4); X-API-Key is accepted too; a blank key is
// none.
func TestKeysAreTakenFromBothHeadersAndEndWhenTheyEnd(t *testing.T) {
	t.Parallel()
	s := common(t)
	const target = "/baggage/history/v1.0/tag/0724999996/flightdate/2026-03-14"
	nothing := failure("SVCGBH002", "No matching bag found")
	expect(t, "expired", s.Get(target, "api_key", "key-of-expired"), 400, failure("SVCGBH004", keyUnknown))
	expect(t, "revoked", s.Get(target, "api_key", "key-of-revoked"), 400, failure("SVCGBH004", keyUnknown))
	expect(t, "blank", s.Get(target, "api_key", "   "), 400, failure("SVCGBH003", keyMissing))
	expect(t, "X-API-Key", s.Get(target, "api_key", "", "X-Api-Key", service.DevelopmentKey), 200, nothing)
	expect(t, "x-api-key as it comes over the wire", s.Get(target, "api_key", "", "x-api-key", service.DevelopmentKey), 200, nothing)
	expect(t, "API_KEY", s.Get(target, "api_key", "", "API_KEY", service.DevelopmentKey), 200, nothing)
	expect(t, "wrong case of the key", s.Get(target, "api_key", strings.ToUpper(service.DevelopmentKey)), 400, failure("SVCGBH004", keyUnknown))
}
