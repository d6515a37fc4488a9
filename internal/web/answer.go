package web

import (
	"net/http"
	"slices"
	"strconv"

	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
)

// appendFaults appends the JSON object of an error answer.
func appendFaults(dst []byte, ids ...fault.ID) []byte {
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

const jsonType = "application/json; charset=utf-8"

// write writes an answer with its Content-Type. If callback is not "", the answer is a script that
// calls this function with it.
func write(w http.ResponseWriter, a Answer, callback string) {
	w.Header().Set("Content-Type", jsonType)
	if callback != "" {
		w.Header().Set("Content-Type", "application/javascript; charset=utf-8")
		a.parts = slices.Concat([][]byte{[]byte("/**/" + callback + "(")}, a.parts, [][]byte{a.Body})
		a.Body = []byte(");")
	}
	writeParts(w, a)
}

// writeParts writes the status and the bytes of an answer.
func writeParts(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Length", strconv.Itoa(a.length()))
	w.WriteHeader(a.Status)
	for _, part := range a.parts {
		if _, err := w.Write(part); err != nil {
			return // the caller has hung up
		}
	}
	_, _ = w.Write(a.Body) // an error means that the caller has hung up
}
