package wtr

import (
	"strings"

	"bagtrail/internal/strictjson"
)

// node is one value of a document, as it stands there. nil is a value that is absent.
type node []byte

// member follows the names down from object to object. A member that is repeated is absent, since nobody knows which one the
// other side would take.
func (n node) member(names ...string) node {
	for _, name := range names {
		var found node
		count := 0
		err := strictjson.Object(n, func(m strictjson.Member) {
			if m.Is(name) {
				found = node(m.Value)
				count++
			}
		})
		if err != nil || count != 1 {
			return nil
		}
		n = found
	}
	return n
}

// list returns the elements of an array. A value in place of an array of one element means the same.
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

// text returns a string, or a number as it stands; "" for anything else.
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
