package web

import (
	"net/http"
	"slices"
	"strconv"

	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
)

// AppendFaults appends the JSON object of an error answer.
func AppendFaults(dst []byte, ids ...fault.ID) []byte {
	dst = append(dst, `{"success":false,"errors":[`...)
	for _, id := range ids {
		dst = AppendFault(strictjson.AppendComma(dst), id.Code, id.Text)
	}
	return append(dst, `]}`...)
}

// AppendFault appends the JSON object of one fault in an error answer.
func AppendFault(dst []byte, code, text string) []byte {
	dst = strictjson.AppendText(append(dst, '{'), "error_code", code)
	return append(strictjson.AppendText(dst, "error_description", text), '}')
}

// Header values that answers share. They must not be changed.
var (
	jsonType   = []string{"application/json; charset=utf-8"}
	scriptType = []string{"application/javascript; charset=utf-8"}
	nosniff    = []string{"nosniff"}
	noStore    = []string{"no-store"}
	oneSecond  = []string{"1"}
)

// write writes an answer with its Content-Type. If callback is not "", the answer is a script.
func write(w http.ResponseWriter, a Answer, callback string) {
	w.Header()["Content-Type"] = jsonType
	if callback != "" {
		w.Header()["Content-Type"] = scriptType
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
			return // the caller has hung up
		}
	}
	_, _ = w.Write(a.Body) // an error means that the caller has hung up
}

// asScript returns the answer as a script that calls the function callback with it. A large answer
// is not copied.
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
