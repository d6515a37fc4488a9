package web

import (
	"net/http"
	"slices"
	"strconv"

	"bagtrail/internal/apikey"
	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
)

// AppendFaults appends the JSON object of an error answer.
func AppendFaults(dst []byte, ids ...fault.ID) []byte {
	dst = append(dst, `{"success":false,"errors":[`...)
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		e := id.Entry()
		dst = append(dst, `{"error_code":`...)
		dst = strictjson.AppendString(dst, e.Code)
		dst = append(dst, `,"error_description":`...)
		dst = strictjson.AppendString(dst, e.Text)
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}

// Header values that answers share; nobody changes them.
var (
	jsonType   = []string{"application/json; charset=utf-8"}
	scriptType = []string{"application/javascript; charset=utf-8"}
	nosniff    = []string{"nosniff"}
	noStore    = []string{"no-store"}
	oneSecond  = []string{"1"}
)

// write writes an answer, as a script where callback is not "". Headers come first, so they are set in one place.
func write(w http.ResponseWriter, a Answer, callback string) {
	h := w.Header()
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = noStore
	if a.RetryAfter {
		h["Retry-After"] = oneSecond
	}
	h["Content-Type"] = jsonType
	if callback != "" {
		h["Content-Type"] = scriptType
		a = asScript(a, callback)
	}
	writeParts(w, a)
}

// writeParts writes the status and the bytes of an answer.
func writeParts(w http.ResponseWriter, a Answer) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(a.length())}
	w.WriteHeader(a.Status)
	for _, part := range a.parts {
		if _, err := w.Write(part); err != nil {
			return // a caller who is gone is no fault of ours
		}
	}
	_, _ = w.Write(a.Body) // if the caller is gone, nobody reads an error
}

// asScript makes an answer a script that calls a function with it. A large answer is not copied.
func asScript(a Answer, callback string) Answer {
	begin, end := "/**/"+callback+"(", ");"
	if a.length() > smallAnswer {
		a.parts = slices.Concat([][]byte{[]byte(begin)}, a.parts, [][]byte{a.Body})
		a.Body = []byte(end)
		return a
	}
	script := make([]byte, 0, len(begin)+len(a.Body)+len(end))
	a.Body = append(append(append(script, begin...), a.Body...), end...)
	return a
}

// writeAllowance tells the caller what the rate limit leaves.
func writeAllowance(h http.Header, left apikey.Allowance) {
	if !left.Limited {
		return
	}
	h.Set("RateLimit-Limit", strconv.Itoa(left.Limit))
	h.Set("RateLimit-Remaining", strconv.Itoa(left.Remaining))
	h.Set("RateLimit-Reset", strconv.Itoa(left.Reset))
	if !left.Allowed {
		h.Set("Retry-After", strconv.Itoa(left.RetryAfter))
	}
}
