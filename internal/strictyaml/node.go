package strictyaml

import "go.yaml.in/yaml/v4"

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
