// Package fault is the register of error codes. It declares every code of the five operations, with
// its operations, HTTP status, text, and a request that causes it. It also declares the problems of
// /v1.
//
// The codes come from the interface, and SVCSRV002 to SVCSRV009 from rules §4. The meaning of a
// code never changes. Handlers choose the code, and package web writes the answer.
package fault

import (
	"net/http"
	"slices"
	"strings"

	"bagtrail/internal/operation"
	"bagtrail/internal/strictjson"
	"bagtrail/parser"
)

// Entry is one line of the register, and of /codes.json.
type Entry struct {
	Code       string            `json:"code"`
	Operations []operation.Right `json:"operations,omitempty"` // that give the code; empty if it is given without an operation
	Status     int               `json:"status"`               // HTTP status of the answer
	Text       string            `json:"description"`          // error_description; for a fault in a message, its beginning
	When       string            `json:"when,omitempty"`       // the condition besides the request; "" if the request alone causes the code
	Example    Example           `json:"example,omitzero"`
}

// Gives reports whether the operation can give the code.
func (e *Entry) Gives(op operation.Right) bool { return slices.Contains(e.Operations, op) }

// Example is a request that causes a code. The key "demo" has every right, "other-airline" does not
// cover the airline and airports of the example, "no-customer" belongs to no customer, and "nobody"
// is unknown.
type Example struct {
	Method string `json:"method"`
	Target string `json:"target"`            // path and query
	Key    string `json:"api_key,omitempty"` // header api_key; "" if it is missing
	Body   string `json:"body,omitempty"`    // JSON
}

// The code and the text for a message that process BIM has accepted.
const (
	ProcessedCode = "SVCPRB037"
	ProcessedText = "Message processed successfully"
)

// ID is an entry that this package names. It is shared: callers must not change it.
type ID = *Entry

// Register returns all entries: first those with an ID, then the faults in messages, which the
// parser declares. A code with several statuses has an entry for each status.
func Register() []Entry {
	var all []Entry
	for _, id := range register {
		all = append(all, *id)
	}
	for _, d := range parser.Codes() {
		if d.Code == parser.MissingText { // its code is that of BIMMissing
			continue
		}
		e := Entry{Code: d.Code.String(), Operations: forBIM, Status: http.StatusBadRequest, Text: d.Text}
		switch {
		case d.Warning:
			e.Status, e.When = http.StatusOK, "a warning: the message is processed"
		case d.Example == "":
			e.When = "never: another code says the same"
		}
		if d.Example != "" {
			body := append([]byte(`{"bim_message":`), strictjson.AppendString(nil, strings.Replace(d.Example, "^", "", 1))...)
			e.Example = post(bimPath, "demo", string(append(body, '}')))
		}
		all = append(all, e)
	}
	return all
}
