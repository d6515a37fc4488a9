// Package parser reads IATA baggage messages (BSM and BPM): text in, a Message and Diagnostics out.
//
// It uses no clock, no network and no store. Package enricher finds the year of a date and the time
// zone of an airport, and package bag decides what a message means for a bag. Bad input is never an
// error or a panic: it gives a list of diagnostics, each with its place in the text as sent. The
// time that Parse takes grows with the length of the text, whatever the text holds. If a Message is
// reused, Parse allocates nothing, except once if it must remove control characters.
package parser

// Reference answers the questions of the parser about airports. Each answer depends only on the
// arguments. The arguments share the memory of the text, so an implementation must not keep them.
type Reference interface {
	// KnownLocation reports whether code, three capitals, is in the airport library.
	KnownLocation(code string) bool
	// KnownStatus reports whether code, which may be any text, is a baggage status code that may
	// stand in a .B element at airport. airport is "" if .V gives none.
	KnownStatus(airport, code string) bool
}

// scratch is the state of Parse while it reads, and the memory that the next Parse reuses.
type scratch struct {
	ref     Reference
	outline outline

	seen     letters // elements of the message so far
	own      letters // elements of the open group so far
	sinceTag letters // elements since the latest tag, that tag included
	tagged   bool    // the open group has a tag

	firstLoading int  // index of the group with the first .U before any tag; -1: there is none
	loaded       line // the first .U with field 1 or 2
	positions    bool // a .U has field 1: without tags the message positions a container

	flights []Flight // the memory behind Group.Onward
	tags    []Tags   // the memory behind Group.Tags
	data    []string // the memory behind Group.AirlineData
}

// readers holds, by letter, the functions for the elements that the parser interprets; it carries
// the others along. Each function reads one line into the message, or reports its faults.
var readers = [26]func(*Message, line){
	'V' - 'A': (*Message).readVersion,
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

// firstOfGroup is the set of elements that are read only once in a group. In a group, readElement
// ignores such an element after the first.
const firstOfGroup = letters(1<<('S'-'A') | 1<<('P'-'A') | 1<<('L'-'A') | 1<<('Y'-'A') | 1<<('M'-'A'))

// Parse reads text, of less than 4 GiB, into m and overwrites what m held. The strings of m may
// share the memory of text.
func (m *Message) Parse(text string, ref Reference) {
	m.reset(ref)
	m.scratch.outline.scan(text)
	if m.judgeShape() {
		m.readElements()
		m.judgeMissing()
	} else {
		m.readVersionOnly()
	}
	if len(m.Errors)+len(m.Warnings) > 0 {
		place(text, m.Errors)
		place(text, m.Warnings)
	}
	m.scratch.ref = nil
}

// reset empties the message and keeps its memory.
func (m *Message) reset(ref Reference) {
	s := &m.scratch
	s.ref = ref
	s.seen = 0
	s.firstLoading, s.loaded, s.positions = -1, line{}, false
	s.flights, s.tags, s.data = s.flights[:0], s.tags[:0], s.data[:0]

	m.Head, m.Identifier = Head{}, ""
	m.Groups = m.Groups[:0]
	m.Errors, m.Warnings = m.Errors[:0], m.Warnings[:0]
}

// judgeShape is phase A of rules §1. It reports whether the text is one message of a known kind,
// and stops at the first fault.
func (m *Message) judgeShape() bool {
	o := &m.scratch.outline
	identifier := o.lineAt(o.identifier)
	m.Identifier, m.Kind = identifier.text, kindOf(identifier.text)
	switch {
	case m.Identifier == "":
		if first := o.lineFrom(0); first.text != "" {
			m.fail(MissingIdentifier, first, 0, first.text, anyIdentifierLine)
		} else {
			m.miss(MissingText, "", line{}, anyMessage)
		}
		return false
	case m.Kind == None:
		m.fail(WrongIdentifier, identifier, 0, m.Identifier, anyIdentifier)
		return false
	}
	if stray := o.stray(); stray.text != "" {
		m.fail(WrongIdentifier, stray, 0, stray.text, "one message only, from its identifier to its end line")
		return false
	}
	if kinds[m.Kind].hasChange {
		m.Change = changeOf(o.lineFrom(o.identifier.to).text)
	}
	m.Origin = o.origin()
	return true
}

// changeOf reads the line after the identifier, which may be anything.
func changeOf(status string) Change {
	switch status {
	case "CHG":
		return Revise
	case "DEL":
		return Delete
	}
	return New
}

// readElements is phase C of rules §1, and fills the groups. It reads the first .V before all other
// elements, since the airport decides which status codes a .B may have.
func (m *Message) readElements() {
	o := &m.scratch.outline
	m.openGroup()
	if o.present.has('V') {
		m.readElement(o.lineAt(o.version))
	}
	for _, e := range o.elements {
		if e.from != o.version.from {
			m.readElement(o.lineAt(e))
		}
	}
	m.shareLoading()
}

// readVersionOnly reads the first .V of a text that is not one message of a known kind, so that its
// reject has an airport. It does not report the faults of this .V.
func (m *Message) readVersionOnly() {
	if o := &m.scratch.outline; o.present.has('V') {
		errors := len(m.Errors)
		m.readElement(o.lineAt(o.version))
		m.Errors = m.Errors[:errors]
	}
}

func (m *Message) readElement(e line) {
	s := &m.scratch
	letter := e.text[1] - 'A'
	element := letters(1) << letter
	if read := readers[letter]; read != nil && element&firstOfGroup&s.own == 0 {
		read(m, e)
	}
	s.seen |= element
	s.own |= element
	s.sinceTag |= element
}

// judgeMissing is phase B of rules §1. It runs after phase C, since some requirements depend on
// what was read. A missing element is reported at the line that requires it. (A bare .N or .B is
// reported when it is read.)
func (m *Message) judgeMissing() {
	for _, r := range kinds[m.Kind].required {
		if !r.met(m) {
			m.miss(r.code, r.element, r.line(m), r.expected)
		}
	}
}
