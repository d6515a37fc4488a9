package budget_test

import (
	"strconv"
	"testing"

	"bagtrail/internal/budget"
)

func TestNotesTellWhatANameTook(t *testing.T) {
	n := budget.NewNotes()
	if n.Of("a") != 0 {
		t.Error("something is noted from the start")
	}
	n.Note(1000, "a", "b")
	if n.Of("a", "b") != 1000 || n.Of("ab") != 0 || n.Of("b", "a") != 0 || n.Of("a") != 0 {
		t.Errorf("noted %d, and of others %d, %d, %d", n.Of("a", "b"), n.Of("ab"), n.Of("b", "a"), n.Of("a"))
	}
	n.Note(1<<40, "a", "b")
	if n.Of("a", "b") != 1<<32-1 {
		t.Errorf("of very much: %d", n.Of("a", "b"))
	}
	n.Note(0, "a", "b")
	if n.Of("a", "b") != 0 {
		t.Errorf("forgotten: %d", n.Of("a", "b"))
	}
}

// What is forgotten of one name is not forgotten of another one that shares the entry.
func TestNotesOfManyNamesAreTrueOrNone(t *testing.T) {
	n := budget.NewNotes()
	for i := range 5000 {
		n.Note(int64(i+1), strconv.Itoa(i))
	}
	for i := range 100_000 {
		n.Note(0, "small", strconv.Itoa(i))
	}
	known := 0
	for i := range 5000 {
		switch n.Of(strconv.Itoa(i)) {
		case 0:
		case int64(i + 1):
			known++
		default:
			t.Errorf("of %d: %d", i, n.Of(strconv.Itoa(i)))
		}
	}
	if known < 800 {
		t.Errorf("%d names are known", known)
	}
}
