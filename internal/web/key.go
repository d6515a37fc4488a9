package web

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"bagtrail/internal/fault"
)

// admit checks the key of a call, or its session, and the rate limit of the key. It returns the
// answer that refuses the call, or false if the call may go on.
func (s *Site) admit(h http.Header, c *Call) (refusal Answer, refused bool) {
	refusals := c.operation.Refusals
	given, one := apiKey(c.Request.Header, c.v1())
	now := s.Clock()
	switch {
	case !one:
		return c.refuse(refusals.KeyUnknown, fault.KeyUnknownV1), true
	case given != "":
		key, known := s.Keys.Lookup(given, now)
		if !known {
			return s.unknownKey(h, c, now), true
		}
		c.Key = key
	case s.hasSession(c):
		if refusal, refused := s.resume(c, now); refused {
			return refusal, true
		}
	default:
		return c.refuse(refusals.KeyMissing, fault.KeyMissingV1), true
	}
	left := c.Key.Take(now)
	switch {
	case left.Limit == 0:
	case c.v1(): // draft-ietf-httpapi-ratelimit-headers
		h["Ratelimit-Policy"] = []string{`"key";q=` + strconv.Itoa(left.Limit) + ";w=" + strconv.Itoa(left.Window)}
		h["Ratelimit"] = []string{`"key";r=` + strconv.Itoa(left.Remaining) + ";t=" + strconv.Itoa(left.Reset)}
	default:
		h.Set("RateLimit-Limit", strconv.Itoa(left.Limit))
		h.Set("RateLimit-Remaining", strconv.Itoa(left.Remaining))
		h.Set("RateLimit-Reset", strconv.Itoa(left.Reset))
	}
	if left.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(left.RetryAfter))
		return c.refuse(fault.RateLimit, fault.RateLimitV1), true
	}
	if refusals.NoCustomer != nil && c.Key.Customer == "" {
		return c.Refuse(refusals.NoCustomer), true
	}
	return Answer{}, false
}

// unknownKey refuses a call with an unknown key. An address that sends many unknown keys must wait.
func (s *Site) unknownKey(h http.Header, c *Call, now time.Time) Answer {
	if wait := s.guesses.Take(s.Proxies.caller(c.Request), now); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(wait))
		return c.refuse(fault.RateLimit, fault.RateLimitV1)
	}
	return c.refuse(c.operation.Refusals.KeyUnknown, fault.KeyUnknownV1)
}

// apiKey returns the key of a request, or "" if it has none. The key is in the header api_key or,
// since some proxies drop names with an underscore, in X-API-Key; for /v1 also in Authorization:
// Bearer. apiKey returns false if a header is repeated or two headers differ, since a proxy before
// the service may have checked the other key.
func apiKey(h http.Header, v1 bool) (key string, one bool) {
	if v1 {
		if key, one = bearer(h); !one {
			return "", false
		}
	}
	for _, name := range [...]string{"Api_key", "X-Api-Key"} { // canonical names of net/http
		values := h[name]
		if len(values) == 0 {
			continue
		}
		given := strings.TrimSpace(values[0])
		if len(values) > 1 || key != "" && given != "" && given != key {
			return "", false
		}
		key = cmp.Or(key, given)
	}
	return key, true
}
