package httpdoor

import (
	"net/http"
	"strconv"

	"bagtrail/ingestor"
	"bagtrail/internal/fault"
	"bagtrail/internal/jsontext"
	"bagtrail/internal/web"
)

// answer writes what became of a message (interface 2.6). A copy gets the same answer as the first one (rules §3).
func answer(c *web.Call, outcome ingestor.Outcome, details bool) web.Answer {
	if outcome.Verdict == ingestor.Rejected {
		dst := append(c.Buffer, `{"success":false`...)
		dst = appendList(dst, "warnings", "warning", outcome.Warnings, details)
		dst = appendList(dst, "errors", "error", outcome.Errors, details)
		return web.Answer{Status: http.StatusBadRequest, Body: append(dst, '}')}
	}
	dst := append(c.Buffer, `{"success":true,"success_code":"`+fault.ProcessedCode+`","success_message":"`+fault.ProcessedText+`"`...)
	dst = appendList(dst, "warnings", "warning", outcome.Warnings, details)
	return c.OK(append(dst, '}'))
}

// appendList appends a member that lists diagnostics, unless there are none. Each has the two members of the interface and,
// with details, the rest of what is known (rules §1).
func appendList(dst []byte, name, kind string, list []ingestor.Diagnostic, details bool) []byte {
	for i, d := range list {
		if i == 0 {
			dst = append(dst, `,"`+name+`":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"`+kind+`_code":`...)
		dst = jsontext.AppendString(dst, d.Code)
		dst = append(dst, `,"`+kind+`_description":`...)
		dst = jsontext.AppendString(dst, d.Description)
		if details {
			dst = appendPlace(dst, d)
		}
		dst = append(dst, '}')
	}
	if len(list) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

func appendPlace(dst []byte, d ingestor.Diagnostic) []byte {
	dst = append(dst, `,"line":`...)
	dst = strconv.AppendInt(dst, int64(d.Line), 10)
	dst = append(dst, `,"column":`...)
	dst = strconv.AppendInt(dst, int64(d.Column), 10)
	dst = append(dst, `,"element":`...)
	dst = jsontext.AppendString(dst, d.Element)
	dst = append(dst, `,"value":`...)
	dst = jsontext.AppendString(dst, d.Value)
	dst = append(dst, `,"expected":`...)
	dst = jsontext.AppendString(dst, d.Expected)
	return dst
}
