package budget_test

import (
	"strconv"
	"testing"

	"bagtrail/internal/budget"
)

func TestSizesTellWhatANameTook(t *testing.T) {
	n := budget.NewSizes()
	if n.Get("a") != 0 {
		t.Error("something is noted from the start")
	}
	n.Set(1000, "a", "b")
	if n.Get("a", "b") != 1000 || n.Get("ab") != 0 || n.Get("b", "a") != 0 || n.Get("a") != 0 {
		t.Errorf("noted %d, and of others %d, %d, %d", n.Get("a", "b"), n.Get("ab"), n.Get("b", "a"), n.Get("a"))
	}
	n.Set(1<<40, "a", "b")
	if n.Get("a", "b") != 1<<32-1 {
		t.Errorf("of very much: %d", n.Get("a", "b"))
	}
	n.Set(0, "a", "b")
	if n.Get("a", "b") != 0 {
		t.Errorf("forgotten: %d", n.Get("a", "b"))
	}
}

// What is forgotten of one name is not forgotten of another one that shares the entry.
func TestSizesOfManyNamesAreTrueOrNone(t *testing.T) {
	n := budget.NewSizes()
	for i := range 5000 {
		n.Set(int64(i+1), strconv.Itoa(i))
	}
	for i := range 100_000 {
		n.Set(0, "small", strconv.Itoa(i))
	}
	known := 0
	for i := range 5000 {
		switch n.Get(strconv.Itoa(i)) {
		case 0:
		case int64(i + 1):
			known++
		default:
			t.Errorf("of %d: %d", i, n.Get(strconv.Itoa(i)))
		}
	}
	if known < 800 {
		t.Errorf("%d names are known", known)
	}
}
