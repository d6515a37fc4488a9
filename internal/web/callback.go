package web

import (
	"regexp"
	"slices"
	"strings"
)

const maxCallback = 128 // characters

// callbackOf returns the callback of a query, or "" if there is none. It returns false if the
// callback is repeated or is not a dotted JavaScript identifier (ASCII letters, digits, _ and $; no
// part is a reserved word).
func callbackOf(q Query) (name string, ok bool) {
	name, ok = q.Value("callback")
	if !ok || name != "" && !isCallback(name) {
		return "", false
	}
	return name, true
}

// identifiers matches identifiers with dots between them.
var identifiers = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*(\.[A-Za-z_$][A-Za-z0-9_$]*)*$`)

func isCallback(s string) bool {
	return len(s) <= maxCallback && identifiers.MatchString(s) &&
		!slices.ContainsFunc(strings.Split(s, "."), func(part string) bool { return slices.Contains(reserved, part) })
}

// reserved are the words that ECMAScript reserves in sloppy, strict or module code.
var reserved = strings.Fields(`arguments await break case catch class const continue debugger default delete do
		else enum eval export extends false finally for function if implements import in instanceof interface let new null
		package private protected public return static super switch this throw true try typeof var void while with yield`)
