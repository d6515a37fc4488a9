package web

import (
	"net/url"
	"slices"
	"strings"
)

// Query lists the query parameters of a request, in their order.
type Query []Parameter

// Parameter is one name=value of a query.
type Parameter struct{ Name, Value string }

// parseQuery returns the parameters of a query. It drops nothing: a name or value with faulty
// percent-encoding keeps its text, so that a check of the value finds the fault. Only & separates
// parameters. A pair without a name, such as =x, is a parameter with that name.
func parseQuery(raw string) (q Query) {
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		if name == "" {
			name, value = pair, "" // a fault must name something
		}
		q = append(q, Parameter{unescape(name), unescape(value)})
	}
	return q
}

func unescape(s string) string {
	if text, err := url.QueryUnescape(s); err == nil {
		return text
	}
	return s
}

// Value returns the value of a parameter that may have any of the names, or "" if it is empty or
// absent. It returns false if the parameter is repeated, even if it is empty, since a proxy before
// the service may have checked the other value.
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
