package console_test

import (
	"fmt"
	"html"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

const (
	firstID    = "00000000000000000000" // the id of rejectOf(0)
	rejectPath = "/v1/rejects/" + firstID
	rejectPage = "/console/rejects/" + firstID
)

// rejectOf is a reject whose texts hold markup and letters of two bytes.
func rejectOf(i int) object {
	return object{
		"id": fmt.Sprintf("%020d", i), "state": "open", "received": "2026-11-22T11:31:40.000Z", "door": "http", "key": "bhs", "airport": "ZRH", "codes": []string{"SVCPRB022"},
		"diagnostics": []object{
			{"code": "SVCPRB022", "line": 3, "column": 12, "end_column": 18, "element": ".F", "value": "22NOVX", "expected": "a calendar date DDMMM", "suggestion": "22NOV", "hint": "Cut it"},
			{"code": "SVCPRB023", "line": 3, "column": 19, "end_column": 19, "element": ".F", "value": "", "expected": "a known airport"},
		},
		"form": "text", "text": "BSM\r\n.V/1LZRH\r\n.F/LÜ14Ü/22NOVX/\r\n<b>ENDBSM\r\n", "history": []object{{"at": "2026-11-22T11:32:00.000Z", "action": "resubmit", "key": "zrh-ops", "verdict": "rejected"}},
	}
}

func withRejects(n int) *v1 {
	list := []object{}
	for i := range n {
		list = append(list, rejectOf(i))
	}
	return newV1(object{
		"GET /v1/rejects": object{"rejects": list, "next": "more"},
		"GET /v1/rejects/summary": object{
			"states": []object{{"state": "open", "count": n}, {"state": "dismissed", "count": 7}}, "codes": []object{{"code": "SVCPRB015", "count": 1}, {"code": "SVCPRB022", "count": n}},
			"airports": []object{{"airport": "", "count": 1}}, "doors": []object{{"door": "http", "count": n}}, "hours": []object{{"hour": "2026-11-22T11:00:00.000Z", "count": n}},
		},
		"GET " + rejectPath: rejectOf(0),
	})
}

func TestAFaultHasCaretsUnderItsCharacters(t *testing.T) {
	c := newConsole(withRejects(2))
	for _, page := range []string{"/console/rejects", rejectPage} {
		text := must(t, get(c, page), 200,
			"<span>.F/LÜ14Ü/22NOVX/</span><i>"+strings.Repeat(" ", 9)+"^^^^^^ ^<small>022 023</small></i>", "2 faults left.", "Line 3: found <code>22NOVX</code>, expected a calendar date DDMMM.", "Message, to edit here", "SVCPRB022<small>", `data-fix="22NOV"`, "Cut it", "nothing",
			"Open 2", "Dismissed 7", `name="reason" maxlength="1000"`, "not readable", `href="/console/rejects?airport=&amp;state=open"`, "Older ones", "resubmit by zrh-ops, rejected", `href="/console/rejects?state=open">Back`, ">12:31</time>", "22 Nov, 11:31Z", "022 +1", "/console/rejects?code=SVCPRB022&amp;state=open", "&lt;b&gt;ENDBSM",
		)
		if first, second := strings.Index(text, "SVCPRB022<small>"), strings.Index(text, "SVCPRB015<small>"); first > second {
			t.Error("the most frequent code does not come first")
		}
	}
	must(t, get(c, "/console/rejects?state=open&cursor=more"), 200, `href="/console/rejects/00000000000000000001?cursor=more&amp;state=open"`,
		`href="/console/rejects?airport=&amp;state=open"`, `href="/console/rejects?state=dismissed"`) // a filter leads to the first page
	must(t, get(newConsole(withRejects(0)), "/console/rejects?code=X"), 200, "No rejects here")
	must(t, get(c, "/console/rejects/1"), 404, "Not found")
}

func TestTheTextOfTheEditorIsChecked(t *testing.T) {
	v := withRejects(1)
	var events []object
	for i := range 7 {
		events = append(events, object{"plate": fmt.Sprintf("072400000%d", i+1), "code": "EXPECTED"})
	}
	v.answers["POST /v1/messages/validate"] = object{"results": []object{{"verdict": "accepted", "diagnostics": []object{}, "events": events}}}
	c := newConsole(v)
	must(t, post(c, "/console/rejects/check?rows=", url.Values{"text": {"BSM\n.V/1LZRH\n"}}), 200, "Would be accepted.", "<code>0724000001</code> Expected", "<code>0724000005</code> Expected</span> <span>and 2 more<", `id="lines"`, `id="faults"`)
	if last := v.asked[len(v.asked)-1]; last != `POST /v1/messages/validate {"messages":[{"text":"BSM\r\n.V/1LZRH\r\n"}]}` {
		t.Error(last)
	}
	v.answers["POST /v1/messages/validate"] = object{"results": []object{{"verdict": "rejected", "diagnostics": rejectOf(0)["diagnostics"]}}}
	must(t, post(c, "/console/rejects/check?rows=", url.Values{"text": {"a\nb\n<c>"}}), 200, "2 faults left.", "&lt;c&gt;")
	warning := rejectOf(0)["diagnostics"].([]object)[0]
	warning["severity"] = "warning"
	v.answers["POST /v1/messages/validate"] = object{"results": []object{{"verdict": "accepted", "diagnostics": []object{warning}}}}
	must(t, post(c, "/console/rejects/check?rows=", url.Values{"text": {"a\nb\n.F/LX14/22NOVX/QQQ"}}), 200, `class="alert ok"`, "Would be accepted.", `<i class="w">`, `<code class="risk">`)
	// What cannot be checked stays on the page as it is.
	for status, unchecked := range map[int]bool{403: true, 429: false, 503: false} {
		v.answers["POST /v1/messages/validate"] = status
		text := must(t, post(c, "/console/rejects/check?rows=", url.Values{"text": {"x"}}), 200, "Not checked.", `id="verdict"`)
		if strings.Contains(text, `id="lines"`) || strings.Contains(text, `id="faults"`) || strings.Contains(text, "data-unchecked") != unchecked {
			t.Errorf("%d: %s", status, text)
		}
	}
}

func TestAFormThatIsTooLargeDismissesNothing(t *testing.T) {
	v := withRejects(1)
	c := newConsole(v)
	for _, page := range []string{rejectPage + "/dismiss", "/console/rejects/bulk"} {
		form := url.Values{"all": {"1"}, "action": {"dismiss"}, "start": {"1"}, "reason": {strings.Repeat("x", 1<<20)}}
		must(t, post(c, page, form), 413, "The form is too large")
	}
	if asked := strings.Join(v.asked, "\n"); strings.Contains(asked, "/dismiss") {
		t.Errorf("%.1000s", asked)
	}
}

// The fields of such a form are not read, so the reason would be lost.
func TestAFormInAnotherEncodingDismissesNothing(t *testing.T) {
	v := withRejects(1)
	c := newConsole(v)
	form := "--x\r\nContent-Disposition: form-data; name=\"reason\"\r\n\r\nknown\r\n--x--\r\n"
	for _, kind := range []string{"multipart/form-data; boundary=x", "text/plain", ""} {
		r := httptest.NewRequest("POST", rejectPage+"/dismiss", strings.NewReader(form))
		must(t, send(c, r, "Content-Type", kind), 415, "The form is not application/x-www-form-urlencoded")
	}
	if asked := strings.Join(v.asked, "\n"); strings.Contains(asked, "/dismiss") {
		t.Error(asked)
	}
}

func TestTheTableOfFaultsHasABound(t *testing.T) {
	v := withRejects(1)
	var faults []object
	for i := range 5000 {
		faults = append(faults, object{"code": "SVCPRB016", "severity": "error", "line": i + 1, "column": 4, "end_column": 5})
	}
	v.answers["POST /v1/messages/validate"] = object{"results": []object{{"verdict": "rejected", "diagnostics": faults}}}
	text := must(t, post(newConsole(v), "/console/rejects/check?rows=", url.Values{"text": {strings.Repeat(".N/1\n", 5000)}}), 200, "5000 faults left.")
	if rows, marks := strings.Count(text, "data-line="), strings.Count(text, "<small>016</small>"); rows != 200 || marks != 5000 {
		t.Errorf("%d rows, %d marks", rows, marks)
	}
}

func TestARejectIsResubmittedAndDismissed(t *testing.T) {
	v := withRejects(1)
	v.answers["POST "+rejectPath+"/resubmit"], v.answers["POST "+rejectPath+"/dismiss"] = object{"verdict": "accepted"}, object{}
	c := newConsole(v)
	back := url.Values{"text": {"BSM\r\n"}, "back": {"state=open&code=SVCPRB022&q=x"}, "reason": {" known "}}
	for action, want := range map[string]struct{ asked, leads string }{
		"/resubmit":              {`resubmit {"text":"BSM\r\n"}`, "/console/rejects?code=SVCPRB022&done=accepted&state=open"},
		"/resubmit?as=it%20came": {`resubmit {}`, "/console/rejects?code=SVCPRB022&done=accepted&state=open"},
		"/dismiss":               {`dismiss {"reason":"known"}`, "/console/rejects?code=SVCPRB022&done=dismissed&state=open"},
	} {
		form := back
		action, as, _ := strings.Cut(action, "?as=")
		if as != "" {
			form = url.Values{"as": {"it came"}, "text": {"BSM"}, "back": back["back"]}
		}
		w := post(c, rejectPage+action, form)
		if got := w.Header().Get("Location"); w.Code != 303 || got != want.leads || !strings.HasSuffix(v.asked[len(v.asked)-1], want.asked) {
			t.Errorf("%s: %d %s after %s", action, w.Code, got, v.asked[len(v.asked)-1])
		}
	}
	w := post(c, rejectPage+"/resubmit", url.Values{"text": {"BSM\r\n.N/07240\r\n.N/0724000001002\r\n.N/0724000007001\r\n"}})
	must(t, get(c, w.Header().Get("Location")), 200, "Accepted.", `<a href="/console/bags/0724000001" autofocus>Bag <span>0724</span> 000001</a>`)
	must(t, get(c, "/console/rejects?done=accepted&plate=../1"), 200, "and out of the list.</p>")
	v.answers["POST "+rejectPath+"/resubmit"] = 409
	must(t, post(c, rejectPage+"/resubmit", back), 409, "Not done", "Nothing was changed", `href="`+rejectPage+`/resubmit"`)
}

// A browser without the script sends a text that still has faults.
func TestAMendThatIsNotAcceptedIsShownAsItWasSent(t *testing.T) {
	v := withRejects(1)
	form := url.Values{"text": {"BSM\r\n.V/1LZRX\r\nENDBSM\r\n"}, "back": {"code=SVCPRB022&cursor=more&state=open"}}
	fault := object{"code": "SVCPRB015", "severity": "error", "line": 2, "column": 6, "end_column": 9, "value": "ZRX", "expected": "a known airport"}
	for verdict, want := range map[string]string{"rejected": "Rejected again. The reject stays open.", "unauthorised": "<b>The key may not send this message.</b>"} {
		v.answers["POST "+rejectPath+"/resubmit"] = object{"verdict": verdict, "diagnostics": []object{fault}}
		c, page := newConsole(v), rejectPage+"/resubmit"
		text := must(t, post(c, page, form), 200, want, "\n"+form.Get("text")+"</textarea>", "<span>.V/1LZRX</span><i>     ^^^<small>015</small></i>",
			`<code class="del">ZRX</code>`, "Resubmit mended", `name="back" value="`+html.EscapeString(form.Get("back"))+`"`)
		if strings.Contains(text, `data-fix="22NOV"`) {
			t.Errorf("%s: the faults are those of the message as it came", verdict)
		}
		asItCame := url.Values{"as": {"it came"}, "text": form["text"]}
		must(t, post(c, page, asItCame), 200, "The reject stays open.", `data-fix="22NOV"`)
	}
	v.answers["GET /v1/rejects"] = object{"rejects": []object{}} // the page of the list that the form left is empty by now
	must(t, post(newConsole(v), rejectPage+"/resubmit", form), 200, "\n"+form.Get("text")+"</textarea>")
	v.answers["GET "+rejectPath] = 503
	must(t, post(newConsole(v), rejectPage+"/resubmit", form), 503, form.Get("text")+"</textarea>", "Send again")
}

// Who decides on the rejects of an older page goes on there, until none are left on it.
func TestADecisionLeadsBackToThePageOfTheList(t *testing.T) {
	v := withRejects(1)
	v.answers["POST "+rejectPath+"/dismiss"] = object{}
	c := newConsole(v)
	const older = "/console/rejects?cursor=more&done=dismissed&state=open"
	leadsTo(t, "a decision", post(c, rejectPage+"/dismiss", url.Values{"back": {"cursor=more&state=open"}, "reason": {"known"}}), older)
	must(t, get(c, older), 200, "Dismissed")
	v.answers["GET /v1/rejects"] = object{"rejects": []object{}}
	leadsTo(t, "the empty page", get(c, older), "/console/rejects?done=dismissed&state=open")
	leadsTo(t, "a reject of the empty page", get(c, rejectPage+"?cursor=more&state=open"), rejectPage+"?state=open")
}

func TestARejectIsShownIfItsListIsEmpty(t *testing.T) {
	v := withRejects(1)
	v.answers["GET /v1/rejects"] = object{"rejects": []object{}}
	c := newConsole(v)
	must(t, get(c, rejectPage+"?state=open"), 200, `<form id="editor"`, `id="show-facets"`)
	must(t, get(c, "/console/rejects"), 200, "No rejects here")
}

// "Nothing is lost" holds for what was typed too.
func TestATextThatIsNotTakenIsKept(t *testing.T) {
	v := withRejects(1)
	page, form := rejectPage+"/resubmit", url.Values{"text": {"BSM\r\n.V/1LZRH\r\n<b>"}}
	for _, status := range []int{409, 429, 503} {
		v.answers["POST /v1"+strings.TrimPrefix(page, "/console")] = status
		text := must(t, post(newConsole(v), page, form), status, "What you wrote", "BSM\r\n.V/1LZRH\r\n&lt;b&gt;</textarea>", `action="`+page+`"`)
		if strings.Contains(text, "Send again") != (status != 409) {
			t.Errorf("%d: %s", status, text)
		}
	}
	v.answers["GET /v1/session"] = 503
	must(t, post(newConsole(v), page, form), 503, "BSM\r\n.V/1LZRH\r\n&lt;b&gt;</textarea>")
}

// A text that was edited is not sent instead of the message as it came.
func TestAFormThatIsSentAgainIsTheSame(t *testing.T) {
	for page, form := range map[string]url.Values{
		rejectPage + "/resubmit": {"text": {"BSM\r\n"}, "as": {"it came"}, "back": {"state=open&cursor=more"}},
		rejectPage + "/dismiss":  {"reason": {"no such flight"}, "back": {"state=open"}},
		"/console/rejects/bulk":  {"id": {"a", "b"}, "action": {"dismiss"}, "reason": {"a test"}, "start": {"1"}},
		"/console/search":        {"q": {"mueller zrh"}, "days": {"7"}},
	} {
		v := withRejects(1)
		v.answers["POST /v1"+strings.TrimPrefix(page, "/console")], v.answers["POST /v1/rejects/dismiss"], v.answers["POST /v1/bags/search"] = 503, 503, 503
		for _, session := range []any{v.answers["GET /v1/session"], 503} {
			v.answers["GET /v1/session"] = session
			text := must(t, post(newConsole(v), page, form), 503, `action="`+page+`"`, "Send again")
			for name, values := range form {
				for _, value := range values {
					if field := `name="` + name + `" value="` + html.EscapeString(value) + `"`; name != "text" && !strings.Contains(text, field) {
						t.Errorf("%s: no %s", page, field)
					}
				}
			}
			if form.Has("as") != strings.Contains(text, `wrap="off" readonly>`) {
				t.Errorf("%s: %s", page, text)
			}
		}
	}
}

// A login and a problem lead to the address of the form, which takes posts only.
func TestTheAddressOfAFormLeadsToItsPage(t *testing.T) {
	v := withRejects(1)
	v.answers["GET /v1/session"] = 401
	c := newConsole(v)
	for form, page := range map[string]string{rejectPage + "/resubmit": rejectPage, rejectPage + "/dismiss": rejectPage, "/console/rejects/bulk": "/console/rejects"} {
		leadsTo(t, form, post(c, form, url.Values{"text": {"BSM"}}), "/console/login?ended&next="+url.QueryEscape(form))
		leadsTo(t, form, get(c, form), page)
	}
}

func TestAnAddressPutsNoWordsIntoThePage(t *testing.T) {
	c := newConsole(withRejects(1))
	must(t, get(c, "/console/rejects?done=nothing+selected"), 200, "Nothing selected.")
	if text := must(t, get(c, "/console/rejects?done=call+555-0100"), 200); strings.Contains(text, "Call 555-0100") {
		t.Error("the page says what its address says")
	}
	if text := must(t, get(c, "/console/flights?airport=call+555-0100"), 200, "That is no airport that bagtrail knows"); strings.Contains(text, "CALL 555-0100") {
		t.Error("the page says what its address says")
	}
}

// Rejects of one airport and minute are told apart by their names, and what a form did has the focus.
func TestAScreenReaderTellsRejectsApartAndReadsWhatWasDone(t *testing.T) {
	c := newConsole(withRejects(1))
	must(t, get(c, "/console/rejects"), 200, "Select the reject of ZRH, 11:31:40Z, .F 22NOVX<")
	for _, query := range []string{"?done=dismissed", "?done=nothing+selected", "?done=accepted", "?done=accepted&plate=0724000002", "/" + firstID + "?done=rejected"} {
		if text := must(t, get(c, "/console/rejects"+query), 200); strings.Count(text, " autofocus") != 1 {
			t.Errorf("%s: the focus is not in one place", query)
		}
	}
}

func TestAMessageThatTheKeyMayNotSendIsNotSaidToBeAccepted(t *testing.T) {
	v := withRejects(1)
	v.answers["POST /v1/messages/validate"] = object{"results": []object{{"verdict": "unauthorised", "diagnostics": []object{}}}}
	text := must(t, post(newConsole(v), "/console/rejects/check?rows=", url.Values{"text": {"BSM"}}), 200, `class="alert del"`, "The key may not send this message.")
	if strings.Contains(text, "Would be accepted") {
		t.Error(text)
	}
}

func TestCaretsStandUnderLinesThatEndWithCR(t *testing.T) {
	v := withRejects(1)
	v.answers["GET "+rejectPath].(object)["text"] = "BSM\r.V/1LZRH\r.F/LÜ14Ü/22NOVX/\rENDBSM\r"
	must(t, get(newConsole(v), "/console/rejects"), 200, "<span>.F/LÜ14Ü/22NOVX/</span><i>"+strings.Repeat(" ", 9)+"^^^^^^ ^<small>")
}

// A browser would send U+FFFD for it, which is a fault of the mended text.
func TestTheEditorHasNoNUL(t *testing.T) {
	v := withRejects(1)
	reject := rejectOf(0)
	reject["text"] = "BSM\r\n.V/1LZRH\x00\r\n\x00.F/LX\x0014/22NOVX/\x00\r\nENDBSM\r\n"
	reject["diagnostics"].([]object)[0]["column"], reject["diagnostics"].([]object)[0]["end_column"] = 11, 17
	v.answers["GET "+rejectPath] = reject
	text := must(t, get(newConsole(v), rejectPage), 200, "\n.V/1LZRH\r\n.F/LX14/22NOVX/\r\n", "<span>.F/LX14/22NOVX/</span><i>        ^^^^^^", `data-from="9" data-to="15"`)
	if strings.ContainsAny(text, "\x00\ufffd") {
		t.Error("the page has another character in its place")
	}
}

func TestAMessageThatCameInADocumentCanBeMended(t *testing.T) {
	v := withRejects(1)
	reject := v.answers["GET "+rejectPath].(object)
	reject["form"], reject["text"] = "json", `{"bim_message": "BSM\r\n.V/1LZRH\r\n.F/LÜ14Ü/22NOVX/\r\nENDBSM\r\n"}`
	c := newConsole(v)
	must(t, get(c, "/console/rejects"), 200, "^^^^^^ ^<small>", `<textarea id="text"`, "Resubmit mended")
	reject["text"] = `{"message": "BSM"}`
	if text := must(t, get(c, "/console/rejects"), 200, `{"message": "BSM"}`, "Resubmit as it came"); strings.Contains(text, "<textarea") {
		t.Error("a document without a message seems to be editable")
	}
}

func TestATextThatIsTooLongForTheEditorIsNotJudgedAsEmpty(t *testing.T) {
	v := withRejects(1)
	v.answers["POST /v1/messages/validate"] = func(body string) object {
		if len(body) < 64<<10 {
			t.Errorf("%d bytes were asked about", len(body))
		}
		return object{"results": []object{{"verdict": "rejected", "diagnostics": []object{}}}}
	}
	c := newConsole(v)
	must(t, post(c, "/console/rejects/check?rows=", url.Values{"text": {strings.Repeat("é", 32<<10)}}), 200, "Rejected.")
	long := url.Values{"text": {strings.Repeat("z", 1<<20)}}
	must(t, post(c, "/console/rejects/check?rows=", long), 200, "Not checked.", "The form is too large")
	must(t, post(c, rejectPage+"/resubmit", long), 413, "The form is too large")
}

func TestARejectThatIsDecidedOnHasNoFaultLeft(t *testing.T) {
	v := withRejects(1)
	v.answers["GET "+rejectPath].(object)["state"] = "resubmitted"
	text := must(t, get(newConsole(v), rejectPage), 200, "<b>2 faults.</b>", "readonly")
	if strings.Contains(text, "to edit here") {
		t.Error("a reject that is decided on seems to be editable")
	}
}

func TestTheBarsOfADayAreMeasuredByThatDay(t *testing.T) {
	v := withRejects(2)
	summary := v.answers["GET /v1/rejects/summary"].(object)
	summary["hours"] = append([]object{{"hour": "2026-11-12T11:00:00.000Z", "count": 400}}, summary["hours"].([]object)...)
	text := must(t, get(newConsole(v), "/console/rejects"), 200, "One bar per hour, the highest: 2<", `height="100.00%"`, `aria-label="Rejects: 2 in the hour from 11:00Z"`)
	if strings.Count(text, `<rect class="h"`) != 1 {
		t.Error("an earlier day has a bar")
	}
}

func TestTheListShowsTheBeginningOfALongFault(t *testing.T) {
	v := withRejects(0)
	long := rejectOf(0)
	long["diagnostics"].([]object)[0]["value"] = strings.Repeat("Ü", 30_000)
	v.answers["GET /v1/rejects"] = object{"rejects": []object{long}}
	v.answers["GET "+rejectPath] = long
	if text := must(t, get(newConsole(v), "/console/rejects"), 200, strings.Repeat("Ü", 80)+"…<"); strings.Contains(text, strings.Repeat("Ü", 81)) {
		t.Error("the fault is there as a whole")
	}
}

// The service keeps up to 1 MiB of a text that was rejected.
func TestATextThatIsTooLongIsShownInPart(t *testing.T) {
	v, r := withRejects(1), rejectOf(0)
	r["text"] = strings.Repeat("\n", 1<<20)
	r["diagnostics"] = []object{{"code": "SVCSRV003", "line": 1, "column": 1, "end_column": 1, "expected": "at most 65536 bytes"}}
	v.answers["GET "+rejectPath] = r
	text := must(t, get(newConsole(v), "/console/rejects"), 200, "\n…</pre>", "at most 65536 bytes", "Dismiss")
	if strings.Contains(text, "<textarea") || len(text) > 80<<10 {
		t.Errorf("a page of %d bytes", len(text))
	}
}
