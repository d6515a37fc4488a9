// Package fault is the register of error codes: every code that an answer of the five operations can carry, declared
// once, with its operations, HTTP status, text, and a request that draws it.
//
// The numbers are those of the interface, and SVCSRV002 to SVCSRV009 of rules §4; none is ever given another meaning.
// The package decides nothing: handlers choose the code, package web writes the answer.
package fault

import (
	"net/http"
	"slices"
	"strings"

	"bagtrail/internal/operation"
	"bagtrail/internal/strictjson"
	"bagtrail/parser"
)

// Entry is one line of the register.
type Entry struct {
	Code       string
	Operations []operation.Right // that answer with it; empty where no operation was reached
	Status     int               // HTTP status of the answer
	Text       string            // error_description; for a fault in a message, its beginning
	When       string            // what must hold beside the request; "" where the request alone draws the code
	Example    Example
}

// Gives reports whether the operation can answer with the entry.
func (e *Entry) Gives(op operation.Right) bool { return slices.Contains(e.Operations, op) }

// Example is a request that draws a code. The key "demo" has every right, "other-airline" none for the airline and
// airports of the example, "no-customer" belongs to no customer; "nobody" is unknown.
type Example struct {
	Method string
	Target string // path and query
	Key    string // api_key header; "" where it is missing
	Body   string // JSON
}

// The code and text of every message that process BIM has taken.
const (
	ProcessedCode = "SVCPRB037"
	ProcessedText = "Message processed successfully"
)

// ID names one entry of the register that a handler gives.
type ID uint8

// Entry returns the entry. It is shared: callers must not change it.
func (id ID) Entry() *Entry { return &register[id] }

// Register returns all entries: those of handlers, then those of faults in a message, which the parser declares. A code
// stands there once for each status that it is given with.
func Register() []Entry {
	all := slices.Clone(register[1:])
	for _, d := range parser.Codes() {
		if d.Code == parser.MissingText { // BIMMissing, which the door gives too
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
