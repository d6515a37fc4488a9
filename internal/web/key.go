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
	given, one := apiKey(c.Request.Header)
	switch {
	case !one:
		return c.Refuse(refusals.KeyUnknown), true
	case given == "":
		return c.Refuse(refusals.KeyMissing), true
	}
	now := s.Clock()
	key, known := s.Keys.Lookup(given, now)
	if !known {
		return s.unknownKey(h, c, now), true
	}
	c.Key = key
	left := key.Take(now)
	writeAllowance(h, left)
	if !left.Allowed {
		return c.Refuse(fault.RateLimit), true
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
		return c.Refuse(fault.RateLimit)
	}
	return c.Refuse(c.operation.Refusals.KeyUnknown)
}

// apiKey returns the key of a request, "" where it has none: the header api_key or, since some proxies drop names with an
// underscore, X-API-Key. There is not one key where a header is repeated, or the two differ: whoever looked at the request
// before us may have looked at the other one.
func apiKey(h http.Header) (key string, one bool) {
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
