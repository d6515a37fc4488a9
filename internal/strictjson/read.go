package strictjson

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Fault is the first syntax error of a text. It never holds a part of the text.
type Fault struct {
	Offset   int    // in bytes, from 0
	Expected string // what must stand there
}

func (f *Fault) Error() string { return fmt.Sprintf("offset %d: expected %s", f.Offset, f.Expected) }

// maxDepth is how deep arrays and objects may be nested. It bounds the stack that a reader needs.
const maxDepth = 512

// Member is one member of an object. Name and Value are views of the text that was read.
type Member struct {
	Name  []byte // as it stands in the text, quoted and escaped
	Value []byte // as it stands in the text, without blanks around it
	At    int    // where Value begins in the text, in bytes
}

// Object reads text as one JSON object with nothing but blanks around it, and calls visit for each
// member in order. If the text is anything else, the error is a *Fault; visit may have been called
// for the members before the fault.
func Object(text []byte, visit func(Member)) error {
	return Walk(text, func(depth int, m Member) {
		if depth == 0 {
			visit(m)
		}
	})
}

// Walk reads text as Object does, and calls visit for each member of every object in it. Members
// inside a value come before the member that has the value. depth counts the objects and arrays
// around the member's object: it is 0 for members of the outermost object.
func Walk(text []byte, visit func(depth int, m Member)) error {
	r := reader{text: text, member: visit}
	return r.only((*reader).object)
}

// Elements reads text as one JSON array, as Object reads an object.
func Elements(text []byte, visit func(value []byte)) error {
	r := reader{text: text, element: visit}
	return r.only((*reader).array)
}

// only reads the whole text: one thing, with nothing but blanks around it.
func (r *reader) only(thing func(r *reader, depth int) bool) error {
	if !utf8.Valid(r.text) {
		return &Fault{firstInvalid(r.text), "UTF-8"}
	}
	r.blanks()
	if !thing(r, 0) {
		return &Fault{r.at, r.expected}
	}
	if r.blanks(); r.at < len(r.text) {
		return &Fault{r.at, "the end"}
	}
	return nil
}

// firstInvalid returns the offset of the first byte of text that is not UTF-8.
func firstInvalid(text []byte) (at int) {
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// Unquote decodes a JSON string. It reports false for any other value, and for a lone surrogate,
// which is no character.
func Unquote(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return "", false
	}
	body := value[1 : len(value)-1]
	var out strings.Builder
	out.Grow(len(body))
	for {
		plain, _, escaped := bytes.Cut(body, []byte{'\\'})
		out.Write(plain)
		if !escaped {
			return out.String(), true
		}
		r, size := escape(body[len(plain):])
		if size == 0 {
			return "", false
		}
		out.WriteRune(r)
		body = body[len(plain)+size:]
	}
}

// escape reads one escape sequence. A surrogate pair counts as one. size is 0 if s begins with
// none.
func escape(s []byte) (r rune, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	high := unicodeEscape(s)
	if high < 0 {
		return 0, 0
	}
	if !utf16.IsSurrogate(high) {
		return high, 6
	}
	if pair := utf16.DecodeRune(high, unicodeEscape(s[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return 0, 0
}

// unicodeEscape reads \uXXXX, or returns -1.
func unicodeEscape(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	r, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(r)
}

// reader reads JSON text. Each method reads one element of the grammar at the current offset, and
// reports whether it was there.
type reader struct {
	text     []byte
	at       int
	expected string                    // what is missing at the current offset
	member   func(depth int, m Member) // called for each member, or nil
	element  func(value []byte)        // called for each element of the outermost array, or nil
}

// fail notes what is missing at the current offset, and returns false.
func (r *reader) fail(expected string) bool {
	r.expected = expected
	return false
}

func (r *reader) blanks() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

func (r *reader) byte(b byte) bool {
	if r.at < len(r.text) && r.text[r.at] == b {
		r.at++
		return true
	}
	return false
}

// items reads an object or array: its brackets, and its items with commas between them.
func (r *reader) items(open, end byte, depth int, item func(r *reader, depth int) bool) bool {
	if depth > maxDepth {
		return r.fail(fmt.Sprintf("at most %d levels", maxDepth))
	}
	if !r.byte(open) {
		return r.fail(string(open))
	}
	if r.blanks(); r.byte(end) {
		return true
	}
	for {
		r.blanks()
		if !item(r, depth) {
			return false
		}
		if r.blanks(); r.byte(end) {
			return true
		}
		if !r.byte(',') {
			return r.fail(", or " + string(end))
		}
	}
}

func (r *reader) object(depth int) bool { return r.items('{', '}', depth, (*reader).objectItem) }

func (r *reader) array(depth int) bool { return r.items('[', ']', depth, (*reader).arrayItem) }

func (r *reader) objectItem(depth int) bool {
	name := r.at
	if !r.string() {
		return false
	}
	nameEnd := r.at
	r.blanks()
	if !r.byte(':') {
		return r.fail(":")
	}
	r.blanks()
	value := r.at
	if !r.value(depth + 1) {
		return false
	}
	if r.member != nil {
		r.member(depth, Member{Name: r.text[name:nameEnd], Value: r.text[value:r.at], At: value})
	}
	return true
}

func (r *reader) arrayItem(depth int) bool {
	value := r.at
	if !r.value(depth + 1) {
		return false
	}
	if r.element != nil && depth == 0 {
		r.element(r.text[value:r.at])
	}
	return true
}

func (r *reader) value(depth int) bool {
	if r.at >= len(r.text) {
		return r.fail("a value")
	}
	switch b := r.text[r.at]; {
	case b == '{':
		return r.object(depth)
	case b == '[':
		return r.array(depth)
	case b == '"':
		return r.string()
	case b == '-' || '0' <= b && b <= '9':
		return r.number()
	}
	return r.word("true") || r.word("false") || r.word("null") || r.fail("a value")
}

func (r *reader) word(w string) bool {
	if !bytes.HasPrefix(r.text[r.at:], []byte(w)) {
		return false
	}
	r.at += len(w)
	return true
}

func (r *reader) string() bool {
	if !r.byte('"') {
		return r.fail("a string")
	}
	for r.at < len(r.text) {
		switch b := r.text[r.at]; {
		case b == '"':
			r.at++
			return true
		case b == '\\':
			_, size := escape(r.text[r.at:])
			if size == 0 {
				return r.fail("an escape sequence of JSON")
			}
			r.at += size
		case b < 0x20:
			return r.fail("control characters to be escaped")
		default:
			r.at++
		}
	}
	return r.fail("the end of the string")
}

func (r *reader) number() bool {
	r.byte('-')
	if !r.byte('0') && !r.digits() {
		return false
	}
	if r.byte('.') && !r.digits() {
		return false
	}
	if r.byte('e') || r.byte('E') {
		if !r.byte('+') {
			r.byte('-')
		}
		return r.digits()
	}
	return true
}

func (r *reader) digits() bool {
	start := r.at
	for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
		r.at++
	}
	return r.at > start || r.fail("a digit")
}

// Only returns the only member of an object with that name, however the name is escaped. Upper and
// lower case differ. Other members are ignored. The error is a *Fault: text is not an object, or the
// member is absent or repeated.
func Only(text []byte, name string) (Member, error) {
	var found []Member // two at most
	err := Object(text, func(m Member) {
		if got, ok := Unquote(m.Name); ok && got == name && len(found) < 2 {
			found = append(found, m)
		}
	})
	switch {
	case err != nil:
		return Member{}, err
	case len(found) == 0:
		return Member{}, &Fault{bytes.LastIndexByte(text, '}'), "the member " + name}
	case len(found) == 2:
		return Member{}, &Fault{found[1].At, name + " once"}
	}
	return found[0], nil
}
