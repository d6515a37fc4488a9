package ingestor

import (
	"fmt"

	"bagtrail/internal/fault"
	"bagtrail/parser"
)

// What one message may bring about (rules §1). A text of 64 KiB can name millions of bags in runs of 999, and the index
// keeps the text under every bag, and every bag under every flight.
const (
	MostBags    = 9_990     // ten full runs
	mostEntries = 100_000   // bags under flights and names
	mostKept    = 256 << 20 // bytes of text, counted once a bag
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
	if bags <= MostBags && entries <= mostEntries && bags*len(text) <= mostKept {
		return nil
	}
	d := of(fault.TooLarge, fmt.Sprintf("at most %d bags, %d of them under flights and names, and %d MiB of text kept for them",
		MostBags, mostEntries, mostKept>>20))
	return &d
}
