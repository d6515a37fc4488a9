package wtr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"bagtrail/internal/strictjson"
)

// Reply is the reply of the downstream system: the record that it created, or errors.
type Reply struct {
	Reference string // station, airline, number of at least five digits: DENUS10031; "" if there are errors
	Station   string // airport that owns the record
	Errors    []Error
	Version   string // a JSON number
	NotFound  bool   // the HTTP status was 404
}

// Error is one error of the downstream system.
type Error struct {
	Code  string // 2004
	Value string // AIRLINE NOT FOUND
}

const replyRoot = "WTR_BagsCreateRS"

// ErrReply is returned for a reply that holds neither a record nor errors.
var ErrReply = errors.New("reply is not a WTR_BagsCreateRS")

// ReadReply reads a reply.
func ReadReply(document []byte) (Reply, error) {
	root := node(document).member(replyRoot)
	if root == nil {
		return Reply{}, ErrReply
	}
	if record := root.member("RecordID", "RecordReference"); record != nil {
		return readRecord(record)
	}
	reply := Reply{Version: "0.1"}
	if version := root.member("Version"); version.isNumber() {
		reply.Version = string(version)
	}
	for _, e := range root.member("Errors", "Error").list() {
		found := Error{Code: e.member("Code").text(), Value: e.member("value").text()}
		if text := e.text(); text != "" { // older form
			found.Value = text
		}
		if found != (Error{}) { // an empty one says nothing
			reply.Errors = append(reply.Errors, found)
		}
	}
	if len(reply.Errors) == 0 {
		return Reply{}, ErrReply
	}
	return reply, nil
}

func readRecord(record node) (Reply, error) {
	station, airline := record.member("StationCode").text(), record.member("AirlineCode").text()
	number, err := strconv.Atoi(record.member("ReferenceNumber").text())
	if !isCode(station, 3, 3) || !isCode(airline, 2, 3) || err != nil || number < 1 || number > 999_999 {
		return Reply{}, fmt.Errorf("%w: its RecordReference is faulty", ErrReply)
	}
	return Reply{Reference: fmt.Sprintf("%s%s%05d", station, airline, number), Station: station}, nil
}

// isCode reports whether s is shortest to longest capitals and digits.
func isCode(s string, shortest, longest int) bool {
	return len(s) >= shortest && len(s) <= longest &&
		strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// Append appends the errors as interface 4.4 has them:
// {"Errors":{"Error":[{"value":…,"Code":…}]},"Version":0.1}.
func (r *Reply) Append(dst []byte) []byte {
	dst = append(dst, `{"Errors":{"Error":[`...)
	for _, e := range r.Errors {
		dst = strictjson.AppendText(append(strictjson.AppendComma(dst), '{'), "value", e.Value)
		dst = strictjson.AppendText(dst, "Code", e.Code)
		dst = append(dst, '}')
	}
	dst = append(dst, `]},"Version":`...)
	dst = append(dst, r.Version...)
	return append(dst, '}')
}
