package parser

import "strings"

// Kind is a kind of message that Parse accepts.
type Kind uint8

// The kinds. Each but None has an entry in the table of kinds.
const (
	None Kind = iota // no identifier was found, or one that has no entry
	BSM              // bag source message
	BPM              // bag processed message
)

// kinds is the table of the kinds. It has everything that the parser knows about a kind. A message
// whose identifier has no entry is rejected. A table in package bag has the events that each kind
// makes; it does not compile unless it has as many entries.
var kinds = [...]kind{
	BSM: {
		identifier: "BSM",
		isSource:   true,
		hasChange:  true,
		required: []requirement{
			{MissingSourceVersion, ".V", "a .V element", has('V'), identifierLine},
			{MissingFlight, ".F", "an .F element", has('F'), identifierLine},
			{MissingTag, ".N", "an .N element", has('N'), identifierLine},
			{MissingEnd, "", "a line ENDBSM behind it", hasEnd, lastLine},
		},
	},
	BPM: {
		identifier:     "BPM",
		hasParts:       true,
		irregularities: true,
		required: []requirement{
			{MissingVersion, ".V", "a .V element", has('V'), identifierLine},
			{MissingTags, ".N", "an .N or .B element, or a .U element with a stowage device", hasTagsOrDevice, identifierLine},
			{MissingLoadingFlight, ".F", "an .F element", hasLoadingFlight, loadedLine},
		},
	},
}

// KindCount is the number of kinds, None included.
const KindCount = len(kinds)

// kind is an entry of the table of kinds.
type kind struct {
	identifier     string
	isSource       bool // see IsSource
	hasChange      bool // the line after the identifier may be a change of status
	hasParts       bool // ENDPART and digits is an end line too
	irregularities bool // .B elements are read; in other kinds they are carried along
	required       []requirement
}

// requirement is something that each message of a kind must have (phase B of rules §1).
type requirement struct {
	code     Code
	element  string // the element that is missing; "" if it is not an element
	expected string
	met      func(*Message) bool
	line     func(*Message) line // the line at which it is reported as missing
}

// kindOf returns the kind with this identifier, or None.
func kindOf(identifier string) Kind {
	for k := range kinds {
		if kinds[k].identifier == identifier {
			return Kind(k)
		}
	}
	return None
}

// IsSource reports whether messages of the kind announce bags, as a BSM does: they say to whom a
// bag belongs and where it is to go. Each is valid until a later one replaces it.
func (k Kind) IsSource() bool { return kinds[k].isSource }

// IsProcessing reports whether messages of the kind say what was done with bags, as a BPM does: their
// read time counts. Each kind but None is either this or a source.
func (k Kind) IsProcessing() bool { return k != None && !kinds[k].isSource }

// The texts that say what is expected if the identifier is missing or not that of a kind.
var (
	anyIdentifier     = strings.Join(identifiers(), " or ") // "BSM or BPM"
	anyMessage        = "a " + anyIdentifier
	anyIdentifierLine = "a line " + anyIdentifier + " before the first element"
)

func identifiers() []string {
	var all []string
	for _, k := range kinds[None+1:] {
		all = append(all, k.identifier)
	}
	return all
}

// String returns the identifier of the kind, "" for None.
func (k Kind) String() string { return kinds[k].identifier }

// has returns a function that reports whether a message has the element with this letter.
func has(letter byte) func(*Message) bool {
	return func(m *Message) bool { return m.scratch.outline.present.has(letter) }
}

func hasEnd(m *Message) bool { return m.scratch.outline.end.to > 0 }

func hasTagsOrDevice(m *Message) bool {
	elements := m.scratch.outline.present
	return elements.has('N') || elements.has('B') || m.scratch.positions
}

func hasLoadingFlight(m *Message) bool {
	return m.scratch.outline.present.has('F') || m.scratch.loaded.text == ""
}

func identifierLine(m *Message) line {
	o := &m.scratch.outline
	return o.lineAt(o.identifier)
}

func lastLine(m *Message) line { return m.scratch.outline.lastLine() }

func loadedLine(m *Message) line { return m.scratch.loaded }
