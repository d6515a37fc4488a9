package apidoc

import (
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
)

// codeList is the document of all codes.
type codeList struct {
	Errors          []fault.Entry `json:"errors"`
	Warnings        []fault.Entry `json:"warnings"`
	Successes       []code        `json:"successes"`
	Events          []code        `json:"events"`
	LoadingStatuses []string      `json:"loading_statuses"`
}

// code is the code of a success or of an event.
type code struct {
	Code        string   `json:"code"`
	Description string   `json:"description"`
	Sets        []string `json:"sets,omitempty"` // loading statuses that the event sets
}

// codesDocument returns the document of all codes: errors, warnings, successes, events, loading
// statuses.
func codesDocument() []byte {
	list := codeList{Successes: []code{{Code: fault.ProcessedCode, Description: fault.ProcessedText}}}
	for _, e := range fault.Register() {
		if isWarning(e) {
			list.Warnings = append(list.Warnings, e)
		} else {
			list.Errors = append(list.Errors, e)
		}
	}
	for s := bag.NotLoaded; s <= bag.Delayed; s++ {
		list.LoadingStatuses = append(list.LoadingStatuses, s.String())
	}
	for _, e := range bag.EventCodes() {
		c := code{Code: e.Code, Description: e.Description}
		if e.Sets != bag.NoStatus {
			c.Sets = []string{e.Sets.String()}
		}
		list.Events = append(list.Events, c)
	}
	return strictjson.Encode(list)
}
