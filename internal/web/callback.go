package web

import "strings"

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

func isCallback(s string) bool {
	if len(s) > maxCallback {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if !isIdentifier(part) {
			return false
		}
	}
	return true
}

func isIdentifier(s string) bool {
	if s == "" || reserved[s] {
		return false
	}
	for i := range len(s) {
		b := s[i]
		letter := 'a' <= b|0x20 && b|0x20 <= 'z' || b == '_' || b == '$'
		if !letter && (i == 0 || b < '0' || b > '9') {
			return false
		}
	}
	return true
}

// reserved are the words that ECMAScript reserves in sloppy, strict or module code.
var reserved = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`arguments await break case catch class const continue debugger default delete do
		else enum eval export extends false finally for function if implements import in instanceof interface let new null
		package private protected public return static super switch this throw true try typeof var void while with yield`) {
		words[word] = true
	}
	return words
}()
