package blackbox_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"bagtrail/test/service"
)

func post(t testing.TB, s *service.Service, contentType string, body io.Reader) service.Answer {
	t.Helper()
	return s.Do(http.MethodPost, service.ProcessPath, body, "Content-Type", contentType)
}

func form(message string) string { return url.Values{"bim_message": {message}}.Encode() }

const formType = "application/x-www-form-urlencoded"

// Both POSTs take JSON and form-encoded bodies (rules §4).
func TestProcessBIMTakesJSONAndForms(t *testing.T) {
	t.Parallel()
	s := common(t)
	message := bsmOn("0724200001", today())
	asJSON := bim(message)
	for _, tc := range []struct{ name, contentType, body string }{
		{"JSON", "application/json", asJSON},
		{"JSON with charset", "application/json; charset=utf-8", asJSON},
		{"JSON with charset in capitals", "Application/JSON;Charset=UTF-8", asJSON},
		{"JSON under another charset", "application/json; charset=iso-8859-1", asJSON},
		{"JSON without content type", "", asJSON},
		{"JSON as text", "text/plain", asJSON},
		{"JSON with blanks around it", "application/json", "\r\n\t " + asJSON + " \n"},
		{"JSON with other members", "application/json", `{"a":[1,{"bim_message":"x"}],"b":null,` + asJSON[1:]},
		{"JSON with an escaped name", "application/json", strings.Replace(asJSON, "bim_message", `bim\u005fmessage`, 1)},
		{"form", formType, form(message)},
		{"form with charset", formType + "; charset=UTF-8", form(message)},
		{"form with other members", formType, "a=1&" + form(message) + "&b=2"},
		{"form with line ends as they are", formType, "bim_message=" + message},
	} {
		expect(t, tc.name, post(t, s, tc.contentType, strings.NewReader(tc.body)), 200, processed)
	}
	if got := s.Get(service.HistoryPath("0724200001", today().Format(time.DateOnly))); strings.Count(got.Body, `"event_code"`) != 1 {
		t.Errorf("copies within the window of duplicates made events: %s", got.Body)
	}
}

// A body that is neither JSON nor a form, repeats bim_message, or continues after its end is
// SVCPRB003. So is a message that is absent, no string, empty or blank (rules §1, §4).
func TestProcessBIMRefusesBodiesThatHoldNoMessage(t *testing.T) {
	t.Parallel()
	s := common(t)
	message := bsmOn("0724200002", today())
	asJSON := bim(message)
	missing := failure("SVCPRB003", "Raw message missing")
	for _, tc := range []struct{ name, contentType, body string }{
		{"no body", "application/json", ""},
		{"no body, no type", "", ""},
		{"blank body", "application/json", " \n"},
		{"no JSON", "application/json", "BSM"},
		{"the message itself", "text/plain", message},
		{"empty object", "application/json", "{}"},
		{"null", "application/json", "null"},
		{"array", "application/json", "[" + asJSON + "]"},
		{"string", "application/json", service.Quoted(message)},
		{"number", "application/json", `{"bim_message":1}`},
		{"null message", "application/json", `{"bim_message":null}`},
		{"truth", "application/json", `{"bim_message":true}`},
		{"list", "application/json", `{"bim_message":[` + service.Quoted(message) + `]}`},
		{"object", "application/json", `{"bim_message":{"bim_message":` + service.Quoted(message) + `}}`},
		{"nested", "application/json", `{"Request":` + asJSON + `}`},
		{"other case", "application/json", `{"BIM_MESSAGE":` + service.Quoted(message) + `}`},
		{"repeated", "application/json", `{"bim_message":` + service.Quoted(message) + `,"bim_message":` + service.Quoted(message) + `}`},
		{"repeated, one name escaped", "application/json", `{"bim_message":` + service.Quoted(message) + `,"bim\u005fmessage":1}`},
		{"trailing text", "application/json", asJSON + "x"},
		{"second document", "application/json", asJSON + asJSON},
		{"trailing comma", "application/json", asJSON[:len(asJSON)-1] + ",}"},
		{"single quotes", "application/json", "{'bim_message':'BSM'}"},
		{"comment", "application/json", "/**/" + asJSON},
		{"byte order mark", "application/json", "\ufeff" + asJSON},
		{"cut off", "application/json", asJSON[:len(asJSON)-2]},
		{"bytes that are no UTF-8", "application/json", strings.Replace(asJSON, "ZRH", "ZR\xff", 1)},
		{"lone surrogate", "application/json", `{"bim_message":"BSM\ud800"}`},
		{"line end inside a string", "application/json", "{\"bim_message\":\"BSM\n\"}"},
		{"ten thousand brackets", "application/json", `{"bim_message":` + strings.Repeat("[", 10_000)},
		{"form under JSON", "application/json", form(message)},
		{"JSON under form, cut off", formType, asJSON[:len(asJSON)-2]},
		{"form without it", formType, "message=BSM"},
		{"form, repeated", formType, form(message) + "&" + form(message)},
		{"form with a broken escape", formType, "bim_message=BSM%zz"},
		{"multipart", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"bim_message\"\r\n\r\n" + message + "\r\n--x--\r\n"},
	} {
		expect(t, tc.name, post(t, s, tc.contentType, strings.NewReader(tc.body)), 400, missing)
	}
	empty := failure("SVCPRB003", "Raw message missing (line 1): expected a BSM or BPM.")
	for name, message := range map[string]string{"empty": "", "blanks": " \t ", "line ends": "\r\n\r\n", "NUL": "\x00\x00"} {
		expect(t, name, post(t, s, formType, strings.NewReader(form(message))), 400, empty)
	}
	if got := s.Get(service.HistoryPath("0724200002", today().Format(time.DateOnly))); !strings.Contains(got.Body, "SVCGBH002") {
		t.Errorf("something came in: %s", got.Body)
	}
}

// A message may have 64 KiB; one byte more is 413 SVCSRV003 (service §6). A body may have 1 MiB and
// not one byte more.
func TestProcessBIMLimitsMessageAndBody(t *testing.T) {
	t.Parallel()
	s := common(t)
	const limit = 64 << 10
	head, tail := "BSM\n.V/1LZRH\n.F/LX100/"+ddmmm(today())+"/JFK/Y\n.N/0724200003001\n.R/", "\nENDBSM"
	exact := head + strings.Repeat("A", limit-len(head)-len(tail)) + tail
	over := head + strings.Repeat("A", limit-len(head)-len(tail)+1) + tail
	large := failure("SVCSRV003", tooLarge)
	expect(t, "64 KiB", s.Process(exact), 200, processed)
	expect(t, "64 KiB and one byte", s.Process(over), 413, large)
	expect(t, "64 KiB as a form", post(t, s, formType, strings.NewReader(form(exact))), 200, processed)
	expect(t, "64 KiB and one byte as a form", post(t, s, formType, strings.NewReader(form(over))), 413, large)
	// Every byte is escaped: the decoded length of the message counts.
	var escaped strings.Builder
	for i := range len(exact) {
		fmt.Fprintf(&escaped, `\u%04x`, exact[i])
	}
	expect(t, "64 KiB, escaped", post(t, s, "application/json", strings.NewReader(`{"bim_message":"`+escaped.String()+`"}`)), 200, processed)

	asJSON := bim(bsmOn("0724200003", today()))
	expect(t, "body of 1 MiB", post(t, s, "application/json", strings.NewReader(asJSON+strings.Repeat(" ", 1<<20-len(asJSON)))), 200, processed)
	expect(t, "body of 1 MiB and one byte", post(t, s, "application/json", strings.NewReader(asJSON+strings.Repeat(" ", 1<<20-len(asJSON)+1))), 413, large)
	// A body without a length.
	expect(t, "chunked", post(t, s, "application/json", io.MultiReader(strings.NewReader(asJSON))), 200, processed)
	expect(t, "chunked, 1 MiB and one byte", post(t, s, "application/json", io.MultiReader(strings.NewReader(asJSON+strings.Repeat(" ", 1<<20-len(asJSON)+1)))), 413, large)
}

// The service decompresses no body: a compressed one is no JSON.
func TestProcessBIMDoesNotUnpack(t *testing.T) {
	t.Parallel()
	s := common(t)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, bim(bsm("0724200004")))
	_ = w.Close()
	got := s.Do(http.MethodPost, service.ProcessPath, &packed, "Content-Type", "application/json", "Content-Encoding", "gzip")
	expect(t, "gzip", got, 400, failure("SVCPRB003", "Raw message missing"))
}

// Phases B and C report every fault of a message at once, in line order, one entry a code and line
// (rules §1).
func TestProcessBIMReportsEveryFaultOfAMessageAtOnce(t *testing.T) {
	t.Parallel()
	s := common(t)
	got := s.Process("BSM\n.V/2KQQQ\n.F/LX12345/31FEB/JF\n.N/0724200005000\n.N/07242\n.I/LX1/01JA\n.W/X/1/2\n.N/072420000X001")
	want := `{"success":false,"warnings":[` +
		`{"warning_code":"SVCPRB025","warning_description":".W not IATA compliant for Weight Indicator and/or Number of Checked Bags and/or Checked Weight (line 7, element .W): found \"X\", expected K, L or P."}` +
		`],"errors":[` + strings.Join([]string{
		faultObject("SVCPRB013", `Incorrect version number (line 2, element .V): found "2", expected 1.`),
		faultObject("SVCPRB014", `Incorrect baggage source indicator (line 2, element .V): found "K", expected L, T, X or R.`),
		faultObject("SVCPRB015", `Invalid airport code in .V (line 2, element .V): found "QQQ", expected a known airport, three capitals.`),
		faultObject("SVCPRB021", `Invalid flight number in the flight element (line 3, element .F): found "LX12345", expected airline, number and suffix, at most 8 characters, as in LX14A.`),
		faultObject("SVCPRB022", `Invalid date in the flight element (line 3, element .F): found "31FEB", expected a calendar date DDMMM.`),
		faultObject("SVCPRB023", `Invalid airport code in the flight element (line 3, element .F): found "JF", expected a known airport, three capitals.`),
		faultObject("SVCPRB017", `Invalid tag number (line 4, element .N): found "0724200005000", expected ten digits of licence plate and three of count, 001-999, not past serial 999999.`),
		faultObject("SVCPRB016", `.N is not 16 characters (line 5, element .N): found ".N/07242", expected 16 characters, as in .N/0220123456001.`),
		faultObject("SVCPRB020", `Flight element is shorter than 16 characters (line 6, element .I): found ".I/LX1/01JA", expected at least 16 characters, as in .F/LX1/12MAR/LHR.`),
		faultObject("SVCPRB017", `Invalid tag number (line 8, element .N): found "072420000X001", expected ten digits of licence plate and three of count, 001-999, not past serial 999999.`),
		faultObject("SVCPRB040", `Source message has no end-of-message identifier (line 8): expected a line ENDBSM behind it.`),
	}, ",") + `]}`
	expect(t, "many faults", got, 400, want)
	if strings.Count(want, `"error_code"`) != 11 {
		t.Error("the test is wrong")
	}
}

// ?details=true gives the full form: its place, the value and what was expected (rules §1).
func TestProcessBIMGivesDetailsOnRequest(t *testing.T) {
	t.Parallel()
	s := common(t)
	ask := func(query, message string) service.Answer {
		return s.Do(http.MethodPost, service.ProcessPath+query, strings.NewReader(bim(message)), "Content-Type", "application/json")
	}
	const faulty = "BSM\r\n \x02.V/1LZRH\r\n.F/LX14/31FEB/JFK\r\n.N/0724200006001\r\nENDBSM"
	const fault = `{"error_code":"SVCPRB022","error_description":"Invalid date in the flight element (line 3, element .F): found \"31FEB\", expected a calendar date DDMMM."`
	const more = `,"severity":"error","line":3,"column":9,"end_column":14,"element":".F","value":"31FEB","expected":"a calendar date DDMMM"`
	expect(t, "with details", ask("?details=true", faulty), 400, `{"success":false,"errors":[`+fault+more+`}]}`)
	for _, query := range []string{"", "?details=false", "?details=1", "?details=TRUE", "?detail=true"} {
		expect(t, query, ask(query, faulty), 400, `{"success":false,"errors":[`+fault+`}]}`)
	}
	warned := "BSM\n.V/1LZRH\n.F/LX14/" + ddmmm(today()) + "/JFK\n.N/0724200006001\n.W/K/2/x\nENDBSM"
	const warning = `{"warning_code":"SVCPRB025","warning_description":".W not IATA compliant for Weight Indicator and/or Number of Checked Bags and/or Checked Weight (line 5, element .W): found \"x\", expected a checked weight, 1-5 digits."`
	expect(t, "warning", ask("?details=true", warned), 200,
		`{"success":true,"success_code":"SVCPRB037","success_message":"Message processed successfully","warnings":[`+
			warning+`,"severity":"warning","line":5,"column":8,"end_column":9,"element":".W","value":"x","expected":"a checked weight, 1-5 digits"}]}`)
	// Columns count the bytes of the line as sent.
	expect(t, "stripped characters count", ask("?details=true", "BSM\n\x02 .V/2LZRH\n.F/LX14/12MAR/JFK\n.N/0724200006001\nENDBSM"), 400,
		`{"success":false,"errors":[{"error_code":"SVCPRB013","error_description":"Incorrect version number (line 2, element .V): found \"2\", expected 1.","severity":"error","line":2,"column":6,"end_column":7,"element":".V","value":"2","expected":"1"}]}`)
}

// A warning never rejects, and the bad values are not stored (rules §1).
func TestWarningsNeverRejectAndBadValuesAreNotStored(t *testing.T) {
	t.Parallel()
	s := common(t)
	got := s.Process("BSM\n.V/1LZRH\n.F/LX100/" + ddmmm(today()) + "/JFK\n.N/0724200007001\n.W/K/A/20\n.P/MUELLER/ANNA\nENDBSM")
	if got.Status != 200 || !strings.Contains(got.Body, `"warnings":[{"warning_code":"SVCPRB025"`) {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	history := s.Get(service.HistoryPath("0724200007", today().Format(time.DateOnly)))
	if !strings.Contains(history.Body, `"passenger_last_name":"MUELLER"`) || strings.Contains(history.Body, "no_of_checked_bags") {
		t.Errorf("history: %s", history.Body)
	}
}

// A message with any error changes nothing in the store, even if the error is in its last line
// (rules §1).
func TestMessageThatFailsInItsLastLineLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s := common(t)
	day := today().Format(time.DateOnly)
	for name, last := range map[string]string{
		"last tag": ".N/0724200009000\nENDBSM", "no end": "", "text behind the end": "ENDBSM\nX", "second message": "BSM\n.V/1LZRH\nENDBSM",
		"last flight": ".O/LX22/99XXX/LHR\nENDBSM",
	} {
		got := s.Process("BSM\n.V/1LZRH\n.F/LX4711/" + ddmmm(today()) + "/JFK\n.N/0724200008001\n.P/TRACE/ANNA\n.L/TRACE1\n" + last)
		if got.Status != 400 {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	expect(t, "history", s.Get(service.HistoryPath("0724200008", day)), 200, failure("SVCGBH002", "No matching bag found"))
	expect(t, "flight", s.Get(service.FlightPath("ZRH", "D", "LX", "4711", day)), 200, failure("SVCGBF001", "No bags found for flight"))
	expect(t, "passenger", s.Get(service.PassengerPath("TRACE1", day)), 200, failure("SVCGBH002", "No matching bags found"))
}

// A message of ten thousand lines is treated like any other.
func TestAMessageOfTenThousandLinesIsJudgedLikeAnyOther(t *testing.T) {
	t.Parallel()
	s := common(t)
	head := "BSM\n.V/1LZRH\n.F/LX100/" + ddmmm(today()) + "/JFK\n.N/0724200010001\n"
	expect(t, "lines that are carried along", s.Process(head+strings.Repeat(".R/x\n", 9_995)+"ENDBSM"), 200, processed)
	got := s.Process(head + strings.Repeat("\n", 9_995) + ".N/1")
	expect(t, "fault in line 10,000", got, 400, faults(
		"SVCPRB016", `.N is not 16 characters (line 10000, element .N): found ".N/1", expected 16 characters, as in .N/0220123456001.`,
		"SVCPRB040", `Source message has no end-of-message identifier (line 10000): expected a line ENDBSM behind it.`))
	got = s.Process("BSM\n.V/1LZRH\n.F/LX100/14MAR/JFK\n" + strings.Repeat(".N/1\n", 9_996) + "ENDBSM")
	var answer struct {
		Errors []struct {
			Code string `json:"error_code"`
		} `json:"errors"`
	}
	if err := json.Unmarshal([]byte(got.Body), &answer); err != nil || got.Status != 400 || len(answer.Errors) != 9_996 {
		t.Errorf("a fault a line: %d, %d errors, %v", got.Status, len(answer.Errors), err)
	}
}

// A range of 999 tags is 999 bags, in every answer.
func TestRangeOf999TagsIsInEveryAnswer(t *testing.T) {
	t.Parallel()
	s := common(t)
	day := today().Format(time.DateOnly)
	var got service.Answer
	s.Until(patience, func() bool { // 503 on a busy machine means that the POST may be repeated
		got = s.Process("BSM\n.V/1LZRH\n.F/LX8999/" + ddmmm(today()) + "/JFK\n.N/0724300001999\n.P/TOUR/GROUP\n.L/TOUR99\nENDBSM")
		return got.Status != http.StatusServiceUnavailable
	})
	expect(t, "POST", got, 200, processed)
	var list, wrapped []string
	for i := 1; i <= 999; i++ {
		plate := fmt.Sprintf("0724300%03d", i)
		list = append(list, `{"bagtag":"`+plate+`","passenger_first_name":"GROUP","passenger_last_name":"TOUR","rush_bag_indicator":"N"}`)
		wrapped = append(wrapped, `{"bag":{"bagtag":"`+plate+`","rush_bag_indicator":"N","passenger_first_name":"GROUP","passenger_last_name":"TOUR","loading_status":"Not Loaded","pnr":"TOUR99"}}`)
	}
	settleOn(t, s, service.FlightPath("ZRH", "D", "LX", "8999", day), `{"success":true,"bags":[`+strings.Join(wrapped, ",")+`]}`)
	settleOn(t, s, service.PassengerPath("TOUR99", day), `{"success":true,"bags":[`+strings.Join(list, ",")+`]}`)
	for _, plate := range []string{"0724300001", "0724300500", "0724300999"} {
		if got := s.Get(service.HistoryPath(plate, day)); !strings.HasPrefix(got.Body, `{"success":true,"bag":{"bagtag":"`+plate+`"`) {
			t.Errorf("history of %s: %s", plate, got.Body)
		}
	}
	for _, plate := range []string{"0724300000", "0724301000"} {
		expect(t, "history beside the range", s.Get(service.HistoryPath(plate, day)), 200, failure("SVCGBH002", "No matching bag found"))
	}
}

// NUL, SOH, STX and ETX are removed. Other control characters and invalid UTF-8 are kept; the raw
// text is shown as it was received.
func TestControlCharactersAreStrippedAndForeignBytesKept(t *testing.T) {
	t.Parallel()
	s := common(t)
	day := today().Format(time.DateOnly)
	message := "\x01QU ZRHXHXH\r\n.MUCXXLH 121314\r\n\x02BSM\r\n.V/1L\x00ZRH\r\n.F/LX100/" + ddmmm(today()) +
		"/JFK\r\n.N/0724200011001\r\n.P/1M\u00dcLLER/ANNA\x07\r\n.R/A \"quote\" \\ </script> \u2028\r\nENDBSM\r\n\x03"
	expect(t, "POST", s.Process(message), 200, processed)
	got := s.Get(service.HistoryPath("0724200011", day) + "?include_bim=true")
	var answer struct {
		Success bool
		Bag     struct {
			Last  string `json:"passenger_last_name"`
			First string `json:"passenger_first_name"`
		}
		Events []struct {
			Raw  string `json:"raw_bim_msg"`
			Data []struct {
				Line string `json:"airline_data"`
			} `json:"airline_data_set"`
		}
	}
	if err := json.Unmarshal([]byte(got.Body), &answer); err != nil || !answer.Success || len(answer.Events) != 1 {
		t.Fatalf("%v: %d %s", err, got.Status, got.Body)
	}
	if answer.Events[0].Raw != message {
		t.Errorf("raw message %q\nwant %q", answer.Events[0].Raw, message)
	}
	if answer.Bag.Last != "M\u00dcLLER" || answer.Bag.First != "ANNA\x07" || len(answer.Events[0].Data) != 1 || answer.Events[0].Data[0].Line != "A \"quote\" \\ </script> \u2028" {
		t.Errorf("fields %+v", answer)
	}

	binary := "BSM\n.V/1LZRH\n.F/LX100/" + ddmmm(today()) + "/JFK\n.N/0724200012001\n.P/M\xdcLLER\nENDBSM"
	expect(t, "bytes that are no UTF-8, in a form", post(t, s, formType, strings.NewReader(form(binary))), 200, processed)
	got = s.Get(service.HistoryPath("0724200012", day) + "?include_bim=true")
	if err := json.Unmarshal([]byte(got.Body), &answer); err != nil || answer.Bag.Last != "M\ufffdLLER" || len(answer.Events) != 1 ||
		answer.Events[0].Raw != strings.ToValidUTF8(binary, "\ufffd") {
		t.Errorf("history: %v: %s", err, got.Body)
	}
	expect(t, "NUL in a fault", post(t, s, formType, strings.NewReader(form("BSM\n.V/1L\x00QQQ\xff\n.F/LX100/14MAR/JFK\n.N/0724200012001\nENDBSM"))), 400,
		failure("SVCPRB015", `Invalid airport code in .V (line 2, element .V): found "QQQ\xff", expected a known airport, three capitals.`))
}

// The key must cover the .F airline of each group and the .V airport. Without .F it must cover
// every airline (rules §4).
func TestProcessBIMIsAuthorisedByAirlineAndAirport(t *testing.T) {
	t.Parallel()
	s := common(t)
	notAuthorised := failure("SVCSRV004", "Customer Application not authorized to process BPM")
	day := ddmmm(today())
	lx := "BSM\n.V/1LZRH\n.F/LX100/" + day + "/JFK\n.N/0724200013001\n.P/A\nENDBSM"
	mixed := "BSM\n.V/1LZRH\n.F/LX100/" + day + "/JFK\n.N/0724200013001\n.F/BA100/" + day + "/LHR\n.N/0724200014001\nENDBSM"
	lhr := "BSM\n.V/1LLHR\n.F/LX101/" + day + "/ZRH\n.N/0724200013001\nENDBSM"
	flightless := "BPM\n.V/1LZRH\n.J/S\n.N/0724200013001\nENDBPM"
	for _, tc := range []struct {
		name, key, message string
		status             int
		body               string
	}{
		{"its airline", "swiss", lx, 200, processed},
		{"one group of another airline", "swiss", mixed, 401, notAuthorised},
		{"any airport", "swiss", lhr, 200, processed},
		{"no flight", "swiss", flightless, 401, notAuthorised},
		{"its airport", "zurich", mixed, 200, processed},
		{"another airport", "zurich", lhr, 401, notAuthorised},
		{"no flight, all airlines", "zurich", flightless, 200, processed},
		{"nothing", "nothing", lx, 401, notAuthorised},
		{"process BIM alone", "sender", mixed, 200, processed},
	} {
		expect(t, tc.name, s.Process(tc.message, "api_key", keyOf(tc.key)), tc.status, tc.body)
	}
}

// A copy gets the same success (rules §3). Once a POST is answered, its message is in the answers.
func TestPostIsInTheAnswersOnceItIsAnswered(t *testing.T) {
	t.Parallel()
	s := common(t)
	day := today().Format(time.DateOnly)
	for i := range 20 {
		plate := fmt.Sprintf("07242100%02d", i)
		for range 2 {
			expect(t, "POST", s.Process(bsmOn(plate, today())), 200, processed)
			if got := s.Get(service.HistoryPath(plate, day)); strings.Count(got.Body, `"event_code":"EXPECTED"`) != 1 {
				t.Fatalf("history of %s after the answer: %s", plate, got.Body)
			}
		}
	}
}
