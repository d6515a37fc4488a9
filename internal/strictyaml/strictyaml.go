// Package strictyaml reads the YAML files of operators: settings, keys, airports, airlines,
// flights. JSON is YAML too.
//
// It reports the faults of a file at once, each with its line and the path of the member. Unknown
// members, repeated members and members without a value are faults. Scalars keep the text that was
// written, so that flight 0117 is not read as an octal number. Tags, anchors and merges are
// refused.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Value is one value of a document.
type Value struct {
	node   *yaml.Node
	path   string // from the document: keys[2].name
	faults *[]error
}

// Members maps the name of each member that an object may have to the function that reads its
// value.
type Members map[string]func(Value)

// mostFaults is how many faults of a file are reported. A program that writes a file with a fault may
// repeat it in a hundred thousand places, and the log has them in one record.
const mostFaults = 100

// Read parses text and calls use with its only document. A text without content is an empty object.
// The error joins the first hundred faults, in the order found, and says how many others there are.
func Read(text []byte, use func(document Value)) error {
	node, err := parse(text)
	if err != nil {
		return err
	}
	var faults []error
	use(Value{node: node, faults: &faults})
	if others := len(faults) - mostFaults; others > 0 {
		faults = append(faults[:mostFaults], fmt.Errorf("and %d more", others))
	}
	return errors.Join(faults...)
}

// parse returns the content of the only document, the zero Node if there is none.
func parse(text []byte) (document *yaml.Node, err error) {
	// Files are read again while the service runs. If the library panics, the file is at fault and
	// the service goes on.
	defer func() {
		if cause := recover(); cause != nil {
			document, err = nil, fmt.Errorf("not YAML: %v", cause)
		}
	}()
	document = new(yaml.Node)
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var next yaml.Node
		switch err := documents.Decode(&next); {
		case errors.Is(err, io.EOF):
			return document, nil
		case err != nil:
			return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		case document.Kind != 0:
			return nil, fmt.Errorf("line %d: a second document", next.Content[0].Line)
		}
		if content := next.Content[0]; kindOf(content) != null || content.Value != "" {
			document = content
		}
	}
}

// Fault records a fault of this value.
func (v Value) Fault(format string, arguments ...any) {
	text := fmt.Sprintf(format, arguments...)
	if v.path != "" {
		text = v.path + ": " + text
	}
	if v.node.Line != 0 {
		text = fmt.Sprintf("line %d: %s", v.node.Line, text)
	}
	*v.faults = append(*v.faults, errors.New(text))
}

// Object calls the function of each member of an object, in the order of the file. An unknown
// member is a fault, a member without a value too, and a missing mandatory member is a fault of the
// object.
func (v Value) Object(members Members, mandatory ...string) {
	missing := slices.Clone(mandatory)
	v.Entries(func(name string, value Value) {
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == name })
		use, known := members[name]
		switch {
		case !known:
			value.Fault("unknown member")
		case kindOf(value.node) == null:
			value.Fault("no value")
		default:
			use(value)
		}
	})
	for _, name := range missing {
		v.Fault("%s is missing", name)
	}
}

// Entries calls use for each member of an object, in the order of the file.
func (v Value) Entries(use func(name string, value Value)) {
	if kindOf(v.node) != object {
		v.Fault("not an object of members")
		return
	}
	seen := make(map[string]bool, len(v.node.Content)/2)
	for pair := range slices.Chunk(v.node.Content, 2) {
		name := pair[0].Value
		value := Value{node: pair[1], path: strings.TrimPrefix(v.path+"."+name, "."), faults: v.faults}
		switch {
		case kindOf(pair[0]) == foreign:
			value.Fault("a name with a tag, an anchor or an alias")
			continue
		case pair[0].Tag == "!!merge" || seen[name]:
			value.Fault("a repeated or merged member")
			continue
		}
		seen[name] = true
		use(name, value)
	}
}

// List calls use for each element of a list.
func (v Value) List(use func(Value)) {
	if kindOf(v.node) != list {
		v.Fault("not a list")
		return
	}
	for i, item := range v.node.Content {
		use(Value{node: item, path: v.path + "[" + strconv.Itoa(i) + "]", faults: v.faults})
	}
}

// Each calls use for each element of a list, or for the value itself if it is no list.
func (v Value) Each(use func(Value)) {
	if kindOf(v.node) == list {
		v.List(use)
		return
	}
	use(v)
}

// Text returns a scalar as it was written, without quotes. For any other value it records a fault,
// and plain is false.
func (v Value) Text() (text string, plain bool) {
	if kindOf(v.node) != scalar && kindOf(v.node) != boolean {
		v.Fault("not a plain value")
		return "", false
	}
	return v.node.Value, true
}

// Pattern returns a scalar for which valid is true. For any other value it records a fault and
// returns "". what describes a valid value.
func (v Value) Pattern(valid func(string) bool, what string) string {
	text, plain := v.Text()
	if plain && !valid(text) {
		v.Fault("%q is not %s", text, what)
		return ""
	}
	return text
}

// Bool returns true or false; false after a fault.
func (v Value) Bool() bool {
	if kindOf(v.node) != boolean {
		v.Fault("neither true nor false")
		return false
	}
	return strings.EqualFold(v.node.Value, "true")
}

// Number returns a decimal number between least and most; least after a fault.
func (v Value) Number(least, most float64) float64 {
	text, plain := v.Text()
	if !plain {
		return least
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || !(number >= least && number <= most) {
		v.Fault("%q is not a number from %v to %v", text, least, most)
		return least
	}
	return number
}

// Time returns a time written as RFC 3339, with its offset; the zero time after a fault.
func (v Value) Time() time.Time {
	text, plain := v.Text()
	at, err := time.Parse(time.RFC3339, text)
	if plain && err != nil {
		v.Fault("%q is not a time like 2026-11-21T13:10:00+01:00", text)
	}
	return at
}

// kind is the kind of a node.
type kind uint8

const (
	foreign kind = iota // anything that is refused: an anchor, an alias, a tag
	null
	scalar // a string or a number
	boolean
	list
	object
)

// kindOf returns the kind of a node of the library. The zero Node, which a text without content
// has, is an object.
func kindOf(n *yaml.Node) kind {
	switch {
	case n.Kind == 0:
		return object
	case n.Anchor != "" || n.Style&yaml.TaggedStyle != 0:
		return foreign
	case n.Kind == yaml.MappingNode:
		return object
	case n.Kind == yaml.SequenceNode:
		return list
	case n.Kind != yaml.ScalarNode:
		return foreign
	case n.Tag == "!!null":
		return null
	case n.Tag == "!!bool":
		return boolean
	}
	return scalar
}
