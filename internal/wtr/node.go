package wtr

import (
	"strings"

	"bagtrail/internal/strictjson"
)

// node is the JSON text of one value of a document; nil if the value is absent.
type node []byte

// member returns the value at a path of member names. A repeated member counts as absent, since the
// delayed-bag system may read either of its values.
func (n node) member(names ...string) node {
	for _, name := range names {
		m, err := strictjson.Only(n, name)
		if err != nil {
			return nil
		}
		n = m.Value
	}
	return n
}

// list returns the elements of an array. Any other value is taken for an array of one element.
func (n node) list() []node {
	if len(n) == 0 {
		return nil
	}
	if n[0] != '[' {
		return []node{n}
	}
	var all []node
	if err := strictjson.Elements(n, func(value []byte) { all = append(all, value) }); err != nil {
		return nil
	}
	return all
}

// text returns the value of a string, or a number as it is written; "" for any other value.
func (n node) text() string {
	if s, ok := strictjson.Unquote(n); ok {
		return s
	}
	if n.isNumber() {
		return string(n)
	}
	return ""
}

func (n node) isNumber() bool {
	return len(n) > 0 && strings.IndexByte("-0123456789", n[0]) >= 0
}
