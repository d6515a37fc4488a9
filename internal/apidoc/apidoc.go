// Package apidoc serves the documents of the interface: /openapi.json for HTTP, /asyncapi.json for
// Kafka, /codes.json, and /docs for people. The page at / links to them.
//
// Paths, parameters and schemas are written by hand in openapi.json and v1.json. The statuses,
// codes and texts of answers come from the registers of package fault. Which problems an operation of
// /v1 may answer is listed in v1.go. The tests, and .ci/run contract, compare the documents with the
// running handlers.
package apidoc

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/web"
)

// openAPISkeleton is the OpenAPI document without answers.
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
func Pages(version string, clock func() time.Time, home Home) ([]web.Page, error) {
	document, err := OpenAPI(version)
	if err != nil {
		return nil, err
	}
	codes, err := Codes()
	if err != nil {
		return nil, err
	}
	asyncAPI, err := AsyncAPI(version)
	if err != nil {
		return nil, err
	}
	problems, err := problemPages()
	if err != nil {
		return nil, fmt.Errorf("write the pages of problems: %w", err)
	}
	return []web.Page{
		{Path: "/", Handler: home.handler(clock)},
		{Path: "/openapi.json", Handler: serveDated(document, clock)},
		{Path: "/asyncapi.json", Handler: serveFixed(asyncAPI)},
		{Path: "/codes.json", Handler: serveFixed(codes)},
		{Path: "/docs/", Handler: withProblems(problems, docs("/openapi.json", "/docs/"))},
	}, nil
}

// serveFixed serves a JSON document.
func serveFixed(document []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { write(w, "application/json", document) })
}

// serveDated serves a JSON document and sets the day of its examples to today in UTC, so that they
// work if a reader tries them.
func serveDated(document []byte, clock func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		today := clock().UTC()
		document := bytes.ReplaceAll(document, []byte(exampleDate), []byte(today.Format(time.DateOnly)))
		document = bytes.ReplaceAll(document, []byte(exampleDay), []byte(strings.ToUpper(today.Format(messageDay))))
		write(w, "application/json", document)
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

// unmarshal decodes JSON and refuses unknown members.
func unmarshal(text []byte, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(to)
}

// OpenAPI returns the OpenAPI document.
func OpenAPI(version string) ([]byte, error) {
	var document openAPI
	if err := unmarshal(openAPISkeleton, &document); err != nil {
		return nil, fmt.Errorf("read the OpenAPI skeleton: %w", err)
	}
	if err := document.addV1(); err != nil {
		return nil, err
	}
	document.Info["version"] = version
	for _, op := range operation.All() {
		described := document.Paths[op.Template][strings.ToLower(op.Method)]
		if described == nil {
			return nil, fmt.Errorf("the OpenAPI skeleton does not describe %s %s", op.Method, op.Template)
		}
		describe := responses
		if op.V1 {
			describe = responsesV1
			described["security"] = []object{{"api_key": []string{}}, {"x_api_key": []string{}}, {"bearer": []string{}}}
			if op.ID != "beginSession" { // a session cannot make another one
				described["security"] = append(described["security"].([]object), object{"session": []string{}})
			}
		}
		answers, err := describe(op)
		if err != nil {
			return nil, err
		}
		described["responses"] = answers
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return text, nil
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
