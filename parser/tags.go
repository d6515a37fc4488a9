package parser

const (
	tagLength    = 16 // of .N/0220123456001
	plateDigits  = 10 // the last six are the serial
	countDigits  = 3
	counts       = 1000    // number of values of countDigits digits
	serials      = 1000000 // number of values of a serial
	expectedTags = "ten digits of licence plate and three of count, 001-999, not past serial 999999"
)

// readTags reads .N, a run of consecutive tags.
func (m *Message) readTags(e line) {
	m.openTagGroup()
	const at = len(".N/")
	switch {
	case isBare(e):
		m.fail(MissingTag, e, 0, e.text, "a licence plate and a count behind .N/")
	case len(e.text) != tagLength:
		m.fail(TagLength, e, 0, e.text, "16 characters, as in .N/0220123456001")
	default:
		if t, ok := tagsOf(e.text[at:]); ok {
			m.addTags(t)
		} else {
			m.fail(WrongTag, e, at, e.text[at:], expectedTags)
		}
	}
}

// isBare reports whether an element has no text after its letter.
func isBare(e line) bool { return len(e.text) <= len(".N/") }

// tagsOf reads the plate and the count of an .N or .B. ok is false if their text is faulty.
func tagsOf(s string) (t Tags, ok bool) {
	n, digits := number(s)
	if !digits || len(s) != plateDigits+countDigits {
		return t, false
	}
	t.First, t.Count = uint64(n/counts), n%counts
	return t, t.Count > 0 && t.First%serials+uint64(t.Count)-1 < serials
}

func (m *Message) addTags(t Tags) {
	g := m.group()
	g.Tags = extend(&m.scratch.tags, g.Tags, t)
}
