package web

import (
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
	Got       string // what was sent
	Expected  string
}

// escapePointer escapes a name for a JSON pointer (RFC 6901).
var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer returns the JSON pointer of a member of an object.
func Pointer(name string) string { return "/" + escapePointer.Replace(name) }

// maxGot is the number of bytes after which Got is cut off in an answer.
const maxGot = 100

// Invalid answers 400 with all faults of a request.
func (c *Call) Invalid(errors []RequestError) Answer {
	detail := "1 fault"
	if n := len(errors); n != 1 {
		detail = strconv.Itoa(n) + " faults"
	}
	return c.problem(fault.InvalidRequest, detail, errors)
}

// Problem answers with problem details (RFC 9457).
func (c *Call) Problem(id fault.ProblemID, detail string) Answer { return c.problem(id, detail, nil) }

// Reset answers that a cursor cannot be followed any more, with the reason and a cursor from now on.
func (c *Call) Reset(reason, cursor string) Answer {
	a := c.Problem(fault.Reset, "")
	a.Body = strictjson.AppendMember(a.Body[:len(a.Body)-1], "reason", reason)
	a.Body = append(strictjson.AppendMember(a.Body, "cursor", cursor), '}')
	return a
}

func (c *Call) problem(id fault.ProblemID, detail string, errors []RequestError) Answer {
	p := id.Problem()
	dst := append(c.Buffer, `{"type":"`+ProblemPages...)
	dst = append(dst, p.Name...)
	dst = append(dst, `","title":`...)
	dst = strictjson.AppendString(dst, p.Title)
	dst = append(dst, `,"status":`...)
	dst = strconv.AppendInt(dst, int64(p.Status), 10)
	dst = strictjson.AppendMember(dst, "detail", detail)
	if p.Code != fault.None {
		dst = strictjson.AppendMember(dst, "code", p.Code.Entry().Code)
	}
	dst = strictjson.AppendMember(dst, "request_id", c.RequestID)
	for i, e := range errors {
		if i == 0 {
			dst = append(dst, `,"errors":[{`...)
		} else {
			dst = append(dst, `,{`...)
		}
		dst = e.append(dst)
	}
	if len(errors) > 0 {
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
	dst = append(append(append(dst, '"'), name...), `":`...)
	dst = strictjson.AppendString(dst, value)
	dst = strictjson.AppendMember(dst, "code", e.Cause.Name)
	dst = strictjson.AppendMember(dst, "detail", e.Cause.Detail)
	got := e.Got
	if len(got) > maxGot {
		got = strings.ToValidUTF8(got[:maxGot], "") + "…"
	}
	dst = strictjson.AppendMember(dst, "got", got)
	dst = strictjson.AppendMember(dst, "expected", e.Expected)
	return append(dst, '}')
}
