// Package apidoc serves the documents of the interface: /openapi.json for HTTP, /asyncapi.json for
// Kafka, /codes.json, and /docs for people. The page at / links to them.
//
// Paths, parameters and schemas are written by hand in openapi.json. The statuses, codes and texts of
// answers come from the registers of package fault. What an operation of /v1 may answer is listed in
// v1.go. The tests, and .ci/run contract, compare the documents with the running handlers.
package apidoc

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
)

// openAPISkeleton is the OpenAPI document without its version, the responses, the security of the
// operations of /v1, and the members that BagEvent shares with Event, and MessageError and Warning
// with Diagnostic.
//
//go:embed openapi.json
var openAPISkeleton []byte

// The day of the examples in the embedded documents, in requests and in messages.
const (
	exampleDate = "2026-03-14"
	exampleDay  = "14MAR"
	messageDay  = "02Jan" // layout of a day in a message, before it is set in capitals
)

// object is a JSON object.
type object = map[string]any

// Pages returns the pages of the interface. version is the version of the service. When the OpenAPI
// document is served, its examples use the current day of clock; so does the page at the root.
func Pages(version string, clock func() time.Time, home Home) []web.Page {
	return []web.Page{
		{Path: "/", Handler: home.handler(clock)},
		{Path: "/openapi.json", Handler: serveDated(openAPIDocument(version), clock)},
		{Path: "/asyncapi.json", Handler: serveFixed(asyncAPIDocument(version))},
		{Path: "/codes.json", Handler: serveFixed(codesDocument())},
		{Path: "/docs/", Handler: withProblems(docs())},
	}
}

// serveFixed serves a JSON document.
func serveFixed(document []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { write(w, "application/json", document) })
}

// serveDated serves a JSON document and sets the day of its examples to today in UTC, so that they
// work if a reader tries them. All answers of a day share their text, so that callers who do not
// read hold no copies.
func serveDated(document []byte, clock func() time.Time) http.Handler {
	type dated struct {
		day  string
		text []byte
	}
	var last atomic.Pointer[dated]
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		today := clock().UTC()
		now := last.Load()
		if day := today.Format(time.DateOnly); now == nil || now.day != day {
			text := bytes.ReplaceAll(document, []byte(exampleDate), []byte(day))
			text = bytes.ReplaceAll(text, []byte(exampleDay), []byte(strings.ToUpper(today.Format(messageDay))))
			now = &dated{day, text}
			last.Store(now)
		}
		write(w, "application/json", now.text)
	})
}

// write writes text as the whole answer.
func write(w http.ResponseWriter, contentType string, text []byte) {
	w.Header().Set("Content-Type", contentType+"; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // an error means that the caller has hung up
}

// openAPI is an OpenAPI document.
type openAPI struct {
	OpenAPI    string                       `json:"openapi"`
	Info       object                       `json:"info"`
	Servers    []object                     `json:"servers"`
	Security   []object                     `json:"security"`
	Tags       []object                     `json:"tags"`
	Paths      map[string]map[string]object `json:"paths"`
	Components object                       `json:"components"`
}

// check panics if there is an error. All documents are embedded, so each error is a defect of the
// program, which every start would show.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// decode decodes JSON. It panics if the text is malformed or has an unknown member.
func decode(text []byte, to any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	check(decoder.Decode(to))
}

func openAPIDocument(version string) []byte {
	var document openAPI
	decode(openAPISkeleton, &document)
	document.copyMembers("Event", "BagEvent", "event_code", "event_desc", "local_date_time", "utc_date_time")
	document.copyMembers("Diagnostic", "MessageError", "code", "description")
	document.copyMembers("Diagnostic", "Warning", "code", "description")
	document.Info["version"] = version
	for _, op := range operation.All() {
		described := document.Paths[op.Template][strings.ToLower(op.Method)]
		if described == nil {
			panic("the OpenAPI skeleton does not describe " + op.Method + " " + op.Template)
		}
		if !op.V1() {
			described["responses"] = responses(op)
			continue
		}
		described["responses"] = responsesV1(op)
		security := []object{{"api_key": []string{}}, {"x_api_key": []string{}}, {"bearer": []string{}}}
		if op.ID != "beginSession" { // a session cannot make another one
			security = append(security, object{"session": []string{}})
		}
		described["security"] = security
	}
	return strictjson.Encode(document)
}

// entries returns the entries of the register for the operation with a right, by status.
func entries(right operation.Right) map[int][]fault.Entry {
	byStatus := map[int][]fault.Entry{}
	for _, e := range fault.Register() {
		if e.Gives(right) {
			byStatus[e.Status] = append(byStatus[e.Status], e)
		}
	}
	return byStatus
}
