package fault

import (
	"net/http"

	"bagtrail/internal/operation"
)

// Texts that several operations share.
const (
	keyMissing    = "Customer Service API Key is mandatory"
	keyUnknown    = "Customer Service API Key does not exist"
	notAuthorised = "Customer Application not authorized "
	unavailable   = "System is unavailable, the request may be sent again"
)

// Valid requests, and the beginnings of paths to which examples append a fault.
const (
	flightPath    = "/baggage/bagsforflight/v1.0/airport_code/"
	flightOK      = flightPath + "ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14"
	historyPath   = "/baggage/history/v1.0/tag/"
	historyOK     = historyPath + "0724100001/flightdate/2026-03-14"
	passengerPath = "/baggage/bagsforpassenger/v1.0/pnr/"
	passengerOK   = passengerPath + "ABC123/dep_flight_date/2026-03-14"
	delayedPath   = "/baggage/delayedbags/v1.0/"
	bimPath       = "/baggage/processbim/v1.0/"

	bimOK     = `{"bim_message":"BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK/Y\r\n.N/0724100001001\r\nENDBSM\r\n"}`
	delayedOK = `{"Request":"{\"WTR_DelayedBagsCreateRQ\":{\"Version\":0.1,\"POS\":{\"Source\":[{\"AirlineVendorID\":\"LX\"}]}}}"}`
)

var (
	forFlight    = []operation.Right{operation.BagsForFlight}
	forHistory   = []operation.Right{operation.History}
	forPassenger = []operation.Right{operation.BagsForPassenger}
	forDelayed   = []operation.Right{operation.DelayedBags}
	forBIM       = []operation.Right{operation.ProcessBIM}
	forPosts     = []operation.Right{operation.DelayedBags, operation.ProcessBIM}
	withJSONP    = []operation.Right{operation.BagsForFlight, operation.History, operation.BagsForPassenger, operation.DelayedBags}
	allButFlight = []operation.Right{operation.History, operation.BagsForPassenger, operation.DelayedBags, operation.ProcessBIM}
	forAll       = []operation.Right{operation.BagsForFlight, operation.History, operation.BagsForPassenger, operation.DelayedBags, operation.ProcessBIM}
)

func get(target, key string) Example        { return Example{http.MethodGet, target, key, ""} }
func post(target, key, body string) Example { return Example{http.MethodPost, target, key, body} }

var register []ID

// entry adds an entry to the register.
func entry(code string, operations []operation.Right, status int, text, when string, example Example) ID {
	e := &Entry{code, operations, status, text, when, example}
	register = append(register, e)
	return e
}

// flight is a request for the bags of a flight.
func flight(airport, indicator, airline, number, date string) Example {
	return get(flightPath+airport+"/arr_dep_indicator/"+indicator+"/airline_code/"+airline+"/flight_no/"+number+"/dep_flight_date/"+date, "demo")
}

// The entries, by operation, in the order of the register.
var (
	FlightNoBags           = entry("SVCGBF001", forFlight, 200, "No bags found for flight", "no bag is on the flight", flight("ZRH", "D", "LX", "999", "2026-03-14"))
	FlightKeyMissing       = entry("SVCGBF002", forFlight, 400, keyMissing, "", get(flightOK, ""))
	FlightKeyUnknown       = entry("SVCGBF003", forFlight, 400, keyUnknown, "", get(flightOK, "nobody"))
	FlightNotAuthorised    = entry("SVCGBF004", forFlight, 400, notAuthorised+"to get bags for this flight", "", get(flightOK, "other-airline"))
	FlightAirportMissing   = entry("SVCGBF005", forFlight, 400, "Airport code is mandatory", "", flight("", "D", "LX", "100", "2026-03-14"))
	FlightAirportFormat    = entry("SVCGBF006", forFlight, 400, "Airport code must be an IATA code of 3 upper case letters", "", flight("zrh", "D", "LX", "100", "2026-03-14"))
	FlightAirportUnknown   = entry("SVCGBF007", forFlight, 400, "Airport code is not in the airport library", "", flight("QQQ", "D", "LX", "100", "2026-03-14"))
	FlightIndicatorMissing = entry("SVCGBF008", forFlight, 400, "Arrival departure indicator is mandatory", "", flight("ZRH", "%20", "LX", "100", "2026-03-14"))
	FlightIndicatorFormat  = entry("SVCGBF009", forFlight, 400, "Arrival departure indicator must be 'A' or 'a' for arrival, 'D' or 'd' for departure", "", flight("ZRH", "X", "LX", "100", "2026-03-14"))
	FlightAirlineMissing   = entry("SVCGBF010", forFlight, 400, "Airline code is mandatory", "", flight("ZRH", "D", "", "100", "2026-03-14"))
	FlightAirlineFormat    = entry("SVCGBF011", forFlight, 400, "Airline code must be 2 upper case letters or digits with a letter among them, or 3 ending with a letter", "", flight("ZRH", "D", "11", "100", "2026-03-14"))
	FlightNumberMissing    = entry("SVCGBF012", forFlight, 400, "Flight number is mandatory", "", flight("ZRH", "D", "LX", "", "2026-03-14"))
	FlightNumberFormat     = entry("SVCGBF013", forFlight, 400, "Flight number must be 1 to 4 digits, then an upper case letter or nothing", "", flight("ZRH", "D", "LX", "12345", "2026-03-14"))
	FlightDateMissing      = entry("SVCGBF014", forFlight, 400, "Flight date is mandatory", "", flight("ZRH", "D", "LX", "100", ""))
	FlightDateFormat       = entry("SVCGBF015", forFlight, 400, "Flight date must be a date of the form YYYY-MM-DD", "", flight("ZRH", "D", "LX", "100", "2026-02-30"))
	FlightUnavailable      = entry("SVCSRV0016", forFlight, 503, unavailable, "the index cannot be read, or the memory for large answers is used up; a key may take half of it", get(flightOK, "demo"))

	HistorySeveralBags = entry("SVCGBH001", forHistory, 200, "Multiple bags found, a single bag history cannot be returned", "two passengers hold the plate",
		get(historyPath+"0724100002/flightdate/2026-03-14", "demo"))
	HistoryNoBag      = entry("SVCGBH002", forHistory, 200, "No matching bag found", "no bag has the plate", get(historyPath+"0724999999/flightdate/2026-03-14", "demo"))
	HistoryKeyMissing = entry("SVCGBH003", forHistory, 400, keyMissing, "", get(historyOK, ""))
	HistoryKeyUnknown = entry("SVCGBH004", forHistory, 400, keyUnknown, "", get(historyOK, "nobody"))
	HistoryTagMissing = entry("SVCGBH005", forHistory, 400, "Bag tag id is mandatory", "", get(historyPath+"/flightdate/2026-03-14", "demo"))
	HistoryTagFormat  = entry("SVCGBH006", forHistory, 400, "Bag tag id must be a license plate number of 10 digits", "",
		get(historyPath+"724100001/flightdate/2026-03-14", "demo"))
	HistoryDateMissing    = entry("SVCGBH007", forHistory, 400, "Flight date is mandatory", "", get(historyPath+"0724100001/flightdate/", "demo"))
	HistoryDateFormat     = entry("SVCGBH008", forHistory, 400, "Flight date must be a date of the form YYYY-MM-DD", "", get(historyPath+"0724100001/flightdate/14MAR", "demo"))
	HistoryPNRCharacters  = entry("SVCGBH009", forHistory, 400, "PNR must be letters and digits", "", get(historyOK+"?pnr=ABC-12", "demo"))
	HistoryPNRLength      = entry("SVCGBH010", forHistory, 400, "PNR must be 5 or 6 characters long", "", get(historyOK+"?pnr=ABC1", "demo"))
	HistorySurnameLetters = entry("SVCGBH011", forHistory, 400, "Passenger surname must be letters only", "", get(historyOK+"?pax_surname=MUELLER2", "demo"))
	HistorySurnameLength  = entry("SVCGBH012", forHistory, 400, "Passenger surname must not be longer than 60 letters", "",
		get(historyOK+"?pax_surname=ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHI", "demo"))
	HistoryIncludeBIM    = entry("SVCGBH013", forHistory, 400, "include_bim must be 'true' or 'false'", "", get(historyOK+"?include_bim=yes", "demo"))
	HistoryNotAuthorised = entry("SVCGBH014", forHistory, 400, notAuthorised+"to get this bag history", "", get(historyOK, "other-airline"))
	HistoryNoCustomer    = entry("SVCGBH015", forHistory, 400, "No customer id is associated with the API key, the customer setup must be completed with the operator", "",
		get(historyOK, "no-customer"))

	PassengerNoBags        = entry("SVCGBH002", forPassenger, 200, "No matching bags found", "no bag has the PNR", get(passengerPath+"ZZZ999/dep_flight_date/2026-03-14", "demo"))
	PassengerPNR           = entry("SVCGBP001", forPassenger, 400, "PNR is mandatory, 5 or 6 letters and digits", "", get(passengerPath+"/dep_flight_date/2026-03-14", "demo"))
	PassengerDateMissing   = entry("SVCGBP002", forPassenger, 400, "Departure flight date is mandatory", "", get(passengerPath+"ABC123/dep_flight_date/", "demo"))
	PassengerDateFormat    = entry("SVCGBP003", forPassenger, 400, "Departure flight date must be a date of the form YYYY-MM-DD", "", get(passengerPath+"ABC123/dep_flight_date/20260314", "demo"))
	PassengerKeyMissing    = entry("SVCGBP004", forPassenger, 400, keyMissing, "", get(passengerOK, ""))
	PassengerKeyUnknown    = entry("SVCGBP005", forPassenger, 400, keyUnknown, "", get(passengerOK, "nobody"))
	PassengerNotAuthorised = entry("SVCGBP006", forPassenger, 400, notAuthorised+"to get bags for this passenger", "", get(passengerOK, "other-airline"))

	DelayedKeyMissing    = entry("SVCGBH003", forDelayed, 401, keyMissing, "", post(delayedPath, "", delayedOK))
	DelayedKeyUnknown    = entry("SVCGBH004", forDelayed, 401, keyUnknown, "", post(delayedPath, "nobody", delayedOK))
	DelayedNotAuthorised = entry("SVCDBR005", forDelayed, 401, notAuthorised+"to create delayed bag report for the airline", "",
		post(delayedPath, "other-airline", delayedOK))
	DelayedRequest = entry("SVCSRV009", forDelayed, 400, "Request is mandatory and must be a JSON object with root WTR_DelayedBagsCreateRQ", "",
		post(delayedPath, "demo", `{"Request":"{}"}`))

	DelayedNotFound = entry("SVCSRV005", forDelayed, 404, "Resource not found", "the downstream system says so", post(delayedPath, "demo", delayedOK))

	DelayedNotKnown = entry("SVCSRV001", forDelayed, 503, "It is not known whether the delayed bag report was created, and the same request is not sent on again", "the downstream system did not answer the first such request", post(delayedPath, "demo", delayedOK))

	BIMKeyMissing    = entry("SVCPRB001", forBIM, 401, keyMissing, "", post(bimPath, "", bimOK))
	BIMKeyUnknown    = entry("SVCPRB002", forBIM, 401, keyUnknown, "", post(bimPath, "nobody", bimOK))
	BIMMissing       = entry("SVCPRB003", forBIM, 400, "Raw message missing", "", post(bimPath, "demo", `{"message":"BSM"}`))
	BIMNotAuthorised = entry("SVCSRV004", forBIM, 401, notAuthorised+"to process BPM", "", post(bimPath, "other-airline", bimOK))
	BIMUnknownPath   = entry("SVCSRV005", nil, 402, "Resource not found", "", post("/baggage/processbim/v2.0/", "demo", bimOK))

	Unavailable = entry("SVCSRV001", allButFlight, 503, unavailable, "the index, the log or the downstream system cannot be reached, or the memory for large answers is used up; a key may take half of it", get(historyOK, "demo"))
	Callback    = entry("SVCSRV002", withJSONP, 400, "Callback is not a JavaScript identifier", "", get(historyOK+"?callback=alert(1)", "demo"))
	TooLarge    = entry("SVCSRV003", forPosts, 413, "Message must not be longer than 64 KiB or have too many effects, nor the request body be longer than 1 MiB or report more than 100 bags", "the message is longer than 64 KiB, or has too many effects: more than 999 bags, more than 4 MiB as the product of length and bags or containers (each counted in each of its groups), more than 100,000 index entries, or more than 99 onward flights in a group",
		post(bimPath, "demo", bimOK))
	UnknownPath = entry("SVCSRV005", nil, 404, "Resource not found", "", get("/baggage/history/v2.0/", "demo"))
	WrongMethod = entry("SVCSRV006", nil, 405, "Method not allowed", "", Example{http.MethodDelete, historyOK, "demo", ""})
	RateLimit   = entry("SVCSRV007", forAll, 429, "Too many requests for this API key", "the key has used up its rate, or the address has presented many unknown keys", get(historyOK, "demo"))
	Internal    = entry("SVCSRV008", forAll, 500, "Internal error, please quote the X-Request-Id of this answer", "the service has a defect", get(historyOK, "demo"))
)
