package fault

import "net/http"

// Problem is one entry of the register of problems, with which /v1 answers failed requests. Its
// page is /docs/problems/ followed by its name.
type Problem struct {
	Name   string // last part of the type of problem details
	Status int    // HTTP status
	Code   string // the equivalent code of the five operations, or ""
	Title  string
	Remedy string // what the caller can do, for the page, and for answers without another detail
}

// The problems. They are shared: callers must not change them.
var (
	InvalidRequest = &Problem{
		"invalid-request", http.StatusBadRequest, "", "The request has faults",
		"The member errors names every fault at once: which parameter or member it is about, what was sent, and what is expected." +
			" Unknown parameters and members are faults too, so that a typing error is not answered with something else.",
	}
	KeyMissingV1 = &Problem{
		"key-missing", http.StatusUnauthorized, HistoryKeyMissing.Code, keyMissing,
		"Send the key in one of the headers api_key, X-API-Key or Authorization: Bearer. A browser may have a session instead.",
	}
	KeyUnknownV1 = &Problem{
		"key-unknown", http.StatusUnauthorized, HistoryKeyUnknown.Code, keyUnknown,
		"The key is unknown, expired or revoked; or the request carries two keys. Ask the operator for a new key. If a browser" +
			" session has ended, begin a new one.",
	}
	ForbiddenV1 = &Problem{
		"not-authorised", http.StatusForbidden, "", "The key does not cover what was asked for",
		"The key is limited to other operations, airlines or airports. Ask the operator to widen it.",
	}
	CrossOriginV1 = &Problem{
		"cross-origin", http.StatusForbidden, "", "The request comes from a page of another origin",
		"A session changes something only for pages of the service itself. Pages of other origins send a key.",
	}
	ConflictV1 = &Problem{
		"conflict", http.StatusConflict, "", "The state of the resource does not allow this",
		"Somebody else has changed the resource, or is changing it now. Read it again.",
	}
	NotFoundV1 = &Problem{
		"not-found", http.StatusNotFound, UnknownPath.Code, "Resource not found",
		"There is no operation at this path, or nothing with this name. See /docs for the paths.",
	}
	WrongMethodV1 = &Problem{
		"method-not-allowed", http.StatusMethodNotAllowed, WrongMethod.Code, "Method not allowed",
		"The header Allow names the methods that the path takes.",
	}
	Reset = &Problem{
		"reset", http.StatusGone, "", "The cursor cannot be followed any more",
		"The member reason says why, and cursor is a cursor that begins now. Keep it, read the bags that you need with the other GETs, and then follow it." +
			" The parameter since tells which bags changed since a time, if changes from that time are still kept (72 hours unless set otherwise)." +
			" If the numbering of changes began anew after that time, the answer is this problem again.",
	}
	LimitReached = &Problem{
		"limit-reached", http.StatusConflict, "", "The limit is reached",
		"The member detail names the limit. Delete a webhook, or wait until a job has ended.",
	}
	TooLargeV1 = &Problem{
		"too-large", http.StatusRequestEntityTooLarge, TooLarge.Code, "The request body is too large",
		"Send less at once.",
	}
	WrongMediaType = &Problem{
		"unsupported-media-type", http.StatusUnsupportedMediaType, "", "The content type of the body is not supported",
		"Send one header Content-Type with a type that the operation takes.",
	}
	RateLimitV1 = &Problem{
		"rate-limit", http.StatusTooManyRequests, RateLimit.Code, "Too many requests",
		"Wait as many seconds as the header Retry-After says. For a key with a limit, RateLimit and RateLimit-Policy tell how many requests are left.",
	}
	InternalV1 = &Problem{
		"internal", http.StatusInternalServerError, Internal.Code, "The service has a defect",
		"Quote request_id to the operator.",
	}
	NotConfigured = &Problem{
		"not-configured", http.StatusNotImplemented, "", "The service is not set up for this",
		"The member detail says what is missing. Ask the operator.",
	}
	UnavailableV1 = &Problem{
		"unavailable", http.StatusServiceUnavailable, Unavailable.Code, "The service cannot answer at the moment",
		"The index or the log cannot be reached, or the memory for large answers is used up; a key may take half of it. Send the request again.",
	}
)

// Problems returns the register of problems.
func Problems() []*Problem {
	return []*Problem{
		InvalidRequest, KeyMissingV1, KeyUnknownV1, ForbiddenV1, CrossOriginV1, ConflictV1, NotFoundV1, WrongMethodV1,
		LimitReached, Reset, TooLargeV1, WrongMediaType, RateLimitV1, InternalV1, NotConfigured, UnavailableV1,
	}
}

// Cause is a kind of fault in one parameter or member of a request to /v1.
type Cause struct {
	Name   string // code of the entry in errors
	Detail string // detail of the entry in errors
}

// The causes.
var (
	Unknown   = Cause{"unknown", "There is no parameter or member with this name"}
	Missing   = Cause{"missing", "It is mandatory, or mandatory together with another one that was sent"}
	Repeated  = Cause{"repeated", "It may be sent only once"}
	Conflict  = Cause{"conflict", "It cannot be combined with another one that was sent"}
	Malformed = Cause{"malformed", "It does not have the form that is expected"}
	NoSuch    = Cause{"no_such", "It has the right form, but the service does not know it"}
	TooMany   = Cause{"too_many", "There are more than allowed"}
	BadCursor = Cause{"cursor", "The cursor is not one of this service, or belongs to another question"}
)

// Causes returns the register of causes.
func Causes() []Cause {
	return []Cause{Unknown, Missing, Repeated, Conflict, Malformed, NoSuch, TooMany, BadCursor}
}
