package apidoc

import (
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/strictjson"
)

// codeList is the document of all codes.
type codeList struct {
	Errors          []errorCode   `json:"errors"`
	Warnings        []errorCode   `json:"warnings"`
	Successes       []successCode `json:"successes"`
	Events          []eventCode   `json:"events"`
	LoadingStatuses []string      `json:"loading_statuses"`
}

type errorCode struct {
	Code        string            `json:"code"`
	Status      int               `json:"status"`
	Description string            `json:"description"`
	Operations  []operation.Right `json:"operations,omitempty"`
	When        string            `json:"when,omitempty"`
	Example     *request          `json:"example,omitempty"`
}

type request struct {
	Method string `json:"method"`
	Target string `json:"target"`
	APIKey string `json:"api_key,omitempty"`
	Body   string `json:"body,omitempty"`
}

type successCode struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

type eventCode struct {
	Code        string   `json:"code"`
	Description string   `json:"description"`
	Sets        []string `json:"sets,omitempty"` // loading statuses that the event sets
}

// codesDocument returns the document of all codes: errors, warnings, successes, events, loading
// statuses.
func codesDocument() []byte {
	list := codeList{Successes: []successCode{{fault.ProcessedCode, fault.ProcessedText}}}
	for _, e := range fault.Register() {
		code := errorCode{Code: e.Code, Status: e.Status, Description: e.Text, Operations: e.Operations, When: e.When}
		if e.Example.Target != "" {
			code.Example = &request{e.Example.Method, e.Example.Target, e.Example.Key, e.Example.Body}
		}
		if isWarning(e) {
			list.Warnings = append(list.Warnings, code)
		} else {
			list.Errors = append(list.Errors, code)
		}
	}
	for s := bag.NotLoaded; s <= bag.Delayed; s++ {
		list.LoadingStatuses = append(list.LoadingStatuses, s.String())
	}
	for _, e := range bag.EventCodes() {
		code := eventCode{Code: e.Code, Description: e.Description}
		if e.Sets != bag.NoStatus {
			code.Sets = []string{e.Sets.String()}
		}
		list.Events = append(list.Events, code)
	}
	return strictjson.Encode(list)
}
