package parser

// readScreening reads .X: SEL or NON, the result, its reason and more; or free text. Of several .X
// the result of the highest precedence counts.
func (m *Message) readScreening(e line) {
	f := m.fields(e, 0, 2)
	result := Screened
	switch f.of(2) {
	case "CLR":
		result = Cleared
	case "REJ", "REF":
		result = Refused
	}
	m.Screening = max(m.Screening, result)
}
