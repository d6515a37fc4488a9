package apidoc

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"

	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/web"
)

// answerV1 describes what an operation of /v1 answers.
type answerV1 struct {
	status   int              // of a success
	schema   string           // of a success; "" if it has no content
	problems []*fault.Problem // besides those that problemsOf adds
}

// answersV1 maps the operations of /v1 to their answers.
var answersV1 = map[string]answerV1{
	"listBagsOfPlate": {200, "Bags", nil},
	"findBags":        {200, "BagPage", nil},
	"searchBags":      {200, "BagPage", nil},
	"listFlights":     {200, "Flights", nil},
	"getFlight":       {200, "FlightPage", nil},
	"getAirport":      {200, "Airport", []*fault.Problem{fault.NotFoundV1}},
	"getChanges":      {200, "Changes", []*fault.Problem{fault.Reset, fault.NotConfigured}},

	"listFeeds":        {200, "FeedPage", nil},
	"listRejects":      {200, "RejectPage", nil},
	"summarizeRejects": {200, "RejectSummary", nil},
	"getReject":        {200, "Reject", []*fault.Problem{fault.NotFoundV1}},
	"resubmitReject":   {200, "Resubmission", []*fault.Problem{fault.NotFoundV1, fault.ConflictV1}},
	"dismissReject":    {200, "Dismissal", []*fault.Problem{fault.NotFoundV1, fault.ConflictV1}},
	"resubmitRejects":  {202, "RejectJob", []*fault.Problem{fault.LimitReached}},
	"dismissRejects":   {202, "RejectJob", []*fault.Problem{fault.LimitReached}},
	"getRejectJob":     {200, "RejectJob", []*fault.Problem{fault.NotFoundV1}},

	"getStatus":    {200, "Status", nil},
	"beginSession": {200, "Session", []*fault.Problem{fault.NotConfigured}},
	"getSession":   {200, "Session", []*fault.Problem{fault.NotConfigured}},
	"endSession":   {204, "", []*fault.Problem{fault.NotFoundV1, fault.NotConfigured}},

	"createWebhook":       {201, "Webhook", []*fault.Problem{fault.LimitReached, fault.NotConfigured}},
	"listWebhooks":        {200, "WebhookList", []*fault.Problem{fault.NotConfigured}},
	"getWebhook":          {200, "Webhook", ofWebhook},
	"changeWebhook":       {200, "Webhook", ofWebhook},
	"deleteWebhook":       {204, "", ofWebhook},
	"testWebhook":         {200, "Delivery", ofWebhook},
	"rewindWebhook":       {200, "Webhook", ofWebhook},
	"listDeliveries":      {200, "Deliveries", ofWebhook},
	"rotateWebhookSecret": {200, "WebhookSecret", ofWebhook},

	"postMessages":     {200, "Verdicts", nil},
	"validateMessages": {200, "Verdicts", nil},
}

// cookies lists, by operation, the statuses of answers that set or remove the cookie of a session.
var cookies = map[string][]int{"beginSession": {200}, "endSession": {204, 401, 404}}

// ofWebhook are the problems of operations on one webhook.
var ofWebhook = []*fault.Problem{fault.NotFoundV1, fault.NotConfigured}

// copyMembers copies the members of a schema to another one, except members that it has in another
// form or not at all.
func (d *openAPI) copyMembers(from, to string, except ...string) {
	schemas := d.Components["schemas"].(object)
	target := schemas[to].(object)
	members := maps.Clone(schemas[from].(object)["properties"].(object))
	for _, other := range except {
		delete(members, other)
	}
	maps.Copy(members, target["properties"].(object))
	target["properties"] = members
}

// responsesV1 returns the responses of an operation of /v1, by status.
func responsesV1(op operation.Operation) object {
	described, known := answersV1[op.ID]
	if !known {
		panic("answersV1 does not have " + op.ID)
	}
	headers := object{
		"X-Request-Id": reference("headers", "RequestId"), "RateLimit": reference("headers", "RateLimit"),
		"RateLimit-Policy": reference("headers", "RateLimitPolicy"),
	}
	success := maps.Clone(headers)
	done := object{"description": "Done.", "headers": success}
	if described.schema != "" {
		example, err := examples.ReadFile("examples/" + op.ID + ".json")
		check(err)
		done["content"] = object{"application/json": object{
			"schema": reference("schemas", described.schema), "examples": object{"success": object{"value": json.RawMessage(example)}},
		}}
	}
	if described.status == http.StatusCreated || described.status == http.StatusAccepted {
		success["Location"] = reference("headers", "Location")
	}
	if op.Right == operation.Changes {
		done["content"].(object)["text/event-stream"] = object{
			"schema": object{"type": "string"}, "examples": object{"success": object{"value": exampleStream}},
		}
	}
	all := object{strconv.Itoa(described.status): done}
	if op.Method == http.MethodGet && !op.NoStore {
		success["ETag"] = reference("headers", "ETag")
		all["304"] = object{"description": "Nothing has changed since the answer with the ETag in If-None-Match.", "headers": success}
	}
	byStatus := map[int][]*fault.Problem{}
	for _, p := range problemsOf(op) {
		byStatus[p.Status] = append(byStatus[p.Status], p)
	}
	for status, problems := range byStatus {
		description, examples, given := "", object{}, maps.Clone(headers)
		for _, p := range problems {
			description += "- [" + p.Name + "](" + web.ProblemPages + p.Name + ") " + p.Title + "\n"
			examples[p.Name] = object{"value": exampleOf(p)}
		}
		switch status {
		case http.StatusServiceUnavailable, http.StatusTooManyRequests:
			given["Retry-After"] = reference("headers", "RetryAfter")
		case http.StatusUnauthorized:
			given["WWW-Authenticate"] = reference("headers", "Challenge")
		}
		all[strconv.Itoa(status)] = object{"description": description, "headers": given, "content": object{
			"application/problem+json": object{"schema": reference("schemas", "Problem"), "examples": examples},
		}}
	}
	for _, status := range cookies[op.ID] {
		all[strconv.Itoa(status)].(object)["headers"].(object)["Set-Cookie"] = reference("headers", "SessionCookie")
	}
	return all
}

// exampleStream is an example of a stream of changes.
const exampleStream = "event: heartbeat\nid: gI_EzQYxrPBhB5x4bQECAwQFBgcICQoLDA\ndata: {\"cursor\":\"gI_EzQYxrPBhB5x4bQECAwQFBgcICQoLDA\"}\n\n"

// problemsOf returns the problems that an operation of /v1 can answer with.
func problemsOf(op operation.Operation) []*fault.Problem {
	all := []*fault.Problem{
		fault.InvalidRequest, fault.KeyMissingV1, fault.KeyUnknownV1, fault.RateLimitV1, fault.InternalV1, fault.UnavailableV1,
	}
	if op.Right != operation.AnyKey {
		all = append(all, fault.ForbiddenV1)
	}
	if op.HasBody() {
		all = append(all, fault.TooLargeV1, fault.WrongMediaType)
	}
	if op.Method != http.MethodGet {
		all = append(all, fault.CrossOriginV1)
	}
	return append(all, answersV1[op.ID].problems...)
}

// exampleOf returns an example of problem details.
func exampleOf(p *fault.Problem) object {
	example := object{"type": web.ProblemPages + p.Name, "title": p.Title, "status": p.Status, "detail": p.Remedy, "request_id": "2j4g6a8t0z"}
	if p.Code != "" {
		example["code"] = p.Code
	}
	switch p {
	case fault.Reset:
		example["reason"], example["cursor"] = "the cursor is older than the changes that are kept", "gI_EzQYxrPBhB5x4bQECAwQFBgcICQoLDA"
	case fault.InvalidRequest:
		example["detail"] = "1 fault"
		example["errors"] = []object{{"parameter": "dat", "code": fault.Unknown.Name, "detail": fault.Unknown.Detail, "got": exampleDate}}
	case fault.LimitReached:
		example["detail"] = "A customer may have at most 20 webhooks"
	case fault.NotConfigured:
		example["detail"] = "There are no changes without Kafka, which is off"
	}
	return example
}
