package excerpt_test

import (
	"strings"
	"testing"

	"bagtrail/internal/excerpt"
)

func TestTheMarkIsUnderTheFaultyCharacters(t *testing.T) {
	for _, c := range []struct {
		text              string
		line, column, end int
		shown, mark       string
	}{
		{"BSM\n.F/LX14/31FEB/JFK", 2, 9, 14, ".F/LX14/31FEB/JFK", "        ^^^^^"},
		{"BSM\r\n.P/1MÜLLER/QQQ\r", 2, 13, 16, ".P/1MÜLLER/QQQ", "           ^^^"}, // Ü has two bytes
		{".V/1ÜZRH", 1, 5, 6, ".V/1ÜZRH", "    ^"},                                 // the fault is half of Ü
		{".V/1ÜZRH", 1, 6, 10, ".V/1ÜZRH", "    ^^^^"},
		{".F/LX14//JFK", 1, 9, 9, ".F/LX14//JFK", "        ^"},
		{"BSM", 1, 4, 4, "BSM", "   ^"},
		{"ENDBSM\n\f", 2, 1, 2, "·", "^"}, // no blank: text behind the message
		{"ENDBSM\n\u2028\n", 2, 1, 4, "·", "^"},
		{"a\x1b\xff\t行e\u0301\u05d0€", 1, 2, 3, "a·· ·e··€", " ^"},
	} {
		e, ok := excerpt.Of(excerpt.Lines(c.text), c.line, c.column, c.end)
		if shown := e.Before + e.Fault + e.After; !ok || shown != c.shown || e.Mark() != c.mark {
			t.Errorf("%q: %t %q\n%s\n%s", c.text, ok, e, shown, e.Mark())
		}
	}
}

func TestALongLineIsCutOnBothSides(t *testing.T) {
	x := strings.Repeat("x", 500)
	e, _ := excerpt.Of(excerpt.Lines(x+x+x), 1, 501, 1001)
	cut := strings.Repeat("x", 60)
	if e.Before != "…"+cut || e.Fault != cut+"…" || e.After != cut+"…" || e.Mark() != strings.Repeat(" ", 61)+strings.Repeat("^", 61) {
		t.Errorf("%q", e)
	}
}

func TestABlankLineHasNoExcerpt(t *testing.T) {
	for _, line := range []int{0, 1, 3} {
		if e, ok := excerpt.Of(excerpt.Lines(" \t\nBSM"), line, 1, 1); ok {
			t.Errorf("line %d: %q", line, e)
		}
	}
}
