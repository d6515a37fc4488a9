package apidoc

import (
	"embed"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
)

// examples holds real answers of the service: NAME.json for a success, and NAME-STATUS.json for a
// failure whose text varies. A test compares them with the handlers and can write them again.
//
//go:embed examples/*.json
var examples embed.FS

// answers maps operation and status to the schema of the answer. Failures without an entry have the
// schema Failure.
var answers = map[operation.Right]map[int]string{
	operation.BagsForFlight:    {200: "FlightBags"},
	operation.History:          {200: "History"},
	operation.BagsForPassenger: {200: "PassengerBags"},
	operation.DelayedBags:      {200: "Report", 400: "RelayedFailure", 404: "RelayedFailure"},
	operation.ProcessBIM:       {200: "Processed", 400: "RejectedMessage", 413: "RejectedMessage"},
}

// content holds the content types of an answer. JSON is first, since client generators use the
// first one.
type content struct {
	JSON   object `json:"application/json"`
	Script object `json:"application/javascript,omitempty"`
}

func responses(op operation.Operation) object {
	right := op.Right
	schemas, known := answers[right]
	if !known {
		panic("describe answers: no right " + string(right))
	}
	byStatus := entries(right)
	if byStatus[http.StatusOK] == nil {
		byStatus[http.StatusOK] = nil // there is an answer 200, even if no code has it
	}
	all := object{}
	for status, given := range byStatus {
		forms := content{JSON: object{"schema": schema(schemas[status], given), "examples": shownExamples(right, status, given)}}
		if op.JSONP {
			forms.Script = object{"schema": object{"type": "string"}}
		}
		all[strconv.Itoa(status)] = object{"description": describe(status, given), "headers": headers(right, status), "content": forms}
	}
	return all
}

// schema returns the schema of an answer: the schema own, Failure, or one of both.
func schema(own string, given []fault.Entry) object {
	var options []any
	if own != "" {
		options = append(options, reference("schemas", own))
	}
	// These two schemas include Failure. It is not added again, so that an answer fits only one
	// schema. Warnings are not failures.
	covered := own == "RejectedMessage" || own == "RelayedFailure"
	if !covered && slices.ContainsFunc(given, func(e fault.Entry) bool { return !isWarning(e) }) {
		options = append(options, reference("schemas", "Failure"))
	}
	if len(options) == 1 {
		return options[0].(object)
	}
	return object{"oneOf": options}
}

func reference(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

// describe returns the description of a status: a text for 200, and its codes.
func describe(status int, given []fault.Entry) string {
	var lines []string
	if status == http.StatusOK {
		lines = append(lines, "Done, or nothing found.")
		if !slices.ContainsFunc(given, func(e fault.Entry) bool { return !isWarning(e) }) {
			lines[0] = "Done."
		}
	}
	for _, e := range given {
		line := "- `" + e.Code + "` " + e.Text
		if strings.HasPrefix(e.When, "never") {
			line += " (" + e.When + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func headers(right operation.Right, status int) object {
	all := object{
		"X-Request-Id":        reference("headers", "RequestId"),
		"RateLimit-Limit":     reference("headers", "RateLimitLimit"),
		"RateLimit-Remaining": reference("headers", "RateLimitRemaining"),
		"RateLimit-Reset":     reference("headers", "RateLimitReset"),
	}
	switch {
	case status == http.StatusServiceUnavailable && right == operation.DelayedBags:
		all["Retry-After"] = reference("headers", "RetryAfterUnlessUnknown")
	case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests:
		all["Retry-After"] = reference("headers", "RetryAfter")
	}
	return all
}

// shownExamples returns examples of answers with a status: the real answer, if there is one, and an
// answer for each code whose text does not vary.
func shownExamples(right operation.Right, status int, given []fault.Entry) object {
	shown := object{}
	file, name := string(right)+"-"+strconv.Itoa(status), "real"
	if status == http.StatusOK {
		file, name = string(right), "success"
	}
	if text, err := examples.ReadFile("examples/" + file + ".json"); err == nil {
		shown[name] = object{"value": json.RawMessage(text)}
	}
	for _, e := range given {
		if isWarning(e) || strings.HasPrefix(e.Code, "SVCPRB") && status == http.StatusBadRequest && e.Code != fault.BIMMissing.Code {
			continue // line and element follow its text
		}
		name := e.Code
		if _, there := shown[name]; there {
			name += "-2"
		}
		shown[name] = object{"summary": e.Text, "value": object{
			"success": false, "errors": []object{{"error_code": e.Code, "error_description": e.Text}},
		}}
	}
	return shown
}

// isWarning reports whether an entry is a warning in a successful answer.
func isWarning(e fault.Entry) bool { return strings.HasPrefix(e.When, "a warning") }
