package blackbox_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"bagtrail/test/service"
)

// Every answer of any status is a JSON object with the headers for success, length, sniffing,
// caching and request id.
func TestEveryAnswerHasTheSameHeaders(t *testing.T) {
	t.Parallel()
	s := common(t)
	for name, got := range map[string]service.Answer{
		"200":         s.Process(bsmOn("0724600001", today())),
		"200, nobody": s.Get("/baggage/history/v1.0/tag/0724999995/flightdate/2026-03-14"),
		"400":         s.Get("/baggage/history/v1.0/"),
		"401":         s.Do(http.MethodPost, service.ProcessPath, nil, "api_key", ""),
		"402":         s.Get("/baggage/processbim/"),
		"404":         s.Get("/nothing/here"),
		"405":         s.Do(http.MethodDelete, service.ProcessPath, nil),
		"413":         s.Process(strings.Repeat("A", 64<<10+1)),
		"503":         withoutRedis(t).Get("/baggage/history/v1.0/" + historyTarget),
	} {
		if !strings.HasPrefix(name, strconv.Itoa(got.Status)) {
			t.Errorf("%s: %d", name, got.Status)
		}
		for header, want := range map[string]string{
			"Content-Type": "application/json; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Content-Length": strconv.Itoa(len(got.Body)), "Server": "", "X-Powered-By": "", "Access-Control-Allow-Origin": "",
		} {
			if got.Header.Get(header) != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got.Header.Get(header), want)
			}
		}
		if !regexp.MustCompile(`^[A-Za-z0-9._-]{16,64}$`).MatchString(got.Header.Get("X-Request-Id")) {
			t.Errorf("%s: X-Request-Id %q", name, got.Header.Get("X-Request-Id"))
		}
		if !strings.HasPrefix(got.Body, `{"success":true`) && !strings.HasPrefix(got.Body, `{"success":false,"errors":[{"error_code":`) {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
}

// The X-Request-Id of the caller is used if it is sane (service §6).
func TestRequestIDIsTakenOverWhenSane(t *testing.T) {
	t.Parallel()
	s := common(t)
	for id, sane := range map[string]bool{
		"a": true, "7f.A_b-9": true, strings.Repeat("x", 64): true,
		strings.Repeat("x", 65): false, "a b": false, `a"b`: false, "a;b": false, "<b>": false, "a\xe9": false, "a,b": false, "..%0d%0a": false,
	} {
		got := s.Get("/x", "X-Request-Id", id).Header.Values("X-Request-Id")
		if len(got) != 1 || (got[0] == id) != sane || got[0] == "" {
			t.Errorf("%q became %q", id, got)
		}
	}
	a, b := s.Get("/x").Header.Get("X-Request-Id"), s.Get("/x").Header.Get("X-Request-Id")
	if a == b {
		t.Errorf("two requests got the id %s", a)
	}
}

// The four operations other than process BIM support JSONP (rules §4): the answer is
// application/javascript, begins with /**/ and has nosniff; status and codes are the same.
func TestACallbackMakesTheAnswerAScript(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s, record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX8600/14MAR/JFK\n.N/0724610001001\n.P/M\u2028\u2029LLER</script>\n.L/JSONP1\nENDBSM"})
	flight, history, passenger := service.FlightPath("ZRH", "D", "LX", "8600", "2026-03-14"), service.HistoryPath("0724610001", "2026-03-14"), service.PassengerPath("JSONP1", "2026-03-14")
	historyOf(t, s, "0724610001", "2026-03-14", "EXPECTED")
	for _, target := range []string{
		flight, history, passenger, service.HistoryPath("0724999994", "2026-03-14"), service.FlightPath("zrh", "D", "LX", "8600", "2026-03-14"),
	} {
		plain := s.Get(target)
		if strings.ContainsAny(plain.Body, "\u2028\u2029") {
			t.Errorf("%s: a line end of JavaScript inside a string: %s", target, plain.Body)
		}
		for _, callback := range []string{"cb", "$", "_a.$b.c9", "jQuery1124_1700000000", "a.classes", strings.Repeat("a", 128)} {
			got := s.Get(target + "?callback=" + callback)
			expect(t, target, got, plain.Status, "/**/"+callback+"("+plain.Body+");")
			if got.Header.Get("Content-Type") != "application/javascript; charset=utf-8" || got.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %v", target, got.Header)
			}
		}
	}
	body := strings.NewReader(refusedReport)
	plain := s.Do(http.MethodPost, "/baggage/delayedbags/v1.0/", strings.NewReader(refusedReport), "Content-Type", "application/json")
	expect(t, "delayed bags", s.Do(http.MethodPost, "/baggage/delayedbags/v1.0/?callback=cb", body, "Content-Type", "application/json"), plain.Status, "/**/cb("+plain.Body+");")
	expect(t, "key fault", s.Get(history+"?callback=cb", "api_key", ""), 400, "/**/cb("+failure("SVCGBH003", keyMissing)+");")
	expect(t, "unavailable", withoutRedis(t).Get(history+"?callback=cb"), 503, "/**/cb("+failure("SVCSRV001", unavailable)+");")
	got := s.Do(http.MethodPost, service.ProcessPath+"?callback=cb", strings.NewReader(bim(bsmOn("0724610002", today()))), "Content-Type", "application/json")
	expect(t, "process BIM knows no callback", got, 200, processed)
	expect(t, "unknown path", s.Get("/x?callback=cb"), 404, failure("SVCSRV005", "Resource not found"))
}

// A callback that is not a dotted JavaScript identifier of at most 128 characters is 400, SVCSRV002
// (rules §4).
func TestCallbackThatIsNoIdentifierIsRefused(t *testing.T) {
	t.Parallel()
	s := common(t)
	for _, callback := range []string{
		"9a", ".a", "a.", "a..b", "a-b", "a%20b", "a%0Ab", "a%00", "alert(1)", "a[0]", "a%3Bb", "a//", "%3C/script%3E%3Cscript%3E", "%5Cu0061",
		"%EF%BB%BFa", "caf%C3%A9", "%E2%80%A8a", "%FFa", "class", "a.delete", "this", "null", "eval", strings.Repeat("a", 129),
		"a&callback=b", "a&callback=a", "a&callback=",
	} {
		for _, target := range []string{"/baggage/bagsforflight/v1.0/" + flightTarget, "/baggage/history/v1.0/" + historyTarget, "/baggage/bagsforpassenger/v1.0/" + passengerTarget} {
			got := s.Get(target + "?callback=" + callback)
			expect(t, callback, got, 400, failure("SVCSRV002", badCallback))
			if got.Header.Get("Content-Type") != "application/json; charset=utf-8" {
				t.Errorf("%s: %s", callback, got.Header.Get("Content-Type"))
			}
		}
	}
}

// A key with a rate gets headers with the rest of it, then 429 with Retry-After (service §6).
func TestAKeyWithARateIsToldWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := common(t)
	target := service.HistoryPath("0724999993", "2026-03-14")
	for i := range 4 {
		got := s.Get(target, "api_key", keyOf("slow"))
		status, left := 200, strconv.Itoa(2-i)
		if i == 3 {
			status, left = 429, "0"
		}
		h := got.Header
		if got.Status != status || h.Get("RateLimit-Limit") != "3" || h.Get("RateLimit-Remaining") != left || h.Get("RateLimit-Reset") == "" {
			t.Errorf("request %d: %d, limit %s, remaining %s, reset %s", i, got.Status, h.Get("RateLimit-Limit"), h.Get("RateLimit-Remaining"), h.Get("RateLimit-Reset"))
		}
	}
	if h := s.Get(target).Header; h.Get("RateLimit-Limit") != "" {
		t.Errorf("a key without a rate has RateLimit-Limit %q", h.Get("RateLimit-Limit"))
	}
}

// /openapi.json and /docs need no key (service §6).
func TestDocumentsNeedNoKey(t *testing.T) {
	t.Parallel()
	s := common(t)
	for target, want := range map[string]string{"/openapi.json": `"openapi":"3.1`, "/docs": "<html"} {
		got := s.Get(target, "api_key", "")
		if got.Status/100 == 3 {
			got = s.Get(got.Header.Get("Location"), "api_key", "")
		}
		body := strings.ReplaceAll(strings.ToLower(got.Body), `": "`, `":"`)
		if got.Status != 200 || !strings.Contains(body, want) || got.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %.200s", target, got.Status, got.Body)
		}
	}
}

// Unknown query parameters are ignored (rules §4).
func TestUnknownQueryParametersAreIgnored(t *testing.T) {
	t.Parallel()
	s := common(t)
	for _, query := range []string{"?", "?x", "?x=1&y=%zz", "?PNR=A*", "?include_Bim=yes", "?Callback=(", "?;;", "?&&"} {
		expect(t, query, s.Get("/baggage/history/v1.0/tag/0724999992/flightdate/2026-03-14"+query), 200, failure("SVCGBH002", "No matching bag found"))
	}
}

// The request is forwarded byte for byte; the answer to a record is success with the bags and its
// reference (interface 4.4).
func TestADelayedBagReportIsForwardedByteForByte(t *testing.T) {
	t.Parallel()
	s := common(t)
	yesterday := today().AddDate(0, 0, -1) // not after the day at any station
	day := yesterday.Format(time.DateOnly)
	expect(t, "POST", s.Process("BSM\n.V/1LZRH\n.F/LX8610/"+ddmmm(yesterday)+"/JFK\n.N/0724620001001\n.P/LATE/ANNAMS\n.L/LATE01\nENDBSM"), 200, processed)
	body, document := delayedRequest("LX", "0724620001")
	send := func(contentType, body string, header ...string) service.Answer {
		return s.Do(http.MethodPost, "/baggage/delayedbags/v1.0/", strings.NewReader(body), append([]string{"Content-Type", contentType}, header...)...)
	}
	want := compact(t, `{"success":true,"bags":[{"bagtag":"0724620001","passenger_first_name":"ANNA","passenger_last_name":"LATE","rush_bag_indicator":"N"}],"record_reference":"DENUS10031"}`)
	expect(t, "report", send("application/json", body), 200, want)
	if !shared.downstream.took(document) {
		t.Error("the document did not go on byte for byte")
	}
	historyOf(t, s, "0724620001", day, "EXPECTED MISHANDLED")
	expect(t, "flight", s.Get(service.FlightPath("ZRH", "D", "LX", "8610", day)), 200, compact(t, `{"success":true,"bags":[{"bag":
		{"bagtag":"0724620001","rush_bag_indicator":"N","passenger_first_name":"ANNA","passenger_last_name":"LATE","loading_status":"Delayed","pnr":"LATE01"}}]}`))

	unknown, _ := delayedRequest("LX", "0724620999")
	expect(t, "a bag of which nothing is known", send("application/json", unknown), 200,
		compact(t, `{"success":true,"bags":[{"bagtag":"0724620999","passenger_last_name":"MUELLER","rush_bag_indicator":"N"}],"record_reference":"DENUS10031"}`))
	downstreamAway, _ := delayedRequest("5N", "0724620001")
	for range 2 {
		got := send("application/json", downstreamAway)
		expect(t, "the downstream system says nothing", got, 503, failure("SVCSRV001", notKnown))
		if after := got.Header.Get("Retry-After"); after != "" {
			t.Errorf("Retry-After %s, though a repetition would tell the same", after)
		}
	}
	bad := failure("SVCSRV009", badRequest)
	for name, body := range map[string]string{
		"nothing": "", "no JSON": "x", "no Request": "{}", "object of no such root": `{"Request":{}}`, "repeated": `{"Request":"{}",` + body[1:],
		"no JSON inside": `{"Request":"x"}`, "other root": `{"Request":"{\"A\":{}}"}`, "root no object": `{"Request":"{\"WTR_DelayedBagsCreateRQ\":1}"}`,
		"two roots": fmt.Sprintf(`{"Request":%s}`, service.Quoted(strings.Replace(document, "{", `{"A":1,`, 1))), "trailing text": body + "x",
	} {
		expect(t, name, send("application/json", body), 400, bad)
	}
	expect(t, "key without the airline", send("application/json", body, "api_key", keyOf("other-airline")), 401,
		failure("SVCDBR005", "Customer Application not authorized to create delayed bag report for the airline"))
	if got := send(formType, `{"Request":`+document+`}`); got.Status != 200 {
		t.Errorf("an object, whatever the content type says: %d %s", got.Status, got.Body)
	}
	form := "Request=" + strings.NewReplacer("%", "%25", "&", "%26", "+", "%2B").Replace(document)
	if got := send(formType, form); got.Status != 200 {
		t.Errorf("form: %d %s", got.Status, got.Body)
	}
}
