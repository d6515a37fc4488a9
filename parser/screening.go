package parser

// readScreening reads .X: SEL or NON, the result, its reason and more; or free text. Any .X counts
// as Screened, even with NON or free text. If there are several, the highest result counts.
func (m *Message) readScreening(e line) {
	result := Screened
	switch m.field(e, 2) {
	case "CLR":
		result = Cleared
	case "REJ", "REF":
		result = Refused
	}
	m.Screening = max(m.Screening, result)
}
