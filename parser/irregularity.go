package parser

import "strings"

const (
	irregularityLength = 20 // of .B/OFF/0220123456001
	statusLength       = 3
)

// The baggage status codes that may stand in .B at every airport.
const (
	StatusOffloaded          = "OFF"
	StatusOnHand             = "OND" // on hand, not authorised to load
	StatusOnHandAuthorised   = "ONA" // on hand, authorised to load
	StatusUnseen             = "UNS"
	StatusLoadedUnauthorised = "NAL" // loaded, not authorised to load
)

// Statuses lists the codes that every airport may send, in the order of their rows in the event
// table (rules §2).
var Statuses = [...]string{StatusOffloaded, StatusOnHand, StatusOnHandAuthorised, StatusUnseen, StatusLoadedUnauthorised}

// readIrregularity reads .B, a run of tags with a baggage status code.
func (m *Message) readIrregularity(e line) {
	if !kinds[m.Kind].irregularities {
		return
	}
	m.openTagGroup()
	switch {
	case isBare(e):
		m.fail(MissingIrregularity, e, 0, e.text, "a status code and tags behind .B/")
	case len(e.text) != irregularityLength:
		m.fail(IrregularityLength, e, 0, e.text, "20 characters, as in .B/OFF/0220123456001")
	default:
		m.judgeIrregularity(e)
	}
}

// judgeIrregularity reads a .B of the right length. The text between the slashes is checked as its
// status code even if the second slash is misplaced.
func (m *Message) judgeIrregularity(e line) {
	const at = len(".B/")
	status, plates, slashed := strings.Cut(e.text[at:], "/")
	t, sound := tagsOf(plates)
	switch {
	case len(status) != statusLength:
		m.fail(WrongIrregularity, e, at, e.text[at:], "a status code of three letters, a slash, "+expectedTags)
	case !sound:
		m.fail(WrongIrregularity, e, at+statusLength+1, plates, expectedTags)
	default:
		t.Status = status
		m.addTags(t)
	}
	if slashed && !m.scratch.ref.KnownStatus(m.Version.Airport, status) {
		m.fail(WrongStatus, e, at, status, "a baggage status code of the .V airport")
	}
}
