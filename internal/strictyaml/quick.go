package strictyaml

import (
	"slices"
	"strings"
	"unicode"
)

// quick parses the YAML that operators and bagtrail itself mostly write, some five times as fast as the library: lists and
// objects by indentation, whose scalars stand in one line, and lists of scalars between brackets. What it does not know,
// be it right or wrong, it leaves to the library. What it knows it reads as the library does.
type quick struct {
	rest   string // behind the current line
	line   int    // number of the current line
	indent int    // of what is left of it
	text   string // what is left of it; "" at the end
	failed bool   // something is left to the library
}

// parseQuickly returns the document, or false if it is for the library.
func parseQuickly(text string) (node, bool) {
	if strings.ContainsFunc(text, isSpecial) {
		return node{}, false
	}
	q := &quick{rest: text}
	q.next()
	if q.text == "" || q.indent != 0 {
		return node{}, false
	}
	document := q.block()
	return document, !q.failed && q.text == ""
}

// next goes to the next line that holds more than a comment.
func (q *quick) next() {
	for {
		if q.rest == "" {
			q.indent, q.text = 0, ""
			return
		}
		var line string
		line, q.rest, _ = strings.Cut(q.rest, "\n")
		q.line++
		q.text = strings.TrimLeft(line, " ")
		q.indent = len(line) - len(q.text)
		if q.text != "" && q.text[0] != '#' {
			return
		}
	}
}

// fail leaves the document to the library.
func (q *quick) fail() node {
	q.failed, q.rest, q.text = true, "", ""
	return node{}
}

// block parses the list or object that begins at the current line, and goes behind it.
func (q *quick) block() node {
	if strings.HasPrefix(q.text, "- ") {
		return q.list()
	}
	return q.object()
}

func (q *quick) list() node {
	n, indent := node{kind: list, line: q.line}, q.indent
	for q.text != "" && q.indent == indent && strings.HasPrefix(q.text, "- ") {
		item := strings.TrimLeft(q.text[2:], " ")
		q.indent += len(q.text) - len(item)
		q.text = item
		if _, _, isMember := cutName(item); isMember {
			n.items = append(n.items, q.object())
			continue
		}
		n.items = append(n.items, q.inline(item))
		q.next()
	}
	return q.ended(n, indent)
}

// cutName cuts the name of a member off, and the colon and blanks behind it.
func cutName(text string) (name, value string, isMember bool) {
	end := 0
	for end < len(text) && isWord(text[end]) {
		end++
	}
	value, isMember = strings.CutPrefix(text[end:], ":")
	if end == 0 || !isMember || value != "" && value[0] != ' ' {
		return "", "", false
	}
	return text[:end], strings.TrimLeft(value, " "), true
}

// mostMembers is how many members an object has at most, so that a name is soon compared with all others.
const mostMembers = 20

func (q *quick) object() node {
	n, indent := node{kind: object, line: q.line}, q.indent
	for q.text != "" && q.indent == indent {
		name, value, isMember := cutName(q.text)
		isSame := func(m member) bool { return m.name == name }
		if !isMember || len(n.members) == mostMembers || slices.ContainsFunc(n.members, isSame) {
			return q.fail()
		}
		if value != "" && value[0] != '#' {
			n.members = append(n.members, member{name: name, value: q.inline(value)})
			q.next()
			continue
		}
		q.next()
		if isList := strings.HasPrefix(q.text, "- "); q.text == "" || q.indent < indent || q.indent == indent && !isList {
			return q.fail() // a member without a value
		}
		n.members = append(n.members, member{name: name, value: q.block()})
	}
	return q.ended(n, indent)
}

// ended returns a list or an object behind which something stands that belongs to neither it nor a part of it.
func (q *quick) ended(n node, indent int) node {
	if q.text != "" && q.indent > indent {
		return q.fail()
	}
	return n
}

// inline parses a value that stands in the rest of a line, and perhaps a comment behind it.
func (q *quick) inline(text string) (n node) {
	if strings.HasPrefix(text, "[") {
		n, text = q.brackets(text[1:])
	} else {
		n, text = q.scalar(text, false)
	}
	if comment := strings.TrimLeft(text, " "); comment != "" && (comment[0] != '#' || comment == text) {
		return q.fail()
	}
	return n
}

// brackets parses a list of scalars behind its opening bracket, and returns what stands behind it.
func (q *quick) brackets(text string) (node, string) {
	n := node{kind: list, line: q.line}
	if rest := strings.TrimLeft(text, " "); strings.HasPrefix(rest, "]") {
		return n, rest[1:]
	}
	for {
		var item node
		item, text = q.scalar(strings.TrimLeft(text, " "), true)
		n.items = append(n.items, item)
		text = strings.TrimLeft(text, " ")
		switch {
		case strings.HasPrefix(text, "]"):
			return n, text[1:]
		case !strings.HasPrefix(text, ","):
			return q.fail(), ""
		}
		text = text[1:]
	}
}

// scalar parses a scalar at the beginning of text, and returns what stands behind it.
func (q *quick) scalar(text string, inBrackets bool) (node, string) {
	n := node{kind: scalar, line: q.line}
	if strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "'") {
		quoted, rest, closed := strings.Cut(text[1:], text[:1])
		if !closed || strings.Contains(quoted, `\`) || strings.HasPrefix(rest, text[:1]) {
			return q.fail(), ""
		}
		n.text = quoted
		return n, rest
	}
	n.text = plain(text, inBrackets)
	rest := text[len(n.text):]
	switch word := strings.ToLower(n.text); {
	case n.text == "true" || n.text == "false":
		n.kind = boolean
	case word == "" || word == "null" || word == "true" || word == "false": // spelt in another way
		return q.fail(), ""
	}
	if rest != "" && !strings.Contains(" ,]", rest[:1]) {
		return q.fail(), ""
	}
	return n, rest
}

// plain returns the scalar without quotes at the beginning of text: what cannot be anything else in YAML than one.
func plain(text string, inBrackets bool) string {
	for i := range len(text) {
		c := text[i]
		joins := !inBrackets && (c == ' ' || c == ':') && i+1 < len(text) && (isWord(text[i+1]) || isMark(text[i+1]))
		if !isWord(c) && (i == 0 || !isMark(c) && !joins) {
			return text[:i]
		}
	}
	return text
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func isMark(c byte) bool { return c == '.' || c == '/' || c == '+' || c == '-' }

// isSpecial reports whether a character may mean something else than itself wherever it stands.
func isSpecial(r rune) bool {
	return r != '\n' && (!unicode.IsPrint(r) || r == unicode.ReplacementChar)
}
