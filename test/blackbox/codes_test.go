package blackbox_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"bagtrail/internal/fault"
	"bagtrail/test/service"
)

// row is one code: a request that gets it, and the exact answer.
type row struct {
	operation string // name in the register; "" if no operation is reached
	code      string
	status    int
	text      string // whole error_description
	method    string // "" is GET, or POST if there is a body
	target    string // after the prefix of the operation
	key       string // "" is the development key, "-" none
	body      string
	again     bool   // the second such request gets the code
	whole     string // whole body of the answer; "" if it is this one error
	on        func(testing.TB) *service.Service
}

// prefixes holds the prefixes of the operations' paths.
var prefixes = map[string]string{
	"":                 "",
	"bagsforflight":    "/baggage/bagsforflight/v1.0/",
	"history":          "/baggage/history/v1.0/",
	"bagsforpassenger": "/baggage/bagsforpassenger/v1.0/",
	"delayedbags":      "/baggage/delayedbags/v1.0/",
	"processbim":       "/baggage/processbim/v1.0/",
}

// Targets without faults.
const (
	flightTarget    = "airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14"
	historyTarget   = "tag/0724100001/flightdate/2026-03-14"
	passengerTarget = "pnr/ABC123/dep_flight_date/2026-03-14"
)

const (
	keyMissing  = "Customer Service API Key is mandatory"
	keyUnknown  = "Customer Service API Key does not exist"
	notKnown    = "It is not known whether the delayed bag report was created, and the same request is not sent on again"
	unavailable = "System is unavailable, the request may be sent again"
	badCallback = "Callback is not a JavaScript identifier"
	tooLarge    = "Message must not be longer than 64 KiB or have too many effects, nor the request body be longer than 1 MiB or report more than 100 bags"
	tooMany     = "Too many requests for this API key"
	isMissing   = " is mandatory"
	badDate     = " must be a date of the form YYYY-MM-DD"
	badRequest  = "Request is mandatory and must be a JSON object with root WTR_DelayedBagsCreateRQ"
)

// bim returns the body of process BIM with a message.
func bim(message string) string { return `{"bim_message":` + service.Quoted(message) + `}` }

// bsm returns a valid source message for the plate.
func bsm(plate string) string {
	return "BSM\n.V/1LZRH\n.F/LX100/14MAR/JFK/Y\n.N/" + plate + "001\nENDBSM\n"
}

// delayedRequest returns the body of a delayed-bag report on behalf of the airline, and the
// document in it.
func delayedRequest(airline, plate string) (body, document string) {
	document = service.DelayedBagReport("MUELLER", []string{airline}, []string{plate})
	return `{"Request":` + service.Quoted(document) + `}`, document
}

var (
	goodReport, _     = delayedRequest("LX", "0724100001")
	silentReport, _   = delayedRequest("5N", "0724100003")
	refusedReport, _  = delayedRequest("2N", "0724100001")
	notFoundReport, _ = delayedRequest("4N", "0724100001")
	nowhereReport, _  = delayedRequest("4M", "0724100001")
)

// codes has a row for every code of interface 7.2 to 7.6 and of rules §4.
var codes = slices.Concat(flightCodes, historyCodes, passengerCodes, delayedCodes, processCodes, faultCodes, otherCodes)

var flightCodes = forOperation("bagsforflight", []row{
	{code: "SVCGBF001", status: 200, text: "No bags found for flight", target: "airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/999/dep_flight_date/2026-03-14"},
	{code: "SVCGBF002", status: 400, text: keyMissing, key: "-", target: flightTarget},
	{code: "SVCGBF003", status: 400, text: keyUnknown, key: "nobody", target: flightTarget},
	{code: "SVCGBF004", status: 400, text: "Customer Application not authorized to get bags for this flight", key: "key-of-other-airline", target: flightTarget},
	{code: "SVCGBF005", status: 400, text: "Airport code" + isMissing, target: "airport_code//arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14"},
	{code: "SVCGBF006", status: 400, text: "Airport code must be an IATA code of 3 upper case letters", target: "airport_code/zrh/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14"},
	{code: "SVCGBF007", status: 400, text: "Airport code is not in the airport library", target: "airport_code/QQQ/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14"},
	{code: "SVCGBF008", status: 400, text: "Arrival departure indicator" + isMissing, target: "airport_code/ZRH/arr_dep_indicator//airline_code/LX/flight_no/100/dep_flight_date/2026-03-14"},
	{code: "SVCGBF009", status: 400, text: "Arrival departure indicator must be 'A' or 'a' for arrival, 'D' or 'd' for departure", target: "airport_code/ZRH/arr_dep_indicator/X/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14"},
	{code: "SVCGBF010", status: 400, text: "Airline code" + isMissing, target: "airport_code/ZRH/arr_dep_indicator/D/airline_code//flight_no/100/dep_flight_date/2026-03-14"},
	{code: "SVCGBF011", status: 400, text: "Airline code must be 2 upper case letters or digits with a letter among them, or 3 ending with a letter", target: "airport_code/ZRH/arr_dep_indicator/D/airline_code/11/flight_no/100/dep_flight_date/2026-03-14"},
	{code: "SVCGBF012", status: 400, text: "Flight number" + isMissing, target: "airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no//dep_flight_date/2026-03-14"},
	{code: "SVCGBF013", status: 400, text: "Flight number must be 1 to 4 digits, then an upper case letter or nothing", target: "airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/12345/dep_flight_date/2026-03-14"},
	{code: "SVCGBF014", status: 400, text: "Flight date" + isMissing, target: "airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/"},
	{code: "SVCGBF015", status: 400, text: "Flight date" + badDate, target: "airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-02-30"},
	{code: "SVCSRV0016", status: 503, text: unavailable, on: withoutRedis, target: flightTarget},
	{code: "SVCSRV002", status: 400, text: badCallback, target: flightTarget + "?callback=alert(1)"},
	{code: "SVCSRV007", status: 429, text: tooMany, key: "key-of-slow-bagsforflight", again: true, target: flightTarget},
})

var historyCodes = forOperation("history", []row{
	{code: "SVCGBH001", status: 200, text: "Multiple bags found, a single bag history cannot be returned", on: withTwins, target: "tag/" + twin + "/flightdate/2026-03-14"},
	{code: "SVCGBH002", status: 200, text: "No matching bag found", target: "tag/0724999999/flightdate/2026-03-14"},
	{code: "SVCGBH003", status: 400, text: keyMissing, key: "-", target: historyTarget},
	{code: "SVCGBH004", status: 400, text: keyUnknown, key: "nobody", target: historyTarget},
	{code: "SVCGBH005", status: 400, text: "Bag tag id" + isMissing, target: "tag//flightdate/2026-03-14"},
	{code: "SVCGBH006", status: 400, text: "Bag tag id must be a license plate number of 10 digits", target: "tag/072410000/flightdate/2026-03-14"},
	{code: "SVCGBH007", status: 400, text: "Flight date" + isMissing, target: "tag/0724100001/flightdate/"},
	{code: "SVCGBH008", status: 400, text: "Flight date" + badDate, target: "tag/0724100001/flightdate/14MAR"},
	{code: "SVCGBH009", status: 400, text: "PNR must be letters and digits", target: historyTarget + "?pnr=ABC-12"},
	{code: "SVCGBH010", status: 400, text: "PNR must be 5 or 6 characters long", target: historyTarget + "?pnr=ABC1"},
	{code: "SVCGBH011", status: 400, text: "Passenger surname must be letters only", target: historyTarget + "?pax_surname=MUELLER2"},
	{code: "SVCGBH012", status: 400, text: "Passenger surname must not be longer than 60 letters", target: historyTarget + "?pax_surname=" + strings.Repeat("A", 61)},
	{code: "SVCGBH013", status: 400, text: "include_bim must be 'true' or 'false'", target: historyTarget + "?include_bim=yes"},
	{code: "SVCGBH014", status: 400, text: "Customer Application not authorized to get this bag history", on: withTwins, key: "key-of-other-airline", target: "tag/" + twin + "/flightdate/2026-03-14"},
	{code: "SVCGBH015", status: 400, text: "No customer id is associated with the API key, the customer setup must be completed with the operator", key: "key-of-no-customer", target: historyTarget},
	{code: "SVCSRV001", status: 503, text: unavailable, on: withoutRedis, target: historyTarget},
	{code: "SVCSRV002", status: 400, text: badCallback, target: historyTarget + "?callback=alert(1)"},
	{code: "SVCSRV007", status: 429, text: tooMany, key: "key-of-slow-history", again: true, target: historyTarget},
})

var passengerCodes = forOperation("bagsforpassenger", []row{
	{code: "SVCGBH002", status: 200, text: "No matching bags found", target: "pnr/ZZZ999/dep_flight_date/2026-03-14"},
	{code: "SVCGBP001", status: 400, text: "PNR is mandatory, 5 or 6 letters and digits", target: "pnr//dep_flight_date/2026-03-14"},
	{code: "SVCGBP002", status: 400, text: "Departure flight date" + isMissing, target: "pnr/ABC123/dep_flight_date/"},
	{code: "SVCGBP003", status: 400, text: "Departure flight date" + badDate, target: "pnr/ABC123/dep_flight_date/20260314"},
	{code: "SVCGBP004", status: 400, text: keyMissing, key: "-", target: passengerTarget},
	{code: "SVCGBP005", status: 400, text: keyUnknown, key: "nobody", target: passengerTarget},
	{code: "SVCGBP006", status: 400, text: "Customer Application not authorized to get bags for this passenger", on: withTwins, key: "key-of-other-airline", target: "pnr/TWIN01/dep_flight_date/2026-03-14"},
	{code: "SVCSRV001", status: 503, text: unavailable, on: withoutRedis, target: passengerTarget},
	{code: "SVCSRV002", status: 400, text: badCallback, target: passengerTarget + "?callback=alert(1)"},
	{code: "SVCSRV007", status: 429, text: tooMany, key: "key-of-slow-bagsforpassenger", again: true, target: passengerTarget},
})

var delayedCodes = forOperation("delayedbags", []row{
	{code: "SVCGBH003", status: 401, text: keyMissing, key: "-", body: goodReport},
	{code: "SVCGBH004", status: 401, text: keyUnknown, key: "nobody", body: goodReport},
	{code: "SVCDBR005", status: 401, text: "Customer Application not authorized to create delayed bag report for the airline", key: "key-of-other-airline", body: goodReport},
	{code: "SVCSRV001", status: 503, text: unavailable, on: withoutRedis, body: goodReport},
	{code: "SVCSRV001", status: 503, text: notKnown, body: silentReport},
	{code: "SVCSRV002", status: 400, text: badCallback, target: "?callback=alert(1)", body: goodReport},
	{code: "SVCSRV003", status: 413, text: tooLarge, body: strings.Repeat(" ", 1<<20+1)},
	{code: "SVCSRV005", status: 404, text: "Resource not found", body: nowhereReport},
	{code: "SVCSRV007", status: 429, text: tooMany, key: "key-of-slow-delayedbags", again: true, body: `{"Request":"{}"}`},
	{code: "SVCSRV009", status: 400, text: badRequest, body: `{"Request":"{}"}`},
	{code: "2004", status: 400, body: refusedReport, text: "AIRLINE NOT FOUND",
		whole: `{"success":false,"errors":[{"error_code":"2004","error_description":"AIRLINE NOT FOUND"}],"WTR_BagsCreateRS":{"Errors":{"Error":[{"value":"AIRLINE NOT FOUND","Code":"2004"}]},"Version":0.1}}`},
	{code: "2010", status: 404, body: notFoundReport, text: "STATION NOT FOUND",
		whole: `{"success":false,"errors":[{"error_code":"2010","error_description":"STATION NOT FOUND"}],"WTR_BagsCreateRS":{"Errors":{"Error":[{"value":"STATION NOT FOUND","Code":"2010"}]},"Version":0.1}}`},
})

var processCodes = forOperation("processbim", []row{
	{code: "SVCPRB001", status: 401, text: keyMissing, key: "-", body: bim(bsm("0724100011"))},
	{code: "SVCPRB002", status: 401, text: keyUnknown, key: "nobody", body: bim(bsm("0724100011"))},
	{code: "SVCPRB003", status: 400, text: "Raw message missing", body: `{"message":"BSM"}`},
	{code: "SVCSRV004", status: 401, text: "Customer Application not authorized to process BPM", key: "key-of-other-airline", body: bim(bsm("0724100011"))},
	{code: "SVCSRV001", status: 503, text: unavailable, on: withoutRedis, body: bim(bsm("0724100011"))},
	{code: "SVCSRV003", status: 413, text: tooLarge, body: bim(strings.Repeat("A", 64<<10+1))},
	{code: "SVCSRV003", status: 413, text: tooLarge, body: bim("BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n" + ".N/0724000001999\n.N/0724500000001\nENDBSM")},
	{code: "SVCSRV007", status: 429, text: tooMany, key: "key-of-slow-processbim", again: true, body: `{}`},
})

// faultCodes are the codes of faults in a message. Each message has only this fault.
var faultCodes = forOperation("processbim", []row{
	{code: "SVCPRB004", status: 400, body: bim(".V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"),
		text: `No message identifier (line 1, element .V): found ".V/1LZRH", expected a line BSM or BPM before the first element.`},
	{code: "SVCPRB005", status: 400, body: bim("BPM\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBPM"),
		text: `Processed message has no .V element (line 1, element .V): expected a .V element.`},
	{code: "SVCPRB006", status: 400, body: bim("BPM\n.V/1LZRH\n.U/AKE12345LX\n.N/0724123456001\nENDBPM"),
		text: `No .F element, although .U holds a stowage device or an aircraft compartment (line 3, element .F): expected an .F element.`},
	{code: "SVCPRB007", status: 400, body: bim("BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\nENDBSM"),
		text: `No .N element (line 1, element .N): expected an .N element.`},
	{code: "SVCPRB008", status: 400, body: bim("BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\nENDBPM"),
		text: `No .N or .B element, and the message does not position a container (line 1, element .N): expected an .N or .B element, or a .U element with a stowage device.`},
	{code: "SVCPRB009", status: 400, body: bim("BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.B/\nENDBPM"),
		text: `No .B element (line 4, element .B): found ".B/", expected a status code and tags behind .B/.`},
	{code: "SVCPRB011", status: 400, body: bim("BUM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBUM"),
		text: `Incorrect message identifier (line 1): found "BUM", expected BSM or BPM.`},
	{code: "SVCPRB012", status: 400, body: bim("BSM\n.V/1ZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"),
		text: `.V is shorter than 8 characters (line 2, element .V): found ".V/1ZRH", expected at least 8 characters, as in .V/1LZRH.`},
	{code: "SVCPRB013", status: 400, body: bim("BSM\n.V/2LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"),
		text: `Incorrect version number (line 2, element .V): found "2", expected 1.`},
	{code: "SVCPRB014", status: 400, body: bim("BSM\n.V/1KZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"),
		text: `Incorrect baggage source indicator (line 2, element .V): found "K", expected L, T, X or R.`},
	{code: "SVCPRB015", status: 400, body: bim("BSM\n.V/1LQQQ\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"),
		text: `Invalid airport code in .V (line 2, element .V): found "QQQ", expected a known airport, three capitals.`},
	{code: "SVCPRB016", status: 400, body: bim("BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456\nENDBSM"),
		text: `.N is not 16 characters (line 4, element .N): found ".N/0724123456", expected 16 characters, as in .N/0220123456001.`},
	{code: "SVCPRB017", status: 400, body: bim("BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456000\nENDBSM"),
		text: `Invalid tag number (line 4, element .N): found "0724123456000", expected ten digits of licence plate and three of count, 001-999, not past serial 999999.`},
	{code: "SVCPRB018", status: 400, body: bim("BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.B/OFF/0724123456\nENDBPM"),
		text: `.B is not 20 characters (line 4, element .B): found ".B/OFF/0724123456", expected 20 characters, as in .B/OFF/0220123456001.`},
	{code: "SVCPRB019", status: 400, body: bim("BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.B/OFF/0724999999002\nENDBPM"),
		text: `Invalid tag number (line 4, element .B): found "0724999999002", expected ten digits of licence plate and three of count, 001-999, not past serial 999999.`},
	{code: "SVCPRB020", status: 400, body: bim("BSM\n.V/1LZRH\n.F/LX14/JFK\n.N/0724123456001\nENDBSM"),
		text: `Flight element is shorter than 16 characters (line 3, element .F): found ".F/LX14/JFK", expected at least 16 characters, as in .F/LX1/12MAR/LHR.`},
	{code: "SVCPRB021", status: 400, body: bim("BSM\n.V/1LZRH\n.F/DLH12345A/12MAR/JFK\n.N/0724123456001\nENDBSM"),
		text: `Invalid flight number in the flight element (line 3, element .F): found "DLH12345A", expected airline, number and suffix, at most 8 characters, as in LX14A.`},
	{code: "SVCPRB022", status: 400, body: bim("BSM\n.V/1LZRH\n.F/LX14/12MARS/JFK\n.N/0724123456001\nENDBSM"),
		text: `Invalid date in the flight element (line 3, element .F): found "12MARS", expected a calendar date DDMMM.`},
	{code: "SVCPRB023", status: 400, body: bim("BSM\n.V/1LZRH\n.F/LX14/12MAR/QQQ\n.N/0724123456001\nENDBSM"),
		text: `Invalid airport code in the flight element (line 3, element .F): found "QQQ", expected a known airport, three capitals.`},
	{code: "SVCPRB023", status: 200, body: bim("BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.I/LX712/12MAR/QQQ\n.N/0724123456001\nENDBSM"),
		text: `Invalid airport code in the flight element (line 4, element .I): found "QQQ", expected a known airport, three capitals.`,
		whole: `{"success":true,"success_code":"SVCPRB037","success_message":"Message processed successfully","warnings":[{"warning_code":"SVCPRB023",` +
			`"warning_description":"Invalid airport code in the flight element (line 4, element .I): found \"QQQ\", expected a known airport, three capitals."}]}`},
	{code: "SVCPRB025", status: 200, body: bim("BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\n.W/K/A/20\nENDBSM"),
		text: `.W not IATA compliant for Weight Indicator and/or Number of Checked Bags and/or Checked Weight (line 5, element .W): found "A", expected a number of checked bags, 1-3 digits.`,
		whole: `{"success":true,"success_code":"SVCPRB037","success_message":"Message processed successfully","warnings":[{"warning_code":"SVCPRB025",` +
			`"warning_description":".W not IATA compliant for Weight Indicator and/or Number of Checked Bags and/or Checked Weight (line 5, element .W): found \"A\", expected a number of checked bags, 1-3 digits."}]}`},
	{code: "SVCPRB027", status: 400, body: bim("BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.B/QQQ/0724123456001\nENDBPM"),
		text: `.B not IATA compliant for baggage status code at the airport given in .V (line 4, element .B): found "QQQ", expected a baggage status code of the .V airport.`},
	{code: "SVCPRB039", status: 400, body: bim("BSM\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"),
		text: `Source message has no .V element (line 1, element .V): expected a .V element.`},
	{code: "SVCPRB040", status: 400, body: bim("BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001"),
		text: `Source message has no end-of-message identifier (line 4): expected a line ENDBSM behind it.`},
	{code: "SVCPRB041", status: 400, body: bim("BSM\n.V/1LZRH\n.N/0724123456001\nENDBSM"),
		text: `Source message has no .F element (line 1, element .F): expected an .F element.`},
})

var otherCodes = []row{
	{code: "SVCSRV005", status: 402, text: "Resource not found", target: "/baggage/processbim/v2.0/", body: bim(bsm("0724100011"))},
	{code: "SVCSRV005", status: 404, text: "Resource not found", target: "/baggage/history/v2.0/"},
	{code: "SVCSRV006", status: 405, text: "Method not allowed", method: http.MethodDelete, target: "/baggage/history/v1.0/" + historyTarget},
}

func forOperation(name string, rows []row) []row {
	for i := range rows {
		rows[i].operation = name
	}
	return rows
}

// unseen are registered codes that no caller can get, with the reason.
var unseen = map[string]string{
	"SVCPRB010": "an alias of SVCPRB008, never emitted (rules §1)",
	"SVCSRV008": "it takes a defect of the service, and TestDefectIs500AndOthersGoOn builds one in",
}

func (r row) ask(s *service.Service) (service.Answer, error) {
	method := r.method
	if method == "" {
		method = http.MethodGet
		if r.body != "" {
			method = http.MethodPost
		}
	}
	var header []string
	switch r.key {
	case "":
	case "-":
		header = []string{"api_key", ""}
	default:
		header = []string{"api_key", r.key}
	}
	header = append(header, "Content-Type", "application/json")
	return s.TryDo(method, prefixes[r.operation]+r.target, strings.NewReader(r.body), header...)
}

func TestEveryCodeHasItsStatusAndText(t *testing.T) {
	for _, r := range codes {
		t.Run(fmt.Sprintf("%s %s %d", r.operation, r.code, r.status), func(t *testing.T) {
			t.Parallel()
			on := common
			if r.on != nil {
				on = r.on
			}
			s := on(t)
			got, err := r.ask(s)
			if r.again && err == nil {
				got, err = r.ask(s)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := r.whole
			if want == "" {
				want = failure(r.code, r.text)
			}
			expect(t, r.code, got, r.status, want)
			again := r.status == 429 || r.status == 503 && r.text != notKnown
			if retry := got.Header.Get("Retry-After"); again != (retry != "") {
				t.Errorf("Retry-After %q with status %d", retry, r.status)
			}
		})
	}
}

func TestEveryRegisteredCodeHasARow(t *testing.T) {
	t.Parallel()
	has := func(operation string, e fault.Entry) bool {
		return slices.ContainsFunc(codes, func(r row) bool {
			return r.operation == operation && r.code == e.Code && r.status == e.Status && strings.HasPrefix(r.text, e.Text)
		})
	}
	for _, e := range fault.Register() {
		if _, reason := unseen[e.Code]; reason {
			continue
		}
		operations := []string{""}
		if len(e.Operations) > 0 {
			operations = nil
			for _, op := range e.Operations {
				operations = append(operations, string(op))
			}
		}
		for _, op := range operations {
			if !has(op, e) {
				t.Errorf("%s of %q with status %d and text %q is registered, and no test draws it", e.Code, op, e.Status, e.Text)
			}
		}
	}
}
