// Package operation lists the operations of the HTTP interface, each with its method, path, body
// and right. Routing, key files, the OpenAPI document and the docs are derived from this list.
//
// The package holds only this list. Package web routes requests and writes answers; other packages
// implement the operations.
package operation

import (
	"net/http"
	"slices"
	"strings"
)

// Right is a value in the member operations of a key. A key needs it to call the operations with
// that right.
type Right string

// AnyKey stands for no right: every key may call the operation.
const AnyKey Right = ""

// The rights. Each of the five operations has its own; the operations of /v1 are grouped by
// subject.
const (
	ProcessBIM       Right = "processbim"
	BagsForFlight    Right = "bagsforflight"
	History          Right = "history"
	BagsForPassenger Right = "bagsforpassenger"
	DelayedBags      Right = "delayedbags"
	Bags             Right = "bags"
	Flights          Right = "flights"
	Messages         Right = "messages"
	Changes          Right = "changes"
	Feeds            Right = "feeds"
	Webhooks         Right = "webhooks"
	Rejects          Right = "rejects"
)

// Operation is one operation.
type Operation struct {
	ID       string // operationId in the OpenAPI document
	Right    Right  // what a key needs to call it
	Method   string
	Template string // path with placeholders: /baggage/history/v1.0/tag/{bagtag}/flightdate/{flight_date}
	JSONP    bool   // the query parameter callback turns the answer into a script
	NoStore  bool   // answers are different each time: they are not cached, and have no ETag
	Media    string // content types that the body may have, separated by blanks; "" if there is no body
}

// V1 reports whether the rules of /v1 apply: exact paths, problem details, ETag, no unknown
// parameters, and only the content types of Media.
func (o *Operation) V1() bool { return strings.HasPrefix(o.Template, "/v1/") }

// HasBody reports whether the request has a body.
func (o *Operation) HasBody() bool { return o.Media != "" }

// Content types that bodies may have.
const (
	jsonMedia    = "application/json"
	fieldMedia   = jsonMedia + " application/x-www-form-urlencoded"
	messageMedia = jsonMedia + " application/x-ndjson text/plain"
)

// list holds every operation, in the order of the documentation.
var list = []Operation{
	{ID: "processbim", Right: ProcessBIM, Method: http.MethodPost, Media: fieldMedia, Template: "/baggage/processbim/v1.0/"},
	{
		ID: "bagsforflight", Right: BagsForFlight, Method: http.MethodGet, JSONP: true,
		Template: "/baggage/bagsforflight/v1.0/airport_code/{airport_code}/arr_dep_indicator/{arr_dep_indicator}" +
			"/airline_code/{airline_code}/flight_no/{flight_no}/dep_flight_date/{dep_flight_date}",
	},
	{
		ID: "history", Right: History, Method: http.MethodGet, JSONP: true,
		Template: "/baggage/history/v1.0/tag/{bagtag}/flightdate/{flight_date}",
	},
	{
		ID: "bagsforpassenger", Right: BagsForPassenger, Method: http.MethodGet, JSONP: true,
		Template: "/baggage/bagsforpassenger/v1.0/pnr/{pnr}/dep_flight_date/{dep_flight_date}",
	},
	{ID: "delayedbags", Right: DelayedBags, Method: http.MethodPost, JSONP: true, Media: fieldMedia, Template: "/baggage/delayedbags/v1.0/"},

	{ID: "listBagsOfPlate", Right: Bags, Method: http.MethodGet, Template: "/v1/bags/{plate}"},
	{ID: "findBags", Right: Bags, Method: http.MethodGet, Template: "/v1/bags"},
	{ID: "searchBags", Right: Bags, Method: http.MethodPost, Media: jsonMedia, Template: "/v1/bags/search"},
	{ID: "listFlights", Right: Flights, Method: http.MethodGet, Template: "/v1/flights"},
	{ID: "getFlight", Right: Flights, Method: http.MethodGet, Template: "/v1/flights/{airport}/{direction}/{airline}/{flight}/{date}"},
	{ID: "postMessages", Right: Messages, Method: http.MethodPost, Media: messageMedia, Template: "/v1/messages"},
	{ID: "validateMessages", Right: Messages, Method: http.MethodPost, Media: messageMedia, Template: "/v1/messages/validate"},
	{ID: "getAirport", Right: Flights, Method: http.MethodGet, Template: "/v1/airports/{code}"},
	{ID: "listFeeds", Right: Feeds, Method: http.MethodGet, Template: "/v1/feeds"},
	{ID: "listRejects", Right: Rejects, Method: http.MethodGet, Template: "/v1/rejects"},
	{ID: "summarizeRejects", Right: Rejects, Method: http.MethodGet, Template: "/v1/rejects/summary"},
	{ID: "getReject", Right: Rejects, Method: http.MethodGet, Template: "/v1/rejects/{id}"},
	{ID: "resubmitReject", Right: Rejects, Method: http.MethodPost, Media: jsonMedia, Template: "/v1/rejects/{id}/resubmit"},
	{ID: "dismissReject", Right: Rejects, Method: http.MethodPost, Media: jsonMedia, Template: "/v1/rejects/{id}/dismiss"},
	{ID: "resubmitRejects", Right: Rejects, Method: http.MethodPost, Media: jsonMedia, Template: "/v1/rejects/resubmit"},
	{ID: "dismissRejects", Right: Rejects, Method: http.MethodPost, Media: jsonMedia, Template: "/v1/rejects/dismiss"},
	{ID: "getRejectJob", Right: Rejects, Method: http.MethodGet, Template: "/v1/rejects/jobs/{id}"},
	{ID: "getStatus", Right: AnyKey, Method: http.MethodGet, Template: "/v1/status"},
	{ID: "beginSession", Right: AnyKey, Method: http.MethodPost, Template: "/v1/session"},
	{ID: "getSession", Right: AnyKey, Method: http.MethodGet, Template: "/v1/session"},
	{ID: "endSession", Right: AnyKey, Method: http.MethodDelete, Template: "/v1/session"},
	{ID: "getChanges", Right: Changes, Method: http.MethodGet, NoStore: true, Template: "/v1/changes"},
	{ID: "createWebhook", Right: Webhooks, Method: http.MethodPost, Media: jsonMedia, Template: "/v1/webhooks"},
	{ID: "listWebhooks", Right: Webhooks, Method: http.MethodGet, Template: "/v1/webhooks"},
	{ID: "getWebhook", Right: Webhooks, Method: http.MethodGet, Template: "/v1/webhooks/{id}"},
	{ID: "changeWebhook", Right: Webhooks, Method: http.MethodPatch, Media: jsonMedia, Template: "/v1/webhooks/{id}"},
	{ID: "deleteWebhook", Right: Webhooks, Method: http.MethodDelete, Template: "/v1/webhooks/{id}"},
	{ID: "testWebhook", Right: Webhooks, Method: http.MethodPost, Template: "/v1/webhooks/{id}/test"},
	{ID: "rewindWebhook", Right: Webhooks, Method: http.MethodPost, Media: jsonMedia, Template: "/v1/webhooks/{id}/rewind"},
	{ID: "listDeliveries", Right: Webhooks, Method: http.MethodGet, Template: "/v1/webhooks/{id}/deliveries"},
	{ID: "rotateWebhookSecret", Right: Webhooks, Method: http.MethodPost, Template: "/v1/webhooks/{id}/secret"},
}

// All returns every operation.
func All() []Operation { return slices.Clone(list) }

// ByID returns the operation with that ID. It panics if there is none, which is a defect of the
// program.
func ByID(id string) Operation {
	at := slices.IndexFunc(list, func(op Operation) bool { return op.ID == id })
	if at < 0 {
		panic("no operation " + id)
	}
	return list[at]
}

// Rights returns the names of all rights, each once.
func Rights() []string {
	var names []string
	for _, op := range list {
		if op.Right != AnyKey && !slices.Contains(names, string(op.Right)) {
			names = append(names, string(op.Right))
		}
	}
	return names
}
