package parser

// readScreening reads .X: SEL or NON, the result, its reason and more; or free text. Of several elements
// the result of the highest precedence counts.
func (m *Message) readScreening(e line) {
	f := fieldsOf(e)
	f.skip(1)
	result := Screened
	switch f.text() {
	case "CLR":
		result = Cleared
	case "REJ", "REF":
		result = Refused
	}
	m.Screening = max(m.Screening, result)
}
