// Package strictyaml reads the YAML files that operators write for bagtrail: keys, airports, flights (JSON is YAML).
// It reports every fault of a file at once, each with its line and the path of the member. Unknown and repeated
// members are faults, and so is a member without a value, since nobody can tell what was meant by it. Scalars keep
// the text that was written, so that flight 0117 is no octal number. Tags, anchors and merges are refused.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// Value is one value of a document, with the place where it stands.
type Value struct {
	node   node
	path   string
	faults *[]error
}

// Members says for each member of an object what is done with its value.
type Members map[string]func(Value)

// Read parses text and hands its one document to use, which takes it apart. A text without content is an empty object.
// The error joins every fault, in the order found, or is nil.
func Read(text []byte, use func(document Value)) error {
	node, err := parse(text)
	if err != nil {
		return err
	}
	var faults []error
	use(Value{node: node, faults: &faults})
	return errors.Join(faults...)
}

func parse(text []byte) (document node, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if document, isDone := parseQuickly(string(text)); isDone {
		return document, nil
	}
	return parseWhole(text)
}

// parseWhole parses any YAML.
func parseWhole(text []byte) (document node, err error) {
	// The files are read again while the service runs: a text that upsets the library is a bad file, no crash.
	defer func() {
		if cause := recover(); cause != nil {
			document, err = node{}, fmt.Errorf("not YAML: %v", cause)
		}
	}()
	file, err := parser.ParseBytes(text, 0)
	if cause := yaml.Error(nil); errors.As(err, &cause) && cause.GetToken() != nil {
		return node{}, fmt.Errorf("line %d: %s", cause.GetToken().Position.Line, cause.GetMessage())
	}
	if err != nil {
		return node{}, fmt.Errorf("not YAML: %w", err)
	}
	document = node{kind: object}
	for _, part := range file.Docs {
		if part.Body == nil {
			continue
		}
		if document.line != 0 {
			return node{}, fmt.Errorf("line %d: a second document", part.Body.GetToken().Position.Line)
		}
		document = convert(part.Body)
	}
	return document, nil
}

// Fault records a fault of this value.
func (v Value) Fault(format string, arguments ...any) {
	text := fmt.Sprintf(format, arguments...)
	if v.path != "" {
		text = v.path + ": " + text
	}
	if v.node.line != 0 {
		text = fmt.Sprintf("line %d: %s", v.node.line, text)
	}
	*v.faults = append(*v.faults, errors.New(text))
}

// Object hands each member of an object to its function, in the order of the file. A mandatory member that is not there
// is a fault of the object.
func (v Value) Object(members Members, mandatory ...string) {
	missing := slices.Clone(mandatory)
	v.Entries(func(name string, value Value) {
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == name })
		use, known := members[name]
		switch {
		case !known:
			value.Fault("unknown member")
		case value.node.kind == null:
			value.Fault("no value")
		default:
			use(value)
		}
	})
	for _, name := range missing {
		v.Fault("%s is missing", name)
	}
}

// Entries hands each member of an object to use, in the order of the file, whatever its name.
func (v Value) Entries(use func(name string, value Value)) {
	if v.node.kind != object {
		v.Fault("not an object of members")
	}
	seen := make(map[string]bool, len(v.node.members))
	for _, m := range v.node.members {
		value := v.at(m.value, m.name)
		if m.merge || seen[m.name] {
			value.Fault("a repeated or merged member")
			continue
		}
		seen[m.name] = true
		use(m.name, value)
	}
}

// List hands each element of a list to use.
func (v Value) List(use func(Value)) {
	if v.node.kind != list {
		v.Fault("not a list")
		return
	}
	for i, item := range v.node.items {
		use(Value{node: item, path: v.path + "[" + strconv.Itoa(i) + "]", faults: v.faults})
	}
}

// IsList reports whether the value is a list.
func (v Value) IsList() bool { return v.node.kind == list }

// Text returns a scalar as it was written, without quotes. Anything else is a fault, and not plain.
func (v Value) Text() (text string, plain bool) {
	if v.node.kind != scalar && v.node.kind != boolean {
		v.Fault("not a plain value")
		return "", false
	}
	return v.node.text, true
}

// Bool returns true or false; false after a fault.
func (v Value) Bool() bool {
	if v.node.kind != boolean {
		v.Fault("neither true nor false")
		return false
	}
	return strings.EqualFold(v.node.text, "true")
}

// Number returns a decimal number between least and most; least after a fault.
func (v Value) Number(least, most float64) float64 {
	text, plain := v.Text()
	if !plain {
		return least
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || !(number >= least && number <= most) {
		v.Fault("%q is no number from %v to %v", text, least, most)
		return least
	}
	return number
}

// Time returns a time written as RFC 3339, with its offset; the zero time after a fault.
func (v Value) Time() time.Time {
	text, plain := v.Text()
	at, err := time.Parse(time.RFC3339, text)
	if plain && err != nil {
		v.Fault("%q is no time like 2026-11-21T13:10:00+01:00", text)
	}
	return at
}

func (v Value) at(n node, member string) Value {
	path := member
	if v.path != "" {
		path = v.path + "." + member
	}
	return Value{node: n, path: path, faults: v.faults}
}
