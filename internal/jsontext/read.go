package jsontext

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrSyntax is returned for a text that is not one JSON object.
var ErrSyntax = errors.New("not a JSON object")

// maxDepth bounds how deep arrays and objects may be nested, and with it the stack that reading takes.
const maxDepth = 512

// Member is one member of an object. Both fields are views of the text that was read.
type Member struct {
	Name  []byte // as it stands in the text, quoted and escaped
	Value []byte // as it stands in the text, without blanks around it
}

// Is reports whether the member bears the name, however it is escaped. Upper and lower case differ.
func (m Member) Is(name string) bool {
	plain := m.Name[1 : len(m.Name)-1]
	if bytes.IndexByte(plain, '\\') < 0 {
		return string(plain) == name
	}
	got, ok := Unquote(m.Name)
	return ok && got == name
}

// Object reads text as one JSON object with nothing but blanks around it, and calls visit for each member in order.
// It returns ErrSyntax where the text is anything else; visit may then have seen the members before the fault.
func Object(text []byte, visit func(Member)) error {
	return Walk(text, func(depth int, m Member) {
		if depth == 0 {
			visit(m)
		}
	})
}

// Walk reads text as Object does, and calls visit for each member of every object in it, those inside a value before the
// member that has the value. depth counts the objects and arrays around the member's object: 0 for members of text itself.
func Walk(text []byte, visit func(depth int, m Member)) error {
	if !utf8.Valid(text) {
		return ErrSyntax
	}
	r := reader{text: text, member: visit}
	r.blanks()
	if !r.object(0) || !r.atEnd() {
		return ErrSyntax
	}
	return nil
}

// Elements reads text as one JSON array, as Object reads an object.
func Elements(text []byte, visit func(value []byte)) error {
	if !utf8.Valid(text) {
		return ErrSyntax
	}
	r := reader{text: text, element: visit}
	r.blanks()
	if !r.array(0) || !r.atEnd() {
		return ErrSyntax
	}
	return nil
}

// Unquote returns what a JSON string means. It is false for any other value, and for a lone surrogate, which is no character.
func Unquote(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return "", false
	}
	body := value[1 : len(value)-1]
	var out strings.Builder
	out.Grow(len(body))
	for i := 0; i < len(body); {
		if body[i] != '\\' {
			start := i
			for i < len(body) && body[i] != '\\' {
				i++
			}
			out.Write(body[start:i])
			continue
		}
		r, size := escape(body[i:])
		if size == 0 {
			return "", false
		}
		out.WriteRune(r)
		i += size
	}
	return out.String(), true
}

// escape reads one escape sequence, a surrogate pair being one; size is 0 where there is none.
func escape(s []byte) (r rune, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
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
	var r rune
	for _, b := range s[2:6] {
		switch {
		case '0' <= b && b <= '9':
			r = r<<4 | rune(b-'0')
		case 'a' <= b|0x20 && b|0x20 <= 'f':
			r = r<<4 | rune(b|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// reader walks over JSON text. Each method reads one thing at the current place and reports whether it stands there.
type reader struct {
	text    []byte
	at      int
	member  func(depth int, m Member) // called for each member, or nil
	element func(value []byte)        // called for each element of the outermost array, or nil
}

func (r *reader) atEnd() bool {
	r.blanks()
	return r.at == len(r.text)
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

func (r *reader) object(depth int) bool {
	if depth > maxDepth || !r.byte('{') {
		return false
	}
	r.blanks()
	if r.byte('}') {
		return true
	}
	for {
		r.blanks()
		name := r.at
		if !r.string() {
			return false
		}
		nameEnd := r.at
		r.blanks()
		if !r.byte(':') {
			return false
		}
		r.blanks()
		value := r.at
		if !r.value(depth + 1) {
			return false
		}
		if r.member != nil {
			r.member(depth, Member{Name: r.text[name:nameEnd], Value: r.text[value:r.at]})
		}
		r.blanks()
		if r.byte('}') {
			return true
		}
		if !r.byte(',') {
			return false
		}
	}
}

func (r *reader) array(depth int) bool {
	if depth > maxDepth || !r.byte('[') {
		return false
	}
	r.blanks()
	if r.byte(']') {
		return true
	}
	for {
		r.blanks()
		value := r.at
		if !r.value(depth + 1) {
			return false
		}
		if r.element != nil && depth == 0 {
			r.element(r.text[value:r.at])
		}
		r.blanks()
		if r.byte(']') {
			return true
		}
		if !r.byte(',') {
			return false
		}
	}
}

func (r *reader) value(depth int) bool {
	if r.at >= len(r.text) {
		return false
	}
	switch r.text[r.at] {
	case '{':
		return r.object(depth)
	case '[':
		return r.array(depth)
	case '"':
		return r.string()
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	case 'n':
		return r.word("null")
	}
	return r.number()
}

func (r *reader) word(w string) bool {
	if len(r.text)-r.at < len(w) || string(r.text[r.at:r.at+len(w)]) != w {
		return false
	}
	r.at += len(w)
	return true
}

func (r *reader) string() bool {
	if !r.byte('"') {
		return false
	}
	for r.at < len(r.text) {
		switch b := r.text[r.at]; {
		case b == '"':
			r.at++
			return true
		case b == '\\':
			_, size := escape(r.text[r.at:])
			if size == 0 {
				return false
			}
			r.at += size
		case b < 0x20:
			return false
		default:
			r.at++
		}
	}
	return false
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
	return r.at > start
}

// StringMember returns the one string that an object holds under a name. It is false where text is no object, where the
// member is absent or repeated, and where it is no string. Other members are ignored.
func StringMember(text []byte, name string) (value string, ok bool) {
	found := 0
	err := Object(text, func(m Member) {
		if m.Is(name) {
			found++
			value, ok = Unquote(m.Value)
		}
	})
	if err != nil || found != 1 || !ok {
		return "", false
	}
	return value, true
}
