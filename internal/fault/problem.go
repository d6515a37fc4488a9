package fault

import "net/http"

// Problem is one entry of the register of problems, with which /v1 answers failed requests. Its
// page is /docs/problems/ followed by its name.
type Problem struct {
	Name   string // last part of the type of problem details
	Status int    // HTTP status
	Code   ID     // the equivalent code of the five operations, or None
	Title  string
	Remedy string // what the caller can do, for the page, and for answers without another detail
}

// ProblemID identifies one entry of the register of problems.
type ProblemID uint8

// The problems.
const (
	InvalidRequest ProblemID = iota
	KeyMissingV1
	KeyUnknownV1
	ForbiddenV1
	CrossOriginV1
	ConflictV1
	NotFoundV1
	WrongMethodV1
	LimitReached
	Reset
	TooLargeV1
	WrongMediaType
	RateLimitV1
	InternalV1
	NotConfigured
	UnavailableV1

	problemCount
)

var problems = [problemCount]Problem{
	InvalidRequest: {
		"invalid-request", http.StatusBadRequest, None, "The request has faults",
		"The member errors names every fault at once: which parameter or member it is about, what was sent, and what is expected." +
			" Unknown parameters and members are faults too, so that a typing error is not answered with something else.",
	},
	KeyMissingV1: {
		"key-missing", http.StatusUnauthorized, HistoryKeyMissing, keyMissing,
		"Send the key in one of the headers api_key, X-API-Key or Authorization: Bearer. A browser may have a session instead.",
	},
	KeyUnknownV1: {
		"key-unknown", http.StatusUnauthorized, HistoryKeyUnknown, keyUnknown,
		"The key is unknown, expired or revoked; or the request carries two keys. Ask the operator for a new key. If a browser" +
			" session has ended, begin a new one.",
	},
	ForbiddenV1: {
		"not-authorised", http.StatusForbidden, None, "The key does not cover what was asked for",
		"The key is limited to other operations, airlines or airports. Ask the operator to widen it.",
	},
	CrossOriginV1: {
		"cross-origin", http.StatusForbidden, None, "The request comes from a page of another origin",
		"A session changes something only for pages of the service itself. Pages of other origins send a key.",
	},
	ConflictV1: {
		"conflict", http.StatusConflict, None, "The state of the resource does not allow this",
		"Somebody else has done something to it, or is doing it now. Look at it again.",
	},
	NotFoundV1: {
		"not-found", http.StatusNotFound, UnknownPath, "Resource not found",
		"There is no operation at this path, or nothing with this name. See /docs for the paths.",
	},
	WrongMethodV1: {
		"method-not-allowed", http.StatusMethodNotAllowed, WrongMethod, "Method not allowed",
		"The header Allow names the methods that the path takes.",
	},
	Reset: {
		"reset", http.StatusGone, None, "The cursor cannot be followed any more",
		"The member reason says why, and cursor is a cursor from now on. Keep it, read with the GETs what you need to know of," +
			" then follow it. since, with a time within the last hours for which changes are kept (72 unless they are set), tells every bag that changed, unless the numbering of changes began anew after that time: it is then answered with this problem too.",
	},
	LimitReached: {
		"limit-reached", http.StatusConflict, None, "There are as many as allowed",
		"The member detail names the limit. Delete a webhook, or wait until a job has ended.",
	},
	TooLargeV1: {
		"too-large", http.StatusRequestEntityTooLarge, TooLarge, "The request body is too large",
		"Send less at once.",
	},
	WrongMediaType: {
		"unsupported-media-type", http.StatusUnsupportedMediaType, None, "The content type of the body is not supported",
		"Send one header Content-Type with a type that the operation takes.",
	},
	RateLimitV1: {
		"rate-limit", http.StatusTooManyRequests, RateLimit, "Too many requests",
		"Wait as many seconds as the header Retry-After says. RateLimit and RateLimit-Policy tell what is left.",
	},
	InternalV1: {
		"internal", http.StatusInternalServerError, Internal, "The service has a defect",
		"Quote request_id to the operator.",
	},
	NotConfigured: {
		"not-configured", http.StatusNotImplemented, None, "The service is not set up for this",
		"The member detail says what is missing. Ask the operator.",
	},
	UnavailableV1: {
		"unavailable", http.StatusServiceUnavailable, Unavailable, "The service cannot answer at the moment",
		"The index or the log is away, or large answers under way take all memory for them. Send the request again.",
	},
}

// Problem returns the entry. It is shared: callers must not change it.
func (id ProblemID) Problem() *Problem { return &problems[id] }

// Problems returns the register of problems.
func Problems() []Problem { return problems[:] }

// Cause is a kind of fault in one parameter or member of a request to /v1.
type Cause struct {
	Name   string // code of the entry in errors
	Detail string
}

// The causes.
var (
	Unknown   = Cause{"unknown", "There is no parameter or member with this name"}
	Missing   = Cause{"missing", "It is mandatory, or mandatory beside what was sent"}
	Repeated  = Cause{"repeated", "It may be there once"}
	Conflict  = Cause{"conflict", "It cannot be combined with what else was sent"}
	Malformed = Cause{"malformed", "It does not have the form that is expected"}
	NoSuch    = Cause{"no_such", "It has the right form, but the service does not know it"}
	TooMany   = Cause{"too_many", "There are more than allowed"}
	BadCursor = Cause{"cursor", "The cursor is not one of this service, or belongs to another question"}
)

// Causes returns the register of causes.
func Causes() []Cause {
	return []Cause{Unknown, Missing, Repeated, Conflict, Malformed, NoSuch, TooMany, BadCursor}
}
