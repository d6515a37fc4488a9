// Package parser reads IATA baggage messages (BSM and BPM): text in, a Message and Diagnostics out.
//
// It knows no clock, no network and no store, and leaves to others what needs them: the missing year
// of a date, the time zone of an airport, what a message means for a bag. It guarantees that bad
// input is never an error or a panic but a list of diagnostics, each with its place in the text as
// sent; that time grows with the length of the text, whatever it holds; and that a reused Message
// allocates nothing (once where control characters must be taken out).
package parser

// Reference is what the parser must be told about airports. Each answer depends on the arguments alone;
// the strings are views of the text.
type Reference interface {
	// KnownAirport reports whether code, three capitals, is in the airport library.
	KnownAirport(code string) bool
	// KnownStatus reports whether code, which may be any text, is a baggage status code that may stand
	// in a .B element at airport ("" where .V gives none).
	KnownStatus(airport, code string) bool
}

// scratch is what Parse remembers while it reads, and the memory that it uses again.
type scratch struct {
	ref     Reference
	text    string // as the outline has it: without the characters that must be taken out
	outline outline

	seen   letters // elements of the message so far
	own    letters // elements of the open group so far
	since  letters // elements behind the latest tag of the open group
	tagged bool    // the open group has a tag

	sharer    int  // the group with the first .U before any tag; -1: there is none
	loaded    line // the first .U with field 1 or 2
	positions bool // a .U has field 1: without tags the message positions a container

	flights []Flight // the memory behind Group.Onward
	tags    []Tags   // … Group.Tags
	data    []string // … Group.AirlineData
}

// readers are the elements that the parser interprets, by letter. It carries the others along.
// Each reads one line into the message, or reports what is wrong with it. The first .V is read before
// all others, since the airport that it names decides on .B.
var readers = [26]func(*Message, line){
	'V' - 'A': (*Message).checkVersion,
	'F' - 'A': (*Message).readOutbound,
	'I' - 'A': (*Message).readInbound,
	'O' - 'A': (*Message).readOnward,
	'N' - 'A': (*Message).readTags,
	'B' - 'A': (*Message).readIrregularity,
	'J' - 'A': (*Message).readProcessing,
	'U' - 'A': (*Message).readLoading,
	'X' - 'A': (*Message).readScreening,
	'S' - 'A': (*Message).readReconciliation,
	'W' - 'A': (*Message).readWeight,
	'P' - 'A': (*Message).readPassenger,
	'L' - 'A': (*Message).readPNR,
	'Y' - 'A': (*Message).readFrequentFlyer,
	'E' - 'A': (*Message).readException,
	'M' - 'A': (*Message).readUniqueID,
	'R' - 'A': (*Message).readAirlineData,
}

// Parse reads text into m, overwriting what m held. It keeps views of text.
func (m *Message) Parse(text string, ref Reference) {
	m.reset(ref)
	o := &m.scratch.outline
	m.scratch.text = o.read(text)
	if m.judgeShape() {
		m.readElements()
		m.judgeMissing()
	}
	place(text, m.Errors)
	place(text, m.Warnings)
	m.scratch.ref = nil
}

// reset empties the message and keeps its memory.
func (m *Message) reset(ref Reference) {
	s := &m.scratch
	s.ref = ref
	s.seen = 0
	s.sharer, s.loaded, s.positions = -1, line{}, false
	s.flights, s.tags, s.data = s.flights[:0], s.tags[:0], s.data[:0]

	m.Identifier, m.Kind, m.Change = "", None, New
	m.Version, m.Processing, m.Screening = Version{}, Processing{}, NotScreened
	m.Groups = m.Groups[:0]
	m.Errors, m.Warnings = m.Errors[:0], m.Warnings[:0]
}

// judgeShape is phase A of rules §1: whether the text is one BSM or BPM. It stops at its first fault.
func (m *Message) judgeShape() bool {
	o := &m.scratch.outline
	m.Identifier, m.Kind = o.identifier.text, kindOf(o.identifier.text)
	switch {
	case o.first.text == "":
		m.miss(MissingText, "", o.first, "a BSM or BPM")
	case m.Kind == None:
		m.fail(MissingIdentifier, o.first, 0, o.first.text, "a line BSM or BPM before the first element")
	case m.Kind == Other:
		m.fail(WrongIdentifier, o.identifier, 0, m.Identifier, "BSM or BPM")
	case o.stray.text != "":
		m.fail(WrongIdentifier, o.stray, 0, o.stray.text, "one message only, from its identifier to its end line")
	case m.Kind == BSM:
		m.Change = changeOf(o.second.text)
	}
	return len(m.Errors) == 0
}

func kindOf(identifier string) Kind {
	switch identifier {
	case "":
		return None
	case "BSM":
		return BSM
	case "BPM":
		return BPM
	}
	return Other
}

// changeOf reads the line behind the identifier of a BSM, which may be anything.
func changeOf(status string) Change {
	switch status {
	case "CHG":
		return Revise
	case "DEL":
		return Delete
	}
	return New
}

// readElements is phase C of rules §1, and fills the groups.
func (m *Message) readElements() {
	s := &m.scratch
	m.readVersion()
	m.openGroup()
	for _, e := range s.outline.elements {
		letter := e.text[1]
		if read := readers[letter-'A']; read != nil {
			read(m, e)
		}
		s.seen = s.seen.with(letter)
		s.own = s.own.with(letter)
		s.since = s.since.with(letter)
	}
	m.shareLoading()
}

// judgeMissing is phase B of rules §1. What is missing is reported at the line that asks for it. (An .N or .B
// with nothing behind it is reported where it is read.)
func (m *Message) judgeMissing() {
	s := &m.scratch
	o := &s.outline
	has := o.present.has
	if m.Kind == BSM {
		m.require(has('V'), MissingSourceVersion, ".V", o.identifier, "a .V element")
		m.require(has('F'), MissingFlight, ".F", o.identifier, "an .F element")
		m.require(has('N'), MissingTag, ".N", o.identifier, "an .N element")
		m.require(o.end.text != "", MissingEnd, "", o.last, "a line ENDBSM behind it")
	} else {
		m.require(has('V'), MissingVersion, ".V", o.identifier, "a .V element")
		m.require(has('N') || has('B') || s.positions, MissingTags, ".N", o.identifier,
			"an .N or .B element, or a .U element with a stowage device")
		m.require(has('F') || s.loaded.text == "", MissingLoadingFlight, ".F", s.loaded, "an .F element")
	}
}
