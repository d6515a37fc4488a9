package httpdoor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/ingestor/httpdoor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/trail/memory"
	"bagtrail/internal/web"
)

var (
	all  = apikey.Scope{All: true}
	bim  = apikey.Scope{Codes: []string{"processbim"}}
	noon = time.Date(2026, 3, 14, 12, 0, 0, 123_456_789, time.UTC)
)

type keys map[string]*apikey.Key

func (k keys) Lookup(text string, _ time.Time) (*apikey.Key, bool) {
	key, ok := k[text]
	return key, ok
}

var testKeys = keys{
	"demo":    {Name: "demo", Airlines: all, Airports: all, Operations: bim},
	"lx":      {Name: "lx", Airlines: apikey.Scope{Codes: []string{"LX"}}, Airports: all, Operations: bim},
	"zrh":     {Name: "zrh", Airlines: all, Airports: apikey.Scope{Codes: []string{"ZRH"}}, Operations: bim},
	"nothing": {Name: "nothing", Operations: bim},
	"queries": {Name: "queries", Airlines: all, Airports: all, Operations: apikey.Scope{Codes: []string{"history"}}},
}

// rejects remembers what was rejected.
type rejects struct{ list []ingestor.Rejection }

func (r *rejects) Reject(_ context.Context, rejections []ingestor.Rejection) error {
	r.list = append(r.list, rejections...)
	return nil
}

type door struct {
	*web.Site
	index   *failingIndex
	rejects *rejects
}

func open() door {
	library := airport.New()
	d := door{index: &failingIndex{Index: memory.New()}, rejects: &rejects{}}
	operation := httpdoor.Door{
		Acceptor: ingestor.NewAcceptor(ingestor.Config{
			Judge: ingestor.NewJudge(library, enricher.New(library)), Index: d.index, Rejects: d.rejects,
		}),
		Clock: func() time.Time { return noon },
	}.Operation()
	d.Site = web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, []web.Operation{operation}, nil)
	return d
}

const path = "/baggage/processbim/v1.0/"

func (d door) post(key, target, contentType, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	if key != "" {
		r.Header.Set("api_key", key)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

// send posts a message as JSON and returns status and body.
func (d door) send(key, message string) string {
	text, _ := json.Marshal(map[string]string{"bim_message": message})
	w := d.post(key, path, "application/json", string(text))
	return fmt.Sprint(w.Code, " ", w.Body)
}

func refusal(id fault.ID) string {
	return fmt.Sprintf(`%d {"success":false,"errors":[{"error_code":"%s","error_description":"%s"}]}`, id.Status, id.Code, id.Text)
}

const (
	message   = "BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/0724100001001\r\nENDBSM\r\n"
	processed = `200 {"success":true,"success_code":"SVCPRB037","success_message":"Message processed successfully"}`
)

func TestMessageIsTakenFromJSONAndForms(t *testing.T) {
	asForm := url.Values{"bim_message": {message}}.Encode()
	asJSON := `{"bim_message":"BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/0724100001001\r\nENDBSM\r\n"}`
	for _, tc := range []struct{ name, contentType, body string }{
		{"JSON", "application/json", asJSON},
		{"JSON with charset", "application/json; charset=UTF-8", asJSON},
		{"JSON under another charset", "application/json; charset=iso-8859-1", asJSON},
		{"JSON without content type", "", asJSON},
		{"JSON as text", "text/plain", asJSON},
		{"JSON under a broken content type", ";;;", asJSON},
		{"JSON with blanks and other members", "application/json", " {\"x\":[1,{\"bim_message\":2}],\n" + asJSON[1:] + "\r\n"},
		{"JSON with an escaped name", "application/json", strings.Replace(asJSON, "bim_message", `bim\u005fmessage`, 1)},
		{"JSON with a member of another case", "application/json", `{"BIM_MESSAGE":1,` + asJSON[1:]},
		{"JSON as a form", "application/x-www-form-urlencoded", asJSON},
		{"JSON behind blanks, as a form", "application/x-www-form-urlencoded", " \t\r\n" + asJSON},
		{"JSON as a multipart form", "multipart/form-data; boundary=x", asJSON},
		{"form", "application/x-www-form-urlencoded", asForm},
		{"form with charset", "Application/X-WWW-Form-URLEncoded;charset=utf-8", asForm},
		{"form with other members", "application/x-www-form-urlencoded", "a=1&&b&" + asForm + "&c=%41"},
		{"form with an encoded name", "application/x-www-form-urlencoded", strings.Replace(asForm, "_", "%5F", 1)},
		{"form with line ends as they are", "application/x-www-form-urlencoded", "bim_message=" + message},
	} {
		d := open()
		w := d.post("demo", path, tc.contentType, tc.body)
		if got := fmt.Sprint(w.Code, " ", w.Body); got != processed {
			t.Errorf("%s: %s", tc.name, got)
			continue
		}
		if len(d.index.filed) != 1 || d.index.filed[0].Raw != message || !d.index.filed[0].Received.Equal(noon.Truncate(time.Millisecond)) {
			t.Errorf("%s: filed %+v", tc.name, d.index.filed)
		}
	}
}

func TestBodyWithoutOneMessageIs003(t *testing.T) {
	const form, doc = "application/x-www-form-urlencoded", "application/json"
	for _, tc := range []struct{ contentType, body string }{
		{doc, ""}, {doc, "null"}, {doc, "[]"}, {doc, `"BSM"`}, {doc, message}, {doc, "{}"}, {doc, `{"bim_message":null}`}, {doc, `{"bim_message":5}`},
		{doc, `{"bim_message":true}`}, {doc, `{"bim_message":["BSM"]}`}, {doc, `{"bim_message":{"a":"BSM"}}`}, {doc, `{"Bim_Message":"BSM"}`},
		{doc, `{"bim_message":"BSM","bim_message":"BSM"}`}, {doc, `{"bim_message":"BSM","bim\u005fmessage":null}`},
		{doc, `{"bim_message":"BSM"}x`}, {doc, `{"bim_message":"BSM"}{}`}, {doc, `{"bim_message":"BSM"`}, {doc, `{"bim_message":"BSM",}`},
		{doc, "{\"bim_message\":\"B\nM\"}"}, {doc, "{\"bim_message\":\"\xff\"}"}, {doc, `{"bim_message":"\ud800"}`}, {doc, "\ufeff" + `{"bim_message":"BSM"}`},
		{doc, "bim_message=BSM"}, {"", "bim_message=BSM"}, {"multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"bim_message\"\r\n\r\nBSM\r\n--x--\r\n"},
		{form, ""}, {form, "x=1"}, {form, `{"bim_message":"BSM"`}, {form, "\ufeff" + `{"bim_message":"BSM"}`}, {form, `["bim_message=BSM"]`}, {form, "bim_message=BSM&bim_message=BSM"}, {form, "bim_message=BSM&bim%5Fmessage="},
		{form, "bim_message=%zz"}, {form, "bim_message=BSM&x=%"}, {form, "bim_message=BSM&%=x"}, {form, "Bim_Message=BSM"},
	} {
		d := open()
		w := d.post("demo", path, tc.contentType, tc.body)
		if got := fmt.Sprint(w.Code, " ", w.Body); got != refusal(fault.BIMMissing) || len(d.index.filed)+len(d.rejects.list) != 0 {
			t.Errorf("%s %q: %s", tc.contentType, tc.body, got)
		}
	}
}

// The mark ^ stands where the message should be, and is no part of the body.
func TestRawMessageMissingSaysWhy(t *testing.T) {
	const form, doc = "application/x-www-form-urlencoded", "application/json"
	for _, tc := range []struct{ contentType, body, expected string }{
		{doc, "^", "{"}, {doc, "^bim_message=BSM", "{"}, {doc, "^\ufeff" + `{"bim_message":"BSM"}`, "{"}, {doc, `{"message":"BSM"^}`, "the member bim_message"},
		{doc, `{"bim_message":^5}`, "a string"}, {doc, `{"bim_message":^{}}`, "a string"}, {doc, `{"bim_message":"B",^}`, "a string"},
		{doc, "{\"bim_message\":\"B^\nM\"}", "control characters to be escaped"}, {doc, `{"bim_message":"BSM"}^x`, "the end"},
		{doc, `{"bim_message":"BSM","bim_message":^"BSM"}`, "bim_message once"}, {form, `{"bim_message":^BSM}`, "a value"},
		{form, "x=1^", "the field bim_message"}, {form, "x=1&^bim_message=%zz", "two hexadecimal digits behind each %"}, {form, "bim_message=BSM&^bim_message=BSM", "bim_message once"},
	} {
		body, at := strings.Replace(tc.body, "^", "", 1), strings.Index(tc.body, "^")
		plain := refusal(fault.BIMMissing)
		want := fmt.Sprintf(`%s,"offset":%d,"expected":"%s"}]}`, strings.TrimSuffix(plain, "}]}"), at, tc.expected)
		d := open()
		w := d.post("demo", path+"?details=true", tc.contentType, body)
		if got := fmt.Sprint(w.Code, " ", w.Body); got != want || len(d.index.filed)+len(d.rejects.list) != 0 {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
		for _, query := range []string{"", "?details=", "?details=yes"} {
			w = d.post("demo", path+query, tc.contentType, body)
			if got := fmt.Sprint(w.Code, " ", w.Body); got != plain {
				t.Errorf("%q %s: %s", body, query, got)
			}
		}
	}
	w := open().post("demo", path+"?details=true", doc, `{"bim_message": " "}`)
	if got := w.Body.String(); !strings.Contains(got, `"error_code":"SVCPRB003"`) || !strings.Contains(got, `"expected":"`) || !strings.HasSuffix(got, `,"offset":16}]}`) {
		t.Errorf("blank message: %s", got)
	}
	r := httptest.NewRequest("POST", path+"?details=true", io.MultiReader(strings.NewReader(`{"bim_`), cut{}))
	r.Header.Set("api_key", "demo")
	w = httptest.NewRecorder()
	open().ServeHTTP(w, r)
	if got := w.Body.String(); !strings.HasSuffix(got, `,"offset":6,"expected":"the rest of the body"}]}`) {
		t.Errorf("body cut off: %s", got)
	}
}

// cut is a connection that was lost.
type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestTwoContentTypesOrTwoDetailsAreRefused(t *testing.T) {
	for _, body := range []string{`{"bim_message":"BSM"}`, "bim_message=BSM"} {
		d := open()
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		r.Header.Set("api_key", "demo")
		r.Header["Content-Type"] = []string{"application/json", "application/x-www-form-urlencoded"}
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		if got := fmt.Sprint(w.Code, " ", w.Body); got != refusal(fault.BIMMissing) || len(d.index.filed)+len(d.rejects.list) != 0 {
			t.Errorf("%s: %s", body, got)
		}
	}
	d := open()
	text, _ := json.Marshal(map[string]string{"bim_message": message})
	w := d.post("demo", path+"?details=true&details=false", "application/json", string(text))
	if got := fmt.Sprint(w.Code, " ", w.Body); got != refusal(fault.BIMMissing) || len(d.index.filed) != 0 {
		t.Errorf("details given twice: %s", got)
	}
}

func TestBlankMessageIs003(t *testing.T) {
	for _, text := range []string{"", " ", "\r\n\t \n", "\x00\x01\x03"} {
		d := open()
		got := d.send("demo", text)
		if !strings.HasPrefix(got, `400 {"success":false,"errors":[{"error_code":"SVCPRB003","error_description":"Raw message missing`) || strings.Count(got, "error_code") != 1 {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestAllErrorsOfAMessageComeAtOnceAndNothingIsFiled(t *testing.T) {
	d := open()
	got := d.send("demo", "BSM\n.V/1LZR\n.F/LX100/14MAR/QQQ\n.N/072410000\n.W/X/1/2\nENDBSM\n")
	codes := func(member string) (list []string) {
		for _, part := range strings.Split(got, `"`+member+`":"`)[1:] {
			list = append(list, part[:strings.Index(part, `"`)])
		}
		return list
	}
	if want := "[SVCPRB012 SVCPRB023 SVCPRB016]"; fmt.Sprint(codes("error_code")) != want || fmt.Sprint(codes("warning_code")) != "[SVCPRB025]" || got[:4] != "400 " {
		t.Errorf("%s, want errors %s", got, want)
	}
	if len(d.index.filed) != 0 || len(d.rejects.list) != 1 || !strings.HasPrefix(d.rejects.list[0].Origin, "http/") {
		t.Errorf("filed %v, rejected %+v", d.index.filed, d.rejects.list)
	}
}

func TestWarningsComeWithSuccess(t *testing.T) {
	got := open().send("demo", strings.Replace(message, "ENDBSM", ".W/X/1/2\r\nENDBSM", 1))
	const want = `200 {"success":true,"success_code":"SVCPRB037","success_message":"Message processed successfully","warnings":[{"warning_code":"SVCPRB025","warning_description":".W not IATA compliant for Weight Indicator and/or Number of Checked Bags and/or Checked Weight`
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `"}]}`) || !strings.Contains(got, "line 5") {
		t.Errorf("%s", got)
	}
}

func TestDetailsGiveTheFullFormOfEachDiagnostic(t *testing.T) {
	body := `{"bim_message":"BSM\n.V/2LZRH\n.F/LX100/14MAR/JFK\n.N/0724100001001\n.W/X\nENDBSM"}`
	type entry struct {
		Code                     string `json:"error_code"`
		Description              string `json:"error_description"`
		Severity                 string
		Line, Column             int
		EndColumn                int `json:"end_column"`
		Element, Value, Expected string
	}
	var full struct {
		Success  *bool
		Errors   []entry
		Warnings []map[string]any
	}
	w := open().post("demo", path+"?details=true", "", body)
	decoder := json.NewDecoder(w.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&full); err != nil || w.Code != 400 || *full.Success || len(full.Errors) != 1 || len(full.Warnings) != 1 {
		t.Fatalf("%d %+v %v", w.Code, full, err)
	}
	if e := full.Errors[0]; e.Code != "SVCPRB013" || e.Line != 2 || e.Column != 4 || e.EndColumn != 5 || e.Severity != "error" || e.Element != ".V" || e.Value == "" || e.Expected == "" || e.Description == "" {
		t.Errorf("error %+v", e)
	}
	if warning := full.Warnings[0]; warning["warning_code"] != "SVCPRB025" || warning["line"] != 5.0 || warning["severity"] != "warning" || len(warning) != 9 {
		t.Errorf("warning %v", warning)
	}
	for _, query := range []string{"", "?details=false", "?details=1", "?details"} {
		if w := open().post("demo", path+query, "", body); strings.Contains(w.Body.String(), `"line":`) {
			t.Errorf("%q: %s", query, w.Body)
		}
	}
}

func TestCopyGetsTheSameSuccess(t *testing.T) {
	d := open()
	if first, second := d.send("demo", message), d.send("demo", message); first != processed || second != processed {
		t.Errorf("%s, then %s", first, second)
	}
}

func TestMessageOver64KiBAndBodyOver1MiBAre413(t *testing.T) {
	padded := func(size int) string { return message + strings.Repeat("\n", size-len(message)) }
	d := open()
	if got := d.send("demo", padded(64<<10)); got != processed {
		t.Errorf("64 KiB: %s", got)
	}
	if got := d.send("demo", padded(64<<10+1)); got != refusal(fault.TooLarge) {
		t.Errorf("64 KiB and a byte: %s", got)
	}
	w := d.post("demo", path, "application/json", `{"bim_message":"BSM"}`+strings.Repeat(" ", 1<<20))
	if got := fmt.Sprint(w.Code, " ", w.Body); got != refusal(fault.TooLarge) {
		t.Errorf("over 1 MiB: %s", got)
	}
	if len(d.rejects.list) != 1 || len(d.rejects.list[0].Raw) != 64<<10+1 {
		t.Errorf("%d messages were kept, want the one that is too long", len(d.rejects.list))
	}
	if w := d.post("demo", path+"?details=true", "application/x-www-form-urlencoded", "bim_message="+url.QueryEscape(padded(64<<10+1))); w.Code != 413 || !strings.Contains(w.Body.String(), `"expected":"at most 65536 bytes"`) {
		t.Errorf("with details: %d %s", w.Code, w.Body)
	}
}

func TestBytesOfAFormReachTheIndexUnaltered(t *testing.T) {
	d := open()
	raw := "\x01BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/0724100001001\r\n.P/1M\xdcLLER\r\n.R/\x00\xff+%\r\nENDBSM\r\n\x03"
	w := d.post("demo", path, "application/x-www-form-urlencoded", "bim_message="+url.QueryEscape(raw))
	if w.Code != 200 || len(d.index.filed) != 1 || d.index.filed[0].Raw != raw {
		t.Errorf("%d %s, filed %+v", w.Code, w.Body, d.index.filed)
	}
	again := open()
	if got := again.send("demo", "BSM\x00\n.V/1LZRH\n.F/LX100/14MAR/JFK\n.N/0724100001001\nENDBSM"); got != processed || again.index.filed[0].Raw[3] != 0 {
		t.Errorf("NUL in JSON: %s", got)
	}
}

func TestKeyMustCoverAirportAndAirlineOfEachGroup(t *testing.T) {
	other := "BSM\n.V/1LZRH\n.F/LX100/14MAR/JFK\n.N/0724100001001\n.F/BA713/14MAR/LHR\n.N/0125100001001\nENDBSM"
	unflown := "BPM\n.V/1LZRH\n.N/0724100001001\nENDBPM"
	for _, tc := range []struct{ key, message, want string }{
		{"lx", message, processed},
		{"zrh", message, processed},
		{"zrh", strings.Replace(message, "ZRH", "GVA", 1), refusal(fault.BIMNotAuthorised)},
		{"lx", other, refusal(fault.BIMNotAuthorised)},
		{"zrh", other, processed},
		{"lx", unflown, refusal(fault.BIMNotAuthorised)},
		{"zrh", unflown, processed},
		{"nothing", message, refusal(fault.BIMNotAuthorised)},
		{"queries", message, refusal(fault.BIMNotAuthorised)},
		{"demo", other, processed},
	} {
		d := open()
		if got := d.send(tc.key, tc.message); got != tc.want {
			t.Errorf("%s %q: %s, want %s", tc.key, tc.message, got, tc.want)
		}
		if (len(d.index.filed) == 1) != (tc.want == processed) {
			t.Errorf("%s %q: filed %v", tc.key, tc.message, d.index.filed)
		}
	}
}

func TestFaultsOfTheMessageComeBeforeAuthorisation(t *testing.T) {
	faulty := strings.Replace(message, "1LZRH", "2LZRH", 1)
	for key, kept := range map[string]int{"demo": 1, "nothing": 1, "queries": 0} {
		d := open()
		if got := d.send(key, faulty); !strings.HasPrefix(got, `400 {"success":false,"errors":[{"error_code":"SVCPRB013"`) || len(d.rejects.list) != kept {
			t.Errorf("%s: %s, %d rejects", key, got, len(d.rejects.list))
		}
	}
	d := open()
	for key, want := range map[string]fault.ID{"": fault.BIMKeyMissing, "nobody": fault.BIMKeyUnknown} {
		if got := d.send(key, faulty); got != refusal(want) {
			t.Errorf("%q: %s", key, got)
		}
	}
}

func TestUndecidedMessageIs503WithRetryAfter(t *testing.T) {
	d := open()
	d.index.err = errAway
	w := d.post("demo", path, "", `{"bim_message":"BSM\n.V/1LZRH\n.F/LX100/14MAR/JFK\n.N/0724100001001\nENDBSM"}`)
	if got := fmt.Sprint(w.Code, " ", w.Body); got != refusal(fault.Unavailable) || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%s %v", got, w.Header())
	}
}

func TestEachRejectionHasAnOriginOfItsOwn(t *testing.T) {
	d := open()
	for range 2 {
		r := httptest.NewRequest("POST", path, strings.NewReader(`{"bim_message":"BUM"}`))
		r.Header.Set("api_key", "demo")
		r.Header.Set("X-Request-Id", "same")
		d.ServeHTTP(httptest.NewRecorder(), r)
	}
	a, b := d.rejects.list[0].Origin, d.rejects.list[1].Origin
	if a == b || !strings.HasPrefix(a, "http/same.") || !strings.HasPrefix(b, "http/same.") {
		t.Errorf("origins %q, %q", a, b)
	}
}

// For any body: no panic, a documented status, valid JSON; and JSON that is taken means to encoding/json what was filed.
func FuzzBody(f *testing.F) {
	f.Add("application/json", []byte(`{"bim_message":"BSM\n.V/1LZRH\n.F/LX100/14MAR/JFK\n.N/0724100001001\nENDBSM"}`))
	f.Add("application/x-www-form-urlencoded", []byte("bim_message=BSM%0A.V/1LZRH%0A.F/LX100/14MAR/JFK%0A.N/0724100001001%0AENDBSM"))
	f.Add("", []byte(`{"bim_message":"\ud83e\uddf3","bim_message":1}x`))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		d := open()
		w := d.post("demo", path+"?details=true", contentType, string(body))
		if !json.Valid(w.Body.Bytes()) || w.Code != 200 && w.Code != 400 && w.Code != 413 {
			t.Fatalf("%d %q", w.Code, w.Body)
		}
		if (w.Code == 200) != (len(d.index.filed) == 1) {
			t.Fatalf("%d, filed %v", w.Code, d.index.filed)
		}
		var read map[string]any
		if w.Code == 200 && json.Unmarshal(body, &read) == nil && d.index.filed[0].Raw != read["bim_message"] {
			t.Fatalf("filed %q, encoding/json reads %q", d.index.filed[0].Raw, read["bim_message"])
		}
	})
}

func TestDelayedBagReportIsFiledForEachOfItsPlates(t *testing.T) {
	library := airport.New()
	x := &failingIndex{Index: memory.New()}
	reports := httpdoor.Reports{Acceptor: ingestor.NewAcceptor(ingestor.Config{
		Judge: ingestor.NewJudge(library, enricher.New(library)), Index: x, Rejects: &rejects{},
	})}
	report := enricher.Report{Reference: "ZRHLX10001", Station: "ZRH", Plates: []bag.Plate{"0724100002", "0724100001"}}
	for range 2 {
		if err := reports.File(context.Background(), report, noon, "r1"); err != nil {
			t.Fatal(err)
		}
	}
	if f := x.filed[0]; !f.Report || len(f.Entries) != 2 || f.Entries[0].Plate != "0724100001" || x.filed[1].Raw != f.Raw || !x.filed[1].Received.Equal(f.Received) {
		t.Errorf("filed %+v", x.filed)
	}
	if err := reports.File(context.Background(), enricher.Report{Plates: []bag.Plate{"x"}}, noon, "r2"); err == nil {
		t.Error("a report about no plate was filed")
	}
	x.err = errAway
	if err := reports.File(context.Background(), report, noon, "r3"); !errors.Is(err, x.err) {
		t.Errorf("%v", err)
	}
}
