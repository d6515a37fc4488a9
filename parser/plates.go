package parser

import (
	"cmp"
	"iter"
	"slices"
)

// Plates returns the licence plates of the group, each once and in ascending order, as numbers of
// ten digits.
func (g *Group) Plates() iter.Seq[uint64] {
	runs := slices.SortedFunc(slices.Values(g.Tags), func(a, b Tags) int { return cmp.Compare(a.First, b.First) })
	return func(yield func(uint64) bool) {
		next := uint64(0) // the first plate that was not returned yet
		for _, run := range runs {
			for next = max(next, run.First); next < run.First+uint64(run.Count); next++ {
				if !yield(next) {
					return
				}
			}
		}
	}
}
