package apidoc_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/web"
	"bagtrail/internal/webhooks"
	"bagtrail/internal/wtr"
)

var update = flag.Bool("update", false, "write the examples anew")

// document is the part of the OpenAPI document that the tests read.
type document struct {
	OpenAPI    string
	Info       struct{ Version string }
	Paths      map[string]map[string]operationObject
	Components struct {
		Schemas    map[string]schema
		Parameters map[string]parameter
	}
}

// schema is a schema, or a reference to one.
type schema struct {
	Ref        string `json:"$ref"`
	Properties map[string]json.RawMessage
}

// operationObject describes an operation.
type operationObject struct {
	OperationID string
	Parameters  []parameter
	RequestBody struct {
		Content map[string]struct {
			Schema  schema
			Example json.RawMessage
		}
	}
	Responses map[string]struct {
		Description string
		Headers     map[string]any
		Content     map[string]struct {
			Schema   any
			Examples map[string]struct{ Value json.RawMessage }
		}
	}
}

func read(t *testing.T) document {
	t.Helper()
	w := newStack(t).ask("GET", "/openapi.json", "", "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	var d document
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDocumentHoldsEveryOperationWithItsMethodAndParameters(t *testing.T) {
	d := read(t)
	if !strings.HasPrefix(d.OpenAPI, "3.1.") || d.Info.Version != "test" {
		t.Errorf("OpenAPI %s, version %s", d.OpenAPI, d.Info.Version)
	}
	s := newStack(t)
	var routed []operation.Operation
	for _, op := range s.operations {
		routed = append(routed, op.Operation)
	}
	byID := func(a, b operation.Operation) int { return strings.Compare(a.ID, b.ID) }
	slices.SortFunc(routed, byID)
	if listed := slices.SortedFunc(slices.Values(operation.All()), byID); !slices.Equal(routed, listed) {
		t.Errorf("the router has %+v, the list of operations %+v", routed, listed)
	}
	seen := map[string]bool{}
	for _, op := range operation.All() {
		described, ok := d.Paths[op.Template][strings.ToLower(op.Method)]
		if !ok || described.OperationID != op.ID {
			t.Errorf("%s %s is described as %+v", op.Method, op.Template, d.Paths[op.Template])
			continue
		}
		seen[op.ID] = true
		var path []string
		callback := false
		for _, p := range described.Parameters {
			if p.In == "path" && p.Required {
				path = append(path, "{"+p.Name+"}")
			}
			callback = callback || p.Ref == "#/components/parameters/callback"
		}
		for _, placeholder := range path {
			if !strings.Contains(op.Template, placeholder) {
				t.Errorf("%s has no %s", op.Template, placeholder)
			}
		}
		if strings.Count(op.Template, "{") != len(path) || callback != op.JSONP || op.HasBody() != (len(described.RequestBody.Content) > 0) {
			t.Errorf("%s: parameters %+v", op.Template, described.Parameters)
		}
	}
	count := 0
	for _, methods := range d.Paths {
		count += len(methods)
	}
	if count != len(seen) {
		t.Errorf("%d operations are described, %d run", count, len(seen))
	}
}

// names returns the names of the query parameters of an operation, and of the members of its JSON
// body.
func (d *document) names(o operationObject) (parameters, members []string) {
	for _, p := range o.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[path.Base(p.Ref)]
		}
		if p.In == "query" {
			parameters = append(parameters, p.Name)
		}
	}
	body := o.RequestBody.Content["application/json"].Schema
	if body.Ref != "" {
		body = d.Components.Schemas[path.Base(body.Ref)]
	}
	return parameters, slices.Collect(maps.Keys(body.Properties))
}

// unknown reports whether an answer calls a parameter or a member of the body unknown.
func unknown(w *httptest.ResponseRecorder, parameter, pointer string) bool {
	var problem struct {
		Errors []struct{ Parameter, Pointer, Code string }
	}
	_ = json.Unmarshal(w.Body.Bytes(), &problem) // other answers have no errors
	for _, e := range problem.Errors {
		if e.Parameter == parameter && e.Pointer == pointer && e.Code == fault.Unknown.Name {
			return true
		}
	}
	return false
}

func TestHandlersKnowTheParametersOfTheDocumentAndNoOthers(t *testing.T) {
	d := read(t)
	s := newStack(t, exampleWebhooks(t))
	parameters, members := map[string]bool{}, map[string]bool{} // of any operation
	for _, methods := range d.Paths {
		for _, o := range methods {
			p, m := d.names(o)
			for _, name := range p {
				parameters[name] = true
			}
			for _, name := range m {
				members[name] = true
			}
		}
	}
	for _, op := range operation.All() {
		if !op.V1() {
			continue
		}
		p, m := d.names(d.Paths[op.Template][strings.ToLower(op.Method)])
		target, body := placeholder.ReplaceAllString(op.Template, "0"), ""
		if op.HasBody() {
			body = "{}"
		}
		for name := range parameters {
			if w := s.ask(op.Method, target+"?"+name+"=%00", "demo", body); unknown(w, name, "") == slices.Contains(p, name) {
				t.Errorf("%s, parameter %s: described %t, but %d %s", op.ID, name, slices.Contains(p, name), w.Code, w.Body)
			}
		}
		for name := range members {
			if body == "" {
				break
			}
			if w := s.ask(op.Method, target, "demo", `{"`+name+`":{}}`); unknown(w, "", "/"+name) == slices.Contains(m, name) {
				t.Errorf("%s, member %s: described %t, but %d %s", op.ID, name, slices.Contains(m, name), w.Code, w.Body)
			}
		}
	}
}

func TestDocumentHoldsEveryStatusAndCodeOfTheRegister(t *testing.T) {
	for path, methods := range read(t).Paths {
		for _, op := range methods {
			if strings.HasPrefix(path, "/v1/") {
				continue
			}
			for _, e := range fault.Register() {
				if !e.Gives(operation.Right(op.OperationID)) {
					continue
				}
				response, ok := op.Responses[fmt.Sprint(e.Status)]
				if !ok || !strings.Contains(response.Description, "`"+e.Code+"` "+e.Text) || response.Headers["X-Request-Id"] == nil {
					t.Errorf("%s does not describe %d %s", op.OperationID, e.Status, e.Code)
				}
			}
			for status, response := range op.Responses {
				if len(response.Content["application/json"].Examples) == 0 {
					t.Errorf("%s %s has no example", op.OperationID, status)
				}
				if _, script := response.Content["application/javascript"]; script != (op.OperationID != "processbim") {
					t.Errorf("%s %s: script %v", op.OperationID, status, script)
				}
			}
		}
	}
}

func TestDocumentHoldsTheProblemsOfV1(t *testing.T) {
	d := read(t)
	described := map[string]bool{}
	for _, listed := range operation.All() {
		if !listed.V1() {
			continue
		}
		op := d.Paths[listed.Template][strings.ToLower(listed.Method)]
		for status, response := range op.Responses {
			for form, answer := range response.Content {
				if form == "text/event-stream" && listed.NoStore && status == "200" && len(answer.Examples) == 1 {
					continue
				}
				if wanted := map[bool]string{true: "application/json", false: "application/problem+json"}[status < "300"]; form != wanted || len(answer.Examples) == 0 {
					t.Errorf("%s %s has the form %s with %d examples", listed.ID, status, form, len(answer.Examples))
				}
				for name, example := range answer.Examples {
					if strings.Contains(fmt.Sprintf("%s", example), "The member detail") {
						t.Errorf("%s %s: the detail of the example %s says what a detail says", listed.ID, status, name)
					}
				}
			}
			if response.Headers["X-Request-Id"] == nil || response.Headers["RateLimit"] == nil {
				t.Errorf("%s %s: headers %v", listed.ID, status, response.Headers)
			}
			for _, p := range fault.Problems() {
				described[p.Name] = described[p.Name] || strings.Contains(response.Description, "("+web.ProblemPages+p.Name+") "+p.Title)
			}
		}
		if forbidden := strings.Contains(op.Responses["403"].Description, "(/docs/problems/not-authorised)"); forbidden == (listed.Right == operation.AnyKey) {
			t.Errorf("%s: not-authorised %v", listed.ID, forbidden)
		}
		if cached := op.Responses["304"].Headers["ETag"] != nil; cached != (listed.Method == "GET" && !listed.NoStore) {
			t.Errorf("%s: ETag %v", listed.ID, cached)
		}
	}
	for _, p := range fault.Problems() {
		if p.Name != "method-not-allowed" && !described[p.Name] {
			t.Errorf("%s is described nowhere", p.Name)
		}
	}
}

// The stack checks that each answer is described.
func TestFailuresOfV1AreDescribed(t *testing.T) {
	d := read(t)
	for _, hooks := range [][]*webhooks.Service{nil, {exampleWebhooks(t)}} {
		s := newStack(t, hooks...)
		for _, op := range operation.All() {
			if !op.V1() {
				continue
			}
			o := d.Paths[op.Template][strings.ToLower(op.Method)]
			target, body := exampleTarget(op.Template, o.Parameters), string(o.RequestBody.Content["application/json"].Example)
			for _, key := range []string{"", "nobody", "other-airline", "no-customer", "demo"} {
				s.ask(op.Method, target, key, body)
			}
			s.ask(op.Method, target, "demo", "{")
			for _, other := range []string{"00000000000000000000", "QQQ"} {
				s.ask(op.Method, placeholder.ReplaceAllString(op.Template, other), "demo", body)
			}
		}
	}
}

func TestEveryProblemHasAPage(t *testing.T) {
	s := newStack(t)
	index := s.ask("GET", "/docs/problems/", "", "").Body.String()
	for _, p := range fault.Problems() {
		w := s.ask("GET", web.ProblemPages+p.Name, "", "")
		if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(w.Body.String(), p.Title) ||
			!strings.Contains(w.Body.String(), p.Remedy) || !strings.Contains(index, `href="`+web.ProblemPages+p.Name+`"`) {
			t.Errorf("%s: %d %s", p.Name, w.Code, w.Body)
		}
	}
	for _, c := range fault.Causes() {
		if page := s.ask("GET", web.ProblemPages+"invalid-request", "", "").Body.String(); !strings.Contains(page, "<code>"+c.Name+"</code>") || !strings.Contains(page, c.Detail) {
			t.Errorf("no %s in %s", c.Name, page)
		}
	}
	if w := s.ask("GET", "/docs/problems/none", "", ""); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
}

func TestEveryReferenceOfTheDocumentLeadsSomewhere(t *testing.T) {
	w := newStack(t).ask("GET", "/openapi.json", "", "")
	var tree map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &tree); err != nil {
		t.Fatal(err)
	}
	var walk func(node any)
	walk = func(node any) {
		switch n := node.(type) {
		case []any:
			for _, e := range n {
				walk(e)
			}
		case map[string]any:
			if ref, ok := n["$ref"].(string); ok {
				var at any = tree
				for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
					m, _ := at.(map[string]any)
					at = m[name]
				}
				if at == nil {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, e := range n {
				walk(e)
			}
		}
	}
	walk(tree)
}

func TestExamplesAreWhatTheServiceAnswers(t *testing.T) {
	s := newStack(t, exampleWebhooks(t))
	s.send(t, journey()...)
	const query = "/baggage/%s/v1.0/%s"
	for _, tc := range []struct{ file, method, target, body string }{
		{"bagsforflight", "GET", fault.FlightUnavailable.Example.Target, ""},
		{"history", "GET", fault.Unavailable.Example.Target + "?include_bim=true", ""},
		{"bagsforpassenger", "GET", fmt.Sprintf(query, "bagsforpassenger", "pnr/ABC123/dep_flight_date/2026-03-14"), ""},
		{"listBagsOfPlate", "GET", "/v1/bags/0724100001?fields=raw", ""},
		{"findBags", "GET", "/v1/bags?plate=0724100001&plate=0724100002", ""},
		{"searchBags", "POST", "/v1/bags/search", `{"last_name":"MUELLER","airport":"ZRH","date":"2026-03-14"}`},
		{"listFlights", "GET", "/v1/flights?airport=ZRH&direction=D&date=2026-03-14", ""},
		{"getFlight", "GET", "/v1/flights/ZRH/D/LX/100/2026-03-14", ""},
		{"postMessages", "POST", "/v1/messages", `{"messages":[{"id":"1","text":"BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/0724100003001\r\n.W/K/A\r\nENDBSM\r\n"},{"text":"BSM\r\n.V/1LZR\r\n.F/LX100/14MAR/JFK\r\n.N/0724100003001\r\nENDBSM\r\n"}]}`},
		{"validateMessages", "POST", "/v1/messages/validate", `{"messages":[{"text":"BSM\r\n.V/1LZR\r\n.F/LX100/2026-03-14/JFK\r\nENDBSM\r\n"}]}`},
		{"getAirport", "GET", "/v1/airports/ZRH", ""},
		{"listRejects", "GET", "/v1/rejects", ""},
		{"summarizeRejects", "GET", "/v1/rejects/summary", ""},
		{"resubmitReject", "POST", "/v1/rejects/ceb68f05b352e18cce77/resubmit", `{"text":"BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/0724100009001\r\n.P/1KELLER/PIA\r\nENDBSM\r\n"}`},
		{"dismissReject", "POST", "/v1/rejects/6783dc54c8abb1bd2c21/dismiss", `{"reason":"A test of the sender"}`},
		{"getReject", "GET", "/v1/rejects/ceb68f05b352e18cce77", ""},
		{"resubmitRejects", "POST", "/v1/rejects/resubmit", `{"airport":"ZRH","code":"SVCPRB023","dry_run":true}`},
		{"dismissRejects", "POST", "/v1/rejects/dismiss", `{"ids":["6783dc54c8abb1bd2c21"],"reason":"A test of the sender"}`},
		{"getRejectJob", "GET", "/v1/rejects/jobs/JOB1", ""},
		{"getStatus", "GET", "/v1/status", ""},
		{"listFeeds", "GET", "/v1/feeds?hours=2", ""},
		{"beginSession", "POST", "/v1/session", ""},
		{"getSession", "GET", "/v1/session", ""},
		{"createWebhook", "POST", "/v1/webhooks", `{"url":"https://receiver.example/bags","filter":{"airline":"LX"},"description":"Lost and found"}`},
		{"listWebhooks", "GET", "/v1/webhooks", ""},
		{"getWebhook", "GET", "/v1/webhooks/wh_1", ""},
		{"changeWebhook", "PATCH", "/v1/webhooks/wh_1", `{"paused":true,"filter":{"flight":"ZRH/D/LX/100/2026-03-14"}}`},
		{"rewindWebhook", "POST", "/v1/webhooks/wh_1/rewind", `{"since":"2026-03-14T07:00:00Z"}`},
		{"testWebhook", "POST", "/v1/webhooks/wh_1/test", ""},
		{"listDeliveries", "GET", "/v1/webhooks/wh_1/deliveries", ""},
		{"rotateWebhookSecret", "POST", "/v1/webhooks/wh_1/secret", ""},
		{"getChanges", "GET", s.changesOf(t, "plate=0724100001&fields=list"), ""},
		{"delayedbags", "POST", fmt.Sprintf(query, "delayedbags", ""), report()},
		{"delayedbags-400", "POST", fmt.Sprintf(query, "delayedbags", ""), strings.Replace(report(), `\"AirlineVendorID\":\"LX\"`, `\"AirlineVendorID\":\"ZZ\"`, 1)},
		{"processbim", "POST", fmt.Sprintf(query, "processbim", ""), `{"bim_message":"BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/0724100001001\r\n.W/K/A\r\nENDBSM\r\n"}`},
		{"processbim-400", "POST", fmt.Sprintf(query, "processbim", ""), `{"bim_message":"BSM\r\n.V/1LZR\r\n.F/LX100/14MAR/QQQ\r\n.N/0724100001001\r\n.W/K/A\r\nENDBSM\r\n"}`},
	} {
		w := s.ask(tc.method, tc.target, "demo", tc.body)
		path := filepath.Join("examples", tc.file+".json")
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, w.Body.Bytes(), "", "  "); err != nil {
			t.Fatalf("%s: %s", tc.file, w.Body)
		}
		pretty.WriteByte('\n')
		if *update {
			if err := os.WriteFile(path, pretty.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(want, pretty.Bytes()) {
			t.Errorf("%s: the service answers\n%s\nthe example is\n%s (go test -update writes it anew)", tc.file, pretty.Bytes(), want)
		}
	}
}

// circumstances set up the conditions that a code needs besides its request.
var circumstances = map[string]func(s *stack){
	"SVCSRV0016": func(s *stack) { s.index.away = true },
	"SVCSRV001":  func(s *stack) { s.index.away = true },
	"SVCSRV008":  func(s *stack) { s.index.broken = true },
}

// elsewhere are the codes that other tests cover.
var elsewhere = []string{"SVCSRV003", "SVCSRV007", "SVCPRB010"}

func TestEveryExampleOfTheRegisterDrawsItsCode(t *testing.T) {
	for _, e := range fault.Register() {
		if slices.Contains(elsewhere, e.Code) || e.When == "the downstream system says so" {
			continue
		}
		s := newStack(t)
		s.send(t, journey()...)
		switch prepare := circumstances[e.Code]; {
		case strings.Contains(e.Text, "not known"):
			s.simulator.Misbehave(wtr.Misbehaviour{Fault: wtr.CutAfter}, 1)
			e.Example.Body = report()
		case prepare != nil:
			prepare(s)
		}
		w := s.ask(e.Example.Method, e.Example.Target, e.Example.Key, e.Example.Body)
		var got struct {
			Success  bool
			Errors   []map[string]string
			Warnings []map[string]string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %s", e.Code, w.Body)
		}
		kind, list := "error", got.Errors
		if strings.HasPrefix(e.When, "a warning") {
			kind, list = "warning", got.Warnings
		}
		if w.Code != e.Status || len(list) != 1 || list[0][kind+"_code"] != e.Code || !strings.HasPrefix(list[0][kind+"_description"], e.Text) || got.Success != (kind == "warning") {
			t.Errorf("%s %v: %s %s: %d %s", e.Code, e.Operations, e.Example.Method, e.Example.Target, w.Code, w.Body)
		}
	}
}

func TestCodeListsHoldEveryCode(t *testing.T) {
	w := newStack(t).ask("GET", "/codes.json", "", "")
	var lists struct {
		Errors, Warnings, Successes, Events []struct {
			Code, Description string
			Sets              []string
		}
		LoadingStatuses []string `json:"loading_statuses"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &lists); err != nil || w.Code != 200 {
		t.Fatalf("%d %v", w.Code, err)
	}
	if n := len(lists.Errors) + len(lists.Warnings); n != len(fault.Register()) {
		t.Errorf("%d codes, the register has %d", n, len(fault.Register()))
	}
	if len(lists.Successes) != 1 || lists.Successes[0].Code != "SVCPRB037" || len(lists.Warnings) != 2 ||
		lists.Warnings[0].Code != "SVCPRB023" || lists.Warnings[1].Code != "SVCPRB025" {
		t.Errorf("%+v %+v", lists.Successes, lists.Warnings)
	}
	if want := []string{"Not Loaded", "Loaded in Container", "Loaded on Aircraft", "Offloaded", "Delayed"}; !slices.Equal(lists.LoadingStatuses, want) {
		t.Errorf("loading statuses %q", lists.LoadingStatuses)
	}
	for _, e := range lists.Events {
		if e.Code == "" || e.Description == "" {
			t.Errorf("event %+v", e)
		}
	}
}

func TestDocsAreServedFromTheServiceItself(t *testing.T) {
	s := newStack(t)
	for path, kind := range map[string]string{ // what a script is called depends on the machine
		"/docs": "text/html", "/docs/": "text/html", "/docs/swagger-ui.css": "text/css", "/docs/swagger-ui-bundle.js": "/javascript", "/docs/favicon-32x32.png": "image/png",
	} {
		w := s.ask("GET", path, "", "")
		if w.Code != 200 || !strings.Contains(w.Header().Get("Content-Type"), kind) || w.Body.Len() == 0 || w.Header().Get("X-Request-Id") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		if kind == "text/html" && (strings.Contains(w.Body.String(), `src="http`) || strings.Contains(w.Body.String(), `href="http`) || !strings.Contains(w.Body.String(), "/openapi.json")) {
			t.Errorf("%s loads something from elsewhere: %s", path, w.Body)
		}
	}
	if w := s.ask("GET", "/docs/none", "", ""); w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
