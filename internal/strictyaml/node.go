package strictyaml

import "github.com/goccy/go-yaml/ast"

// node is a value of a document, as [Value] needs it.
type node struct {
	kind    kind
	line    int    // on which it begins; 0 for a document without content
	text    string // of a scalar, as it was written, without quotes
	items   []node // of a list
	members []member
}

// kind is what a node is.
type kind uint8

const (
	foreign kind = iota // an anchor, a tag, …
	null
	scalar // a string, or a number
	boolean
	list
	object
)

// member is one of an object.
type member struct {
	name  string
	merge bool // it is written <<
	value node
}

// convert makes a node of one of the library.
func convert(from ast.Node) node {
	if from == nil {
		return node{kind: null}
	}
	to := node{line: from.GetToken().Position.Line}
	switch from := from.(type) {
	case *ast.NullNode:
		to.kind = null
	case *ast.StringNode:
		to.kind, to.text = scalar, from.Value
	case *ast.LiteralNode:
		to.kind, to.text = scalar, from.Value.Value
	case *ast.IntegerNode, *ast.FloatNode:
		to.kind, to.text = scalar, from.GetToken().Value
	case *ast.BoolNode:
		to.kind, to.text = boolean, from.GetToken().Value
	case *ast.SequenceNode:
		to.kind = list
		for _, item := range from.Values {
			to.items = append(to.items, convert(item))
		}
	case *ast.MappingNode:
		to.kind = object
		for _, pair := range from.Values {
			to.members = append(to.members, convertMember(pair))
		}
	case *ast.MappingValueNode:
		to.kind, to.members = object, []member{convertMember(from)}
	}
	return to
}

func convertMember(pair *ast.MappingValueNode) member {
	_, isMerge := pair.Key.(*ast.MergeKeyNode)
	return member{pair.Key.GetToken().Value, isMerge, convert(pair.Value)}
}
