package web

import (
	"net/url"
	"slices"
	"strings"
)

// Query is the query part of a request, in its order.
type Query []Parameter

// Parameter is one name=value of a query.
type Parameter struct{ Name, Value string }

// parseQuery reads a query and drops nothing: what is not percent-encoded properly keeps its text, so that a check of the
// value finds the fault. Only & separates parameters.
func parseQuery(raw string, dst Query) Query {
	for more := raw != ""; more; {
		var pair string
		pair, raw, more = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		dst = append(dst, Parameter{unescape(name), unescape(value)})
	}
	return dst
}

func unescape(s string) string {
	if text, err := url.QueryUnescape(s); err == nil {
		return text
	}
	return s
}

// Value returns the value of the parameter that bears one of the names, which mean the same. One that is empty is absent: value is
// "". It is not ok where more than one is there, empty ones included: whoever looked at the request before us may have looked at
// another one.
func (q Query) Value(names ...string) (value string, ok bool) {
	given := false
	for _, p := range q {
		if !slices.Contains(names, p.Name) {
			continue
		}
		if given {
			return "", false
		}
		value, given = p.Value, true
	}
	return value, true
}
