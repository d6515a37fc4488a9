package ingestor

import (
	"cmp"
	"fmt"
	"slices"

	"bagtrail/internal/fault"
	"bagtrail/parser"
)

// What one message may bring about (rules §1). A text of 64 KiB can name millions of bags in runs of 999, and the index
// keeps the text under every bag, and every bag under every flight.
const (
	mostBags    = 999     // different plates
	mostEntries = 100_000 // bags under flights and names
	mostKept    = 4 << 20 // bytes of text, counted once a bag
)

// tooFar returns the fault of a message that would bring about more than it may.
func tooFar(m *parser.Message, text string) (wrong *Diagnostic) {
	bags, entries := 0, 0
	for i := range m.Groups {
		g := &m.Groups[i]
		own := 0
		for _, t := range g.Tags {
			own += t.Count
		}
		bags += own
		entries += (own + 1) * (3 + len(g.Onward)) // .I, .F, .L and each .O; containers have flights too
	}
	most := min(mostBags, mostKept/max(len(text), 1))
	if entries <= mostEntries && (bags <= most || different(m) <= most) {
		return nil
	}
	d := of(fault.TooLarge, fmt.Sprintf("at most %d bags, %d of them under flights and names, and %d MiB of text kept for them",
		mostBags, mostEntries, mostKept>>20))
	return &d
}

// different counts the plates that a message names, those of runs that overlap once.
func different(m *parser.Message) int {
	var runs []parser.Tags
	for i := range m.Groups {
		runs = append(runs, m.Groups[i].Tags...)
	}
	slices.SortFunc(runs, func(a, b parser.Tags) int { return cmp.Compare(a.First, b.First) })
	count, next := 0, uint64(0) // next is the first number behind all that were counted
	for _, r := range runs {
		if end := r.First + uint64(r.Count); end > next {
			count += int(end - max(next, r.First))
			next = end
		}
	}
	return count
}
