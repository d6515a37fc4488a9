package web

import (
	"cmp"
	"strconv"
	"strings"

	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
)

// RequestError is one fault of a request to /v1, in a parameter or in a member of the body.
type RequestError struct {
	Parameter string // name of the parameter; "" for a fault of the body
	Pointer   string // JSON pointer into the body, if Parameter is ""
	Cause     fault.Cause
	Got       string // the value that was sent
	Expected  string
}

// escapePointer escapes a name for a JSON pointer (RFC 6901).
var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer returns the JSON pointer of a member of an object.
func Pointer(name string) string { return "/" + escapePointer.Replace(name) }

// maxGot is the number of bytes after which Got is cut off in an answer.
const maxGot = 100

// maxFaults is how many faults of a request an answer has at most. A body of a few MiB can have
// millions.
const maxFaults = 1000

// RequestErrors collects the faults of a request.
type RequestErrors []RequestError

// Add adds a fault. It keeps one more than an answer has, so that the answer says that there are more.
func (list *RequestErrors) Add(e RequestError) {
	if len(*list) <= maxFaults {
		*list = append(*list, e)
	}
}

// Invalid answers 400 with the faults of a request: all of them, or the first maxFaults.
func (c *Call) Invalid(errors RequestErrors) Answer {
	detail := "1 fault"
	if n := len(errors); n > maxFaults {
		detail = "More than " + strconv.Itoa(maxFaults) + " faults; these are the first"
		errors = errors[:maxFaults]
	} else if n != 1 {
		detail = strconv.Itoa(n) + " faults"
	}
	return c.problem(fault.InvalidRequest, detail, errors)
}

// Problem answers with problem details (RFC 9457). If detail is empty, it is what the caller can do.
func (c *Call) Problem(p *fault.Problem, detail string) Answer { return c.problem(p, detail, nil) }

// Reset answers that a cursor cannot be followed any more, with the reason and the cursor of now.
func (c *Call) Reset(reason, cursor string) Answer {
	a := c.Problem(fault.Reset, "")
	a.Body = strictjson.AppendMember(a.Body[:len(a.Body)-1], "reason", reason)
	a.Body = append(strictjson.AppendMember(a.Body, "cursor", cursor), '}')
	return a
}

func (c *Call) problem(p *fault.Problem, detail string, errors []RequestError) Answer {
	dst := strictjson.AppendText(append(c.Buffer, '{'), "type", ProblemPages+p.Name)
	dst = strictjson.AppendText(dst, "title", p.Title)
	dst = strictjson.AppendNumber(dst, "status", p.Status)
	dst = strictjson.AppendText(dst, "detail", cmp.Or(detail, p.Remedy))
	dst = strictjson.AppendMember(dst, "code", p.Code)
	dst = strictjson.AppendMember(dst, "request_id", c.requestID)
	if len(errors) > 0 {
		dst = append(dst, `,"errors":[`...)
		for _, e := range errors {
			dst = e.append(append(strictjson.AppendComma(dst), '{'))
		}
		dst = append(dst, ']')
	}
	return Answer{Status: p.Status, Body: append(dst, '}'), problem: true}
}

// append appends the members of a fault and the closing brace.
func (e RequestError) append(dst []byte) []byte {
	name, value := "parameter", e.Parameter
	if value == "" {
		name, value = "pointer", e.Pointer
	}
	dst = strictjson.AppendText(dst, name, value)
	dst = strictjson.AppendMember(dst, "code", e.Cause.Name)
	dst = strictjson.AppendMember(dst, "detail", e.Cause.Detail)
	got := e.Got
	if len(got) > maxGot {
		got = strings.ToValidUTF8(got[:maxGot], "") + "…"
	}
	if got != "" || (e.Cause == fault.Malformed || e.Cause == fault.BadCursor) && value != "" { // an empty value was sent
		dst = strictjson.AppendText(dst, "got", got)
	}
	dst = strictjson.AppendMember(dst, "expected", e.Expected)
	return append(dst, '}')
}
