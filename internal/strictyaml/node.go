package strictyaml

import "github.com/goccy/go-yaml/ast"

// node is one value of a document: what [Value] needs of the library's syntax tree.
type node struct {
	kind    kind
	line    int      // line on which it begins, from 1; 0 for a document without content
	text    string   // a scalar as it was written, without quotes
	items   []node   // elements of a list
	members []member // members of an object
}

// kind is the kind of a node.
type kind uint8

const (
	foreign kind = iota // anything that is refused: an anchor, a tag, …
	null
	scalar // a string or a number
	boolean
	list
	object
)

// member is one member of an object.
type member struct {
	name  string
	merge bool // the name is <<
	value node
}

// newNode returns the node for a syntax tree of the library.
func newNode(from ast.Node) node {
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
			to.items = append(to.items, newNode(item))
		}
	case *ast.MappingNode:
		to.kind = object
		for _, pair := range from.Values {
			to.members = append(to.members, newMember(pair))
		}
	case *ast.MappingValueNode:
		to.kind, to.members = object, []member{newMember(from)}
	}
	return to
}

func newMember(pair *ast.MappingValueNode) member {
	_, isMerge := pair.Key.(*ast.MergeKeyNode)
	return member{pair.Key.GetToken().Value, isMerge, newNode(pair.Value)}
}
