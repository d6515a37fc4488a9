package web

import (
	"net/url"
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

// First returns the value of the first parameter that bears one of the names. Later ones do not count.
func (q Query) First(names ...string) (value string, given bool) {
	for _, p := range q {
		for _, name := range names {
			if p.Name == name {
				return p.Value, true
			}
		}
	}
	return "", false
}
