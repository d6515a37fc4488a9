package budget_test

import (
	"testing"

	"bagtrail/internal/budget"
)

func TestAnOwnerTakesHalfAtMost(t *testing.T) {
	b := budget.NewShares(10, nil)
	if !b.Try("a", 4) || b.Try("a", 2) || !b.Try("b", 5) || b.Try("c", 2) {
		t.Error("5 of 10 bytes are to be had by an owner, and 10 by all")
	}
	b.Return("b", 5)
	if b.Try("a", 2) || !b.Try("c", 5) {
		t.Error("after b has returned 5, they are to be had by others")
	}
}
