package apidoc

import (
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/web"
)

// skeletonV1 is the part of the OpenAPI document for /v1, without responses.
//
//go:embed v1.json
var skeletonV1 []byte

// answersV1 maps the operations of /v1 to the schema of their answer, which is "" if they answer 204.
var answersV1 = map[string]string{
	"listBagsOfPlate": "Bags",
	"findBags":        "BagPage",
	"searchBags":      "BagPage",
	"listFlights":     "Flights",
	"getFlight":       "FlightPage",
	"getAirport":      "Airport",
	"getChanges":      "Changes",

	"listFeeds":        "FeedPage",
	"listRejects":      "RejectPage",
	"summarizeRejects": "RejectSummary",
	"getReject":        "Reject",
	"resubmitReject":   "Resubmission",
	"dismissReject":    "Dismissal",
	"resubmitRejects":  "RejectJob",
	"dismissRejects":   "RejectJob",
	"getRejectJob":     "RejectJob",

	"getStatus":    "Status",
	"beginSession": "Session",
	"getSession":   "Session",
	"endSession":   "",

	"createWebhook":       "Webhook",
	"listWebhooks":        "WebhookList",
	"getWebhook":          "Webhook",
	"changeWebhook":       "Webhook",
	"deleteWebhook":       "",
	"testWebhook":         "Delivery",
	"rewindWebhook":       "Webhook",
	"listDeliveries":      "Deliveries",
	"rotateWebhookSecret": "WebhookSecret",

	"postMessages":     "Verdicts",
	"validateMessages": "Verdicts",
}

// partV1 is the decoded skeletonV1.
type partV1 struct {
	Tags            []object                     `json:"tags"`
	Paths           map[string]map[string]object `json:"paths"`
	SecuritySchemes object                       `json:"securitySchemes"`
	Parameters      object                       `json:"parameters"`
	Headers         object                       `json:"headers"`
	Schemas         object                       `json:"schemas"`
}

// addV1 adds the part of /v1 to the document.
func (d *openAPI) addV1() {
	var part partV1
	decode(skeletonV1, &part)
	d.Tags = append(d.Tags, part.Tags...)
	maps.Copy(d.Paths, part.Paths)
	for name, added := range map[string]object{
		"securitySchemes": part.SecuritySchemes, "parameters": part.Parameters, "headers": part.Headers, "schemas": part.Schemas,
	} {
		maps.Copy(d.Components[name].(object), added)
	}
	d.copyEventMembers()
}

// copyEventMembers copies the members of the event of a history to the event of /v1, except the members
// that /v1 has in another form.
func (d *openAPI) copyEventMembers() {
	schemas := d.Components["schemas"].(object)
	event, bagEvent := schemas["Event"].(object), schemas["BagEvent"].(object)
	members := maps.Clone(event["properties"].(object))
	for _, other := range []string{"event_code", "event_desc", "local_date_time", "utc_date_time"} {
		delete(members, other)
	}
	maps.Copy(members, bagEvent["properties"].(object))
	bagEvent["properties"] = members
}

// responsesV1 returns the responses of an operation of /v1, by status.
func responsesV1(op operation.Operation) object {
	schema, known := answersV1[op.ID]
	if !known {
		panic("answersV1 does not have " + op.ID)
	}
	headers := object{
		"X-Request-Id": reference("headers", "RequestId"), "RateLimit": reference("headers", "RateLimit"),
		"RateLimit-Policy": reference("headers", "RateLimitPolicy"),
	}
	success := maps.Clone(headers)
	done, status := object{"description": "Done.", "headers": success}, "204"
	if schema != "" {
		example, err := examples.ReadFile("examples/" + op.ID + ".json")
		check(err)
		status, done["content"] = "200", object{"application/json": object{
			"schema": reference("schemas", schema), "examples": object{"success": object{"value": json.RawMessage(example)}},
		}}
	}
	switch op.ID {
	case "createWebhook":
		status, success["Location"] = "201", reference("headers", "Location")
	case "resubmitRejects", "dismissRejects":
		status, success["Location"] = "202", reference("headers", "Location")
	}
	if op.Right == operation.Changes {
		done["content"].(object)["text/event-stream"] = object{
			"schema": object{"type": "string"}, "examples": object{"success": object{"value": exampleStream}},
		}
	}
	all := object{status: done}
	if op.Method == http.MethodGet && !op.NoStore {
		success["ETag"] = reference("headers", "ETag")
		all["304"] = object{"description": "Nothing has changed since the answer with the ETag in If-None-Match.", "headers": success}
	}
	for _, p := range problemsOf(op) {
		status := strconv.Itoa(p.Status)
		answer, there := all[status].(object)
		if !there {
			given := maps.Clone(headers)
			if p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests {
				given["Retry-After"] = reference("headers", "RetryAfter")
			}
			if p.Status == http.StatusUnauthorized {
				given["WWW-Authenticate"] = reference("headers", "Challenge")
			}
			answer = object{"description": "", "headers": given, "content": object{"application/problem+json": object{
				"schema": reference("schemas", "Problem"), "examples": object{},
			}}}
			all[status] = answer
		}
		answer["description"] = answer["description"].(string) + "- [" + p.Name + "](" + web.ProblemPages + p.Name + ") " + p.Title + "\n"
		answer["content"].(object)["application/problem+json"].(object)["examples"].(object)[p.Name] = object{"value": exampleOf(p)}
	}
	return all
}

// exampleStream is an example of a stream of changes.
const exampleStream = "event: heartbeat\nid: gI_EzQYxrPBhB5x4bQECAwQFBgcICQoLDA\ndata: {\"cursor\":\"gI_EzQYxrPBhB5x4bQECAwQFBgcICQoLDA\"}\n\n"

// problemsOf returns the problems that an operation of /v1 can answer with.
func problemsOf(op operation.Operation) []*fault.Problem {
	all := []*fault.Problem{
		fault.InvalidRequest, fault.KeyMissingV1, fault.KeyUnknownV1, fault.ForbiddenV1, fault.RateLimitV1, fault.InternalV1, fault.UnavailableV1,
	}
	if op.Body {
		all = append(all, fault.TooLargeV1, fault.WrongMediaType)
	}
	if op.Method != http.MethodGet {
		all = append(all, fault.CrossOriginV1)
	}
	if op.Right == operation.Changes {
		all = append(all, fault.Reset)
	}
	if slices.Contains(limitedOperations, op.ID) {
		all = append(all, fault.LimitReached)
	}
	if slices.Contains(notFoundOperations, op.ID) || strings.HasPrefix(op.Template, "/v1/webhooks/") {
		all = append(all, fault.NotFoundV1)
	}
	if slices.Contains(conflictOperations, op.ID) {
		all = append(all, fault.ConflictV1)
	}
	if slices.Contains(optionalOperations, op.ID) || op.Right == operation.Webhooks {
		all = append(all, fault.NotConfigured)
	}
	return all
}

// notFoundOperations are the operations that answer 404 if their resource does not exist.
var notFoundOperations = []string{"getReject", "resubmitReject", "dismissReject", "getRejectJob", "getAirport", "endSession"}

// conflictOperations are the operations that answer 409 if the state of their resource does not allow them.
var conflictOperations = []string{"resubmitReject", "dismissReject"}

// limitedOperations are the operations that answer 409 if there are as many resources as allowed.
var limitedOperations = []string{"createWebhook", "resubmitRejects", "dismissRejects"}

// optionalOperations are the operations that answer 501 if the service is not set up for them.
var optionalOperations = []string{"getChanges", "beginSession", "getSession", "endSession"}

// exampleOf returns an example of problem details.
func exampleOf(p *fault.Problem) object {
	example := object{"type": web.ProblemPages + p.Name, "title": p.Title, "status": p.Status, "detail": p.Remedy, "request_id": "2j4g6a8t0z"}
	if p.Code != "" {
		example["code"] = p.Code
	}
	switch p {
	case fault.Reset:
		example["reason"], example["cursor"] = "the cursor is older than changes are kept", "gI_EzQYxrPBhB5x4bQECAwQFBgcICQoLDA"
	case fault.InvalidRequest:
		example["detail"] = "1 fault"
		example["errors"] = []object{{"parameter": "dat", "code": fault.Unknown.Name, "detail": fault.Unknown.Detail, "got": exampleDate}}
	case fault.LimitReached:
		example["detail"] = "A customer may have 20 webhooks"
	case fault.NotConfigured:
		example["detail"] = "There are no changes without Kafka, which is off"
	}
	return example
}
