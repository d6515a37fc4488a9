package blackbox_test

import (
	"fmt"
	"strings"
	"testing"

	"bagtrail/test/service"
)

var noBagsForFlight = failure("SVCGBF001", "No bags found for flight")

// Bags for a flight show every field of interface 2.1. D is the leg that departs from the airport,
// A the leg that arrives there; the date is that of departure in both (rules §4).
func TestBagsForFlightShowEveryField(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s, record{"2026-03-14T08:00:00Z", `BSM
.V/1TZRH
.F/LX8500/14MAR/JFK/Y
.I/LH8501/13MAR/FRA/Y
.O/AA8502/14MAR/LAX/Y
.O/QF8503A/15MAR/SYD
.N/0724500002001
.S/Y/12A/C
.P/1MUELLER/ANNAMRS
.L/LIST01
.N/0724500001001
.S/Y/12B/C
.P/1MEIER
ENDBSM`})
	bag := func(plate, names, status, seat, pnr string) string {
		return `{"bag":{"bagtag":"` + plate + `","rush_bag_indicator":"N",` + names + status + seat + pnr + `}}`
	}
	list := func(status, seat func(string) string) string {
		return `{"success":true,"bags":[` +
			strings.ReplaceAll(bag("0724500001", `"passenger_last_name":"MEIER"`, status(""), seat("12B"), "")+","+
				bag("0724500002", `"passenger_first_name":"ANNA","passenger_last_name":"MUELLER"`, status(""), seat("12A"), `,"pnr":"LIST01"`), "\n", "") + `]}`
	}
	none := func(string) string { return "" }
	status := func(s string) func(string) string {
		return func(string) string { return `,"loading_status":"` + s + `"` }
	}
	seat := func(s string) string { return `,"seat_number":"` + s + `"` }

	departing := list(status("Not Loaded"), seat)
	settle(t, s, service.FlightPath("ZRH", "D", "LX", "8500", "2026-03-14"), departing)
	for _, target := range []string{
		service.FlightPath("ZRH", "d", "LX", "8500", "2026-03-14"),
		service.FlightPath("JFK", "A", "LX", "8500", "2026-03-14"),
		service.FlightPath("JFK", "a", "LX", "8500", "2026-03-14"),
		service.FlightPath("JFK", "A", "LX", "8500", "2026-03-14") + "?x=1",
	} {
		expect(t, target, s.Get(target), 200, compact(t, departing))
	}
	expect(t, "another code of the city", s.Get(service.FlightPath("NYC", "A", "LX", "8500", "2026-03-14")), 200, noBagsForFlight)
	onward := list(status("Not Loaded"), none)
	expect(t, "first onward flight", s.Get(service.FlightPath("JFK", "D", "AA", "8502", "2026-03-14")), 200, compact(t, onward))
	expect(t, "second onward flight arriving", s.Get(service.FlightPath("SYD", "A", "QF", "8503A", "2026-03-15")), 200, compact(t, onward))
	inbound := list(none, none)
	expect(t, "inbound flight has no loading status", s.Get(service.FlightPath("FRA", "D", "LH", "8501", "2026-03-13")), 200, compact(t, inbound))
	expect(t, "inbound flight arriving", s.Get(service.FlightPath("ZRH", "A", "LH", "8501", "2026-03-13")), 200, compact(t, inbound))
	for _, target := range []string{
		service.FlightPath("ZRH", "A", "LX", "8500", "2026-03-14"), service.FlightPath("JFK", "D", "LX", "8500", "2026-03-14"),
		service.FlightPath("ZRH", "D", "LX", "8500", "2026-03-15"), service.FlightPath("ZRH", "D", "LX", "8500A", "2026-03-14"),
		service.FlightPath("ZRH", "D", "WK", "8500", "2026-03-14"), service.FlightPath("SYD", "A", "QF", "8503", "2026-03-15"),
		service.FlightPath("SYD", "A", "QF", "8503A", "2026-03-16"),
	} {
		expect(t, target, s.Get(target), 200, noBagsForFlight)
	}
}

// Flight numbers are compared and shown without leading zeros (rules §4).
func TestFlightNumbersCompareWithoutLeadingZeros(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s, record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/BA0085/14MAR/LHR\n.N/0724510001001\nENDBSM"},
		record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/DLH085A/14MAR/FRA\n.N/0724510002001\nENDBSM"})
	want := `{"success":true,"bags":[{"bag":{"bagtag":"0724510001","rush_bag_indicator":"N","loading_status":"Not Loaded"}}]}`
	for _, number := range []string{"85", "085", "0085"} {
		settle(t, s, service.FlightPath("ZRH", "D", "BA", number, "2026-03-14"), want)
	}
	settle(t, s, service.FlightPath("ZRH", "D", "DLH", "0085A", "2026-03-14"), strings.Replace(want, "0724510001", "0724510002", 1))
	expect(t, "850", s.Get(service.FlightPath("ZRH", "D", "BA", "850", "2026-03-14")), 200, noBagsForFlight)
}

// Entries are ordered by plate, then PNR, then surname (rules §4).
func TestListsAreOrderedByPlatePNRSurname(t *testing.T) {
	t.Parallel()
	s := common(t)
	for i, p := range []string{
		"0724520002 .P/C\n.L/ORDER1", "0724520001 .P/B\n.L/ORDER2", "0724520001 .P/A\n.L/ORDER3", "0724520001 .P/D\n.L/ORDER1", "0724520003 .P/A",
	} {
		plate, more, _ := strings.Cut(p, " ")
		feed(t, s, record{fmt.Sprintf("2026-03-14T08:00:%02dZ", i), "BSM\n.V/1LZRH\n.F/LX8510/14MAR/JFK\n.N/" + plate + "001\n" + more + "\nENDBSM"})
	}
	entry := func(plate, surname, pnr string) string {
		if pnr != "" {
			pnr = `,"pnr":"` + pnr + `"`
		}
		return `{"bag":{"bagtag":"` + plate + `","rush_bag_indicator":"N","passenger_last_name":"` + surname + `","loading_status":"Not Loaded"` + pnr + `}}`
	}
	settle(t, s, service.FlightPath("ZRH", "D", "LX", "8510", "2026-03-14"), `{"success":true,"bags":[`+strings.Join([]string{
		entry("0724520001", "D", "ORDER1"), entry("0724520001", "B", "ORDER2"), entry("0724520001", "A", "ORDER3"),
		entry("0724520002", "C", "ORDER1"), entry("0724520003", "A", ""),
	}, ",")+`]}`)
	settle(t, s, service.PassengerPath("ORDER1", "2026-03-14"), `{"success":true,"bags":[
		{"bagtag":"0724520001","passenger_last_name":"D","rush_bag_indicator":"N"},{"bagtag":"0724520002","passenger_last_name":"C","rush_bag_indicator":"N"}]}`)
}

// Bags for a passenger: bags with that PNR (without case) and a living leg that departs on that
// day; entries are not wrapped.
func TestBagsForPassengerShowEveryField(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s, record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX8520/14MAR/JFK\n.O/AA8521/16MAR/LAX\n.I/LH8522/13MAR/FRA\n.N/0724530001002\n.P/2MUELLER/ANNAMRS\n.L/PASS1\nENDBSM"})
	want := `{"success":true,"bags":[
		{"bagtag":"0724530001","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","rush_bag_indicator":"N"},
		{"bagtag":"0724530002","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","rush_bag_indicator":"N"}]}`
	for _, day := range []string{"2026-03-14", "2026-03-16", "2026-03-13"} {
		settle(t, s, service.PassengerPath("PASS1", day), want)
		expect(t, "without case", s.Get(service.PassengerPath("pAss1", day)), 200, compact(t, want))
	}
	for _, target := range []string{service.PassengerPath("PASS1", "2026-03-15"), service.PassengerPath("PASS2", "2026-03-14"), service.PassengerPath("PASS1A", "2026-03-14")} {
		expect(t, target, s.Get(target), 200, failure("SVCGBH002", "No matching bags found"))
	}
}

// Airports of one metropolitan code are one place: a leg to LON matches the BSM at LHR, and the
// lists of both show it (rules §3).
func TestMetropolitanCodesAreOnePlace(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s, record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/BA8530/14MAR/LON\n.O/BA8531/14MAR/EDI\n.N/0724540001001\nENDBSM"})
	want := `{"success":true,"bags":[{"bag":{"bagtag":"0724540001","rush_bag_indicator":"N","loading_status":"Not Loaded"}}]}`
	for _, airport := range []string{"LON", "LHR", "LGW"} {
		settle(t, s, service.FlightPath(airport, "A", "BA", "8530", "2026-03-14"), want)
		settle(t, s, service.FlightPath(airport, "D", "BA", "8531", "2026-03-14"), want)
	}
	// The BSM of Heathrow replaces the onward flight out of LON.
	feed(t, s, record{"2026-03-14T10:00:00Z", "BSM\n.V/1TLHR\n.F/BA8532/14MAR/EDI\n.I/BA8530/14MAR/ZRH\n.N/0724540001001\nENDBSM"})
	settle(t, s, service.FlightPath("LHR", "D", "BA", "8532", "2026-03-14"), want)
	settleOn(t, s, service.FlightPath("LON", "D", "BA", "8531", "2026-03-14"), noBagsForFlight)
}

// A list holds the legs that end at its airport or at a metropolitan code of its city. It holds no
// leg that ends at another airport of the city (rules §4).
func TestListsCompareAirportsExactly(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s,
		record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/BA8533/14MAR/LGW\n.N/0724540002001\nENDBSM"},
		record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/AC8534/14MAR/YMQ\n.N/0724540003001\nENDBSM"})
	list := func(plate string) string {
		return `{"success":true,"bags":[{"bag":{"bagtag":"` + plate + `","rush_bag_indicator":"N","loading_status":"Not Loaded"}}]}`
	}
	settle(t, s, service.FlightPath("LGW", "A", "BA", "8533", "2026-03-14"), list("0724540002"))
	for _, airport := range []string{"LHR", "LON"} {
		expect(t, airport, s.Get(service.FlightPath(airport, "A", "BA", "8533", "2026-03-14")), 200, noBagsForFlight)
	}
	for _, airport := range []string{"YMQ", "YUL"} { // a metropolitan code that is no airport
		settle(t, s, service.FlightPath(airport, "A", "AC", "8534", "2026-03-14"), list("0724540003"))
	}
}

// The IATA and the ICAO code of an airline name the same flights. Each is shown as it was sent
// (rules, airlines).
func TestAFlightIsAskedForByEitherCodeOfItsAirline(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s, record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/SWR8535/14MAR/JFK\n.N/0724540004001\nENDBSM"})
	want := `{"success":true,"bags":[{"bag":{"bagtag":"0724540004","rush_bag_indicator":"N","loading_status":"Not Loaded"}}]}`
	for _, code := range []string{"LX", "SWR"} {
		settle(t, s, service.FlightPath("ZRH", "D", code, "8535", "2026-03-14"), want)
		expect(t, code+" for a key of LX", s.Get(service.FlightPath("ZRH", "D", code, "8535", "2026-03-14"), "api_key", keyOf("swiss")), 200, want)
	}
	if got := s.Get(service.HistoryPath("0724540004", "2026-03-14"), "api_key", keyOf("swiss")); !strings.Contains(got.Body, `"airline":"SWR"`) {
		t.Errorf("history: %s", got.Body)
	}
}

// History, flight and passenger answers show a limited key nothing that is out of its scope (rules
// §4).
func TestAnswersOfALimitedKey(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s,
		record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX8540/14MAR/JFK\n.N/0724550001001\n.P/A\n.L/SCOPE1\nENDBSM"},
		record{"2026-03-14T08:00:00Z", "BSM\n.V/1LLHR\n.F/BA8541/14MAR/JFK\n.N/0724550002001\n.P/B\n.L/SCOPE1\nENDBSM"})
	both := service.PassengerPath("SCOPE1", "2026-03-14")
	const lx, ba = `{"bagtag":"0724550001","passenger_last_name":"A","rush_bag_indicator":"N"}`, `{"bagtag":"0724550002","passenger_last_name":"B","rush_bag_indicator":"N"}`
	settle(t, s, both, `{"success":true,"bags":[`+lx+`,`+ba+`]}`)
	notPassenger := failure("SVCGBP006", "Customer Application not authorized to get bags for this passenger")
	notHistory := failure("SVCGBH014", "Customer Application not authorized to get this bag history")
	noPassenger, noHistory := failure("SVCGBH002", "No matching bags found"), failure("SVCGBH002", "No matching bag found")
	notFlight := failure("SVCGBF004", "Customer Application not authorized to get bags for this flight")
	for _, tc := range []struct{ key, target, body string }{
		{"swiss", both, `{"success":true,"bags":[` + lx + `]}`},
		{"zurich", both, `{"success":true,"bags":[` + lx + `]}`},
		{"other-airline", both, notPassenger},
		{"nothing", both, notPassenger},
		{"swiss", service.PassengerPath("NOBODY", "2026-03-14"), noPassenger}, // no bag found is the same answer for every key
		{"swiss", service.HistoryPath("0724550002", "2026-03-14"), notHistory},
		{"swiss", service.HistoryPath("0724559999", "2026-03-14"), noHistory},
		{"swiss", service.FlightPath("ZRH", "D", "BA", "8541", "2026-03-14"), notFlight},
		{"swiss", service.FlightPath("ZRH", "D", "LX", "9999", "2026-03-14"), noBagsForFlight},
		{"zurich", service.FlightPath("LHR", "D", "BA", "8541", "2026-03-14"), notFlight},
		{"zurich", service.FlightPath("ZRH", "D", "BA", "8541", "2026-03-14"), noBagsForFlight},
		{"sender", both, notPassenger},
	} {
		status := 200
		if strings.Contains(tc.body, "not authorized") {
			status = 400
		}
		expect(t, tc.key+" "+tc.target, s.Get(tc.target, "api_key", keyOf(tc.key)), status, tc.body)
	}
	if got := s.Get(service.HistoryPath("0724550001", "2026-03-14"), "api_key", keyOf("swiss")); !strings.HasPrefix(got.Body, `{"success":true`) {
		t.Errorf("history in scope: %s", got.Body)
	}
}
