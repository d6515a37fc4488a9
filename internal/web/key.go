package web

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"bagtrail/internal/fault"
)

// admit checks the key of a call and its rate limit, and turns the caller away where they do not hold.
func (s *Site) admit(h http.Header, c *Call) (refusal Answer, refused bool) {
	refusals := c.operation.Refusals
	given, one := apiKey(c.Request.Header, c.operation.V1)
	switch {
	case !one:
		return c.refuse(refusals.KeyUnknown, fault.KeyUnknownV1), true
	case given == "":
		return c.refuse(refusals.KeyMissing, fault.KeyMissingV1), true
	}
	now := s.Clock()
	key, known := s.Keys.Lookup(given, now)
	if !known {
		return s.unknownKey(h, c, now), true
	}
	c.Key = key
	left := key.Take(now)
	if c.operation.V1 {
		writePolicy(h, left)
	} else {
		writeAllowance(h, left)
	}
	if !left.Allowed {
		return c.refuse(fault.RateLimit, fault.RateLimitV1), true
	}
	if refusals.NoCustomer != fault.None && key.Customer == "" {
		return c.Refuse(refusals.NoCustomer), true
	}
	return Answer{}, false
}

// unknownKey turns away a caller whose key nobody has. An address that presents many of them has to wait.
func (s *Site) unknownKey(h http.Header, c *Call, now time.Time) Answer {
	if wait := s.guesses.Take(s.Proxies.caller(c.Request), now); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(wait))
		return c.refuse(fault.RateLimit, fault.RateLimitV1)
	}
	return c.refuse(c.operation.Refusals.KeyUnknown, fault.KeyUnknownV1)
}

// apiKey returns the key of a request, "" if it has none: the header api_key or, since some proxies drop names with an
// underscore, X-API-Key; for /v1 also Authorization: Bearer. There is not one key if a header is repeated, or if two differ:
// whoever looked at the request before us may have looked at the other one.
func apiKey(h http.Header, v1 bool) (key string, one bool) {
	if v1 {
		if key, one = bearer(h); !one {
			return "", false
		}
	}
	for _, name := range [...]string{"Api_key", "X-Api-Key"} { // as net/http writes them
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
