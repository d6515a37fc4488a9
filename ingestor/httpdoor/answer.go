package httpdoor

import (
	"bytes"
	"errors"
	"net/http"

	"bagtrail/ingestor"
	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
)

// answer returns the answer to a message (interface 2.6). A copy gets the same answer as the first
// one (rules §3). at is the offset of the message in the body, in bytes.
func answer(c *web.Call, outcome ingestor.Outcome, at int, details bool) web.Answer {
	if outcome.Verdict == ingestor.Rejected {
		dst := append(c.Buffer, `{"success":false`...)
		dst = appendList(dst, "warnings", "warning", outcome.Warnings, at, details)
		dst = appendList(dst, "errors", "error", outcome.Errors, at, details)
		status := http.StatusBadRequest
		if outcome.Errors[0].Code == fault.TooLarge.Code {
			status = fault.TooLarge.Status
		}
		return web.Answer{Status: status, Body: append(dst, '}')}
	}
	dst := append(c.Buffer, `{"success":true,"success_code":"`+fault.ProcessedCode+`","success_message":"`+fault.ProcessedText+`"`...)
	dst = appendList(dst, "warnings", "warning", outcome.Warnings, at, details)
	return c.OK(append(dst, '}'))
}

// missing returns the answer to a body without a message. With details, the answer has the offset
// and the expected text of err.
func missing(c *web.Call, err error, details bool) web.Answer {
	a := c.Refuse(fault.BIMMissing)
	var why *strictjson.Fault
	if details && errors.As(err, &why) {
		a.Body = bytes.TrimSuffix(a.Body, []byte("}]}"))
		a.Body = strictjson.AppendNumber(a.Body, "offset", why.Offset)
		a.Body = strictjson.AppendText(a.Body, "expected", why.Expected)
		a.Body = append(a.Body, "}]}"...)
	}
	return a
}

// appendList appends a member with a list of diagnostics, unless the list is empty. Each diagnostic
// has the two members of the interface and, with details, all others (rules §1). The diagnostic of
// a missing message has its offset too.
func appendList(dst []byte, name, kind string, list []ingestor.Diagnostic, at int, details bool) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(strictjson.AppendName(dst, name), '[')
	for _, d := range list {
		dst = append(strictjson.AppendComma(dst), '{')
		dst = strictjson.AppendText(dst, kind+"_code", d.Code)
		dst = strictjson.AppendText(dst, kind+"_description", d.Description)
		if details {
			dst = d.AppendDetails(dst)
			if d.Code == fault.BIMMissing.Code {
				dst = strictjson.AppendNumber(dst, "offset", at)
			}
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
