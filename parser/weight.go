package parser

const expectedUnit = "K, L or P"

// readWeight reads .W: unit, checked bags, checked weight. Each .W is checked and gives at most one
// warning. The first .W of a group counts, without its faulty values.
func (m *Message) readWeight(e line) {
	unit, atUnit := m.rawField(e, 1)
	pieces, atPieces := m.rawField(e, 2)
	checked, atChecked := m.rawField(e, 3)
	w := Weight{Pieces: count(pieces, 3), Checked: -1}
	weighed := unit == "K" || unit == "L"
	if weighed {
		w.Checked = count(checked, 5)
	}
	if weighed || unit == "P" {
		w.Unit = unit
	}
	switch {
	case w.Unit == "":
		m.warn(WrongWeight, e, atUnit, unit, expectedUnit)
	case w.Pieces < 0:
		m.warn(WrongWeight, e, atPieces, pieces, "a number of checked bags, 1-3 digits")
	case weighed && w.Checked < 0:
		m.warn(WrongWeight, e, atChecked, checked, "a checked weight, 1-5 digits")
	}
	if !m.scratch.own.has('W') {
		m.group().Weight = w
	}
}

// count reads a number of 1 to digits digits. It returns -1 if s is not such a number.
func count(s string, digits int) int {
	n, ok := number(s)
	if !ok || len(s) > digits {
		return -1
	}
	return n
}
