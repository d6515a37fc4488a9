package web

import (
	"net/http"
	"strings"

	"bagtrail/internal/fault"
)

// admit checks the key of a call and its rate limit, and turns the caller away where they do not hold.
func (s *Site) admit(h http.Header, c *Call) (refusal Answer, refused bool) {
	refusals := c.operation.Refusals
	given := apiKey(c.Request.Header)
	if given == "" {
		return c.Refuse(refusals.KeyMissing), true
	}
	now := s.Clock()
	key, known := s.Keys.Lookup(given, now)
	if !known {
		return c.Refuse(refusals.KeyUnknown), true
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

// apiKey returns the key of a request: the header api_key or, since some proxies drop names with an underscore, X-API-Key.
// The first one that is not blank counts.
func apiKey(h http.Header) string {
	for _, name := range [...]string{"Api_key", "X-Api-Key"} { // as net/http writes them
		for _, value := range h[name] {
			if key := strings.TrimSpace(value); key != "" {
				return key
			}
		}
	}
	return ""
}
